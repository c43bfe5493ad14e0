//! Deny rules about files, and what must not get round them.

use crate::support::{Model, Scratch};
use agent_testkit::http::Step;
use serde_json::{Value, json};

fn secretive() -> Scratch {
    let scratch = Scratch::repository();
    scratch.write("secrets/key.txt", "swordfish\n");
    scratch.write("src/a.txt", "plain swordfish\n");
    scratch
}

fn told(model: &Model) -> String {
    model.last_body()["messages"].to_string()
}

/// What the model was told of calls, one after the other, under a rule.
fn results(mode: &str, rule: &[&str], calls: &[(&str, Value)]) -> (Scratch, String) {
    let scratch = secretive();
    let steps = calls.iter().map(|(tool, arguments)| Step::call(*tool, arguments.clone()));
    let model = Model::script(steps.chain([Step::text("Done.")]));
    scratch.run(&model, &[&["-p", "x", "--permission-mode", mode][..], rule].concat()).assert_code(0);
    model.assert_valid();
    (scratch, told(&model))
}

fn searches() -> Vec<(&'static str, Value)> {
    let mut calls = vec![("grep", json!({"pattern": "swordfish"}))];
    for path in [".", "secrets", "./secrets/", "src/../secrets"] {
        calls.push(("grep", json!({"pattern": "swordfish", "path": path, "context": 1})));
        calls.push(("glob", json!({"pattern": "**/key*", "path": path})));
        calls.push(("list_files", json!({"path": path, "depth": 5})));
    }
    calls
}

#[test]
fn what_must_not_be_read_is_not_found_by_searching() {
    for mode in ["default", "plan", "bypass"] {
        for rule in ["read(secrets/**)", "read_file(secrets/**)", "grep(secrets/**)", "search(secrets/**)"] {
            let (_, said) = results(mode, &["--deny", rule], &searches());
            assert!(!said.contains("key.txt"), "{mode} {rule}: {said}");
            assert!(said.contains("src/a.txt:1:plain swordfish"), "{mode} {rule}: {said}");
            let why = format!("left out because of the rule `{rule}` of the command line");
            assert!(said.contains(&why), "{mode} {rule}: {said}");
        }
    }
    let (_, said) = results("default", &[], &searches());
    assert!(said.contains("secrets/key.txt:1:swordfish"), "control: {said}");
}

#[test]
fn what_must_not_be_changed_is_not_changed_by_any_tool() {
    let patch = "*** Begin Patch\n*** Delete File: secrets/key.txt\n*** End Patch\n";
    let calls = [
        ("write_file", json!({"path": "secrets/new", "content": "x\n"})),
        ("edit_file", json!({"path": "./secrets/key.txt", "old_string": "swordfish", "new_string": "x"})),
        ("apply_patch", json!({"patch": patch})),
        ("write_file", json!({"path": "public", "content": "x\n"})),
    ];
    for rule in ["edit(secrets/**)", "edit_file(secrets/**)", "write_file(secrets/**)", "apply_patch(secrets)"] {
        for mode in ["accept-edits", "bypass"] {
            let (scratch, said) = results(mode, &["--deny", rule], &calls);
            assert_eq!(scratch.read("secrets/key.txt"), "swordfish\n", "{rule}");
            assert!(!scratch.work("secrets/new").exists(), "{rule}");
            assert_eq!(scratch.read("public"), "x\n", "{rule}: what it is not about runs");
            assert_eq!(said.matches(&format!("the rule `{rule}` of the command line denies it")).count(), 3, "{said}");
        }
    }
    let (scratch, _) = results("accept-edits", &[], &calls);
    assert!(scratch.work("secrets/new").exists() && !scratch.work("secrets/key.txt").exists(), "control");
}

#[test]
fn a_family_is_allowed_as_a_whole() {
    let calls = [
        ("write_file", json!({"path": "src/new", "content": "x\n"})),
        ("edit_file", json!({"path": "src/a.txt", "old_string": "plain", "new_string": "x"})),
    ];
    let (scratch, _) = results("default", &["--allow", "edit(src/**)"], &calls);
    assert!(scratch.work("src/new").exists());
    assert_eq!(scratch.read("src/a.txt"), "x swordfish\n");
}

/// A command on a line of its own was taken for words of the one before it: nobody was asked about it.
#[test]
fn a_command_behind_a_line_break_is_judged_too() {
    let hidden = |file: &str| format!("true | true | echo\ntouch {file} >&2");
    let call = |file: &str| Step::call("bash", json!({"command": hidden(file)}));
    for arguments in
        [&["--permission-mode", "plan"][..], &[], &["--permission-mode", "bypass", "--deny", "bash(touch:*)"]]
    {
        let scratch = Scratch::new();
        let model = Model::script([call("b"), Step::text("Done.")]);
        let ended = scratch.run(&model, &[&["-p", "x"][..], arguments].concat());
        assert!(!scratch.work("b").exists(), "{arguments:?}: {ended:#?}");
        ended.assert_says("denied: bash true");
    }
    let scratch = Scratch::new();
    scratch
        .run(&Model::script([call("b"), Step::text("Done.")]), &["-p", "x", "--permission-mode", "bypass"])
        .assert_code(0);
    assert!(scratch.work("b").exists(), "control");
}
