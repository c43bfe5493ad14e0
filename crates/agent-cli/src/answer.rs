//! What a person may answer to the question whether a call may run, and what rule an answer without one means.

use crate::terminal::inline;
use agent_core::conversation::{Arguments, ToolCall};
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
            Err(String::from("a hook asks, and would again whatever a rule says: y or n"))
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
            Err(error) => Err(format!("these are no arguments: {error}")),
        },
        ("n" | "no", reason) => Ok(ApprovalAnswer::Deny { reason: reason.to_owned() }),
        _ => Err(String::from("that is no answer")),
    }
}

/// The rule that was typed, or the one that is meant without. It has to cover what is asked about: another one is a slip of the pen.
fn covering(typed: &str, question: &ApprovalQuestion) -> Result<Rule, String> {
    if typed.is_empty() {
        return suggested(question)
            .ok_or_else(|| String::from("no rule is known that names this call only: say one, or `a`"));
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
    let pattern = match &question.subject {
        Subject::Paths(paths) => paths.first().filter(|path| paths.len() == 1 && !path.contains(['*', '?'])),
        // The rule is about the whole text, which has to be one that is known to be plain.
        Subject::Command { text, plain: Some(_) } => Some(text).filter(|text| !text.ends_with(":*")),
        _ => None,
    }?;
    let is_short = pattern.len() <= LONGEST_PATTERN && !pattern.contains(char::is_control);
    let rule: Rule = is_short.then(|| format!("{}({pattern})", question.call.name))?.parse().ok()?;
    rule.matches(&question.call.name, &question.subject).then_some(rule)
}

/// What can be answered, a line each.
pub(crate) fn choices(question: &ApprovalQuestion, asker: Asker, kept_in: &str) -> Vec<String> {
    let tool = inline(&question.call.name);
    let mut lines = vec![String::from("  y = yes, n REASON = no, and why, e {…} = yes, with these arguments instead")];
    if asker == Asker::Hook {
        return lines;
    }
    let (rule, or) = match suggested(question) {
        Some(rule) => (format!("`{}`", inline(&rule.to_string())), ", or RULE"),
        None => (String::from("RULE"), ""),
    };
    lines.push(format!("  s = yes, and {rule}{or} in this session; r = the same, kept in {}", inline(kept_in)));
    lines.push(format!("  a = yes, and every call of {tool} in this session"));
    lines
}

/// The arguments as far as a screen takes them.
pub(crate) fn shown_arguments(call: &ToolCall) -> String {
    let text = call.arguments.as_str();
    let end = text.floor_char_boundary(MOST_SHOWN_BYTES);
    match text.len() - end {
        0 => inline(text),
        left => format!("{} … and {left} bytes more", inline(text.get(..end).unwrap_or_default())),
    }
}

const LONGEST_PATTERN: usize = 200;
const MOST_SHOWN_BYTES: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use agent_core::conversation::CallId;

    fn about(tool: &str, subject: Subject) -> ApprovalQuestion {
        let call = ToolCall { id: CallId::new("c"), name: tool.into(), arguments: Arguments::empty() };
        ApprovalQuestion { call, subject, reason: String::new() }
    }

    fn command(text: &str, plain: Option<&[&str]>) -> ApprovalQuestion {
        let plain = plain.map(|plain| plain.iter().map(ToString::to_string).collect());
        about("bash", Subject::Command { text: text.into(), plain })
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
            assert!(read(line, &question, Asker::Hook).unwrap_err().contains("a hook asks"), "{line}");
        }
        assert!(read("s", &command("$(x)", None), Asker::Policy).is_err());
        // A tool as a whole covers what no pattern could.
        assert!(read("s bash", &command("$(x)", None), Asker::Policy).is_ok());
    }
}
