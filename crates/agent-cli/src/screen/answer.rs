//! What a person may answer to the question whether a call may run, and what rule an answer without one means.

use crate::screen::terminal::inline;
use agent_core::conversation::Arguments;
use agent_core::permission::{ApprovalAnswer, ApprovalQuestion, ApprovalScope, Rule};
use agent_core::tool::Subject;

/// Who asks. A hook asks about each such call anew, whatever rules say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    Policy,
    Hook,
}

/// What a line says, or why it is no answer: what is not clearly a yes or a no is asked again.
pub(crate) fn read(line: &str, question: &ApprovalQuestion, asker: Asker) -> Result<ApprovalAnswer, String> {
    let allow = |scope, arguments| Ok(ApprovalAnswer::Allow { scope, arguments });
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match (word, rest.trim()) {
        ("a" | "all" | "s" | "session" | "r" | "rule", _) if asker == Asker::Hook => {
            Err(String::from("a hook asked, and no rule overrides it: answer y or n"))
        }
        ("y" | "yes", "") => allow(ApprovalScope::Once, None),
        ("a" | "all", "") => match question.call.name.parse() {
            Ok(rule) => allow(ApprovalScope::Session(rule), None),
            // A name that no rule can carry is allowed this once.
            Err(_) => allow(ApprovalScope::Once, None),
        },
        ("s" | "session", rule) => allow(ApprovalScope::Session(covering(rule, question)?), None),
        ("r" | "rule", rule) => allow(ApprovalScope::Always(covering(rule, question)?), None),
        ("e" | "edit", text) if !text.is_empty() => match Arguments::parse(text) {
            Ok(arguments) => allow(ApprovalScope::Once, Some(arguments)),
            Err(error) => Err(format!("these arguments are not valid: {error}")),
        },
        ("n" | "no", reason) => Ok(ApprovalAnswer::Deny { reason: reason.to_owned() }),
        _ => Err(String::from("that is not one of the answers")),
    }
}

/// The rule that was typed, or the one that is meant without. It has to cover what is asked about: another one is a slip of the pen.
fn covering(typed: &str, question: &ApprovalQuestion) -> Result<Rule, String> {
    if typed.is_empty() {
        return suggested(question)
            .ok_or_else(|| String::from("there is no rule that names only this call: type one, or answer `a`"));
    }
    let rule: Rule = typed.parse().map_err(|error: agent_core::permission::RuleError| error.to_string())?;
    if rule.matches(&question.call.name, &question.subject) {
        Ok(rule)
    } else {
        Err(format!("the rule `{rule}` does not cover this call"))
    }
}

/// The rule that names this call and no other, if a rule can.
pub(crate) fn suggested(question: &ApprovalQuestion) -> Option<Rule> {
    let is_only =
        |path: &str| question.subject.paths().is_some_and(|paths| paths.len() == 1) && !path.contains(['*', '?']);
    let pattern = match &question.subject {
        // The rule is about the whole text, which has to be one that is known to be plain.
        Subject::Command { text, plain: Some(_), .. } => Some(text).filter(|text| !text.ends_with(":*")),
        subject => subject.paths()?.first().filter(|path| is_only(path)),
    }?;
    let is_short = pattern.len() <= LONGEST_PATTERN && !pattern.contains(char::is_control);
    let rule: Rule = is_short.then(|| format!("{}({pattern})", question.call.name))?.parse().ok()?;
    rule.matches(&question.call.name, &question.subject).then_some(rule)
}

/// What can be answered, a line each.
pub(crate) fn choices(question: &ApprovalQuestion, asker: Asker, kept_in: &str) -> Vec<String> {
    let tool = inline(&question.call.name);
    let mut lines =
        vec![String::from("  y = yes, n REASON = no, with a reason, e {…} = yes, with these arguments instead")];
    if asker == Asker::Hook {
        return lines;
    }
    let (rule, or) = match suggested(question) {
        Some(rule) => (format!("`{}`", inline(&rule.to_string())), ", or RULE"),
        None => (String::from("RULE"), ""),
    };
    lines.push(format!("  s = yes, and allow {rule}{or} in this session; r = the same, saved in {}", inline(kept_in)));
    if question.subject.paths().is_some() {
        lines.push(String::from(
            "      a rule names files, not their content: it also covers every later change to them",
        ));
    }
    lines.push(format!("  a = yes, and allow every call of {tool} in this session"));
    lines
}

/// What can be answered before all of a call was shown: anything but yes to the call as it is.
pub(crate) fn read_unseen(line: &str, question: &ApprovalQuestion, asker: Asker) -> Result<ApprovalAnswer, String> {
    let answer = read(line, question, asker)?;
    match answer {
        ApprovalAnswer::Allow { arguments: None, .. } => {
            Err(format!("see the whole call before you allow it: {TO_SEE_MORE}"))
        }
        ApprovalAnswer::Allow { .. } | ApprovalAnswer::Deny { .. } | ApprovalAnswer::Nobody => Ok(answer),
    }
}

/// How to see the rest.
pub(crate) const TO_SEE_MORE: &str = "Enter shows more, `rest` shows all of it, n REASON = no";
const LONGEST_PATTERN: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;
    use agent_core::conversation::{CallId, ToolCall};

    fn about(tool: &str, subject: Subject) -> ApprovalQuestion {
        let call = ToolCall { id: CallId::new("c"), name: tool.into(), arguments: Arguments::empty() };
        ApprovalQuestion { call, subject, reason: String::new() }
    }

    fn command(text: &str, plain: Option<&[&str]>) -> ApprovalQuestion {
        let plain = plain.map(|plain| plain.iter().map(ToString::to_string).collect());
        about("bash", Subject::command(text.into(), plain))
    }

    fn paths(paths: &[&str]) -> ApprovalQuestion {
        about("edit_file", Subject::Paths(paths.iter().map(ToString::to_string).collect()))
    }

    #[test]
    fn a_rule_is_suggested_only_where_it_names_this_call_alone() {
        let cases = [
            (paths(&["src/a.rs"]), Some("edit_file(src/a.rs)")),
            (paths(&["src/*"]), None),
            (paths(&["a", "b"]), None),
            (paths(&[]), None),
            (command("git status", Some(&["git status"])), Some("bash(git status)")),
            (command("make && ls", Some(&["make", "ls"])), Some("bash(make && ls)")),
            (command("echo :*", Some(&["echo ':*'"])), None),
            (command("$(x)", None), None),
            (about("odd tool", Subject::Paths(vec!["a".into()])), None),
        ];
        for (question, expected) in cases {
            assert_eq!(suggested(&question).map(|rule| rule.to_string()).as_deref(), expected, "{question:?}");
        }
    }

    #[test]
    fn what_was_not_shown_whole_is_not_allowed() {
        let question = command("git status", Some(&["git status"]));
        for line in ["y", "yes", "a", "all", "s", "r", "s bash", "r bash(git:*)", ""] {
            assert!(read_unseen(line, &question, Asker::Policy).is_err(), "{line}");
        }
        assert!(read_unseen("y", &question, Asker::Policy).unwrap_err().contains("see the whole call"));
        for line in ["n", "n too long", "e {\"command\": \"ls\"}"] {
            assert_eq!(read_unseen(line, &question, Asker::Policy), read(line, &question, Asker::Policy), "{line}");
        }
    }

    #[test]
    fn a_rule_for_files_says_that_it_covers_every_content() {
        let says =
            |question: &ApprovalQuestion| choices(question, Asker::Policy, "x").concat().contains("every later change");
        assert!(says(&paths(&["a"])) && says(&paths(&["a", "b"])));
        assert!(!says(&command("ls", Some(&["ls"]))));
    }

    #[test]
    fn answers_are_read_and_the_rest_is_not() {
        let question = command("git status", Some(&["git status"]));
        let rule = |text: &str| text.parse::<Rule>().unwrap();
        let scope = |line: &str| match read(line, &question, Asker::Policy) {
            Ok(ApprovalAnswer::Allow { scope, arguments: None }) => scope,
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(scope("y"), ApprovalScope::Once);
        assert_eq!(scope("a"), ApprovalScope::Session(rule("bash")));
        assert_eq!(scope("s"), ApprovalScope::Session(rule("bash(git status)")));
        assert_eq!(scope("r bash(git:*)"), ApprovalScope::Always(rule("bash(git:*)")));
        let edited = read("e {\"command\": \"ls\"}", &question, Asker::Policy).unwrap();
        assert!(
            matches!(edited, ApprovalAnswer::Allow { arguments: Some(_), scope: ApprovalScope::Once }),
            "{edited:?}"
        );
        assert_eq!(read("n not now", &question, Asker::Hook), Ok(ApprovalAnswer::Deny { reason: "not now".into() }));
        for line in ["", "Y", "yes please", "s bash(rm:*)", "r edit_file", "s bash(", "e", "e {", "e []", "s bash(git)"]
        {
            assert!(read(line, &question, Asker::Policy).is_err(), "{line}");
        }
        for line in ["s", "a", "r", "s bash", "all"] {
            assert!(read(line, &question, Asker::Hook).unwrap_err().contains("a hook asked"), "{line}");
        }
        assert!(read("s", &command("$(x)", None), Asker::Policy).is_err());
        // A tool as a whole covers what no pattern could.
        assert!(read("s bash", &command("$(x)", None), Asker::Policy).is_ok());
    }
}
