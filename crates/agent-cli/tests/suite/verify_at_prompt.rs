//! `--verify` at the prompt: every message is checked, and what was left goes on.

use crate::support::{Model, Running, Scratch, Wire, eventually, lives};
use agent_testkit::http::Step;
use serde_json::json;

const EDITS: &[&str] = &["--permission-mode", "accept-edits"];

fn prompt(scratch: &Scratch, model: &Model, arguments: &[&str]) -> Running {
    Running::start(scratch.agent(&[]).args(model.flags(Wire::Anthropic)).args(EDITS).args(arguments))
}

fn write(name: &str) -> Step {
    Step::call("write_file", json!({"path": name, "content": "fixed\n"}))
}

#[test]
fn every_message_is_checked_and_what_is_missing_is_reported() {
    let steps = [Step::text("Done."), write("fixed.txt"), Step::text("Now it is."), Step::text("Still.")];
    let (model, scratch) = (Model::script(steps), Scratch::repository());
    let mut running = prompt(&scratch, &model, &["--verify", "echo looked >> looks; test -f fixed.txt"]);
    running.write("fix it\n");
    running.wait_for("Now it is.");
    running.write("is it fixed?\n");
    running.close_stdin();
    let ended = running.end();
    ended.assert_code(0).assert_says("NOT KEPT");
    assert!(ended.out.contains("Now it is.") && ended.out.contains("Still."), "{ended:#?}");
    assert_eq!(model.requests().len(), 4, "both messages were answered");
    assert!(scratch.read("looks").lines().count() >= 2, "the second message was checked, too");
    model.assert_valid();
}

/// The exit code of a script at the prompt says what came of the gravest message.
#[test]
fn a_message_that_falls_short_is_told_and_the_next_one_begins_anew() {
    let (model, scratch) = (Model::always(Step::text("Done.")), Scratch::repository());
    let mut running = prompt(&scratch, &model, &["--verify", "test -f fixed.txt"]);
    running.write("fix it\n");
    running.wait_for("after 3 gap reports");
    assert_eq!(model.requests().len(), 4);
    scratch.write("fixed.txt", "");
    running.write("and now?\n");
    running.close_stdin();
    running.end().assert_code(63);
    assert_eq!(model.requests().len(), 5, "it was kept at the first look");
}

#[test]
fn an_interrupt_stops_the_checks_and_not_the_prompt() {
    let (model, scratch, nap) = (Model::always(Step::text("Done.")), Scratch::repository(), "sleep 4721.1");
    // In a file: the program's own command line does not name it.
    scratch.write("nap.sh", nap);
    let mut running = prompt(&scratch, &model, &["--verify", "test -f go || sh nap.sh"]);
    running.write("do it\n");
    running.wait_for("checking:");
    eventually("the check", || lives(nap));
    running.signal("INT");
    running.wait_for("stopped");
    eventually("the end of the check", || !lives(nap));
    scratch.write("go", "");
    running.write("once more\n");
    running.close_stdin();
    running.end().assert_code(130);
    assert_eq!(model.requests().len(), 2);
}

#[test]
fn a_run_that_was_killed_goes_on_at_the_prompt() {
    let (model, scratch) = (Model::always(Step::text("Done.")), Scratch::repository());
    scratch.write("looks.sh", "echo x >> looks; [ $(wc -l < looks) -ge 2 ] && { test -f go || sleep 4722.1; }\n");
    let arguments = [&["run", "--session-id", "one", "-p", "do it"], EDITS, &["--verify", "sh looks.sh"]].concat();
    let running = Running::start(scratch.agent(&arguments).args(model.flags(Wire::Anthropic)));
    eventually("the second look", || lives("sleep 4722.1"));
    running.signal("KILL");
    running.end();
    scratch.write("go", "");
    let asked = model.requests().len();
    let resume = |words: &[&str]| {
        let mut command = scratch.agent(&["resume", "one"]);
        Running::start(command.args(model.flags(Wire::Anthropic)).args(EDITS).args(words))
    };
    let mut running = resume(&[]);
    running.wait_for("1 commitment, 1 gap report");
    // A message stops the check that runs, which may not have looked yet.
    eventually("the look of the resumed run", || scratch.read("looks").lines().count() >= 3);
    running.write("thanks\n");
    running.close_stdin();
    running.end().assert_code(0);
    assert_eq!(model.requests().len(), asked + 1, "the model had said that it is done; the message came afterwards");
    let looks = scratch.read("looks").lines().count();
    assert!(looks >= 4, "the message was checked as well: {looks}");
    // One that came to rest binds a prompt that does not ask for it no more.
    let mut running = resume(&[]);
    running.write("and this?\n");
    running.close_stdin();
    running.end().assert_code(0);
    assert_eq!(scratch.read("looks").lines().count(), looks);
}

/// A limit that stopped the work is raised: what follows is work like any other, and is checked.
#[test]
fn work_that_goes_on_with_a_higher_limit_is_checked() {
    let steps = [write("one.txt"), Step::text("Done.")];
    let (model, scratch) = (Model::script(steps), Scratch::repository());
    let mut running = prompt(&scratch, &model, &["--max-turns", "1", "--verify", "echo x >> looks"]);
    running.write("do it\n");
    running.wait_for("/more");
    assert!(!scratch.work("looks").exists(), "a turn that a limit ended claims nothing");
    running.write("/more\n");
    eventually("the check", || scratch.work("looks").exists());
    running.close_stdin();
    running.end().assert_code(0);
}
