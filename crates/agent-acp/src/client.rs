//! The client as the agent sees it: what is written to it, and what it was asked.

use crate::host::Output;
use crate::wire::{self, RpcError};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::oneshot;

/// Writes to the client and knows what it has not answered. An id is a ticket: what comes under an id that nobody waits for is nothing.
pub(crate) struct Client {
    output: Arc<dyn Output>,
    asked: Mutex<Asked>,
    /// What the client said that it can do; set by `initialize`.
    pub(crate) abilities: OnceLock<Abilities>,
}

/// What a client can do besides what every client can.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Abilities {
    /// It shows notices.
    pub(crate) notices: bool,
    /// It shows that a conversation is summarised.
    pub(crate) compaction: bool,
    /// It asks the person for values, and to go to an address.
    pub(crate) form: bool,
    pub(crate) visit: bool,
}

type Answer = Result<Value, RpcError>;

#[derive(Default)]
struct Asked {
    last: u64,
    open: BTreeMap<u64, oneshot::Sender<Answer>>,
}

impl Client {
    pub(crate) fn new(output: Arc<dyn Output>) -> Self {
        Self { output, asked: Mutex::default(), abilities: OnceLock::new() }
    }

    pub(crate) fn abilities(&self) -> Abilities {
        self.abilities.get().copied().unwrap_or_default()
    }

    /// Whether it keeps up.
    pub(crate) fn has_room(&self) -> bool {
        self.output.has_room()
    }

    /// Answers a request.
    pub(crate) fn answer(&self, id: &Value, result: Answer) {
        self.output.line(&wire::answer(id, result));
    }

    /// Tells something of a session.
    pub(crate) fn update(&self, session: &str, update: &Value) {
        let params = json!({ "sessionId": session, "update": update });
        self.output.line(&wire::notification("session/update", &params));
    }

    /// Asks the client, and waits for its answer. Who waits no longer tells the client that the answer is not needed.
    pub(crate) async fn ask(self: &Arc<Self>, method: &str, params: &Value) -> Answer {
        let (sender, answer) = oneshot::channel();
        let id = {
            let mut asked = self.asked();
            asked.last += 1;
            let id = asked.last;
            asked.open.insert(id, sender);
            id
        };
        let open = Open { client: self, id };
        self.output.line(&wire::request(id, method, params));
        let answered = answer.await;
        drop(open);
        answered.unwrap_or_else(|_| Err(RpcError::internal("the connection ended before the answer")))
    }

    /// Takes an answer. The second one, and one to nothing, changes nothing.
    pub(crate) fn answered(&self, id: &Value, answer: Answer) {
        let open = id.as_u64().and_then(|id| self.asked().open.remove(&id));
        if let Some(open) = open {
            // Nobody may wait any more.
            drop(open.send(answer));
        }
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that waits for its answer.
struct Open<'a> {
    client: &'a Client,
    id: u64,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if self.client.asked().open.remove(&self.id).is_some() {
            let params = json!({ "requestId": self.id });
            self.client.output.line(&wire::notification("$/cancel_request", &params));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tests::Written;

    #[tokio::test(flavor = "current_thread")]
    async fn the_first_answer_counts_and_one_to_nothing_is_nothing() {
        let written = Arc::new(Written::default());
        let client = Arc::new(Client::new(written.clone()));
        client.answered(&json!(1), Ok(json!("early")));
        let asking = tokio::spawn({
            let client = client.clone();
            async move { client.ask("m", &json!({})).await }
        });
        tokio::task::yield_now().await;
        for id in [json!("1"), json!(2), json!(null)] {
            client.answered(&id, Ok(json!("to nothing")));
        }
        client.answered(&json!(1), Ok(json!("first")));
        client.answered(&json!(1), Ok(json!("second")));
        assert_eq!(asking.await.unwrap(), Ok(json!("first")));
        assert_eq!(written.all().len(), 1, "{:?}", written.all());
    }

    #[tokio::test(flavor = "current_thread")]
    async fn who_waits_no_longer_says_so() {
        let written = Arc::new(Written::default());
        let client = Arc::new(Client::new(written.clone()));
        let asking = tokio::spawn({
            let client = client.clone();
            async move { client.ask("m", &json!({})).await }
        });
        tokio::task::yield_now().await;
        asking.abort();
        assert!(asking.await.is_err());
        let last: Value = serde_json::from_str(written.all().last().unwrap()).unwrap();
        assert_eq!((&last["method"], &last["params"]["requestId"]), (&json!("$/cancel_request"), &json!(1)));
    }
}
