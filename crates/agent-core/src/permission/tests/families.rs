//! Rules about files, by tools that say to which family they belong.

use super::*;

/// A call of a tool that says what it is.
fn files(families: &[&str], akin: &[&str], paths: &[&str]) -> Subject {
    let owned = |list: &[&str]| list.iter().map(ToString::to_string).collect();
    Subject::Files { paths: owned(paths), families: owned(families), akin: owned(akin) }
}

fn reader(path: &str) -> Subject {
    files(&["read"], &[], &[path])
}

fn searcher(path: &str) -> Subject {
    files(&["read", "search"], &["reader"], &[path])
}

fn changer(path: &str) -> Subject {
    files(&["edit"], &["other_changer", "read", "reader"], &[path])
}

fn is_denied(rule: &str, tool: &str, subject: Subject) -> bool {
    let policy = policy(PermissionMode::Bypass, &[], &[rule]);
    !runs(&policy, tool, &Inspection { effect: Effect::Reads, subject })
}

#[test]
fn a_deny_rule_holds_for_what_is_done_by_whichever_tool() {
    let cases = [
        // The rule, and whether it denies reading, searching and changing that file.
        ("read(secrets/**)", [true, true, true]),
        ("reader(secrets/**)", [true, true, true]),
        ("search(secrets/**)", [false, true, false]),
        ("searcher(secrets/**)", [false, true, false]),
        ("edit(secrets/**)", [false, false, true]),
        ("other_changer(secrets/**)", [false, false, true]),
        ("somebody(secrets/**)", [false, false, false]),
        ("read(other/**)", [false, false, false]),
        // Without a pattern it is about tools.
        ("read", [true, true, false]),
        ("search", [false, true, false]),
        ("edit", [false, false, true]),
        ("reader", [true, false, false]),
        ("other_changer", [false, false, false]),
    ];
    for (rule, expected) in cases {
        let path = "secrets/key";
        let denied = [
            is_denied(rule, "reader", reader(path)),
            is_denied(rule, "searcher", searcher(path)),
            is_denied(rule, "changer", changer(path)),
        ];
        assert_eq!(denied, expected, "{rule}");
    }
}

#[test]
fn an_allow_rule_holds_for_its_tool_or_its_family_alone() {
    let policy = policy(PermissionMode::Default, &["edit(src/**)", "other_changer(docs/**)", "read(lib/**)"], &[]);
    let is_allowed = |tool, path| runs(&policy, tool, &Inspection { effect: Effect::Changes, subject: changer(path) });
    assert!(is_allowed("changer", "src/a.rs"));
    assert!(is_allowed("other_changer", "docs/a.md"));
    assert!(!is_allowed("changer", "docs/a.md"), "another tool was named");
    assert!(!is_allowed("changer", "lib/a.rs"), "what may be read may not be changed");
    let both = Inspection { effect: Effect::Changes, subject: files(&["edit"], &[], &["src/a", "src/b"]) };
    assert!(runs(&policy, "changer", &both));
}

#[test]
fn a_search_leaves_out_what_a_rule_denies_to_read() {
    let policy = policy(
        PermissionMode::Bypass,
        &[],
        &["read(secrets/**)", "reader(*.key)", "searcher", "edit(b/**)", "bash(rm:*)", "search(./private/)"],
    );
    let exclusions = policy.exclusions("other", &searcher("."));
    for path in ["secrets/key", "secrets/a/b", "a.key", "private", "private/a/b"] {
        assert!(exclusions.covering(path).is_some(), "{path}");
        assert!(!runs(&policy, "other", &Inspection { effect: Effect::Reads, subject: searcher(path) }), "{path}");
    }
    for path in ["secrets", "a.keys", "b/x", "src/secrets/key", "privately", "."] {
        assert_eq!(exclusions.covering(path), None, "{path}");
        assert!(runs(&policy, "other", &Inspection { effect: Effect::Reads, subject: searcher(path) }), "{path}");
    }
    assert_eq!(exclusions.covering("secrets/key").map(ToString::to_string).as_deref(), Some("read(secrets/**)"));
    let none = policy.exclusions("bash", &Subject::command("ls".into(), None));
    assert!(none.is_empty() && none.covering("rm").is_none());
}

#[test]
fn a_deny_rule_that_names_a_directory_covers_what_is_in_it() {
    for rule in ["read(secrets)", "read(secrets/)", "read(./secrets)", "read(**/secrets)", "read(s*/../secrets)"] {
        let is_written_well = !rule.contains("..");
        for path in ["secrets", "secrets/a", "secrets/a/b"] {
            assert_eq!(is_denied(rule, "reader", reader(path)), is_written_well, "{rule} {path}");
        }
        assert!(!is_denied(rule, "reader", reader("secrets2/a")), "{rule}");
    }
    // A pattern that ends in a star says how deep it goes.
    assert!(is_denied("read(src/*)", "reader", reader("src/a")));
    assert!(!is_denied("read(src/*)", "reader", reader("src/a/b")));
    // An allow rule means what it says.
    let policy = policy(PermissionMode::Default, &["edit(src)"], &[]);
    assert!(!runs(&policy, "changer", &Inspection { effect: Effect::Changes, subject: changer("src/a") }));
}

#[test]
fn rules_for_single_commands_do_not_cover_what_carries_over() {
    let call = |carries_over| Inspection {
        effect: Effect::Changes,
        subject: Subject::Command {
            text: "cd evil && ./check.sh".into(),
            plain: Some(vec!["cd evil".into(), "./check.sh".into()]),
            carries_over,
            beyond_reading: None,
            walls: Walls::Usual,
        },
    };
    let allow = |rules: &[&str]| policy(PermissionMode::Default, rules, &[]);
    let by_parts = allow(&["bash(cd:*)", "bash(./check.sh)"]);
    assert!(runs(&by_parts, "bash", &call(false)), "control");
    assert!(!runs(&by_parts, "bash", &call(true)));
    assert!(!runs(&allow(&["bash(cd evil && ./check.sh:*)"]), "bash", &call(true)));
    // The whole as it is written, and every command, cover it.
    assert!(runs(&allow(&["bash(cd evil && ./check.sh)"]), "bash", &call(true)));
    assert!(runs(&allow(&["bash"]), "bash", &call(true)));
    // A deny rule sees each.
    let denies = policy(PermissionMode::Bypass, &[], &["bash(./check.sh)"]);
    assert!(!runs(&denies, "bash", &call(true)));
    let others = policy(PermissionMode::Bypass, &[], &["bash(rm:*)"]);
    assert!(runs(&others, "bash", &call(true)));
}
