//! Calls of tools, and what comes of them.

use crate::support::{HANG, Place, call};
use agent_core::conversation::Arguments;
use agent_core::permission::{Permissions, Rule};
use agent_core::server::State;
use agent_core::tool::{Effect, HookVerdict, ToolStatus};
use agent_testkit::ManualCancel;
use std::sync::Arc;
use std::time::Duration;

#[tokio::test]
async fn both_protocols_are_spoken() {
    for (words, version) in [("", "2025-11-25"), ("modern", "2026-07-28")] {
        let place = Place::new();
        let mut session = place.open(words);
        let status = session.decided().await;
        assert_eq!(status.state, State::Ready, "{status:?}");
        assert_eq!(status.peer.as_deref(), Some(&*format!("testing 1.0, protocol {version}")));
        assert!(session.names().contains(&"mcp__s__echo"), "{:?}", session.names());
        let outcome = session.call("echo", r#"{"text": "hällo"}"#).await;
        assert_eq!((outcome.status, outcome.content.as_str()), (ToolStatus::Ok, "hällo"), "{words}");
        session.servers.stop().await;
    }
}

#[tokio::test]
async fn what_comes_of_a_call() {
    let place = Place::new();
    let mut session = place.open("");
    session.decided().await;
    for (tool, arguments, status, said) in [
        ("sum", r#"{"a": 2, "b": 3}"#, ToolStatus::Ok, r#"{"sum":5}"#),
        ("raze", "{}", ToolStatus::Failed, "it would not burn"),
        ("refuse", "{}", ToolStatus::Failed, "the server refused the call: not so\\u{1b}[31m (-32602)"),
        ("picture", "{}", ToolStatus::Ok, "pictures are not kept here"),
        ("odd_part", "{}", ToolStatus::Ok, "hologram"),
        ("ask", "{}", ToolStatus::Failed, "is given no more answers"),
        ("twice", "{}", ToolStatus::Ok, "again"),
        ("other_id", "{}", ToolStatus::Ok, "asked"),
        ("bytewise", "{}", ToolStatus::Ok, "slowly"),
        ("echo", r#"{"text": "\u001b[2J\u202e"}"#, ToolStatus::Ok, "\\u{1b}[2J\\u{202e}"),
    ] {
        let outcome = session.call(tool, arguments).await;
        assert!(outcome.status == status && outcome.content.contains(said), "{tool}: {outcome:?}");
    }
    let long = session.call("long", r#"{"bytes": 1000000}"#).await.content;
    assert!(long.len() < 21_000 && long.contains("the whole result is in .agent/mcp/s.txt"), "{}", long.len());
    assert_eq!(session.results.0.lock().unwrap()[0].len(), 1_000_008);
    assert_eq!(session.status().state, State::Ready, "nothing of that harmed it");
}

/// No word of a server allows anything, and one that it destroys makes rules narrower.
#[tokio::test]
async fn annotations_only_tighten() {
    let place = Place::new();
    let mut session = place.open("");
    session.decided().await;
    let runs = |allow: &[&str], deny: &[&str], tool: &str| {
        let rules = |texts: &[&str]| texts.iter().map(|text| text.parse::<Rule>().unwrap()).collect();
        let permissions = Permissions { allow: rules(allow), deny: rules(deny), ..Permissions::default() };
        let inspection = session.tool(tool).inspect(&Arguments::empty()).unwrap();
        assert_eq!(inspection.effect, Effect::Changes, "{tool}");
        let decision = permissions.decide(&format!("mcp__s__{tool}"), &inspection, &HookVerdict::None);
        format!("{decision:?}").split('(').next().unwrap().to_owned()
    };
    assert_eq!(runs(&[], &[], "peek"), "Ask", "it says that it only reads");
    assert_eq!(runs(&["mcp__s"], &[], "peek"), "Run");
    assert_eq!(runs(&["mcp__s__peek"], &[], "peek"), "Run");
    assert_eq!(runs(&["mcp__other", "mcp__s__echo"], &[], "peek"), "Ask");
    assert_eq!(runs(&["mcp__s"], &[], "raze"), "Ask", "it says that it destroys");
    assert_eq!(runs(&["mcp__s__raze"], &[], "raze"), "Run");
    for tool in ["peek", "raze"] {
        assert_eq!(runs(&["mcp__s", "mcp__s__raze"], &["mcp__s"], tool), "Deny", "{tool}");
        assert_eq!(runs(&["mcp__s"], &[&format!("mcp__s__{tool}")], tool), "Deny", "{tool}");
    }
}

#[tokio::test]
async fn a_call_has_its_time_and_progress_extends_it() {
    let place = Place::with(r#""callTimeoutMs": 3000, "callMaxMs": 9000"#);
    let mut session = place.open("");
    session.decided().await;
    // Longer than it may be silent, and never silent for long.
    let outcome = session.call("wait", r#"{"steps": 8, "ms": 500}"#).await;
    assert_eq!((outcome.status, outcome.content.as_str()), (ToolStatus::Ok, "waited"));
    // Always with progress, and longer than a call may take at all.
    let outcome = session.call("wait", r#"{"steps": 40, "ms": 300}"#).await;
    assert!(
        outcome.status == ToolStatus::Interrupted && outcome.content.contains("did not answer within"),
        "{outcome:?}"
    );
    session.until("the server is told", |_| place.notes().iter().any(|note| note == "notifications/cancelled")).await;
}

#[tokio::test]
async fn a_silent_call_ends_and_its_late_answer_is_nobodys() {
    let place = Place::with(r#""callTimeoutMs": 200"#);
    let mut session = place.open("");
    session.decided().await;
    let outcome = session.call("wait", r#"{"ms": 2000}"#).await;
    assert!(outcome.status == ToolStatus::Interrupted && outcome.content.starts_with("outcome unknown"), "{outcome:?}");
    session.until("it answered all the same", |_| place.notes().len() > 1).await;
    let place = Place::new();
    let mut session = place.open("");
    session.decided().await;
    assert_eq!(session.call("echo", r#"{"text": "next"}"#).await.content, "next");
}

#[tokio::test]
async fn a_cancelled_call_is_withdrawn() {
    let place = Place::new();
    let mut session = place.open("");
    session.decided().await;
    let cancel = Arc::new(ManualCancel::default());
    let running = tokio::spawn(call(session.tool("wait"), r#"{"ms": 300, "steps": 10}"#.into(), cancel.clone()));
    session.until("it runs", |_| place.notes().contains(&"call wait".to_owned())).await;
    cancel.cancel();
    let outcome = tokio::time::timeout(HANG, running).await.unwrap().unwrap();
    assert_eq!(outcome.status, ToolStatus::Interrupted, "{outcome:?}");
    session.until("the server is told", |_| place.notes().iter().any(|note| note == "notifications/cancelled")).await;
}

#[tokio::test]
async fn a_call_waits_for_a_server_that_is_known() {
    let place = Place::new();
    let mut session = place.open("");
    session.decided().await;
    session.servers.stop().await;
    // Its tools are known now, and it takes its time.
    let session = place.open("slow=1500");
    assert!(session.names().contains(&"mcp__s__echo"), "from the record, at once");
    let outcome = session.call("echo", r#"{"text": "early"}"#).await;
    assert_eq!(outcome.content, "early");
    tokio::time::timeout(Duration::from_secs(30), session.servers.stop()).await.unwrap();
}

/// A server may ask where it works. Nobody is there for an answer of a person, and it is given none of a model.
#[tokio::test]
async fn what_a_server_asks_for_is_answered_or_refused() {
    let place = Place::new();
    let mut session = place.open("");
    session.decided().await;
    for (method, said) in [
        ("roots/list", r#""uri":"file:///w%20o""#),
        ("sampling/createMessage", r#""code":-32601"#),
        ("secrets/list", r#""code":-32601"#),
    ] {
        let answer = session.call("echo", &format!(r#"{{"text": "request {method}"}}"#)).await;
        assert!(answer.content.contains(said), "{method}: {answer:?}");
    }
    session.servers.stop().await;
}
