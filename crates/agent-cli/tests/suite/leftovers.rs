//! What an agent that is killed leaves behind: the next one removes it, and nothing else.

use crate::support::{Ended, Model, Running, Scratch, eventually};
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// No agent takes so long to write a file.
const TOO_LONG: Duration = Duration::from_secs(20);

fn temporaries(scratch: &Scratch) -> Vec<PathBuf> {
    let entries = fs::read_dir(scratch.path("work")).unwrap().map(|entry| entry.unwrap().path());
    let is_temporary = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(".agent-");
    entries.filter(is_temporary).collect()
}

/// An agent that is killed while it writes a file, and what it left.
fn killed(scratch: &Scratch) -> PathBuf {
    let content = "x".repeat(3_000_000);
    for _ in 0..200 {
        // One that is there would have to be read first.
        let _ = fs::remove_file(scratch.work("a.txt"));
        let model = Model::always(Step::call("write_file", json!({"path": "a.txt", "content": content})));
        let arguments = ["-p", "x", "--permission-mode", "bypass", "--sandbox", "off", "--no-session"];
        let running = Running::start(&mut scratch.run_command(&model, &arguments));
        // Without a pause: it is there for milliseconds.
        let begun = Instant::now();
        while temporaries(scratch).is_empty() && model.requests().len() < 12 && begun.elapsed() < TOO_LONG {
            std::thread::yield_now();
        }
        running.signal("KILL");
        running.end();
        if let Some(left) = temporaries(scratch).pop() {
            return left;
        }
    }
    panic!("it was never killed in the right moment");
}

fn next(scratch: &Scratch) -> Ended {
    let model = Model::script([Step::text("Done.")]);
    let ended = scratch.run(&model, &["-p", "x"]);
    ended.assert_code(0);
    ended
}

#[test]
fn a_temporary_file_of_a_killed_agent_is_removed_by_the_next_one() {
    let scratch = Scratch::new();
    let left = killed(&scratch);
    // Somebody's own, of the same kind of name.
    let own = scratch.work(".agent-1-1.tmp");
    fs::write(&own, "").unwrap();
    next(&scratch).assert_says(left.file_name().unwrap().to_str().unwrap()).assert_says("killed");
    assert_eq!(temporaries(&scratch), [own]);
    assert!(!next(&scratch).err.contains("killed"), "once");
    assert_eq!(fs::read_dir(scratch.path("state").join("leftovers")).unwrap().count(), 0);
}

#[test]
fn doctor_removes_it_and_a_file_that_took_the_name_stays() {
    let scratch = Scratch::new();
    let first = killed(&scratch);
    assert!(scratch.ended(&["doctor"]).out.contains(first.to_str().unwrap()));
    assert!(!first.exists());

    let second = killed(&scratch);
    fs::write(scratch.work("mine"), "mine").unwrap();
    fs::rename(scratch.work("mine"), &second).unwrap();
    let told = scratch.ended(&["doctor"]).out;
    assert!(told.contains("stays") && told.contains(second.to_str().unwrap()), "{told}");
    next(&scratch).assert_says("stays");
    assert_eq!(fs::read_to_string(&second).unwrap(), "mine");
}

#[test]
fn a_living_agent_keeps_its_own() {
    let scratch = Scratch::new();
    let model = Model::script([Step::call("write_file", json!({"path": "a.txt", "content": "a"})), Step::hang()]);
    let running = Running::start(&mut scratch.run_command(&model, &["-p", "x", "--permission-mode", "bypass"]));
    model.wait_for_requests(2);
    let notes = || fs::read_dir(scratch.path("state").join("leftovers")).unwrap().count();
    assert_eq!(notes(), 1);
    assert!(!next(&scratch).err.contains("killed"));
    assert_eq!(notes(), 1, "they belong to one that lives");
    running.signal("TERM");
    running.end().assert_code(143);
    assert_eq!(notes(), 0, "and go with it");
}

#[test]
fn copies_of_the_index_that_nobody_needs_any_more_are_removed() {
    let scratch = Scratch::repository();
    let folder = scratch.work(".git/agent");
    fs::create_dir_all(&folder).unwrap();
    let names = ["0000000000001-77.index", "0000000000001-77.index.lock", "mine.index", "0000000000002-78.index"];
    for name in names {
        fs::write(folder.join(name), "x").unwrap();
    }
    for name in &names[..3] {
        let status = scratch.command("touch").args(["-d", "30 days ago"]).arg(folder.join(name)).status().unwrap();
        assert!(status.success());
    }
    next(&scratch);
    let left: Vec<bool> = names.iter().map(|name| folder.join(name).exists()).collect();
    assert_eq!(left, [false, false, true, true], "the old ones that the agent made");
}

/// The agent's own git waits here for a pipe that nobody writes: a file that the repository's configuration includes.
#[test]
fn its_own_git_ends_with_it_however_it_ends() {
    for signal in ["TERM", "INT", "KILL"] {
        let scratch = Scratch::repository_in("/var/tmp");
        let pipe = scratch.work("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let git = ["config", "include.path", pipe.to_str().unwrap()];
        assert!(scratch.command("git").args(git).status().unwrap().success());
        let model = Model::script([Step::text("Done.")]);
        let running = Running::start(&mut scratch.run_command(&model, &["-p", "x"]));
        let waits = || own_git_in(&scratch.path("work")) > 0;
        eventually("git is asked", waits);
        running.signal(signal);
        running.end();
        // It would wait for seconds, and for ever where nobody ends it.
        eventually(signal, || !waits());
    }
}

/// How many processes of this name are in a directory.
fn own_git_in(directory: &Path) -> usize {
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    let is_there = |process: &PathBuf| {
        fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == directory)
            && fs::read_to_string(process.join("comm")).is_ok_and(|name| name.trim() == "git")
    };
    processes.filter(is_there).count()
}
