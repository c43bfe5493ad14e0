//! What a person may answer to the question whether a call may run, and what rule an answer without one means.

use crate::screen::offered::{offered, typed};
use crate::screen::sheet::wrapped;
use crate::screen::terminal::{inline, judged};
use agent_core::conversation::Arguments;
use agent_core::permission::{ApprovalAnswer, ApprovalQuestion, ApprovalScope, Rule};
use agent_core::tool::Door;
use unicode_width::UnicodeWidthStr as _;

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
        ("a" | "all" | "s" | "session" | "rule" | "k" | "keep", _) if asker == Asker::Hook => {
            Err(String::from("a hook asked, and no rule overrides it: answer y or n"))
        }
        ("y" | "yes", "") => allow(ApprovalScope::Once, None),
        ("a" | "all", "") if question.subject.opening().is_some() => Err(String::from(
            "this call opens the sandbox, and `a` is for calls that do not: answer y, or s with a rule",
        )),
        ("a" | "all", "") => match question.call.name.parse() {
            Ok(rule) => allow(ApprovalScope::Session(vec![rule]), None),
            // A name that no rule can carry is allowed this once.
            Err(_) => allow(ApprovalScope::Once, None),
        },
        ("s" | "session", rule) => allow(ApprovalScope::Session(covering(rule, question)?), None),
        // As a key it refuses, so as a line it does not allow.
        ("r", _) => {
            Err(String::from("`r` is no answer: `n REASON` says no with a reason, `k` allows it and keeps the rules"))
        }
        ("rule" | "k" | "keep", rule) => allow(ApprovalScope::Always(covering(rule, question)?), None),
        ("e" | "edit", text) if !text.is_empty() => match Arguments::parse(text) {
            Ok(arguments) => allow(ApprovalScope::Once, Some(arguments)),
            Err(error) => Err(format!("these arguments are not valid: {error}")),
        },
        ("n" | "no", reason) => Ok(ApprovalAnswer::Deny { reason: reason.to_owned() }),
        _ => Err(String::from("that is not one of the answers")),
    }
}

/// The rules that were typed, or the ones that are meant without.
fn covering(text: &str, question: &ApprovalQuestion) -> Result<Vec<Rule>, String> {
    if !text.is_empty() {
        return typed(text, question);
    }
    let rules = offered(question);
    let why = || String::from("there is no rule that names only this call: type one, or answer `a`");
    if rules.is_empty() { Err(why()) } else { Ok(rules) }
}

/// What a key means at a question that one key answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// This answer, as a line says it.
    Answer(&'static str),
    /// No, and the person says what to do instead.
    Stop,
    /// No, and a reason is typed.
    Reason,
    /// The arguments are changed in the person's editor.
    Edit,
    /// An answer is typed as a line.
    Line,
    /// More of the call, or all of it.
    More,
    Rest,
    /// What each answer means.
    Help,
}

/// Keys are letters, and few: what is struck by accident answers nothing. What allows a whole tool is typed as a line, so that no word of a
/// message that is meant for the agent does.
pub(crate) const fn key(letter: char, is_seen: bool) -> Option<Key> {
    Some(match (letter, is_seen) {
        ('y', _) => Key::Answer("y"),
        ('s', _) => Key::Answer("s"),
        ('k', _) => Key::Answer("k"),
        ('n', _) => Key::Stop,
        ('r', _) => Key::Reason,
        ('e', _) => Key::Edit,
        (':', _) => Key::Line,
        ('?', _) => Key::Help,
        (' ' | '\r', false) => Key::More,
        ('w', false) => Key::Rest,
        _ => return None,
    })
}

/// What can be answered, in as few rows of this width as it takes. The rules stand there whole: they are what `s` and `k` allow.
pub(crate) fn short(question: &ApprovalQuestion, asker: Asker, by: By, columns: usize) -> Vec<String> {
    let rules = rules(question, asker);
    let given = |key: &'static str, line: &'static str| if by == By::Key { key } else { line };
    let mut keys = vec!["y yes", "n no"];
    keys.extend((by == By::Key).then_some("r reason"));
    let last = [given("e edit", "e {…} edited"), "? more"];
    let Some(rules) = rules else {
        keys.extend(last);
        return packed(&keys, columns);
    };
    let later = if question.subject.paths().is_some() { ", also every later change" } else { "" };
    let about = format!("s session, k keep {rules}{later}");
    let mut one = keys.clone();
    one.extend([last[0], &*about, last[1]]);
    if let [row] = &packed(&one, columns)[..] {
        return vec![row.clone()];
    }
    keys.extend(["s session", "k keep"]);
    keys.extend(last);
    let mut rows = wrapped(&format!("  s and k allow {rules}{later}"), columns);
    rows.extend(packed(&keys, columns));
    rows
}

/// The rules that are offered, for people. None where there are none, and where a hook asks, whom no rule answers.
fn rules(question: &ApprovalQuestion, asker: Asker) -> Option<String> {
    let rules: Vec<String> = offered(question).iter().map(|rule| format!("`{}`", judged(&rule.to_string()))).collect();
    (asker == Asker::Policy && !rules.is_empty()).then(|| rules.join(", "))
}

/// Each of them whole in a row, as many in one as have room.
fn packed(keys: &[&str], columns: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for key in keys {
        match rows.last_mut() {
            Some(row) if row.width() + key.width() + BETWEEN.len() <= columns => *row += &format!("{BETWEEN}{key}"),
            _ => rows.push(format!("{INDENT}{key}")),
        }
    }
    rows
}

/// What each answer means, a line each.
pub(crate) fn choices(question: &ApprovalQuestion, asker: Asker, kept_in: &str, by: By) -> Vec<String> {
    let tool = judged(&question.call.name);
    let mut lines = vec![String::from(match by {
        By::Line => "  y = yes, n REASON = no, with a reason, e {…} = yes, with these arguments instead",
        By::Key => "  y = yes, n = no, and stop, r = no, with a reason, e = edit the arguments",
    })];
    if asker == Asker::Hook {
        return lines;
    }
    let rules = rules(question, asker).unwrap_or_default();
    let (keep, own) = match by {
        By::Line => ("k", "s RULE"),
        By::Key => (":k", ":s RULE"),
    };
    let opening = question.subject.opening();
    if opening.is_some_and(|opening| !opening.doors.iter().all(Door::is_for_rules)) {
        lines.push(String::from("      no rule covers a path that is opened: each such call is asked about"));
        return lines;
    }
    lines.push(if rules.is_empty() {
        format!(
            "  {own} = yes, and allow what RULE covers in this session; {keep} RULE = the same, saved in {}",
            inline(kept_in)
        )
    } else {
        let or = if by == By::Line { ", or RULE" } else { "" };
        format!(
            "  s = yes, and allow {rules}{or} in this session; {} = the same, saved in {}",
            keep.trim_start_matches(':'),
            inline(kept_in)
        )
    });
    if by == By::Key
        && let Some((session, kept)) = lines.last().and_then(|line| line.split_once("; "))
    {
        let both = [session.to_owned(), format!("  {kept}")];
        lines.pop();
        lines.extend(both);
    }
    if question.subject.paths().is_some() {
        lines.push(String::from("      such a rule names files: it also covers every later change to them"));
    }
    if opening.is_none() {
        let all = if by == By::Key { ":a, Enter" } else { "a" };
        lines.push(format!("  {all} = yes, and allow every call of {tool} in this session"));
    }
    if by == By::Key && !rules.is_empty() {
        lines.push(String::from("  : = an answer as a line, such as `s RULE`"));
    }
    lines
}

/// How answers are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// As lines.
    Line,
    /// By one key.
    Key,
}

/// What can be answered before all of a call was shown: anything but yes to the call as it is.
pub(crate) fn read_unseen(
    line: &str,
    question: &ApprovalQuestion,
    asker: Asker,
    by: By,
) -> Result<ApprovalAnswer, String> {
    let answer = read(line, question, asker)?;
    match answer {
        ApprovalAnswer::Allow { arguments: None, .. } => {
            Err(format!("see the whole call before you allow it: {}", to_see_more(by)))
        }
        ApprovalAnswer::Allow { .. } | ApprovalAnswer::Deny { .. } | ApprovalAnswer::Nobody => Ok(answer),
    }
}

/// As in the row below a list.
const BETWEEN: &str = " · ";
const INDENT: &str = "  ";

/// How to see the rest.
pub(crate) const fn to_see_more(by: By) -> &'static str {
    match by {
        By::Line => TO_SEE_MORE,
        By::Key => TO_SEE_MORE_BY_KEY,
    }
}

const TO_SEE_MORE: &str = "Enter shows more, `rest` shows all of it, n REASON = no";
const TO_SEE_MORE_BY_KEY: &str = "Space shows more, w shows the whole, n = no, and stop";

#[cfg(test)]
mod tests {
    use super::*;
    use agent_core::conversation::{CallId, ToolCall};
    use agent_core::tool::{Opening, Subject, Walls};

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
    fn what_was_not_shown_whole_is_not_allowed() {
        let question = command("git status", Some(&["git status"]));
        for line in ["y", "yes", "a", "all", "s", "k", "s bash", "k bash(git:*)", ""] {
            assert!(read_unseen(line, &question, Asker::Policy, By::Line).is_err(), "{line}");
        }
        let refused = |by| read_unseen("y", &question, Asker::Policy, by).unwrap_err();
        assert!(refused(By::Line).contains("see the whole call before you allow it: Enter shows more"));
        assert!(refused(By::Key).ends_with("Space shows more, w shows the whole, n = no, and stop"));
        for line in ["n", "n too long", "e {\"command\": \"ls\"}"] {
            assert_eq!(
                read_unseen(line, &question, Asker::Policy, By::Line),
                read(line, &question, Asker::Policy),
                "{line}"
            );
        }
    }

    #[test]
    fn every_call_of_the_tool_is_not_offered_for_one_that_opens_the_sandbox() {
        let asks = |door| {
            let walls = Walls::Opened(Box::new(Opening { doors: vec![door], reason: "r".into(), places: Vec::new() }));
            let (text, plain) = (String::from("make x"), Some(vec![String::from("make x")]));
            about("bash", Subject::Command { text, plain, carries_over: false, beyond_reading: None, walls })
        };
        for (door, rule) in [(Door::Network, true), (Door::Outside, true), (Door::Write("/x".into()), false)] {
            let question = asks(door);
            let shown = choices(&question, Asker::Policy, "x", By::Line).join("\n");
            assert!(!shown.contains("every call of"), "{shown}");
            assert_eq!(shown.contains("RULE"), rule, "{shown}");
            assert!(read("a", &question, Asker::Policy).unwrap_err().contains("opens the sandbox"));
            assert!(read("s bash", &question, Asker::Policy).is_err());
            assert!(read("y", &question, Asker::Policy).is_ok());
        }
        let control = choices(&command("make x", Some(&["make x"])), Asker::Policy, "x", By::Line).join("\n");
        assert!(control.contains("every call of"), "{control}");
    }

    #[test]
    fn a_rule_for_files_says_that_it_covers_every_content() {
        let says = |question: &ApprovalQuestion| {
            choices(question, Asker::Policy, "x", By::Key).concat().contains("every later change")
        };
        assert!(says(&paths(&["a"])) && says(&paths(&["a", "b"])));
        assert!(!says(&command("ls", Some(&["ls"]))));
    }

    #[test]
    fn answers_are_read_and_the_rest_is_not() {
        let question = command("git status", Some(&["git status"]));
        let rule = |text: &str| vec![text.parse::<Rule>().unwrap()];
        let scope = |line: &str| match read(line, &question, Asker::Policy) {
            Ok(ApprovalAnswer::Allow { scope, arguments: None }) => scope,
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(scope("y"), ApprovalScope::Once);
        assert_eq!(scope("a"), ApprovalScope::Session(rule("bash")));
        assert_eq!(scope("s"), ApprovalScope::Session(rule("bash(git status:*)")));
        assert_eq!(scope("k bash(git:*)"), ApprovalScope::Always(rule("bash(git:*)")));
        let edited = read("e {\"command\": \"ls\"}", &question, Asker::Policy).unwrap();
        assert!(
            matches!(edited, ApprovalAnswer::Allow { arguments: Some(_), scope: ApprovalScope::Once }),
            "{edited:?}"
        );
        assert_eq!(read("n not now", &question, Asker::Hook), Ok(ApprovalAnswer::Deny { reason: "not now".into() }));
        for line in [
            "",
            "Y",
            "yes please",
            "s bash(rm:*)",
            "k edit_file",
            "r",
            "r bash(git:*)",
            "s bash(",
            "e",
            "e {",
            "e []",
            "s bash(git)",
        ] {
            assert!(read(line, &question, Asker::Policy).is_err(), "{line}");
        }
        for line in ["s", "a", "k", "s bash", "all"] {
            assert!(read(line, &question, Asker::Hook).unwrap_err().contains("a hook asked"), "{line}");
        }
        assert!(read("s", &command("$(x)", None), Asker::Policy).is_err());
        // A tool as a whole covers what no pattern could.
        assert!(read("s bash", &command("$(x)", None), Asker::Policy).is_ok());
    }

    /// Short where it can be, and whatever the width: every key stands in a row, whole, and the rules that are offered.
    #[test]
    fn what_can_be_answered_takes_few_rows() {
        let push = command("git push", Some(&["git push"]));
        let short = |question: &ApprovalQuestion, asker, columns| short(question, asker, By::Key, columns);
        assert_eq!(
            short(&push, Asker::Policy, 90),
            ["  y yes · n no · r reason · e edit · s session, k keep `bash(git push:*)` · ? more"]
        );
        assert_eq!(
            short(&paths(&["src/a.rs"]), Asker::Policy, 80),
            [
                "  s and k allow `edit_file(src/a.rs)`, also every later change",
                "  y yes · n no · r reason · s session · k keep · e edit · ? more"
            ]
        );
        assert_eq!(short(&push, Asker::Hook, 80), ["  y yes · n no · r reason · e edit · ? more"]);
        assert_eq!(short(&command("$(x)", None), Asker::Policy, 80), ["  y yes · n no · r reason · e edit · ? more"]);
        assert_eq!(
            short(&push, Asker::Policy, 40),
            [
                "  s and k allow `bash(git push:*)`",
                "  y yes · n no · r reason · s session",
                "  k keep · e edit · ? more"
            ]
        );
        for columns in 12..120 {
            let rows = short(&push, Asker::Policy, columns);
            assert!(rows.iter().all(|row| row.width() <= columns), "{columns}: {rows:?}");
            let all = rows.join("");
            assert!(
                ["y yes", "n no", "r reason", "s session", "k keep", "e edit", "? more"]
                    .iter()
                    .all(|key| all.contains(key))
            );
        }
        // A message that is typed at a question has an `a` in it soon.
        assert_eq!(key('a', true), None);
        let lines = choices(&push, Asker::Policy, "config.toml", By::Key).join("\n");
        assert!(
            ["y = yes", "n = no", "r = no", "e = edit", "s = yes", "k = ", ":a, Enter = yes"]
                .iter()
                .all(|key| lines.contains(key)),
            "{lines}"
        );
    }
}
