//! A chain of processes without end. In a process of its own: other tests must not make orphans at the same time, or whose they are could
//! not be told at once.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests need the rest")]
mod support;

use crate::support::{Switch, helper, odd_sleep, run, shell};
use agent_exec::{Processes, Streams};
use agent_types::ports::Exit;
use std::time::Duration;

/// A process that forks and leaves its session, and whose child does the same, and so on: never in a list by the time it is read. It stops
/// by itself after a while, whatever becomes of the test.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chain_that_never_ends_is_ended() {
    if std::process::Command::new("perl").arg("-v").output().is_err() {
        println!("skipped: perl is not there");
        return;
    }
    let name = format!("chain-{}", odd_sleep());
    let script = "use POSIX; my $end = time + 15; while (time < $end) { my $c = fork; exit if $c; POSIX::setsid(); }";
    let chain = format!("perl -e '{script}' {name} >/dev/null 2>&1 & ");
    let lives = |looks: u32| {
        let seen = |_| {
            let mut lines = std::fs::read_dir("/proc")
                .unwrap()
                .filter_map(|entry| std::fs::read(entry.unwrap().path().join("cmdline")).ok());
            lines.any(|line| line.windows(name.len()).any(|part| part == name.as_bytes()))
        };
        (0..looks).any(seen)
    };
    let mut command = shell(&format!("{chain} sleep 1000"));
    command.timeout_ms = 2_000;
    let watched = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        tokio::task::block_in_place(|| lives(500))
    };
    let (finished, was_seen) = tokio::join!(run(&command), watched);
    assert_eq!(finished.unwrap().exit, Exit::TimedOut);
    assert!(was_seen, "it was there");
    assert!(!lives(50), "it is still there");

    let finished = run(&shell(&format!("{chain} sleep 0.3; exit 3"))).await.unwrap();
    assert_eq!(finished.exit, Exit::Code(3));
    assert!(finished.left_behind >= 1, "{finished:?}");
    assert!(!lives(50), "it is still there");

    // Also where another command runs, whose orphans look the same.
    let chained = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let command = shell(&format!("{chain} sleep 0.3; exit 3"));
        let finished = run(&command).await.unwrap();
        assert_eq!(finished.exit, Exit::Code(3));
        assert!(!tokio::task::block_in_place(|| lives(50)), "it is still there");
    };
    let beside = shell("sleep 14");
    tokio::select! {
        _ = run(&beside) => panic!("the other command ended first"),
        () = chained => {}
    }

    // And where a helper adopts them.
    let kept = Processes::new().watched_by(helper());
    let chained = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let finished = kept.run_streaming(&command, Streams::Merged, &Switch::new(), &|_| {}).await.unwrap();
        assert_eq!(finished.exit, Exit::TimedOut);
        assert!(!tokio::task::block_in_place(|| lives(50)), "it is still there: {finished:?}");
    };
    let switch = Switch::new();
    tokio::select! {
        _ = kept.run_streaming(&beside, Streams::Merged, &switch, &|_| {}) => panic!("the other command ended first"),
        () = chained => {}
    }
}
