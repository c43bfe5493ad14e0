//! Tests of the permission policy.

mod doors;
mod families;
mod laws;

use super::*;
use crate::tool::{Door, Effect, Inspection, Opening, Walls};
use alloc::string::ToString;
use alloc::vec;

fn edit(path: &str) -> Inspection {
    Inspection { effect: Effect::Changes, subject: Subject::Paths(vec![path.to_string()]) }
}

fn command(text: &str, plain: Option<&[&str]>) -> Inspection {
    let plain = plain.map(|list| list.iter().map(ToString::to_string).collect());
    Inspection { effect: Effect::Changes, subject: Subject::command(text.to_string(), plain) }
}

fn policy(mode: PermissionMode, allow: &[&str], deny: &[&str]) -> Permissions {
    let read = |rules: &[&str]| rules.iter().map(|rule| rule.parse().unwrap()).collect();
    Permissions { mode, allow: read(allow), deny: read(deny), ..Permissions::default() }
}

fn runs(policy: &Permissions, tool: &str, inspection: &Inspection) -> bool {
    matches!(policy.decide(tool, inspection, &HookVerdict::None), Decision::Run(_))
}

#[test]
fn deny_wins_over_allow_and_bypass() {
    let policy = policy(PermissionMode::Bypass, &["edit_file"], &["edit_file(secrets/**)", "bash(rm:*)"]);
    assert!(runs(&policy, "edit_file", &edit("src/a.rs")));
    assert!(!runs(&policy, "edit_file", &edit("secrets/key")));
    assert!(!runs(&policy, "bash", &command("rm -rf x", Some(&["rm -rf x"]))));
    assert!(!runs(&policy, "bash", &command("ls; rm x", Some(&["ls", "rm x"]))));
    assert!(runs(&policy, "bash", &command("rmdir x", Some(&["rmdir x"]))));
}

#[test]
fn what_a_deny_rule_cannot_check_is_denied() {
    let policy = policy(PermissionMode::Bypass, &[], &["bash(rm:*)"]);
    assert!(!runs(&policy, "bash", &command("$(echo rm) x", None)));
}

#[test]
fn an_allow_rule_covers_a_command_only_as_a_whole() {
    let policy = policy(PermissionMode::Default, &["bash(git status:*)"], &[]);
    assert!(runs(&policy, "bash", &command("git status -s", Some(&["git status -s"]))));
    assert!(!runs(&policy, "bash", &command("git status; rm x", Some(&["git status", "rm x"]))));
    assert!(!runs(&policy, "bash", &command("git status $(rm x)", None)));
    assert!(!runs(&policy, "bash", &command("git statusx", Some(&["git statusx"]))));
}

#[test]
fn modes_differ_where_they_should() {
    let read = Inspection { effect: Effect::Reads, subject: Subject::None };
    for mode in [PermissionMode::Default, PermissionMode::AcceptEdits, PermissionMode::Plan, PermissionMode::Bypass] {
        let policy = policy(mode, &[], &[]);
        assert!(runs(&policy, "read_file", &read));
        assert_eq!(
            runs(&policy, "edit_file", &edit("a")),
            matches!(mode, PermissionMode::AcceptEdits | PermissionMode::Bypass)
        );
        assert_eq!(runs(&policy, "bash", &command("ls", Some(&["ls"]))), mode == PermissionMode::Bypass);
    }
    // Every later session reads these as instructions: a mode does not allow them, a rule or an answer does.
    let accepting = policy(PermissionMode::AcceptEdits, &[], &[]);
    assert!(!runs(&accepting, "edit_file", &edit("docs/AGENTS.md")));
    assert!(runs(&policy(PermissionMode::Default, &["edit_file(docs/**)"], &[]), "edit_file", &edit("docs/AGENTS.md")));
    let plan = policy(PermissionMode::Plan, &["edit_file"], &[]);
    assert!(matches!(plan.decide("edit_file", &edit("a"), &HookVerdict::None), Decision::Deny(_)));
}

#[test]
fn malformed_rules_are_refused() {
    for text in ["", "bash(", "bash()", "(x)", "ba sh", "bash(x)y"] {
        assert!(text.parse::<Rule>().is_err(), "{text:?}");
    }
    assert_eq!("bash(git status:*)".parse::<Rule>().unwrap().to_string(), "bash(git status:*)");
}

#[test]
fn allow_rules_cover_a_command_together() {
    let policy = policy(PermissionMode::Default, &["bash(echo:*)", "bash(ls:*)", "bash(make all; make test)"], &[]);
    assert!(runs(&policy, "bash", &command("echo hi; ls -la", Some(&["echo hi", "ls -la"]))));
    assert!(!runs(&policy, "bash", &command("echo hi; rm x", Some(&["echo hi", "rm x"]))));
    assert!(runs(&policy, "bash", &command("make all; make test", Some(&["make all", "make test"]))));
    assert!(!runs(&policy, "bash", &command("make all", Some(&["make all"]))));
}

#[test]
fn allow_rules_cover_paths_together() {
    let policy = policy(PermissionMode::Default, &["edit_file(src/**)", "edit_file(docs/**)"], &[]);
    let paths = |paths: &[&str]| Inspection {
        effect: Effect::Changes,
        subject: Subject::Paths(paths.iter().map(ToString::to_string).collect()),
    };
    assert!(runs(&policy, "edit_file", &paths(&["src/a.rs", "docs/b.md"])));
    assert!(!runs(&policy, "edit_file", &paths(&["src/a.rs", "docs/b.md", "Cargo.toml"])));
    assert!(!runs(&policy, "edit_file", &paths(&[])), "nobody knows what it changes");
}

#[test]
fn a_denial_names_its_rule_and_says_what_would_help() {
    let policy = policy(PermissionMode::Bypass, &[], &["bash(rm:*)", "edit_file(src/**)"]);
    let said = |tool, inspection| match policy.decide(tool, &inspection, &HookVerdict::None) {
        Decision::Deny(basis) => basis.to_string(),
        other @ (Decision::Run(_) | Decision::Ask(_)) => panic!("{other:?}"),
    };
    assert_eq!(said("bash", command("rm x", Some(&["rm x"]))), "the rule `bash(rm:*)` denies it");
    assert_eq!(said("edit_file", edit("src/a.rs")), "the rule `edit_file(src/**)` denies it");
    assert!(said("bash", command("$(x)", None)).ends_with("write the command as plain commands"));
}

#[test]
fn a_rule_says_who_said_it() {
    let rule: Rule = "bash(rm:*)".parse().unwrap();
    let cases = [
        (RuleSource::Host, "\"bash(rm:*)\"", "the rule `bash(rm:*)` denies it"),
        (
            RuleSource::Repository,
            "{\"rule\":\"bash(rm:*)\",\"source\":\"repository\"}",
            "the rule `bash(rm:*)` of the repository's configuration denies it",
        ),
    ];
    for (source, kept, said) in cases {
        let rule = rule.clone().said_by(source);
        assert_eq!(serde_json::to_string(&rule).unwrap(), kept);
        assert_eq!(serde_json::from_str::<Rule>(kept).unwrap(), rule);
        assert_eq!(Basis::Denied(rule).to_string(), said);
    }
    let error = serde_json::from_str::<Rule>("\"bash(\"").unwrap_err().to_string();
    assert!(error.contains("expected `tool` or `tool(pattern)`"), "{error}");
}

#[test]
fn a_deny_rule_sees_a_program_wherever_it_lies_and_an_allow_rule_does_not() {
    let bin_rm = command("/bin/rm x", Some(&["/bin/rm x"]));
    assert!(!runs(&policy(PermissionMode::Bypass, &[], &["bash(rm:*)"]), "bash", &bin_rm));
    assert!(!runs(&policy(PermissionMode::Bypass, &[], &["bash(/bin/rm:*)"]), "bash", &bin_rm));
    assert!(!runs(&policy(PermissionMode::Default, &["bash(rm:*)"], &[]), "bash", &bin_rm));
    let slash_in_argument = command("ls a/rm x", Some(&["ls a/rm x"]));
    assert!(runs(&policy(PermissionMode::Bypass, &[], &["bash(rm:*)"]), "bash", &slash_in_argument));
}

#[test]
fn a_mode_is_shown_under_the_name_by_which_it_is_chosen() {
    use PermissionMode::{AcceptEdits, Bypass, Default, Plan};
    for (mode, name) in [(Default, "default"), (AcceptEdits, "accept-edits"), (Plan, "plan"), (Bypass, "bypass")] {
        assert_eq!(mode.to_string(), name);
        assert_eq!(serde_json::to_value(mode).unwrap(), name);
    }
}

#[test]
fn a_rule_turns_into_the_text_that_it_was_read_from() {
    for text in ["bash(rm:*)", "edit_file", "edit_file(src/**)"] {
        assert_eq!(String::from(text.parse::<Rule>().unwrap()), text);
    }
}

#[test]
fn a_reason_does_not_end_in_words_that_nobody_said() {
    let by_person = |said: &str| Decision::Run(Basis::Person(said.into())).reason("bash");
    assert_eq!([by_person(""), by_person("once")], ["the user allowed it", "the user allowed it: once"]);
    let by_hook = |said: &str| Decision::Run(Basis::HookAllowed(said.into())).reason("bash");
    assert_eq!(by_hook(""), "a hook allowed it");
    assert_eq!(by_hook(" \n"), "a hook allowed it");
    assert_eq!(by_hook("known"), "a hook allowed it: known");
}

#[test]
fn a_rule_from_above_covers_the_same_files_below() {
    let from_above = |rule: &str, directory: &str| {
        let rules = rule.parse::<Rule>().unwrap().from_above(directory);
        rules.iter().skip(1).map(ToString::to_string).collect::<Vec<_>>()
    };
    let cases: &[(&str, &str, &[&str])] = &[
        ("edit(sub/in/**)", "sub", &["edit(in/**)"]),
        ("edit(sub/in/**)", "sub/in", &["edit(**)"]),
        ("edit(sub/in/**)", "other", &[]),
        ("edit(sub/in/**)", "su", &[]),
        ("edit(sub)", "sub/deep", &["edit(**)"]),
        ("edit(./sub/)", "sub", &["edit(**)"]),
        ("edit(*/in/f)", "sub", &["edit(in/f)"]),
        ("edit(s?b/in/f)", "sub", &["edit(in/f)"]),
        ("edit(*)", "sub", &[]),
        ("edit(sub/*)", "sub", &["edit(*)"]),
        ("edit(sub/*)", "sub/in", &[]),
        ("edit(**/f)", "sub/in", &["edit(f)"]),
        ("edit(a/**/f)", "a/b", &["edit(**/f)", "edit(f)"]),
        ("edit(**)", "sub", &[]),
        ("edit(a**z)", "ab/c", &["edit(**z)", "edit(z)"]),
        ("edit", "sub", &[]),
        ("edit(sub/f)", "", &[]),
    ];
    for (rule, directory, expected) in cases {
        let mut found = from_above(rule, directory);
        found.sort();
        assert_eq!(found, *expected, "{rule} in {directory}");
    }
}

/// A tool that is about no files is not said to change some: what it does is not known.
#[test]
fn a_question_about_a_server_names_the_server() {
    let asked = |paths: &[&str], akin: &[&str]| {
        let subject = Subject::Files {
            paths: paths.iter().map(ToString::to_string).collect(),
            families: Vec::new(),
            akin: akin.iter().map(ToString::to_string).collect(),
        };
        Decision::Ask(Basis::Mode(PermissionMode::Default)).question("mcp__s__raze", &subject)
    };
    assert_eq!(asked(&[], &["mcp__s"]), "in mode `default` calls of `mcp__s` are asked about");
    assert_eq!(asked(&["a"], &["mcp__s"]), "in mode `default` changes of files are asked about");
    assert_eq!(asked(&["a"], &[]), "in mode `default` changes of files are asked about");
}
