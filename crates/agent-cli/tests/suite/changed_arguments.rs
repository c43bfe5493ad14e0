//! A call that ran with other arguments than the model's: the model is told which, and everything that tells the session says the same.

use crate::support::{Model, Running, Scratch, Wire};
use agent_testkit::http::Step;
use serde_json::json;

const SAYS: &str = "ran with {\\\"path\\\":\\\"other.txt\\\"";

fn writes() -> Model {
    Model::script([Step::call("write_file", json!({"path": "new.txt", "content": "new\n"})), Step::text("Done.")])
}

#[test]
fn arguments_that_a_person_changed() {
    let model = writes();
    let scratch = Scratch::new();
    let mut command = scratch.agent(&["--session-id", "one"]);
    let mut running = Running::start(command.args(model.flags(Wire::Anthropic)));
    running.write("go\n");
    running.wait_for("allow this call?");
    running.write("e {\"path\":\"other.txt\",\"content\":\"other\\n\"}\n");
    running.wait_for("Done.");
    running.close_stdin();
    running.end().assert_code(0);
    assert_eq!(scratch.read("other.txt"), "other\n");
    assert!(!scratch.work("new.txt").exists());

    let told = model.last_body()["messages"].to_string();
    assert!(told.contains("The user changed the arguments") && told.contains(SAYS), "{told}");
    // The history keeps what the model asked for.
    assert!(told.contains("new.txt"), "{told}");
    model.assert_valid();
    for arguments in [
        &["sessions", "show", "one"][..],
        &["sessions", "export", "one"],
        &["sessions", "export", "one", "--format", "html"],
        &["replay", "one"],
        &["replay", "one", "--to", "9"],
    ] {
        let out = scratch.ended(arguments).assert_code(0).out.clone();
        assert!(out.contains("changed the arguments") && out.contains("other.txt"), "{arguments:?}: {out}");
    }
    scratch.ended(&["sessions", "verify", "one"]).assert_code(0);
    let journal = std::fs::read_to_string(&scratch.journals()[0]).unwrap();
    assert!(journal.contains("other.txt"));
}

/// What was refused is what the person made of the call, and that is what the row says.
#[test]
fn a_changed_call_that_is_refused_is_shown_as_it_was_changed() {
    let model = writes();
    let scratch = Scratch::new();
    let mut command = scratch.agent(&["--deny", "write_file(other.txt)"]);
    let mut running = Running::start(command.args(model.flags(Wire::Anthropic)));
    running.write("go\n");
    running.wait_for("allow this call?");
    running.write("e {\"path\":\"other.txt\",\"content\":\"other\\n\"}\n");
    running.wait_for("Done.");
    running.close_stdin();
    let ended = running.end();
    assert!(!scratch.work("other.txt").exists() && !scratch.work("new.txt").exists());
    let err = &ended.assert_code(0).err;
    assert!(err.contains("• write_file other.txt\n") && !err.contains("• write_file new.txt"), "{err}");
}

#[test]
fn arguments_that_are_confirmed_as_they_were_are_not_told_as_changed() {
    let model = writes();
    let scratch = Scratch::new();
    let mut command = scratch.agent(&[]);
    let mut running = Running::start(command.args(model.flags(Wire::Anthropic)));
    running.write("go\n");
    running.wait_for("allow this call?");
    running.write("y\n");
    running.wait_for("Done.");
    running.close_stdin();
    running.end().assert_code(0);
    assert!(!model.last_body().to_string().contains("changed the arguments"));
}

#[test]
fn arguments_that_a_hook_changed() {
    let model = writes();
    let scratch = Scratch::new();
    let updated = r#"{"hookSpecificOutput":{"updatedInput":{"path":"other.txt","content":"other\\n"}}}"#;
    scratch.configure(&format!(
        "[[hooks]]\nevent = \"PreToolUse\"\nsandbox = false\ncommand = '''printf '%s' '{updated}' '''\n"
    ));
    scratch.run(&model, &["-p", "x", "--permission-mode", "accept-edits", "--session-id", "one"]).assert_code(0);
    assert!(scratch.work("other.txt").exists() && !scratch.work("new.txt").exists());
    let told = model.last_body()["messages"].to_string();
    assert!(told.contains("hook changed the input") && told.contains("other.txt"), "{told}");
    for arguments in [&["sessions", "show", "one"][..], &["sessions", "export", "one"], &["replay", "one"]] {
        let out = scratch.ended(arguments).assert_code(0).out.clone();
        assert!(out.contains("changed the") && out.contains("other.txt"), "{arguments:?}: {out}");
    }
}
