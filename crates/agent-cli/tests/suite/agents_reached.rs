//! People reach the agents of a session that another program runs: they look, watch, send and stop.

use crate::agents::{model, read, spawn};
use crate::support::{Model, Running, Scratch, eventually};
use agent_testkit::http::Step;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;

/// A session with an agent that waits for a file, in a command.
fn at_work() -> Model {
    model(|who, round, _| match (who, round) {
        ("", 0) => spawn("worker", &json!({"workspace": "shared"})),
        ("worker", 0) => Step::call("bash", json!({"command": "while [ ! -e go ]; do sleep 0.1; done"})),
        ("worker", _) => Step::text("Worked."),
        _ => Step::text("The end."),
    })
}

fn begun(scratch: &Scratch, model: &Model) -> Running {
    let arguments = ["-p", "go", "--agents", "--sandbox", "off", "--permission-mode", "bypass", "--session-id", "one"];
    let running = Running::start(&mut scratch.run_command(model, &arguments));
    running.wait_for("worker • bash");
    running
}

#[test]
fn an_agent_at_work_is_looked_at_watched_and_told_something() {
    let scratch = Scratch::repository();
    let model = at_work();
    let running = begun(&scratch, &model);
    let shown = scratch.ended(&["show", "worker"]);
    shown.assert_code(0);
    for words in ["agent    one.1", "task     Do worker.", "parent   one", "may use", "state    working"] {
        assert!(shown.out.contains(words), "{words}: {shown:#?}");
    }
    let door = scratch.journals().into_iter().find(|path| path.ends_with("one.jsonl")).unwrap();
    let door = door.with_extension("d").join("door");
    assert_eq!(std::fs::symlink_metadata(&door).unwrap().permissions().mode() & 0o777, 0o600);
    let mut watching = Running::start(&mut scratch.agent(&["attach", "one.1"]));
    watching.wait_for("what you type is sent to it");
    let fleet = Running::start(&mut scratch.agent(&["fleet"]));
    fleet.wait_for("one.1 worker: working");
    scratch.ended(&["send", "worker", "mind", "the", "tests"]).assert_code(0).assert_says("sent to one.1");
    running.wait_for("▸ to agent worker: mind the tests");
    // Several lines come at once, one of them in two parts, and one that nobody can read.
    watching.write("and the docs\nand the names\n\nand the ");
    running.wait_for("▸ to agent worker: and the docs");
    running.wait_for("▸ to agent worker: and the names");
    watching.write_bytes(b"rest\n\xff\nlast\n");
    running.wait_for("▸ to agent worker: and the rest");
    running.wait_for("▸ to agent worker: last");
    // What nobody can be told is said.
    scratch.ended(&["send", "worker", " "]).assert_code(42).assert_says("blank");
    scratch.ended(&["send", "one.7", "x"]).assert_code(42).assert_says("there is no agent `one.7`");
    scratch.ended(&["stop", "nobody"]).assert_code(42);
    std::fs::write(scratch.work("go"), "").unwrap();
    running.end().assert_code(0);
    let watched = watching.end();
    watched.assert_code(0).assert_says("one.1 has ended: done");
    assert!(watched.out.contains("Worked."), "{watched:#?}");
    fleet.wait_for("one.1 worker: gone");
    fleet.signal("INT");
    drop(fleet.end());
    let bodies: Vec<Value> = model.requests().iter().map(|request| request.body.clone()).collect();
    let told = bodies.iter().map(read).find(|text| text.contains("mind the tests")).unwrap();
    assert!(told.contains("The user says:") && told.contains("and the docs"), "{told}");
    // Nobody is there any more.
    assert!(!door.exists());
    scratch.ended(&["send", "one.1", "x"]).assert_code(42).assert_says("no program runs one");
    scratch.ended(&["stop", "one"]).assert_code(42).assert_says("`agent resume one` continues it");
    model.assert_valid();
}

#[test]
fn one_agent_is_stopped_and_the_others_go_on() {
    let scratch = Scratch::repository();
    let model = at_work();
    let running = begun(&scratch, &model);
    scratch.ended(&["stop", "one.1"]).assert_code(0);
    let ended = running.end();
    ended.assert_code(0).assert_says("agent worker is to stop").assert_says("◂ agent worker: cancelled");
    let shown = scratch.ended(&["show", "one.1"]);
    assert!(shown.assert_code(0).out.contains("outcome  cancelled"), "{shown:#?}");
    assert!(read(&model.last_body()).contains("cancelled"));
    model.assert_valid();
}

#[test]
fn the_whole_session_is_stopped_from_outside() {
    let scratch = Scratch::repository();
    let model = at_work();
    let running = begun(&scratch, &model);
    scratch.ended(&["stop", "one"]).assert_code(0);
    running.end().assert_code(130).assert_says("◂ agent worker: cancelled");
    assert_eq!(model.requests().len(), 2, "no model was asked under the stop");
}

/// What a killed program left is replaced, and an agent whose journal is gone is known to be lost.
#[test]
fn after_a_kill_the_door_opens_again_and_a_lost_agent_is_called_so() {
    let scratch = Scratch::repository();
    let model = at_work();
    let running = begun(&scratch, &model);
    running.signal("KILL");
    drop(running.end());
    scratch.ended(&["send", "worker", "x"]).assert_code(42).assert_says("no program runs one");
    let ps = scratch.ended(&["ps", "one"]);
    assert!(ps.assert_code(0).out.contains("interrupted"), "{ps:#?}");
    let journal = scratch.journals().into_iter().find(|path| path.ends_with("one.d/1.jsonl")).unwrap();
    std::fs::remove_file(journal).unwrap();
    let arguments = ["--session-id", "one", "--sandbox", "off"];
    let mut resumed = Running::start(&mut scratch.run_command(&model, &arguments));
    resumed.close_stdin();
    resumed.end().assert_code(0).assert_says("◂ agent worker: lost");
    let ps = scratch.ended(&["ps", "one", "--json"]);
    let rows: Value = serde_json::from_str(&ps.assert_code(0).out).unwrap();
    assert_eq!((&rows[1]["id"], &rows[1]["state"]), (&json!("one.1"), &json!("lost")));
    let text = read(&model.last_body());
    assert!(text.contains("has ended: lost") && !text.contains("interrupted"), "{text}");
}

#[test]
fn a_task_of_megabytes_is_cut_in_the_line_that_tells_of_the_agent() {
    let scratch = Scratch::repository();
    let model = model(|who, round, _| match (who, round) {
        ("", 0) => spawn("reader", &json!({"task": "long ".repeat(100_000)})),
        ("reader", _) => Step::text("Read."),
        _ => Step::text("The end."),
    });
    let ended = crate::agents::run(&scratch, &model, &["--output-format", "stream-json"]);
    let lines = ended.assert_code(0).lines();
    let begun = lines.iter().find(|line| line["type"] == "agent_begun").unwrap();
    let task = begun["task"].as_str().unwrap();
    assert!(task.len() < 5_000 && task.ends_with("[cut]"), "{} bytes", task.len());
    eventually("the agent has its whole task", || read(&model.requests()[1].body).len() > 500_000);
}
