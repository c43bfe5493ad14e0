//! A question of somebody else, such as a server of tools, on its way to the client, and the answer on its way back.
//!
//! 1. A client that did not announce that it can ask so is not asked: the question is dismissed, and that is said.
//! 2. A question that nobody waits with any more is withdrawn at the client.
//! 3. An answer that cannot be understood is none.

use crate::client::Client;
use crate::host::{Elicitation, Elicited, Wants};
use crate::wire::RpcError;
use serde_json::{Value, json};
use std::sync::Arc;

/// Whether the client can ask this.
pub(crate) fn can_be_asked(client: &Client, wants: &Wants) -> bool {
    let abilities = client.abilities();
    match wants {
        Wants::Form(_) => abilities.form,
        Wants::Visit(_) => abilities.visit,
    }
}

/// Asks until there is an answer, or nobody waits for one.
pub(crate) async fn elicit(client: Arc<Client>, session: String, number: u64, asked: Elicitation) {
    let Elicitation { message, wants, mut answer } = asked;
    let mut params = json!({ "sessionId": session, "message": message });
    match wants {
        Wants::Form(schema) => (params["mode"], params["requestedSchema"]) = ("form".into(), schema),
        Wants::Visit(url) => {
            (params["mode"], params["url"]) = ("url".into(), url.into());
            params["elicitationId"] = format!("e{number}").into();
        }
    }
    tokio::select! {
        biased;
        () = answer.closed() => {}
        // It may have been withdrawn meanwhile.
        answered = client.ask("elicitation/create", &params) => drop(answer.send(read(answered))),
    }
}

fn read(answered: Result<Value, RpcError>) -> Elicited {
    let Ok(answered) = answered else { return Elicited::Cancelled };
    match answered.get("action").and_then(Value::as_str) {
        Some("accept") => match answered.get("content") {
            Some(Value::Object(content)) => Elicited::Accepted(content.clone()),
            None | Some(Value::Null) => Elicited::Accepted(serde_json::Map::new()),
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => Elicited::Cancelled,
        },
        Some("decline") => Elicited::Declined,
        _ => Elicited::Cancelled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Abilities;
    use crate::host::tests::Written;
    use tokio::sync::oneshot;

    fn asked(wants: Wants) -> (Elicitation, oneshot::Receiver<Elicited>) {
        let (answer, answered) = oneshot::channel();
        (Elicitation { message: String::from("who?"), wants, answer }, answered)
    }

    fn last(written: &Written) -> Value {
        serde_json::from_str(written.all().last().unwrap()).unwrap()
    }

    #[tokio::test(flavor = "current_thread")]
    async fn the_client_asks_and_its_answer_counts() {
        let written = Arc::new(Written::default());
        let client = Arc::new(Client::new(written.clone()));
        for (result, said) in [
            (
                json!({"action": "accept", "content": {"a": 1}}),
                Elicited::Accepted(json!({"a": 1}).as_object().unwrap().clone()),
            ),
            (json!({"action": "accept"}), Elicited::Accepted(serde_json::Map::new())),
            (json!({"action": "accept", "content": "x"}), Elicited::Cancelled),
            (json!({"action": "decline"}), Elicited::Declined),
            (json!({"action": "maybe"}), Elicited::Cancelled),
            (json!(null), Elicited::Cancelled),
        ] {
            let (asked, answered) = asked(Wants::Form(json!({"type": "object"})));
            let asking = tokio::spawn(elicit(client.clone(), String::from("s"), 1, asked));
            tokio::task::yield_now().await;
            let request = last(&written);
            assert_eq!(request["method"], "elicitation/create");
            let params =
                json!({"sessionId": "s", "message": "who?", "mode": "form", "requestedSchema": {"type": "object"}});
            assert_eq!(request["params"], params);
            client.answered(&request["id"], Ok(result.clone()));
            asking.await.unwrap();
            assert_eq!(answered.await.unwrap(), said, "{result}");
        }
    }

    #[tokio::test(flavor = "current_thread")]
    async fn one_that_nobody_waits_with_is_withdrawn() {
        let written = Arc::new(Written::default());
        let client = Arc::new(Client::new(written.clone()));
        let (asked, answered) = asked(Wants::Visit(String::from("https://e.com/")));
        let asking = tokio::spawn(elicit(client.clone(), String::from("s"), 7, asked));
        tokio::task::yield_now().await;
        let request = last(&written);
        assert_eq!((&request["params"]["mode"], &request["params"]["elicitationId"]), (&json!("url"), &json!("e7")));
        drop(answered);
        asking.await.unwrap();
        let withdrawn = last(&written);
        assert_eq!(
            (&withdrawn["method"], &withdrawn["params"]["requestId"]),
            (&json!("$/cancel_request"), &request["id"])
        );
    }

    #[test]
    fn only_what_was_announced_is_asked() {
        let client = Client::new(Arc::new(Written::default()));
        let (form, visit) = (Wants::Form(json!({})), Wants::Visit(String::new()));
        assert!(!can_be_asked(&client, &form) && !can_be_asked(&client, &visit));
        client.abilities.set(Abilities { form: true, ..Abilities::default() }).unwrap();
        assert!(can_be_asked(&client, &form) && !can_be_asked(&client, &visit));
    }
}
