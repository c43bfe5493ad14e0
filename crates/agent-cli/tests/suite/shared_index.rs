//! Others at work in the same repository: what the agent changed is committed all the same.

use crate::support::{Model, Running, Scratch};
use agent_testkit::http::Step;
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

const FLAGS: [&str; 6] = ["-p", "x", "--permission-mode", "bypass", "--auto-commit", "--verbose"];

fn write(name: &str) -> Step {
    Step::call("write_file", json!({"path": name, "content": format!("{name}\n")}))
}

#[test]
fn a_lock_that_goes_soon_is_waited_for() {
    let model = Model::script([write("new.txt"), Step::text("Done.")]);
    let scratch = Scratch::repository();
    let lock = scratch.work(".git/index.lock");
    fs::write(&lock, "").unwrap();
    let running = Running::start(&mut scratch.run_command(&model, &FLAGS));
    while !scratch.work("new.txt").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    fs::remove_file(&lock).unwrap();
    let ended = running.end();
    ended.assert_code(0);
    assert_eq!(scratch.git(&["status", "--porcelain"]), "", "{ended:#?}");
    assert!(scratch.git(&["log", "--format=%s", "--name-only", "-1"]).contains("new.txt"));
}

/// An editor holds it, or a git that was killed: it is not waited for.
fn held_for_long(scratch: &Scratch) -> PathBuf {
    let lock = scratch.work(".git/index.lock");
    fs::write(&lock, "").unwrap();
    assert!(scratch.command("touch").args(["-d", "1 hour ago"]).arg(&lock).status().unwrap().success());
    lock
}

#[test]
fn what_a_lock_left_uncommitted_is_committed_when_the_session_ends_and_said() {
    let scratch = Scratch::repository();
    let lock = held_for_long(&scratch);
    let freed = Step::respond(move |_| {
        fs::remove_file(&lock).unwrap();
        Step::text("Done.")
    });
    let model = Model::script([write("new.txt"), freed]);
    let ended = scratch.run(&model, &FLAGS);
    ended.assert_code(0).assert_says("retried").assert_says("committed the changes of an earlier run");
    assert_eq!(scratch.git(&["status", "--porcelain"]), "", "{ended:#?}");
}

#[test]
fn what_a_lock_left_uncommitted_is_committed_with_the_next_changes() {
    let scratch = Scratch::repository();
    let lock = held_for_long(&scratch);
    let freed = Step::respond(move |_| {
        fs::remove_file(&lock).unwrap();
        write("newer.txt")
    });
    let model = Model::script([write("new.txt"), freed, Step::text("Done.")]);
    let ended = scratch.run(&model, &FLAGS);
    ended.assert_code(0).assert_says("retried");
    assert_eq!(scratch.git(&["status", "--porcelain"]), "", "{ended:#?}");
    let changed = scratch.git(&["log", "--format=", "--name-only", "-1"]);
    assert!(changed.contains("new.txt") && changed.contains("newer.txt"), "{changed}");
}

#[test]
fn what_stays_uncommitted_is_said_at_the_end() {
    let scratch = Scratch::repository();
    let lock = held_for_long(&scratch);
    let model = Model::script([write("new.txt"), Step::text("Done.")]);
    let ended = scratch.run(&model, &FLAGS);
    ended.assert_code(0).assert_says("commit the remaining changes");
    assert_eq!(scratch.git(&["status", "--porcelain"]), "?? new.txt\n", "{ended:#?}");
    assert!(lock.exists(), "it is somebody else's");
}

#[test]
fn six_agents_in_one_workspace_leave_nothing_uncommitted() {
    let scratch = Scratch::repository();
    let models: Vec<Model> = (0..6)
        .map(|agent| {
            let writes = (0..4).map(|file| write(&format!("agent-{agent}-{file}.txt")));
            Model::script(writes.chain([Step::text("Done.")]).collect::<Vec<_>>())
        })
        .collect();
    let started: Vec<Running> =
        models.iter().map(|model| Running::start(&mut scratch.run_command(model, &FLAGS))).collect();
    let ended: Vec<_> = started.into_iter().map(Running::end).collect();
    for ended in &ended {
        ended.assert_code(0);
    }
    let left = scratch.git(&["status", "--porcelain"]);
    assert_eq!(left, "", "{ended:#?}");
    assert_eq!(scratch.git(&["ls-files"]).lines().filter(|name| name.starts_with("agent-")).count(), 24);
    // An agent that cannot take the lock in time commits its file with its next one, but never another agent's.
    let log = scratch.git(&["log", "--format=tformat:commit", "--name-only", "--diff-filter=A"]);
    let commits: Vec<Vec<&str>> = log
        .split("commit\n")
        .map(|names| names.lines().filter(|name| name.starts_with("agent-")).collect())
        .filter(|names: &Vec<_>| !names.is_empty())
        .collect();
    assert_eq!(commits.iter().flatten().count(), 24, "each file is added once: {log}");
    for names in &commits {
        let agents: BTreeSet<_> = names.iter().map(|name| &name[.."agent-0".len()]).collect();
        assert_eq!(agents.len(), 1, "{names:?}");
    }
    scratch.git(&["fsck", "--strict"]);
}
