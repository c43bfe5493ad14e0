//! Tools that are found by searching.

use crate::support::Place;
use agent_core::conversation::Arguments;
use agent_core::tool::{Effect, ToolStatus};
use agent_mcp::{Exposure, ServerConfig};

fn exposed(place: &Place, name: &str, words: &str, exposure: Exposure) -> ServerConfig {
    ServerConfig { exposure, ..place.config(name, words) }
}

#[tokio::test]
async fn tools_of_a_large_server_are_declared_when_they_are_found() {
    let place = Place::new();
    let large = || exposed(&place, "large", "many=60", Exposure::Auto);
    let small = || exposed(&place, "small", "", Exposure::Auto);
    let mut session = place.open_all(vec![large(), small()]);
    session.decided().await;
    session.until("the small one's tools", |session| session.names().contains(&"mcp__small__echo")).await;
    session.until("the search", |session| session.names().contains(&"tool_search")).await;
    assert!(session.names().iter().all(|name| !name.starts_with("mcp__large")), "{:?}", session.names());
    let (large_status, small_status) =
        (session.servers.statuses()[0].1.clone(), session.servers.statuses()[1].1.clone());
    assert!(large_status.searched == large_status.offered && small_status.searched == 0, "{large_status:?}");

    let search = session.tools.iter().find(|tool| &*tool.spec().name == "tool_search").unwrap().clone();
    let inspected = search.inspect(&Arguments::parse(r#"{"query": "x"}"#).unwrap()).unwrap();
    assert_eq!(inspected.effect, Effect::Reads, "it is asked about as what only reads");
    let before = session.names().len();
    // The host declares them, and only then the call has its answer.
    let asked = tokio::spawn(crate::support::call(
        search,
        r#"{"query": "says it back", "limit": 1}"#.into(),
        Default::default(),
    ));
    session.until("declared", |session| session.names().len() > before).await;
    let outcome = asked.await.unwrap();
    assert!(
        outcome.status == ToolStatus::Ok && outcome.content.contains("mcp__large__echo: Says it back."),
        "{outcome:?}"
    );
    assert_eq!(session.names().last(), Some(&"mcp__large__echo"), "behind what was there");
    let echoed = session.tools.last().unwrap().clone();
    let outcome = crate::support::call(echoed, r#"{"text": "found"}"#.into(), Default::default()).await;
    assert_eq!(outcome.content, "found");
    // What is declared is found again, and not declared again.
    let again = session.call_named("tool_search", r#"{"query": "mcp__large__echo"}"#).await;
    assert!(again.content.contains("mcp__large__echo"), "{again:?}");
    let none = session.call_named("tool_search", r#"{"query": "quux"}"#).await;
    assert!(none.content.starts_with("no tool fits") && none.content.contains("mcp__large__tool59"), "{none:?}");
    session.servers.stop().await;

    // From the record it is the same, in the same order, at once.
    let session = place.open_all(vec![large(), small()]);
    assert!(session.names().starts_with(&["mcp__small__change"]) || session.names()[0].starts_with("mcp__small"));
    assert_eq!(session.names().last(), Some(&"tool_search"));
}

#[tokio::test]
async fn what_is_said_of_the_exposure_holds() {
    let place = Place::new();
    for (exposure, direct) in [(Exposure::Deferred, 1), (Exposure::Direct, 81), (Exposure::Hidden, 0)] {
        let mut session = place.open_all(vec![exposed(&place, "s", "many=60", exposure)]);
        session.decided().await;
        session.until("offered", |session| session.tools.len() == direct).await;
        session.servers.stop().await;
    }
}
