//! What servers ask of a person in the middle of a call, in both protocols.

use crate::support::{HANG, Place, Session, call};
use agent_core::server::State;
use agent_core::tool::{ToolOutcome, ToolStatus};
use agent_mcp::{Question, Reply, Wants};
use agent_testkit::ManualCancel;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Both ways to ask: a request of the server's own, and the call once more.
const BOTH: [&str; 2] = ["", "modern"];

struct Asked {
    session: Session,
    place: Place,
    running: JoinHandle<ToolOutcome>,
    cancel: Arc<ManualCancel>,
}

impl Asked {
    /// A call of `ask` that runs.
    async fn by(place: Place, words: &str, what: &str) -> Self {
        let mut session = place.open(words);
        session.decided().await;
        let cancel = Arc::new(ManualCancel::default());
        let arguments = json!({"text": what}).to_string();
        let running = tokio::spawn(call(session.tool("ask"), arguments, cancel.clone()));
        Self { session, place, running, cancel }
    }

    async fn question(&mut self) -> Question {
        self.session.until("a question", |session| !session.questions.is_empty()).await;
        self.session.questions.remove(0)
    }

    async fn outcome(self) -> (ToolOutcome, Session, Place) {
        (timeout(HANG, self.running).await.unwrap().unwrap(), self.session, self.place)
    }
}

fn values(values: &Value) -> Map<String, Value> {
    values.as_object().unwrap().clone()
}

fn told(outcome: &ToolOutcome) -> Value {
    serde_json::from_str(&outcome.content).unwrap_or_else(|error| panic!("{error}: {outcome:?}"))
}

#[tokio::test]
async fn what_a_person_says_gets_to_the_server_in_both_protocols() {
    for words in BOTH {
        let mut asked = Asked::by(Place::new(), words, "form").await;
        let question = asked.question().await;
        assert_eq!((&*question.server, &*question.call), ("s", "mcp__s__ask"));
        assert!(question.message.starts_with("Who are you?"), "{question:?}");
        let Wants::Form(fields) = &question.wants else { panic!("{question:?}") };
        let name = fields.iter().find(|field| field.name == "name").unwrap();
        assert!(name.is_needed && name.title == "Your name");
        let said = question.checked(values(&json!({"name": "Ada"}))).unwrap();
        question.answer(Reply::Accept(said));
        let (outcome, session, _place) = asked.outcome().await;
        let accepted = json!({"action": "accept", "content": {"name": "Ada", "colour": "g"}});
        let expected = if words == "modern" { json!({"a": accepted}) } else { accepted };
        assert_eq!((outcome.status, told(&outcome)), (ToolStatus::Ok, expected), "{words}");
        session.servers.stop().await;
    }
}

#[tokio::test]
async fn a_no_and_a_dismissal_get_there_too() {
    for words in BOTH {
        for (reply, action) in [(Some(Reply::Decline), "decline"), (None, "cancel")] {
            let mut asked = Asked::by(Place::new(), words, "secret").await;
            let question = asked.question().await;
            assert!(question.seems_to_want_secrets());
            // One that nobody has taken is dismissed.
            reply.map_or_else(|| (), |reply| question.answer(reply));
            let (outcome, session, _place) = asked.outcome().await;
            assert!(outcome.content.contains(&format!(r#""action":"{action}""#)), "{words}: {outcome:?}");
            session.servers.stop().await;
        }
    }
}

#[tokio::test]
async fn an_address_is_asked_for_and_nothing_else_is_sent() {
    for words in BOTH {
        let mut asked = Asked::by(Place::new(), words, "visit").await;
        let question = asked.question().await;
        assert_eq!(question.wants, Wants::Visit("https://example.com/log-in?at=1".to_owned()));
        question.answer(Reply::Accept(Map::new()));
        let (outcome, session, _place) = asked.outcome().await;
        assert!(outcome.content.contains(r#"{"action":"accept"}"#), "{words}: {outcome:?}");
        session.servers.stop().await;
    }
}

#[tokio::test]
async fn several_at_once_are_asked_one_after_the_other_and_where_it_works_is_told() {
    let mut asked = Asked::by(Place::new(), "modern", "several").await;
    let first = asked.question().await;
    asked.session.heard();
    assert!(asked.session.questions.is_empty(), "one at a time");
    first.answer(Reply::Accept(values(&json!({"name": "Ada"}))));
    let second = asked.question().await;
    assert!(matches!(second.wants, Wants::Visit(_)));
    second.answer(Reply::Decline);
    let (outcome, session, _place) = asked.outcome().await;
    let said = told(&outcome);
    assert_eq!((&said["a"]["action"], &said["b"]["action"]), (&json!("accept"), &json!("decline")));
    assert_eq!(said["c"]["roots"][0]["uri"], "file:///w%20o", "{said}");
    session.servers.stop().await;
}

#[tokio::test]
async fn a_server_that_asks_in_a_loop_is_not_followed() {
    for words in BOTH {
        let mut asked = Asked::by(Place::with(r#""callTimeoutMs": 5000"#), words, "loop").await;
        let mut count = 0;
        while !asked.running.is_finished() {
            asked.session.heard();
            for question in std::mem::take(&mut asked.session.questions) {
                count += 1;
                question.answer(Reply::Accept(values(&json!({"name": "Ada"}))));
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        assert_eq!(count, 10, "{words}");
        let (outcome, mut session, _place) = asked.outcome().await;
        assert!(matches!(outcome.status, ToolStatus::Failed | ToolStatus::Interrupted), "{words}: {outcome:?}");
        session.heard();
        let declined = session.said.iter().filter(|said| said.contains("it is declined")).count();
        assert_eq!(declined, 1, "{words}: {:?}", session.said);
        assert_eq!(session.status().state, State::Ready);
        session.servers.stop().await;
    }
}

/// Neither the person nor the server waits any more: stopped by the person, at the end of its time, taken back, or with the server.
#[tokio::test]
async fn a_question_ends_with_its_call() {
    for words in BOTH {
        let mut asked = Asked::by(Place::new(), words, "form").await;
        let mut question = asked.question().await;
        assert!(!question.is_withdrawn());
        asked.cancel.cancel();
        timeout(HANG, question.withdrawn()).await.unwrap();
        let (outcome, session, _place) = asked.outcome().await;
        assert_eq!(outcome.status, ToolStatus::Interrupted, "{words}: {outcome:?}");
        // What is said to it now is nobody's.
        question.answer(Reply::Decline);
        session.servers.stop().await;
    }
    for what in ["back", "crash"] {
        let mut asked = Asked::by(Place::new(), "", what).await;
        let mut question = asked.question().await;
        timeout(HANG, question.withdrawn()).await.unwrap();
        let (outcome, session, _place) = asked.outcome().await;
        let expected = if what == "back" { ToolStatus::Ok } else { ToolStatus::Interrupted };
        assert_eq!(outcome.status, expected, "{what}: {outcome:?}");
        session.servers.stop().await;
    }
    let place = Place::with(r#""callTimeoutMs": 100, "callMaxMs": 1500"#);
    let mut asked = Asked::by(place, "", "form").await;
    let mut question = asked.question().await;
    timeout(HANG, question.withdrawn()).await.unwrap();
    let (outcome, session, _place) = asked.outcome().await;
    assert!(
        !outcome.content.contains("within 100 ms") && outcome.content.contains("did not answer within"),
        "not after 100 ms: {outcome:?}"
    );
    session.servers.stop().await;
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_and_the_server_goes_on() {
    for words in BOTH {
        let asked = Asked::by(Place::new(), words, "odd").await;
        let (outcome, mut session, _place) = asked.outcome().await;
        session.heard();
        assert!(
            session.questions.is_empty() && outcome.content.contains("nothing to choose from"),
            "{words}: {outcome:?}"
        );
        assert_eq!(session.call("echo", r#"{"text": "on"}"#).await.content, "on");
        session.servers.stop().await;
    }
}
