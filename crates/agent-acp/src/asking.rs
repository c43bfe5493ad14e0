//! A permission question on its way to the client, and the answer on its way back.
//!
//! 1. What was shown is what is allowed: where the files have changed meanwhile, the question is put again.
//! 2. An answer that cannot be understood has allowed nothing. A client that cannot be asked is nobody to ask.
//! 3. A question that the session withdraws is withdrawn at the client; what is answered to it later is nothing.

use crate::client::Client;
use crate::host::{Change, Insight};
use crate::text::inline;
use crate::updates::diff_content;
use agent_core::permission::{ApprovalAnswer, ApprovalQuestion, ApprovalScope, Rule};
use agent_core::ports::Approver;
use agent_runner::Handle;
use async_trait::async_trait;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// A question, and where its answer goes.
pub(crate) type Question = (ApprovalQuestion, oneshot::Sender<ApprovalAnswer>);

/// Passes questions to the session's task. A channel keeps room for many: small room, as they are on the heap.
pub(crate) struct ClientApprover(pub(crate) mpsc::UnboundedSender<Box<Question>>);

#[async_trait]
impl Approver for ClientApprover {
    async fn ask(&self, question: &ApprovalQuestion) -> ApprovalAnswer {
        let (sender, answer) = oneshot::channel();
        let _ = self.0.send(Box::new((question.clone(), sender)));
        match answer.await {
            Ok(answer) => answer,
            // The session's task is gone without an answer, which is leaving: the question stays open.
            Err(_) => std::future::pending().await,
        }
    }
}

/// One question.
pub(crate) struct Asking {
    pub(crate) client: Arc<Client>,
    pub(crate) session: String,
    pub(crate) insight: Arc<dyn Insight>,
    /// What is known of the call from its arguments.
    pub(crate) described: Map<String, Value>,
    pub(crate) question: ApprovalQuestion,
    /// Empty where a hook asked, which no rule overrides.
    pub(crate) offered: Vec<Rule>,
    /// To stop the turn, where that is the answer.
    pub(crate) handle: Handle,
    pub(crate) remarks: mpsc::UnboundedSender<String>,
}

impl Asking {
    /// Asks until there is an answer, or nobody waits for one.
    pub(crate) async fn run(self, mut answer: oneshot::Sender<ApprovalAnswer>) {
        let given = tokio::select! {
            biased;
            () = answer.closed() => return,
            given = self.given() => given,
        };
        match given {
            // It may have been withdrawn meanwhile.
            Some(given) => drop(answer.send(given)),
            None => {
                self.handle.cancel();
                // The stop withdraws the question.
                answer.closed().await;
            }
        }
    }

    /// The answer; nothing where the turn is to be stopped.
    async fn given(&self) -> Option<ApprovalAnswer> {
        loop {
            let shown = self.insight.changes(&self.question.call);
            let answered = self.client.ask("session/request_permission", &self.params(&shown)).await;
            let answer = match answered {
                Ok(result) => self.read(&result)?,
                Err(_) => ApprovalAnswer::Nobody,
            };
            let allows = matches!(answer, ApprovalAnswer::Allow { .. });
            if !allows || self.insight.changes(&self.question.call) == shown {
                return Some(self.keeping(answer));
            }
            let _ =
                self.remarks.send(String::from("the file has changed since it was shown; the question is put again"));
        }
    }

    fn params(&self, shown: &[Change]) -> Value {
        let mut call = self.described.clone();
        call.insert("status".into(), "pending".into());
        let reason = format!("asked because {}", inline(&self.question.reason));
        let reason = json!({ "type": "content", "content": { "type": "text", "text": reason } });
        call.insert("content".into(), shown.iter().map(diff_content).chain([reason]).collect());
        let option = |id: &str, name: &str, kind: &str| json!({ "optionId": id, "name": name, "kind": kind });
        let mut options = vec![option("once", "Allow once", "allow_once")];
        if !self.offered.is_empty() {
            let rules: Vec<String> =
                self.offered.iter().map(|rule| format!("`{}`", inline(&rule.to_string()))).collect();
            let rules = rules.join(", ");
            options.push(option("session", &format!("Allow {rules} in this session"), "allow_always"));
            options.push(option("always", &format!("Always allow {rules}"), "allow_always"));
        }
        options.push(option("deny", "Deny", "reject_once"));
        json!({ "sessionId": self.session, "toolCall": call, "options": options })
    }

    /// What the client's answer says; nothing where the turn is to be stopped.
    fn read(&self, result: &Value) -> Option<ApprovalAnswer> {
        let allow = |scope| ApprovalAnswer::Allow { scope, arguments: None };
        let outcome = result.get("outcome");
        let word = |key: &str| outcome.and_then(|outcome| outcome.get(key)).and_then(Value::as_str);
        let has_rules = !self.offered.is_empty();
        match (word("outcome"), word("optionId")) {
            (Some("cancelled"), _) => None,
            (Some("selected"), Some("once")) => Some(allow(ApprovalScope::Once)),
            (Some("selected"), Some("session")) if has_rules => {
                Some(allow(ApprovalScope::Session(self.offered.clone())))
            }
            (Some("selected"), Some("always")) if has_rules => Some(allow(ApprovalScope::Always(self.offered.clone()))),
            (Some("selected"), Some("deny")) => Some(ApprovalAnswer::Deny { reason: String::new() }),
            _ => Some(ApprovalAnswer::Deny { reason: String::from("the client's answer could not be understood") }),
        }
    }

    /// An answer that is to hold for sessions to come is kept first.
    fn keeping(&self, answer: ApprovalAnswer) -> ApprovalAnswer {
        let ApprovalAnswer::Allow { scope: ApprovalScope::Always(rules), arguments: None } = answer else {
            return answer;
        };
        let (answer, told) = self.insight.keeping(rules);
        told.into_iter().for_each(|told| drop(self.remarks.send(told)));
        answer
    }
}
