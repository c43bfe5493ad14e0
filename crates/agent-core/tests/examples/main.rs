//! The examples are run, and end as they say.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use std::process::Command;

/// What an example prints. It panics, and fails this test, where something is not as it says.
fn run(name: &str) -> String {
    // Cargo builds examples beside the tests and puts them there.
    let test = std::env::current_exe().unwrap();
    let directory = test.parent().and_then(|parent| parent.parent()).unwrap().join("examples");
    let example = directory.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(&example)
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}; a plain `cargo test -p agent-core` builds it", example.display()));
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_session_is_driven_by_hand() {
    assert_eq!(run("by_hand"), "It has 5 letters.\nIt has 7 letters.\nbye\n4 model calls, 2 tool calls\n");
}

#[test]
fn two_sessions_share_a_thread() {
    let shown = run("two_sessions");
    assert_eq!(shown.lines().next(), Some("writer: writer thinks of 1 messages"), "{shown}");
    assert!(shown.contains("critic: critic thinks of 5 messages"), "{shown}");
    assert!(shown.ends_with("writer: limit on model calls reached: 3 of 3\n"), "{shown}");
}

#[test]
fn a_journal_brings_a_session_back() {
    let shown = run("record_replay");
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].starts_with(r#"{"seq":0,"at_ms":1,"entry":{"Header":{"format_version":5,"#), "{shown}");
    assert_eq!(lines[1], r#"{"seq":1,"at_ms":2,"entry":{"Event":"Started"}}"#);
    assert_eq!(*lines.last().unwrap(), "4 records, replayed to WaitingForUserInput");
}
