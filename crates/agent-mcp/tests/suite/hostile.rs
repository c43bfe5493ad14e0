//! Servers that do what they should not.

use crate::support::{Place, lives};
use agent_core::server::State;
use agent_core::tool::ToolStatus;

#[tokio::test]
async fn servers_that_never_come_are_given_up() {
    for (words, said) in [("gone", "it exited with 3: this server is not at home"), ("parrot", "")] {
        let place = Place::with(r#""startTimeoutMs": 300"#);
        let mut session = place.open(words);
        session.until(words, |session| session.status().state == State::Failed).await;
        let status = session.status();
        assert!(status.found.as_deref().unwrap().contains(said), "{words}: {status:?}");
        assert!(session.tools.is_empty());
        assert!(session.said.iter().any(|text| text.contains("failed")), "{:?}", session.said);
    }
    let place = Place::with(r#""startTimeoutMs": 300"#);
    let mut session = place.open("deaf");
    session.until("late", |session| session.status().state == State::Late).await;
    assert!(session.servers.required().await.is_empty(), "it is not required");
    session.servers.stop().await;
}

#[tokio::test]
async fn what_is_no_message_is_passed_over() {
    let place = Place::new();
    let mut session = place.open("noise");
    assert_eq!(session.decided().await.state, State::Ready);
    assert_eq!(session.call("echo", r#"{"text": "x"}"#).await.content, "x");
}

#[tokio::test]
async fn a_crash_in_mid_call_is_an_unknown_outcome_and_restarts_are_bounded() {
    let place = Place::new();
    let mut session = place.open("");
    session.decided().await;
    for restart in 1..=4 {
        let outcome = session.call("crash", "{}").await;
        assert_eq!(outcome.status, ToolStatus::Interrupted, "{outcome:?}");
        assert!(outcome.content.contains("it exited with 9: the server fell over"), "{outcome:?}");
        if restart < 4 {
            session.until("back", |session| session.status().is_ready()).await;
        }
    }
    assert_eq!(session.status().state, State::Failed);
    assert_eq!(place.notes().iter().filter(|note| *note == "call crash").count(), 4, "none was repeated");
    let outcome = session.call("echo", "{}").await;
    assert!(outcome.status == ToolStatus::NotRun && outcome.content.contains("does not run"), "{outcome:?}");
    assert!(session.tool("echo").foresee(&agent_core::conversation::Arguments::empty()).is_some());
    assert!(session.servers.restart("s") && !session.servers.restart("t"));
    session.until("tried again", |session| session.status().is_ready()).await;
    assert_eq!(session.call("echo", r#"{"text": "x"}"#).await.content, "x");
}

#[tokio::test]
async fn what_only_reads_is_repeated_once() {
    let place = Place::new();
    let mut session = place.open("");
    session.decided().await;
    let outcome = session.call("peek", r#"{"text": "crash once"}"#).await;
    assert_eq!((outcome.status, outcome.content.as_str()), (ToolStatus::Ok, "crash once"));
    assert_eq!(place.notes().iter().filter(|note| *note == "call peek").count(), 2);
}

#[tokio::test]
async fn five_hundred_megabytes_and_half_a_message_end_the_server_and_not_the_agent() {
    for (tool, said) in [("huge", "too long"), ("half", "it exited with 0")] {
        let place = Place::new();
        let mut session = place.open("");
        session.decided().await;
        let outcome = session.call(tool, "{}").await;
        assert!(outcome.status == ToolStatus::Interrupted && outcome.content.contains(said), "{tool}: {outcome:?}");
        session.until("back", |session| session.status().is_ready()).await;
    }
}

#[tokio::test]
async fn lists_of_tools_are_bounded_and_no_two_share_a_name() {
    let place = Place::with(r#""exposure": "direct""#);
    let mut session = place.open("many=1500 odd");
    let status = session.decided().await;
    assert_eq!(status.state, State::Ready, "{status:?}");
    assert_eq!(session.tools.len(), 128);
    assert!(session.names().iter().all(|name| name.is_ascii() && name.len() <= 64));
    for (tool, said) in [
        ("same.name", "would be called `mcp__s__same_name`, too"),
        ("same/name", "would be called `mcp__s__same_name`, too"),
        ("…", "no letter or digit"),
        ("wrong", "not one of an object"),
        ("tool999", "128 tools at most"),
    ] {
        assert!(status.withheld[tool].contains(said), "{tool}: {:?}", status.withheld.get(tool));
    }
    let place = Place::new();
    let mut session = place.open("many=3000");
    session.until("too many", |session| session.status().state == State::Failed).await;
    assert!(session.status().found.unwrap().contains("more than 2000 tools"));
}

#[tokio::test]
async fn odd_names_and_words_are_made_plain() {
    let place = Place::new();
    let mut session = place.open("odd");
    session.decided().await;
    let tool = session.tool("bi_di");
    assert_eq!(&*tool.spec().description, "\\u{1b}[2Jodd\\u{202e}");
    assert_eq!(tool.spec().name.as_ref(), "mcp__s__bi_di");
    assert!(session.names().contains(&"mcp__s__recursive"), "a schema may refer to itself");
}

#[tokio::test]
async fn a_flood_of_changes_is_not_followed() {
    let place = Place::new();
    let mut session = place.open("flood");
    session.decided().await;
    assert_eq!(session.call("echo", r#"{"text": "still here"}"#).await.content, "still here");
    assert_eq!(session.status().state, State::Ready);
}

#[tokio::test]
async fn what_ignores_its_end_and_what_left_it_is_ended() {
    let place = Place::with(r#""startTimeoutMs": 200"#);
    let mut session = place.open("alive stays");
    session.until("it runs", |_| !place.notes().is_empty()).await;
    let pid = place.notes()[0].strip_prefix("began ").unwrap().to_owned();
    assert!(lives(&pid));
    session.servers.stop().await;
    assert!(!lives(&pid), "deaf to its input's end and to TERM");

    let place = Place::new();
    let mut session = place.open("");
    session.decided().await;
    let daemon = session.call("spawn", "{}").await.content;
    assert!(lives(&daemon), "{daemon}");
    session.servers.stop().await;
    assert!(!lives(&daemon), "it left the server's session");
}
