//! Rules that a person is offered for a call, and those that a person types for it: they cover the call, together.
//!
//! 1. What is offered is shown in full before it can be chosen, and is what is kept.
//! 2. Only programs that read, and sub-commands that are named, are offered for other arguments than the ones that were asked about.

use agent_core::permission::{ApprovalQuestion, Rule, RuleError};
use agent_core::tool::{Door, Subject};

/// The rules that cover this call: as few and as narrow as are useful. None where no rule can name it.
pub(crate) fn offered(question: &ApprovalQuestion) -> Vec<Rule> {
    let tool = &question.call.name;
    // About no files: its name is all that a rule can say.
    if let Subject::Files { paths, akin, .. } = &question.subject
        && paths.is_empty()
        && !akin.is_empty()
    {
        let rule = tool.parse::<Rule>().ok().filter(|rule| rule.matches(tool, &question.subject));
        return rule.into_iter().collect();
    }
    let patterns = match &question.subject {
        Subject::Command { plain: Some(plain), carries_over: false, .. } => {
            let mut patterns: Vec<String> = Vec::new();
            for pattern in plain.iter().map(|command| prefix(command)) {
                if !patterns.contains(&pattern) {
                    patterns.push(pattern);
                }
            }
            patterns
        }
        // The rule is about the whole text.
        Subject::Command { text, plain: Some(_), .. } => vec![text.clone()],
        subject => {
            let is_only = |path: &&String| !path.contains(['*', '?']);
            match subject.paths() {
                Some([path]) => Some(path).filter(is_only).cloned().into_iter().collect(),
                Some(_) | None => Vec::new(),
            }
        }
    };
    let is_usable = |pattern: &String| pattern.len() <= LONGEST_PATTERN && !pattern.contains(char::is_control);
    if patterns.is_empty() || patterns.len() > MOST_RULES || !patterns.iter().all(is_usable) {
        return Vec::new();
    }
    let Some(doors) = doors(question) else { return Vec::new() };
    let rules: Result<Vec<Rule>, RuleError> =
        patterns.iter().map(|pattern| format!("{tool}{doors}({pattern})").parse()).collect();
    rules.ok().filter(|rules| cover(rules, question)).unwrap_or_default()
}

/// The doors that a rule has to name. None where each such call is looked at: a path is in no rule, and what runs outside is held by
/// nothing.
fn doors(question: &ApprovalQuestion) -> Option<String> {
    let doors = question.subject.opening().map(|opening| opening.doors.as_slice()).unwrap_or_default();
    let are_for_rules = doors.iter().all(|door| door.is_for_rules() && *door != Door::Outside);
    are_for_rules.then(|| doors.iter().map(|door| format!("+{}", door.word())).collect())
}

/// The rules in a text: one, or several with commas between. Together they have to cover what is asked about, and each of them a part:
/// another one is a slip of the pen.
///
/// # Errors
/// Why they are none, for the person.
pub(crate) fn typed(text: &str, question: &ApprovalQuestion) -> Result<Vec<Rule>, String> {
    let one: Result<Rule, RuleError> = text.parse();
    if let Ok(rule) = &one
        && rule.matches(&question.call.name, &question.subject)
    {
        return Ok(vec![rule.clone()]);
    }
    let several: Result<Vec<Rule>, RuleError> = split(text).iter().map(|text| text.parse()).collect();
    match (several, one) {
        (Ok(rules), _) if rules.len() > 1 && cover(&rules, question) => Ok(rules),
        (Ok(rules), Ok(_)) if rules.len() > 1 => Err(format!("the rules `{text}` do not cover this call")),
        (_, Ok(rule)) => Err(format!("the rule `{rule}` does not cover this call")),
        (_, Err(error)) => Err(error.to_string()),
    }
}

/// Between the rules.
fn split(text: &str) -> Vec<String> {
    let parts: Vec<&str> = text.split("),").collect();
    let last = parts.len() - 1;
    let closed =
        |(at, part): (usize, &&str)| if at < last { format!("{})", part.trim()) } else { part.trim().to_owned() };
    parts.iter().enumerate().map(closed).collect()
}

/// Whether these rules cover all of a call, and none of them nothing of it.
fn cover(rules: &[Rule], question: &ApprovalQuestion) -> bool {
    let (tool, subject) = (&question.call.name, &question.subject);
    if let [rule] = rules
        && rule.matches(tool, subject)
    {
        return true;
    }
    let Some(parts) = subject.parts() else { return false };
    let covers = |rule: &Rule, part: &Subject| rule.matches(tool, part);
    !parts.is_empty()
        && parts.iter().all(|part| rules.iter().any(|rule| covers(rule, part)))
        && rules.iter().all(|rule| parts.iter().any(|part| covers(rule, part)))
}

/// A pattern for a plain command.
fn prefix(command: &str) -> String {
    let mut words = command.split(' ');
    let (program, next) = (words.next().unwrap_or_default(), words.next());
    let is_name = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    match next {
        _ if READERS.contains(&program) => format!("{program}:*"),
        Some(sub) if WITH_COMMANDS.contains(&program) && is_name(sub) => format!("{program} {sub}:*"),
        // A pattern that ends so would mean more than the command.
        _ if command.ends_with(":*") => String::new(),
        _ => command.to_owned(),
    }
}

/// They print what they are given. Options of them that do more make a command unknown, and no rule with a pattern covers it then.
const READERS: &[&str] = &[
    "basename", "cat", "column", "comm", "cut", "date", "df", "diff", "dirname", "du", "echo", "expr", "file", "fold",
    "grep", "head", "jq", "ls", "nl", "od", "paste", "printf", "pwd", "readlink", "realpath", "rg", "seq", "sort",
    "stat", "tac", "tail", "tr", "tree", "uniq", "wc", "which", "xxd",
];
/// What they do is said by their first argument.
const WITH_COMMANDS: &[&str] = &[
    "bundle", "cargo", "docker", "dotnet", "gh", "git", "go", "gradle", "kubectl", "mix", "mvn", "npm", "pip", "pnpm",
    "poetry", "rustup", "uv", "yarn",
];
const LONGEST_PATTERN: usize = 200;
const MOST_RULES: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;
    use agent_core::conversation::{Arguments, CallId, ToolCall};
    use agent_core::tool::{Opening, Walls};
    use proptest::prelude::*;

    fn about(tool: &str, subject: Subject) -> ApprovalQuestion {
        let call = ToolCall { id: CallId::new("c"), name: tool.into(), arguments: Arguments::empty() };
        ApprovalQuestion { call, subject, reason: String::new() }
    }

    #[test]
    fn a_rule_for_a_call_that_opens_the_sandbox_names_the_doors() {
        let asks = |doors: &[Door]| {
            let walls =
                Walls::Opened(Box::new(Opening { doors: doors.to_vec(), reason: "r".into(), places: Vec::new() }));
            let plain = Some(vec!["git fetch origin".to_owned(), "head -3".to_owned()]);
            let text = "git fetch origin | head -3".to_owned();
            about("bash", Subject::Command { text, plain, carries_over: false, beyond_reading: None, walls })
        };
        let shown = |doors: &[Door]| offered(&asks(doors)).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(shown(&[Door::Network]), ["bash+network(git fetch:*)", "bash+network(head:*)"]);
        assert_eq!(shown(&[Door::Network, Door::Git])[0], "bash+network+git(git fetch:*)");
        let none: [&str; 0] = [];
        assert_eq!(shown(&[Door::Write("/x".into())]), none);
        assert_eq!(shown(&[Door::Network, Door::Write("/x".into())]), none);
        assert_eq!(shown(&[Door::Outside]), none);
        assert!(typed("bash", &asks(&[Door::Network])).is_err(), "an ordinary rule");
        assert!(typed("bash+write", &asks(&[Door::Write("/x".into())])).is_err());
        assert!(typed("bash+outside", &asks(&[Door::Outside])).is_ok(), "what a person writes out");
    }

    fn commands(plain: &[&str]) -> ApprovalQuestion {
        let text = plain.join(" && ");
        about("bash", Subject::command(text, Some(plain.iter().map(ToString::to_string).collect())))
    }

    fn paths(paths: &[&str]) -> ApprovalQuestion {
        about("edit_file", Subject::Paths(paths.iter().map(ToString::to_string).collect()))
    }

    fn shown(question: &ApprovalQuestion) -> Vec<String> {
        offered(question).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_plain_commands_of_a_call_are_named() {
        let cases: [(&[&str], &[&str]); 8] = [
            (
                &["git status --short", "git log --oneline", "head -5"],
                &["bash(git status:*)", "bash(git log:*)", "bash(head:*)"],
            ),
            (&["git status", "git status -s"], &["bash(git status:*)"]),
            (&["rm -rf build"], &["bash(rm -rf build)"]),
            (&["git -P log"], &["bash(git -P log)"]),
            (&["make"], &["bash(make)"]),
            (&["cargo test"], &["bash(cargo test:*)"]),
            (&["rm x:*"], &[]),
            (&["a", "b", "c", "d", "e", "f", "g"], &[]),
        ];
        for (plain, expected) in cases {
            assert_eq!(shown(&commands(plain)), expected, "{plain:?}");
        }
        let carried = Subject::Command {
            text: "cd a && ls".into(),
            plain: Some(vec!["cd a".into(), "ls".into()]),
            carries_over: true,
            beyond_reading: None,
            walls: Walls::Usual,
        };
        assert_eq!(shown(&about("bash", carried)), ["bash(cd a && ls)"]);
    }

    #[test]
    fn a_file_is_named_alone() {
        for (question, expected) in [
            (paths(&["src/a.rs"]), vec!["edit_file(src/a.rs)"]),
            (paths(&["src/*"]), vec![]),
            (paths(&["a", "b"]), vec![]),
            (paths(&[]), vec![]),
            (about("bash", Subject::command("$(x)".into(), None)), vec![]),
            (about("odd tool", Subject::Paths(vec!["a".into()])), vec![]),
        ] {
            assert_eq!(shown(&question), expected, "{question:?}");
        }
    }

    #[test]
    fn a_tool_of_a_server_is_named_by_its_own_name() {
        let akin = vec!["mcp__s".to_owned()];
        for families in [akin.clone(), Vec::new()] {
            let subject = Subject::Files { paths: Vec::new(), families, akin: akin.clone() };
            assert_eq!(shown(&about("mcp__s__raze", subject)), ["mcp__s__raze"]);
        }
    }

    #[test]
    fn several_are_typed_with_commas() {
        let question = commands(&["git status", "head -5"]);
        let read = |text: &str| typed(text, &question).map(|rules| rules.len());
        assert_eq!(read("bash(git status:*), bash(head:*)"), Ok(2));
        assert_eq!(read("bash(git:*),bash(head -5)"), Ok(2));
        assert_eq!(read("bash"), Ok(1));
        assert_eq!(read("bash(git status && head -5)"), Ok(1));
        for text in [
            "bash(git status:*)",
            "bash(git status:*), bash(rm:*)",
            "bash(git:*), bash(head:*), bash(rm:*)",
            "bash(git:*), head",
            "bash(",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    proptest! {
        /// What is offered covers the call, and nothing is left to another question about the same.
        #[test]
        fn what_is_offered_covers_the_call(plain in prop::collection::vec("(git|rm|ls|cargo)( (status|-x|a b|:\\*)){0,3}", 1..5)) {
            let plain: Vec<&str> = plain.iter().map(String::as_str).collect();
            let question = commands(&plain);
            let rules = offered(&question);
            prop_assert!(rules.is_empty() || cover(&rules, &question), "{:?}", rules);
        }
    }
}
