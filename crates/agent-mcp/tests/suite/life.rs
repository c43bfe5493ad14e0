//! Servers from their start to their end.

use crate::support::{HANG, Place, program};
use agent_core::server::State;
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_late_server_adds_its_tools_and_only_a_required_one_is_waited_for() {
    let place = Place::with(r#""startTimeoutMs": 300"#);
    let mut session = place.open("slow=2000");
    session.until("late", |session| session.status().state == State::Late).await;
    assert!(session.tools.is_empty() && session.servers.required().await.is_empty());
    session.until("there", |session| !session.tools.is_empty()).await;
    assert!(session.said.iter().any(|text| text.contains("is not ready after 300 ms")), "{:?}", session.said);

    let place = Place::with(r#""startTimeoutMs": 300, "required": true"#);
    let session = place.open("deaf");
    let missing = tokio::time::timeout(HANG, session.servers.required()).await.unwrap();
    assert_eq!(missing[0].0, "s");
    let place = Place::with(r#""required": true"#);
    assert!(place.open("slow=500").servers.required().await.is_empty());
}

#[tokio::test]
async fn what_cannot_be_started_is_said() {
    let place = Place::new();
    let mut config = place.config("s", "");
    config.reach = program("/nowhere/server", &[]);
    let mut session = place.open_all(vec![config.clone()]);
    assert_eq!(session.decided().await.state, State::Failed);
    assert!(session.status().found.unwrap().contains("/nowhere/server"));
    config.is_enabled = false;
    let mut session = place.open_all(vec![config.clone()]);
    assert_eq!(session.decided().await.state, State::Stopped);
    (config.is_enabled, config.reach) = (true, program("${AGENT_NO_SUCH_VARIABLE}", &[]));
    let mut session = place.open_all(vec![config]);
    session.decided().await;
    assert!(session.status().found.unwrap().contains("`AGENT_NO_SUCH_VARIABLE` is not set"));
}

#[tokio::test]
async fn a_server_has_the_environment_that_is_named() {
    let place = Place::with(r#""exposure": "direct""#);
    let mut session = place.open("");
    session.decided().await;
    let names = session.call("environment", "{}").await.content;
    assert!(names.contains("AGENT_TEST_MCP_SERVER=") && !names.contains("CARGO_MANIFEST_DIR"), "{names}");
}

#[tokio::test]
async fn hidden_tools_are_not_offered() {
    let place = Place::with(r#""exposure": "hidden""#);
    let mut session = place.open("");
    assert_eq!(session.decided().await.state, State::Ready);
    tokio::time::sleep(Duration::from_millis(50)).await;
    session.heard();
    assert!(session.tools.is_empty());
}

#[tokio::test]
async fn only_a_server_that_was_never_used_is_waited_for_a_moment() {
    let moment = Duration::from_secs(2);
    for words in ["", "deaf"] {
        let place = Place::new();
        let session = place.open(words);
        let since = Instant::now();
        tokio::time::timeout(HANG, session.servers.first_known()).await.unwrap();
        let is_there = session.status().is_ready();
        assert!(is_there || since.elapsed() >= moment, "{words}: {:?}", session.status());
    }
    let place = Place::new();
    place.known().await;
    let session = place.open("slow=20000");
    tokio::time::timeout(HANG, session.servers.first_known()).await.unwrap();
    assert!(!session.status().is_decided(), "its tools are known, and nothing waits for it");
}
