//! Servers over HTTP, on loopback: both protocols, and what servers do that should not.

use crate::support::{HANG, Place, call};
use agent_core::server::State;
use agent_core::tool::ToolStatus;
use agent_testkit::ManualCancel;
use agent_testkit::mcp::{McpHttp, McpRequest};
use std::sync::Arc;

/// All ways in which a proper server may answer.
const WAYS: [&str; 4] = ["", "stream", "modern", "modern stream"];

#[tokio::test]
async fn both_protocols_are_spoken_in_one_answer_or_in_a_stream() {
    for words in [&WAYS[..], &["polite"]].concat() {
        let (place, server) = (Place::new(), McpHttp::start(words));
        let mut session = place.open_all(vec![place.far(&server.url())]);
        let status = session.decided().await;
        assert_eq!(status.state, State::Ready, "{words}: {status:?}");
        let version = if words.contains("modern") { "2026-07-28" } else { "2025-11-25" };
        assert_eq!(status.peer.as_deref(), Some(&*format!("far 1.0, protocol {version}")), "{words}");
        let outcome = session.call("echo", r#"{"text": "hällo"}"#).await;
        assert_eq!((outcome.status, outcome.content.as_str()), (ToolStatus::Ok, "hällo"), "{words}");
        let outcome = session.call("wait", r#"{"steps": 3, "ms": 5}"#).await;
        assert_eq!((outcome.status, outcome.content.as_str()), (ToolStatus::Ok, "waited"), "{words}");
        let outcome = session.call("bytewise", "{}").await;
        assert_eq!(outcome.content, "slowly", "{words}");
        session.servers.stop().await;
        let calls = server.asked().into_iter().filter(|asked| asked.asks() == "tools/call");
        assert!(calls.into_iter().all(|asked| asked.header("mcp-protocol-version") == Some(version)), "{words}");
    }
}

/// What goes wrong with a call is told, and the server goes on.
#[tokio::test]
async fn bad_answers_end_their_call_alone() {
    for words in WAYS {
        let (place, server) = (Place::with(r#""callTimeoutMs": 5000"#), McpHttp::start(words));
        let mut session = place.open_all(vec![place.far(&server.url())]);
        session.decided().await;
        let unknown = ToolStatus::Interrupted;
        for (tool, status, said) in [
            ("huge", unknown, "outcome unknown"),
            ("half", unknown, "outcome unknown"),
            ("other_id", unknown, "outcome unknown"),
            ("not_json", ToolStatus::Failed, "it answered"),
            ("broken", ToolStatus::Failed, "it answered HTTP 500"),
        ] {
            let outcome = session.call(tool, "{}").await;
            assert!(outcome.status == status && outcome.content.contains(said), "{words}, {tool}: {outcome:?}");
            let again = session.call("echo", r#"{"text": "still here"}"#).await;
            assert_eq!(again.content, "still here", "{words}, after {tool}");
        }
        assert_eq!(session.status().state, State::Ready, "{words}");
        let calls = |asked: &McpRequest| asked.asks() == "tools/call" && asked.message["params"]["name"] == "half";
        assert_eq!(server.asked().iter().filter(|asked| calls(asked)).count(), 1, "{words}: nothing is done twice");
    }
}

#[tokio::test]
async fn a_cancelled_call_is_withdrawn() {
    for words in WAYS {
        let (place, server) = (Place::new(), McpHttp::start(words));
        let mut session = place.open_all(vec![place.far(&server.url())]);
        session.decided().await;
        let cancel = Arc::new(ManualCancel::default());
        let wait = r#"{"steps": 2000, "ms": 20}"#.to_owned();
        let running = tokio::spawn(call(session.tool("wait"), wait, cancel.clone()));
        let runs = |asked: &McpRequest| asked.asks() == "tools/call";
        session.until("it runs", |_| server.asked().iter().any(runs)).await;
        cancel.cancel();
        let outcome = tokio::time::timeout(HANG, running).await.unwrap().unwrap();
        assert_eq!(outcome.status, ToolStatus::Interrupted, "{words}: {outcome:?}");
        // The protocol of 2026 ends the request instead.
        if !words.contains("modern") {
            let is_word = |asked: &McpRequest| asked.asks() == "notifications/cancelled";
            session.until("the server is told", |_| server.asked().iter().any(is_word)).await;
        }
        assert_eq!(session.call("echo", r#"{"text": "next"}"#).await.content, "next", "{words}");
    }
}

#[tokio::test]
async fn what_does_not_come_is_said() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (words, said) in [
        ("status=503", "it answered HTTP 503"),
        ("html", "text/html"),
        ("big", "more than 16777216 bytes"),
        ("token=other", "HTTP 401"),
        ("", "cannot connect to"),
    ] {
        let place = Place::with(r#""startTimeoutMs": 20000"#);
        let server = McpHttp::start(words);
        let url = if words.is_empty() { format!("http://{closed}/") } else { server.url() };
        let mut session = place.open_all(vec![place.far(&url)]);
        let status = session.decided().await;
        let found = status.found.unwrap_or_default();
        assert!(status.state == State::Failed && found.contains(said), "{words}: {:?}: {found}", status.state);
    }
    let place = Place::with(r#""startTimeoutMs": 200"#);
    let server = McpHttp::start("deaf");
    let mut session = place.open_all(vec![place.far(&server.url())]);
    assert_eq!(session.decided().await.state, State::Late);
}

#[tokio::test]
async fn a_token_goes_to_its_server_and_into_no_text() {
    let other = McpHttp::start("");
    let elsewhere = McpHttp::start(&format!("to={}", other.url()));
    let server = McpHttp::start("token=secret-token");
    let place = Place::with(r#""headers": {"Authorization": "Bearer secret-token"}"#);
    let mut session = place.open_all(vec![place.far(&format!("{}?key=secret-key", server.url()))]);
    assert_eq!(session.decided().await.state, State::Ready);
    assert!(server.asked().iter().all(|asked| asked.header("authorization") == Some("Bearer secret-token")));
    session.servers.stop().await;

    let place = Place::with(r#""headers": {"Authorization": "Bearer secret-token"}"#);
    let mut session = place.open_all(vec![place.far(&format!("{}?key=secret-key", elsewhere.url()))]);
    let status = session.decided().await;
    let found = status.found.clone().unwrap_or_default();
    assert!(status.state == State::Failed && found.contains("redirects elsewhere"), "{status:?}");
    assert!(!elsewhere.asked().is_empty() && other.asked().is_empty(), "nobody else got it");
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let place = Place::with(r#""headers": {"X-Token": "secret-token"}"#);
    let mut gone = place.open_all(vec![place.far(&format!("http://me:secret-word@{closed}/?key=secret-key"))]);
    let told = format!("{:?} {:?} {status:?} {:?}", gone.decided().await, gone.said, session.said);
    assert!(told.contains("cannot connect") && !told.contains("secret"), "{told}");
}

#[tokio::test]
async fn another_url_is_another_server() {
    let (place, server, other) = (Place::new(), McpHttp::start(""), McpHttp::start(""));
    let mut session = place.open_all(vec![place.far(&server.url())]);
    session.decided().await;
    session.servers.stop().await;
    let mut session = place.open_all(vec![place.far(&other.url())]);
    assert!(session.names().contains(&"mcp__s__echo"), "known from the record");
    assert_eq!(session.decided().await.state, State::Trusting);
    assert!(other.asked().is_empty(), "it was not even asked");
}

/// A server whose streams end at once, and who wishes to be asked again at once, is asked with pauses that grow.
#[tokio::test]
async fn a_stream_that_ends_at_once_is_asked_for_with_pauses() {
    let (place, server) = (Place::with(r#""callTimeoutMs": 600000"#), McpHttp::start(""));
    let mut session = place.open_all(vec![place.far(&server.url())]);
    session.decided().await;
    let begun = std::time::Instant::now();
    let streams = || server.asked().iter().filter(|asked| asked.method == "GET").count();
    let waited = async {
        while streams() < 4 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        outcome = session.call("resumed", "{}") => panic!("{outcome:?}"),
        waited = tokio::time::timeout(HANG, waited) => waited.unwrap(),
    }
    // The first two at once, and then after one second, and after two.
    assert!(begun.elapsed() >= std::time::Duration::from_secs(3), "{:?}", begun.elapsed());
    session.servers.stop().await;
}

/// What is secret in a request is in no word about its answer, whatever of it the server repeats.
#[tokio::test]
async fn a_server_that_repeats_the_request_shows_no_secret() {
    let server = McpHttp::start("repeats");
    let url = server.url().replace("http://", "http://some-user:pass-word@");
    let place = Place::with(r#""headers": {"X-Key": "header-secret"}"#);
    let mut session = place.open_all(vec![place.far(&format!("{url}?key=param-secret&k=v"))]);
    let found = session.decided().await.found.unwrap();
    let sent = server.asked().pop().unwrap();
    let basic = sent.header("authorization").unwrap().to_owned();
    assert!(basic.starts_with("Basic ") && sent.header("x-key") == Some("header-secret"), "{sent:?}");
    for secret in ["some-user", "pass-word", "param-secret", "k=v", "header-secret", &basic[6..]] {
        assert!(!found.contains(secret), "{secret}: {found}");
    }
    assert!(found.contains("400") && found.contains("bad: "), "{found}");
    session.servers.stop().await;
}
