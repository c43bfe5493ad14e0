//! The questions of servers in a conversation: the program answers them in the place of a person.
//!
//! 1. An answer is taken once, and only if it fits what was asked for.
//! 2. A question that ends with its call is withdrawn at the program.

use super::said::{ServerAnswer, ServerWord};
use crate::screen::wire::ServerQuestionReport;
use agent_mcp::{Question, Reply, Wants};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::task::Poll;

/// Those that wait for an answer, by number.
#[derive(Default)]
pub(super) struct Served {
    open: BTreeMap<u64, Question>,
    last: u64,
}

impl Served {
    /// Takes a question, and says how the program is asked.
    pub(super) fn put(&mut self, question: Question, session: &str) -> ServerQuestionReport {
        self.last += 1;
        let report = ServerQuestionReport {
            id: id(self.last),
            server: question.server.clone(),
            call: question.call.clone(),
            message: agent_mcp::plain(&question.message),
            schema: question.schema(),
            url: match &question.wants {
                Wants::Visit(address) => Some(address.clone()),
                Wants::Form(_) => None,
            },
            seems_to_want_secrets: question.seems_to_want_secrets(),
            session_id: session.to_owned(),
        };
        self.open.insert(self.last, question);
        report
    }

    /// Takes what the program answers.
    ///
    /// # Errors
    /// Why it is no answer. The question waits on, if there is one.
    pub(super) fn answered(&mut self, answer: ServerAnswer) -> Result<(), String> {
        let found =
            self.open.iter().find(|(number, question)| id(**number) == answer.question && !question.is_withdrawn());
        let Some((number, question)) = found.map(|(number, question)| (*number, question)) else {
            let id: String = answer.question.chars().take(100).collect();
            return Err(format!("no question `{id}` of a server waits for an answer"));
        };
        let reply = match answer.action {
            ServerWord::Accept => Reply::Accept(question.checked(answer.values)?),
            ServerWord::Decline | ServerWord::Cancel if !answer.values.is_empty() => {
                return Err(String::from("`values` go with `accept` alone"));
            }
            ServerWord::Decline => Reply::Decline,
            ServerWord::Cancel => Reply::Cancel,
        };
        if let Some(question) = self.open.remove(&number) {
            question.answer(reply);
        }
        Ok(())
    }

    /// Resolves with the id of one that is withdrawn.
    pub(super) async fn withdrawn(&mut self) -> String {
        let number = poll_fn(|context| {
            let mut all = self.open.iter_mut();
            let over =
                all.find_map(|(number, question)| question.poll_withdrawn(context).is_ready().then_some(*number));
            over.map_or(Poll::Pending, Poll::Ready)
        });
        let number = number.await;
        self.open.remove(&number);
        id(number)
    }

    /// Nobody answers any more.
    pub(super) fn without_answer(&mut self) {
        std::mem::take(&mut self.open).into_values().for_each(|question| question.answer(Reply::Decline));
    }
}

/// Not to be taken for one of the session's.
fn id(number: u64) -> String {
    format!("s{number}")
}
