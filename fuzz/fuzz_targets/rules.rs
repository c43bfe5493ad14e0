//! Permission rules, and the commands and paths that they judge.

#![no_main]

use agent_tools::fuzz::plain_commands;
use agent_types::permission::Rule;
use agent_types::tool::Subject;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str)| {
    let (rule, text) = input;
    let Ok(rule) = rule.parse::<Rule>() else { return };
    assert_eq!(rule.to_string().parse(), Ok(rule.clone()), "a rule is read as it is written");

    let command = Subject::command(text.to_owned(), plain_commands(text));
    let _ = (rule.matches("bash", &command), rule.may_match("bash", &command));

    // What an allow rule covers, the same rule as a deny rule covers too, also as it is seen from a directory.
    let path = Subject::Paths(vec![text.to_owned()]);
    for tool in ["read_file", rule.tool()] {
        assert!(!rule.matches(tool, &path) || rule.may_match(tool, &path), "{rule} over {text:?}");
        assert!(rule.from_above(text).contains(&rule));
    }
});
