//! A daemon without parents, session and environment, or with one that says it is another's: known by exclusion, so in a test program of
//! its own where no other run is.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "one test uses a part of it")]
mod support;

use agent_types::ports::Exit;
use support::{escape_command, odd_sleep, run, sleepers, wait_for_sleepers};

/// Each with whether it is counted as left behind: one with the marker of a run that is over is anybody's.
const ESCAPES: [(&str, bool); 3] = [
    ("(env -i setsid sh -c '(S &); S' >/dev/null 2>&1 &) ; ", true),
    ("(AGENT_EXEC_RUN=made-up setsid sh -c '(S &); S' >/dev/null 2>&1 &) ; ", true),
    ("(AGENT_EXEC_RUN=${AGENT_EXEC_RUN}9 setsid sh -c '(S &); S' >/dev/null 2>&1 &) ; ", false),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stray_is_found_whatever_ends_the_run() {
    for (escape, is_counted) in ESCAPES {
        found_whatever_ends_the_run(escape, is_counted).await;
    }
}

async fn found_whatever_ends_the_run(escape: &str, is_counted: bool) {
    let sleep = odd_sleep();
    let ready = format!("until [ $(pgrep -cfx 'sleep {sleep}') = 2 ]; do :; done");
    let finished = run(&escape_command(escape, &sleep, &ready)).await.unwrap();
    assert_eq!(finished.exit, Exit::Code(0));
    assert!(finished.left_behind >= 2 || !is_counted, "{escape}: {finished:?}");
    assert_eq!(sleepers(&sleep), 0);

    let sleep = odd_sleep();
    let mut command = escape_command(escape, &sleep, "exec sleep 1000");
    command.timeout_ms = 3_000;
    let (finished, ()) = tokio::join!(run(&command), wait_for_sleepers(&sleep, 2));
    assert_eq!(finished.unwrap().exit, Exit::TimedOut);
    assert_eq!(sleepers(&sleep), 0);

    let sleep = odd_sleep();
    let command = escape_command(escape, &sleep, "exec sleep 1000");
    tokio::select! {
        _ = run(&command) => panic!("it must not end"),
        () = wait_for_sleepers(&sleep, 2) => {}
    }
    assert_eq!(sleepers(&sleep), 0);
}
