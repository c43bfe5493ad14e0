//! `agent undo`, through the program.

use crate::support::{Model, Running, Scratch, Wire};
use agent_testkit::http::Step;
use serde_json::json;

fn write(path: &str, content: &str) -> Step {
    Step::call("write_file", json!({"path": path, "content": content}))
}

/// A file that exists is read before it is written over.
fn read(path: &str) -> Step {
    Step::call("read_file", json!({"path": path}))
}

#[test]
fn a_run_is_taken_back_and_the_undo_too() {
    let model = Model::script([write("b.txt", "b\n"), read("a.txt"), write("a.txt", "two\n"), Step::text("Done.")]);
    let scratch = Scratch::repository();
    scratch.write("mine.txt", "mine\n");
    scratch.run(&model, &["-p", "go", "--permission-mode", "bypass", "--no-auto-commit"]).assert_code(0);
    assert_eq!((scratch.read("a.txt").as_str(), scratch.read("b.txt").as_str()), ("two\n", "b\n"));

    let undone = scratch.ended(&["undo"]);
    undone.assert_code(0);
    assert_eq!(undone.out, "restored a.txt\nremoved b.txt\n");
    assert_eq!(scratch.read("a.txt"), "one\n");
    assert!(!scratch.work("b.txt").exists());
    assert_eq!(scratch.read("mine.txt"), "mine\n");

    scratch.ended(&["undo"]).assert_code(0);
    assert_eq!((scratch.read("a.txt").as_str(), scratch.read("b.txt").as_str()), ("two\n", "b\n"));
}

#[test]
fn what_was_changed_since_is_left_and_the_exit_code_says_so() {
    let model = Model::script([read("a.txt"), write("a.txt", "two\n"), Step::text("Done.")]);
    let scratch = Scratch::repository();
    scratch.run(&model, &["-p", "go", "--permission-mode", "bypass"]).assert_code(0);
    scratch.write("a.txt", "mine\n");
    let undone = scratch.ended(&["undo"]);
    undone.assert_code(1);
    assert!(undone.out.contains("left a.txt: it was changed since"), "{}", undone.out);
    assert_eq!(scratch.read("a.txt"), "mine\n");
}

#[test]
fn each_line_at_the_prompt_is_a_turn() {
    let first = [read("a.txt"), write("a.txt", "two\n"), Step::text("First.")];
    let second = [write("a.txt", "three\n"), Step::text("Second.")];
    let model = Model::script(first.into_iter().chain(second));
    let scratch = Scratch::repository();
    let mut command = scratch.agent(&["--permission-mode", "bypass"]);
    let mut running = Running::start(command.args(model.flags(Wire::Anthropic)));
    running.write("one\n");
    running.wait_for("First.");
    running.write("two\n");
    running.wait_for("Second.");
    running.write("/quit\n");
    running.end().assert_code(0);
    assert_eq!(scratch.read("a.txt"), "three\n");
    scratch.ended(&["undo"]).assert_code(0);
    assert_eq!(scratch.read("a.txt"), "two\n");
}

#[test]
fn where_there_is_nothing_to_take_back_it_says_why() {
    Scratch::repository().ended(&["undo"]).assert_code(42).assert_says("no turn of the agent is kept here");
    Scratch::new().ended(&["undo"]).assert_code(42).assert_says("not in a git repository");
    Scratch::new().ended(&["undo", "0"]).assert_code(2);
    Scratch::new().ended(&["undo", "-C", "/nowhere"]).assert_code(42).assert_says("/nowhere");
}
