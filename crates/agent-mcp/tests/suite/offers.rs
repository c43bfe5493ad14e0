//! What a server offers to a person: resources and prompts.

use crate::support::{HANG, Place, Session};
use agent_mcp::{Offer, Offers};
use serde_json::json;
use std::time::Duration;
use tokio::time::{sleep, timeout};

async fn offers(session: &mut Session) -> Offers {
    let found = async {
        loop {
            session.heard();
            match session.offers.pop() {
                Some(offers) => return offers,
                None => sleep(Duration::from_millis(5)).await,
            }
        }
    };
    timeout(HANG, found).await.unwrap()
}

fn names(offers: &[Offer]) -> Vec<&str> {
    offers.iter().map(|offer| &*offer.name).collect()
}

#[tokio::test]
async fn resources_and_prompts_are_listed_page_by_page_and_read() {
    for words in ["reads", "modern reads"] {
        let mut session = Place::new().open(words);
        session.decided().await;
        let found = offers(&mut session).await;
        assert_eq!(names(&found.resources), ["docs://intro", "docs://pixel", "docs://slow"], "{words}");
        assert_eq!(names(&found.prompts), ["review", "slow"]);
        assert_eq!(found.prompts[0].arguments, [("file".to_owned(), true), ("style".to_owned(), false)]);
        let text = session.servers.resource("s", "docs://intro").await.unwrap();
        assert_eq!(text, "First line.\\u{1b}[2J\nSecond line.\n");
        assert_eq!(
            session.servers.resource("s", "docs://pixel").await.unwrap(),
            "[a picture (image/png), which is not shown]"
        );
        let arguments = json!({"file": "a.rs"});
        let text = session.servers.prompt("s", "review", arguments.as_object().unwrap().clone()).await.unwrap();
        assert_eq!(text, "Review \"a.rs\" in the style null.\n\n[The assistant says:]\nGladly.");
        session.servers.stop().await;
    }
}

#[tokio::test]
async fn what_cannot_be_had_is_said() {
    let mut session = Place::new().open("reads");
    session.decided().await;
    let why = session.servers.resource("s", "docs://none").await.unwrap_err();
    assert!(why.contains("no such resource: docs://none"), "{why}");
    let why = session.servers.resource("t", "docs://none").await.unwrap_err();
    assert!(why.contains("there is no MCP server `t`"), "{why}");
    session.servers.stop().await;

    let mut slow = Place::with(r#""callTimeoutMs": 300"#).open("reads");
    slow.decided().await;
    let why = timeout(HANG, slow.servers.resource("s", "docs://slow")).await.unwrap().unwrap_err();
    assert!(why.contains("did not answer within"), "{why}");
    slow.servers.stop().await;

    let mut without = Place::new().open("");
    without.decided().await;
    let found = offers(&mut without).await;
    assert!(found.resources.is_empty() && found.prompts.is_empty());
    assert!(without.servers.resource("s", "docs://intro").await.is_err());
    without.servers.stop().await;
}
