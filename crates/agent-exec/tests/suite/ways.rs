//! A program without input is started by another way than one with input. Both hold the same.

use crate::sandbox::{everywhere, run};
use crate::support::text;
use agent_exec::{Access, Mechanism};
use agent_types::ports::{Command, Exit};
use std::process::Stdio;

fn with_input(command: Command) -> Command {
    Command { stdin: b"words".to_vec(), ..command }
}

/// What starts a program holds descriptors that lead out of the sandbox.
#[tokio::test]
async fn no_descriptor_of_the_sandbox_is_within_reach() {
    for (mechanism, place, sandboxed) in everywhere(Access::WorkspaceWrite) {
        let open = place.command("echo /proc/self/fd/*; readlink /proc/self/fd/0; cat");
        let found = text(&run(&sandboxed, &open).await);
        // The shell itself may have one open for the directory that it lists.
        let listed = found.lines().next().unwrap().split(' ').count();
        assert!(listed <= 4, "{mechanism:?}: {found}");
        assert_eq!(found.lines().nth(1), Some("/dev/null"), "{mechanism:?}: {found}");
        assert_eq!(found.lines().nth(2), None, "{mechanism:?}: {found}");
        let found = text(&run(&sandboxed, &with_input(open)).await);
        assert!(found.ends_with("\nwords"), "{mechanism:?}: {found}");

        if mechanism == Mechanism::Bubblewrap {
            let reach = "for d in 0 1 2 3 4 5 6 7; do cat /proc/1/fd/$d/lock && echo read; : > /proc/1/fd/$d/made && echo made; done; true";
            for command in [place.command(reach), with_input(place.command(reach))] {
                let found = text(&run(&sandboxed, &command).await);
                assert!(!found.contains("\nread") && !found.contains("\nmade"), "{found}");
            }
        }
    }
}

#[tokio::test]
async fn a_signal_is_told_from_a_number() {
    for (mechanism, place, sandboxed) in everywhere(Access::WorkspaceWrite) {
        for (text, expected) in
            [("exit 137", Exit::Code(137)), ("kill -9 $$", Exit::Signal(9)), ("exit 3", Exit::Code(3))]
        {
            for command in [place.command(text), with_input(place.command(text))] {
                assert_eq!(run(&sandboxed, &command).await.exit, expected, "{mechanism:?}: {text}");
            }
        }
    }
}

/// Limits are said to be the same.
#[tokio::test]
async fn no_core_is_dumped_and_the_command_is_the_better_victim() {
    for (mechanism, place, sandboxed) in everywhere(Access::WorkspaceWrite) {
        let limits = "ulimit -c; cat /proc/self/oom_score_adj";
        let own: i32 = std::fs::read_to_string("/proc/self/oom_score_adj").unwrap().trim().parse().unwrap();
        let expected = format!("0\n{}\n", (own + 300).min(1_000));
        for command in [place.command(limits), with_input(place.command(limits))] {
            assert_eq!(text(&run(&sandboxed, &command).await), expected, "{mechanism:?}");
        }
    }
}

/// Between its start and the moment from which `bwrap` ends with it, an agent may be killed.
#[test]
fn nothing_is_started_for_an_agent_that_is_gone() {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::write(scratch.path().join("lock"), "").unwrap();
    let start = || {
        std::process::Command::new(env!("CARGO_BIN_EXE_agent-exec-helper"))
            .args(["agent-exec-helper", "confine", "0", "0", "unbounded", "unprepared", "/dev/null", "true"])
            .stdin(std::fs::File::open(scratch.path()).unwrap())
            .stdout(Stdio::null())
            .output()
            .unwrap()
    };
    let gone = start();
    let said = String::from_utf8_lossy(&gone.stderr).into_owned();
    assert_eq!((gone.status.code(), said.contains("the agent has ended")), (Some(126), true), "{said}");
    let lock = std::fs::File::open(scratch.path().join("lock")).unwrap();
    lock.lock().unwrap();
    let there = start();
    assert!(!String::from_utf8_lossy(&there.stderr).contains("the agent has ended"));
}
