//! Commands in the background, and lists.

use crate::support::Bench;
use agent_types::tool::{Effect, Subject, ToolStatus};
use serde_json::json;
use std::time::{Duration, Instant};

async fn start(bench: &Bench, command: &str) -> String {
    let said = bench.ok("bash", json!({"command": command, "run_in_background": true})).await;
    said.split('`').nth(1).unwrap().to_owned()
}

fn runs(marker: &str) -> bool {
    let found = std::process::Command::new("pgrep").args(["-f", marker]).output().unwrap();
    found.status.success()
}

#[tokio::test]
async fn a_command_goes_on_and_is_read_later() {
    let bench = Bench::new();
    // It ends only when the file is there, so the call was answered before.
    let id = start(&bench, "echo one; until [ -e go ]; do sleep 0.02; done; echo two; exit 3").await;
    let mut said = String::new();
    while !said.contains("one") {
        said = bench.ok("bash_output", json!({"id": id})).await;
    }
    assert!(said.starts_with("one\n[still running after "), "{said}");
    let said = bench.ok("bash_output", json!({"id": id})).await;
    assert!(said.starts_with("(no new output)\n[still running after "), "{said}");
    bench.ok("bash", json!({"command": "touch go"})).await;
    bench.fails("bash_output", json!({"id": id, "wait_ms": 20_000}), "two\n[exit status 3]\n").await;
    bench.fails("bash_output", json!({"id": id}), "there are: none").await;
}

#[tokio::test]
async fn a_command_is_ended_with_everything_it_started() {
    let bench = Bench::new();
    let id = start(&bench, "sleep 98701 & setsid sleep 98701 & echo here; sleep 98701").await;
    while !bench.ok("bash_output", json!({"id": id})).await.contains("here") {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(runs("sleep 98701"));
    let said = bench.ok("bash_kill", json!({"id": id})).await;
    assert!(said.contains("killed on request"), "{said}");
    assert!(!runs("sleep 98701"));
    bench.fails("bash_kill", json!({"id": id}), "there is no background command").await;
}

#[tokio::test]
async fn nothing_outlives_the_tools() {
    let bench = Bench::new();
    for _ in 0..2 {
        start(&bench, "setsid sleep 98702 & sleep 98702").await;
    }
    while !runs("setsid sleep 98702") && !runs("sleep 98702") {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let begun = Instant::now();
    drop(bench);
    assert!(!runs("sleep 98702"));
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn there_are_not_too_many_and_what_they_print_is_bounded() {
    let bench = Bench::new();
    let id = start(&bench, "yes é").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let said = bench.ok("bash_output", json!({"id": id})).await;
    assert!(
        said.len() < 31_000 && said.contains("bytes left out here") && !said.contains('\u{fffd}'),
        "{}",
        said.len()
    );
    bench.ok("bash_kill", json!({"id": id})).await;
    for _ in 0..16 {
        start(&bench, "sleep 98703").await;
    }
    let one_more = json!({"command": "true", "run_in_background": true});
    bench.fails("bash", one_more, "16 commands are already running in the background").await;
}

#[tokio::test]
async fn waiting_can_be_cancelled_and_its_command_goes_on() {
    let bench = Bench::new();
    let id = start(&bench, "sleep 98704").await;
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        bench.switch.fire();
    };
    let (outcome, ()) = tokio::join!(bench.call("bash_output", json!({"id": id, "wait_ms": 60_000})), cancel);
    assert_eq!(outcome.status, ToolStatus::Interrupted);
    assert!(outcome.content.contains("still running"), "{outcome:?}");
}

#[tokio::test]
async fn wrong_calls_are_told_how_to_be_right() {
    let bench = Bench::new();
    bench.fails("bash_output", json!({}), "`id` is missing. `bash_output` takes `id` (string), `wait_ms`").await;
    bench.fails("bash_output", json!({"id": "x", "wait_ms": 600_001}), "at most 600000").await;
    bench.fails("bash", json!({"command": "x", "timeout_ms": 20_000_000, "run_in_background": true}), "14400000").await;
    let seen = bench.inspect("bash_kill", &json!({"id": "x"})).unwrap();
    assert_eq!((seen.effect, seen.subject), (Effect::Reads, Subject::None));
}

#[tokio::test]
async fn a_list_is_kept_in_order() {
    let bench = Bench::new();
    let todo = |content: &str, status: &str| json!({"content": content, "status": status});
    let list = json!({"todos": [todo("a", "completed"), todo("b", "in_progress"), todo("c", "pending")]});
    assert_eq!(bench.ok("todo_write", list).await, "1 of 3 done\n[x] a\n[>] b\n[ ] c\n");
    assert_eq!(bench.ok("todo_write", json!({"todos": []})).await, "0 of 0 done\n");
    let cases = [
        (json!({"todos": [todo("a", "in_progress"), todo("b", "in_progress")]}), "one at a time"),
        (json!({"todos": [todo(" ", "pending")]}), "entry 1"),
        (json!({"todos": [todo("a\nb", "pending")]}), "one line"),
        (json!({"todos": [todo("a", "done")]}), "unknown variant `done`"),
        (json!({"todos": vec![todo("a", "pending"); 101]}), "more than 100"),
        (json!({"list": []}), "`todos` is missing; there is no parameter `list`"),
    ];
    for (arguments, expected) in cases {
        bench.fails("todo_write", arguments, expected).await;
    }
}
