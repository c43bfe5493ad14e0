//! What a person and the system see of tools, through the program.

use crate::support::{Model, Scratch};
use agent_testkit::Reply;
use agent_testkit::http::Step;
use serde_json::json;

fn bash(command: &str, in_background: bool) -> Step {
    Step::call("bash", json!({"command": command, "run_in_background": in_background}))
}

#[test]
fn a_long_call_says_how_far_it_is() {
    let model =
        Model::script([bash("echo begun; sleep 1.3; echo further; sleep 0.2; echo done", false), Step::text("Done.")]);
    let scratch = Scratch::repository();
    let ended = scratch.run(&model, &["-p", "go", "--permission-mode", "bypass"]);
    ended.assert_code(0);
    assert!(ended.err.contains("… further"), "{}", ended.err);
    assert!(!ended.err.contains("… begun"), "{}", ended.err);
}

#[test]
fn a_background_command_ends_with_the_program() {
    let model =
        Model::script([bash("setsid sleep 98711 & sleep 98711", true), bash("sleep 0.3", false), Step::text("Done.")]);
    let scratch = Scratch::repository();
    scratch.run(&model, &["-p", "go", "--permission-mode", "bypass"]).assert_code(0);
    let left = std::process::Command::new("pgrep").args(["-f", "sleep 98711"]).output().unwrap();
    assert!(!left.status.success(), "left: {}", String::from_utf8_lossy(&left.stdout));
}

#[test]
fn the_programs_own_files_are_not_written() {
    let write = |path: &str| Step::call("write_file", json!({"path": path, "content": "x"}));
    let scratch = Scratch::repository();
    let home = scratch.work("home/config");
    std::fs::create_dir_all(&home).unwrap();
    let model =
        Model::script([write("home/config/config.toml"), write(".envrc"), write("home/other"), Step::text("Done.")]);
    let mut command = scratch.agent(&["run", "-p", "go", "--permission-mode", "bypass", "--no-auto-commit"]);
    command.env("AGENT_CONFIG_HOME", &home).args(model.flags(crate::support::Wire::Anthropic));
    assert!(command.output().unwrap().status.success());
    assert!(!home.join("config.toml").exists() && !scratch.work(".envrc").exists());
    assert_eq!(scratch.read("home/other"), "x");
}

/// The limit on failing calls is not only looked at between two answers.
#[test]
fn an_answer_of_failing_calls_is_not_worked_off() {
    let scratch = Scratch::new();
    let (missing, count) = ("nothing.txt", 1_500);
    let read = |reply: Reply, call| reply.call("read_file", json!({"path": format!("{call}-{missing}")}));
    let reply = || Step::answer((0..count).fold(Reply::new(), read));
    let model = Model::script([reply(), reply(), Step::text("Done.")]);
    scratch.run(&model, &["-p", "x", "--session-id", "one"]).assert_code(53).assert_says("30 of 30");
    let journal = std::fs::read_to_string(scratch.journals().remove(0)).unwrap();
    assert_eq!(
        journal.matches("\"ToolCompleted\"").count(),
        30,
        "half of them, then the model was told, then the other half"
    );
    // Every call has its answer, and the session goes on.
    scratch.run(&model, &["-p", "y", "--session-id", "one"]).assert_code(0);
    let body = model.last_body().to_string();
    assert_eq!(body.matches("not run: too many earlier calls failed").count(), 2 * count - 30);
    assert!(body.contains("15 tool calls in a row failed. After 30 the turn ends."), "the model was warned");
    model.assert_valid();
}
