//! `agent undo`, through the program.

use crate::support::{Model, Running, Scratch, Wire};
use agent_testkit::http::Step;
use serde_json::json;
use std::time::{Duration, Instant};

fn write(path: &str, content: &str) -> Step {
    Step::call("write_file", json!({"path": path, "content": content}))
}

/// A file that exists is read before it is written over.
fn read(path: impl AsRef<str>) -> Step {
    Step::call("read_file", json!({"path": path.as_ref()}))
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

/// Killed at each file in turn: the next one brings all of them back, and leaves nothing of the agent's beside them.
#[test]
fn an_undo_that_is_killed_is_made_whole_by_the_next_one() {
    let names: Vec<String> = (0..8).map(|number| format!("f{number}.txt")).collect();
    let old = |name: &String| format!("old {name}\n").repeat(20_000);
    for at in [0, 3, 6] {
        let calls = names.iter().map(read).chain(names.iter().map(|name| write(name, "new\n")));
        let model = Model::script(calls.chain([Step::text("Done.")]));
        let scratch = Scratch::repository();
        names.iter().for_each(|name| scratch.write(name, &old(name)));
        scratch.git(&["add", "."]);
        scratch.git(&["commit", "-qm", "files"]);
        scratch.run(&model, &["-p", "go", "--permission-mode", "bypass", "--no-auto-commit"]).assert_code(0);
        let running = Running::start(&mut scratch.agent(&["undo"]));
        let begun = Instant::now();
        while scratch.read(&names[at]) == "new\n" && begun.elapsed() < Duration::from_secs(60) {}
        running.signal("KILL");
        drop(running.end());
        // One that was killed after the last file may have ended: it only did not say so.
        let is_whole = names.iter().all(|name| scratch.read(name) == old(name));
        if !is_whole {
            scratch
                .ended(&["undo"])
                .assert_code(0)
                .assert_says("one turn undone;")
                .assert_says("stopped before it ended");
        }
        assert!(names.iter().all(|name| scratch.read(name) == old(name)), "killed at {at}");
        assert_eq!(scratch.git(&["status", "--porcelain"]), "", "nothing lies beside the files");
        let again = scratch.ended(&["undo"]);
        again.assert_code(0);
        if is_whole && again.err.contains("stopped before it ended") {
            assert!(names.iter().all(|name| scratch.read(name) == old(name)), "killed at {at}");
        } else {
            again.assert_says("one turn undone, which was an undo itself");
            assert!(names.iter().all(|name| scratch.read(name) == "new\n"), "killed at {at}");
        }
    }
}

/// That files are as before is not this undo's doing.
#[test]
fn where_the_files_are_as_before_already_nothing_is_said_to_be_undone() {
    let model = Model::script([read("a.txt"), write("a.txt", "two\n"), Step::text("Done.")]);
    let scratch = Scratch::repository();
    scratch.run(&model, &["-p", "go", "--permission-mode", "bypass", "--no-auto-commit"]).assert_code(0);
    scratch.git(&["checkout", "-q", "a.txt"]);
    let undone = scratch.ended(&["undo"]);
    undone.assert_code(0).assert_says("nothing to undo in one turn: the files are already as before that turn");
    assert_eq!((undone.out.as_str(), scratch.read("a.txt").as_str()), ("", "one\n"));
}

#[test]
fn what_was_changed_since_is_left_and_the_exit_code_says_so() {
    let model = Model::script([read("a.txt"), write("a.txt", "two\n"), Step::text("Done.")]);
    let scratch = Scratch::repository();
    scratch.run(&model, &["-p", "go", "--permission-mode", "bypass"]).assert_code(0);
    scratch.write("a.txt", "mine\n");
    let undone = scratch.ended(&["undo"]);
    undone.assert_code(1);
    assert!(undone.out.contains("left a.txt: it has changed since"), "{}", undone.out);
    assert_eq!(scratch.read("a.txt"), "mine\n");
    undone.assert_says("nothing undone: 1 file stays as it is");
    assert!(!undone.err.contains("one turn"), "{}", undone.err);
}

/// The call began, so how the file was is kept; it changed nothing, so there is nothing to take back.
#[test]
fn what_you_write_where_a_call_failed_stays() {
    for words in [&["undo"][..], &["rewind", "one", "--to", "0", "--files", "--yes"]] {
        let fails = Step::call("edit_file", json!({"path": "a.txt", "old_string": "nowhere", "new_string": "x"}));
        let model = Model::script([read("a.txt"), fails, write("b.txt", "b\n"), Step::text("Done.")]);
        let scratch = Scratch::repository();
        let flags = ["-p", "go", "--session-id", "one", "--permission-mode", "bypass", "--no-auto-commit"];
        scratch.run(&model, &flags).assert_code(0);
        scratch.write("a.txt", "hours of work\n");
        let ended = scratch.ended(words);
        ended.assert_code(0);
        assert!(!ended.out.contains("a.txt") && !scratch.work("b.txt").exists(), "{words:?}: {ended:#?}");
        assert_eq!(scratch.read("a.txt"), "hours of work\n", "{words:?}");
    }
}

/// What is protected is so for all of the working tree, which is what goes back.
#[test]
fn undo_in_a_subdirectory_protects_what_undo_at_the_root_does() {
    for place in [".", "sub"] {
        let scratch = Scratch::repository();
        scratch.write("sub/x", "x\n");
        let paths = ["tools/pre-commit", "tools/env.sh", "sub/x", "a.txt"];
        let run = |text: &str, reads: bool| {
            let reads = paths.into_iter().filter(|path| reads && scratch.work(path).exists()).map(read);
            let writes = paths.into_iter().map(|path| write(path, text));
            let steps: Vec<Step> = reads.chain(writes).chain([Step::text("Done.")]).collect();
            let flags = ["-p", "go", "--permission-mode", "bypass", "--no-auto-commit"];
            scratch.run(&Model::script(steps), &flags).assert_code(0);
            std::thread::sleep(Duration::from_millis(5));
        };
        run("first\n", true);
        run("second\n", true);
        scratch.git(&["config", "core.hooksPath", "tools"]);
        std::os::unix::fs::symlink("tools/env.sh", scratch.work(".envrc")).unwrap();
        let undone = scratch.ended(&["undo", "-C", place]);
        undone.assert_code(1);
        let texts = paths.map(|path| scratch.read(path));
        assert_eq!(texts, ["second\n", "second\n", "first\n", "first\n"], "{place}: {undone:#?}");
        assert_eq!(undone.out.matches("it is protected").count(), 2, "{place}: {undone:#?}");
    }
}

/// Nobody finds out by an undo that there is none.
#[test]
fn a_file_that_is_too_large_to_be_kept_is_told_when_it_changes() {
    let big = "text line\n".repeat(1_000_000);
    let steps =
        [read("big.txt"), write("big.txt", "x\n"), write("big.txt", "y\n"), read("a.txt"), write("a.txt", "two\n")];
    let model = Model::script(steps.into_iter().chain([Step::text("Done.")]));
    let scratch = Scratch::repository();
    scratch.write("big.txt", &big);
    let ended = scratch.run(&model, &["-p", "go", "--permission-mode", "bypass", "--no-auto-commit"]);
    ended.assert_code(0).assert_says("undo cannot restore big.txt").assert_says("more than 8 MiB");
    assert_eq!(ended.err.matches("undo cannot restore").count(), 1, "once, and not of what is kept: {}", ended.err);
    let undone = scratch.ended(&["undo"]);
    undone.assert_code(1).assert_says("one turn partly undone: 1 file stays as it is");
    assert!(undone.out.contains("restored a.txt\nleft big.txt: its old content is not kept"), "{}", undone.out);
    assert_eq!((scratch.read("a.txt").as_str(), scratch.read("big.txt").as_str()), ("one\n", "y\n"));
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
    Scratch::repository().ended(&["undo"]).assert_code(42).assert_says("there is no turn of the agent to undo here");
    Scratch::new().ended(&["undo"]).assert_code(42).assert_says("not in a git repository");
    Scratch::new().ended(&["undo", "0"]).assert_code(2);
    Scratch::new().ended(&["undo", "-C", "/nowhere"]).assert_code(42).assert_says("/nowhere");
}

/// Three turns at the prompt, and what rewinding to the end of the first takes back.
fn three_turns(scratch: &Scratch) -> u64 {
    let first = [read("a.txt"), write("a.txt", "two\n"), Step::text("First.")];
    let second = [write("a.txt", "three\n"), write("b.txt", "b\n"), Step::text("Second.")];
    let third =
        [Step::call("bash", json!({"command": "echo c > c.txt"})), write("a.txt", "four\n"), Step::text("Third.")];
    let model = Model::script(first.into_iter().chain(second).chain(third));
    let mut command = scratch.agent(&["--permission-mode", "bypass", "--session-id", "one"]);
    let mut running = Running::start(command.args(model.flags(Wire::Anthropic)));
    for (line, answer) in [("one\n", "First."), ("two\n", "Second."), ("three\n", "Third.")] {
        running.write(line);
        running.wait_for(answer);
        std::thread::sleep(Duration::from_millis(5));
    }
    running.write("/quit\n");
    running.end().assert_code(0);
    assert_eq!((scratch.read("a.txt").as_str(), scratch.read("b.txt").as_str()), ("four\n", "b\n"));
    let trace = scratch.ended(&["replay", "one"]).out;
    let second = trace.lines().filter(|line| line.ends_with("  UserInput")).nth(1).unwrap();
    second.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn a_rewind_takes_the_files_back_too_and_an_undo_takes_back_the_rewind() {
    let scratch = Scratch::repository();
    let second = three_turns(&scratch);
    let to = (second - 1).to_string();
    let rewind = ["rewind", "one", "--to", &to, "--files"];
    // Nobody can be asked, and nothing happens.
    scratch.ended(&rewind).assert_code(2).assert_says("--yes");
    assert_eq!((scratch.read("a.txt").as_str(), scratch.journals().len()), ("four\n", 1));
    scratch.ended(&["rewind", "one", "--to", &to, "--yes"]).assert_code(2);
    scratch.ended(&["rewind", "one", "--to", "999", "--files", "--yes"]).assert_code(42).assert_says("the last one is");
    let most = u64::MAX.to_string();
    for number in [&*most, "9223372036854775807"] {
        for words in [
            &["rewind", "one", "--to", number, "--files", "--yes"][..],
            &["rewind", "one", "--to", number],
            &["branch", "one", "--at", number],
            &["replay", "one", "--to", number],
        ] {
            let ended = scratch.ended(words);
            assert!(matches!(ended.code(), 2 | 42) && !ended.err.contains("panicked"), "{words:?}: {ended:#?}");
        }
    }

    let ended = scratch.ended(&[&rewind[..], &["--yes"]].concat());
    ended.assert_code(0).assert_says("2 files restored, 0 left").assert_says("echo c > c.txt");
    assert!(ended.out.starts_with("restore a.txt\nremove b.txt\n"), "{}", ended.out);
    assert_eq!(scratch.read("a.txt"), "two\n");
    assert!(!scratch.work("b.txt").exists() && scratch.work("c.txt").exists());
    let id = ended.out.lines().last().unwrap().to_owned();
    let shown = scratch.ended(&["sessions", "show", &id]).out;
    assert!(shown.contains("First.") && !shown.contains("Second."), "{shown}");
    // The same again has nothing to take back, and makes another session only.
    scratch.ended(&[&rewind[..], &["--yes"]].concat()).assert_code(0);
    assert_eq!(scratch.read("a.txt"), "two\n");

    scratch.ended(&["undo"]).assert_code(0);
    assert_eq!((scratch.read("a.txt").as_str(), scratch.read("b.txt").as_str()), ("four\n", "b\n"));
}

#[test]
fn a_rewind_leaves_what_others_changed() {
    let scratch = Scratch::repository();
    let second = three_turns(&scratch);
    // Another session's turn, and a person.
    std::thread::sleep(Duration::from_millis(5));
    let model = Model::script([write("other.txt", "theirs\n"), Step::text("Done.")]);
    scratch.run(&model, &["-p", "go", "--permission-mode", "bypass"]).assert_code(0);
    scratch.write("a.txt", "mine\n");
    let to = (second - 1).to_string();
    let ended = scratch.ended(&["rewind", "one", "--to", &to, "--files", "--yes"]);
    ended.assert_code(1).assert_says("1 file restored, 1 left");
    assert!(ended.out.contains("left a.txt: it has changed since"), "{}", ended.out);
    assert_eq!((scratch.read("a.txt").as_str(), scratch.read("other.txt").as_str()), ("mine\n", "theirs\n"));
    assert!(!scratch.work("b.txt").exists());
    // To the last record: there is nothing behind it.
    let records = scratch.ended(&["replay", "one"]).out;
    let last = records.lines().filter_map(|line| line.split_whitespace().next()?.parse::<u64>().ok()).max().unwrap();
    let ended = scratch.ended(&["rewind", "one", "--to", &last.to_string(), "--files", "--yes"]);
    ended.assert_code(0).assert_says("no later turn");
    Scratch::new().ended(&["rewind", "one", "--to", "3", "--files"]).assert_code(42);
}
