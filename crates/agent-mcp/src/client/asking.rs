//! What a server asks of a person: put to the host, and answered as the machine says. It decides nothing.

use super::connection::Input;
use super::driver::Driver;
use super::input::{Again, Asks, Way, responses};
use super::wanted::Wanted;
use super::wire::Reply as Said;
use crate::ask::{Ask, Question, Reply};
use crate::content::Answer;
use crate::names::tool_name;
use crate::servers::Change;
use agent_core::server::Event;
use std::collections::HashMap;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

/// What is asked for and has no answer yet, by its number.
#[derive(Default)]
pub(super) struct Inputs {
    open: HashMap<u64, Open>,
    /// How often one was refused without a question: the first time is told.
    refusals: u64,
}

struct Open {
    each: Vec<(String, Ask)>,
    way: Way,
    /// Of a call that ends where it is refused.
    ticket: Option<u64>,
    replies: Vec<(String, Reply)>,
    asking: Option<AbortHandle>,
}

impl Driver {
    /// The server asks for something: in the middle of the call, where it is known of which.
    pub(super) fn input_asked(&mut self, ticket: Option<u64>, Asks { each, way }: Asks) {
        let (run, input) = (self.run_now(), self.next_input());
        self.inputs.open.insert(input, Open { each, way, ticket, replies: Vec::new(), asking: None });
        if self.try_step(Event::InputAsked { run, input, ticket }).is_some() {
            self.refuse_input(input);
        }
    }

    /// A person has answered, or nobody will.
    pub(super) fn replied(&mut self, input: u64, replies: Vec<(String, Reply)>) {
        if let Some(open) = self.inputs.open.get_mut(&input) {
            open.replies = replies;
            self.step(Event::InputAnswered { input });
        }
    }

    pub(super) fn ask_person(&mut self, input: u64, ticket: u64) {
        let (call, name) = (self.shown_call(ticket), self.needs.config.name.clone());
        let (Some(open), Some(inbox)) = (self.inputs.open.get_mut(&input), self.inbox.upgrade()) else { return };
        let (each, changes) = (std::mem::take(&mut open.each), self.needs.changes.clone());
        let gone = match &open.way {
            Way::Answer { gone, .. } => gone.clone(),
            Way::Again(_) => tokio_util::sync::CancellationToken::new(),
        };
        let asking = tokio::spawn(async move {
            let _ = inbox.send(tokio::select! {
                replies = replies(name, call, each, changes) => Input::Replied(input, replies),
                () = gone.cancelled() => Input::Event(Event::InputWithdrawn { input }),
            });
        });
        open.asking = Some(asking.abort_handle());
    }

    pub(super) fn send_input(&mut self, input: u64, ticket: u64) {
        let Some(open) = self.inputs.open.remove(&input) else { return };
        match open.way {
            // Who asked may have gone.
            Way::Answer { reply, .. } => {
                let said = open.replies.into_iter().next().map_or(Reply::Cancel, |(_, said)| said);
                drop(reply.send(said));
            }
            Way::Again(Again { responses: mut known, state }) => {
                known.extend(responses(open.replies));
                self.send_again(ticket, Again { responses: known, state });
            }
        }
    }

    pub(super) fn refuse_input(&mut self, input: u64) {
        let Some(open) = self.inputs.open.remove(&input) else { return };
        self.inputs.refusals += 1;
        if self.inputs.refusals == 1 {
            self.say("asks a question in the middle of no call, or too often in the middle of one: it is declined");
        }
        match (open.way, open.ticket, self.inbox.upgrade()) {
            (Way::Answer { reply, .. }, ..) => drop(reply.send(Reply::Decline)),
            (Way::Again(_), Some(ticket), Some(inbox)) => {
                let why = "the server asks again and again before it does this, and is given no more answers";
                let _ = inbox.send(Input::Answered(ticket, Said::Answer(Answer::failed(why.to_owned()))));
            }
            (Way::Again(_), ..) => {}
        }
    }

    /// Who is asked sees it go, and a server that waits is told that it was dismissed: both by what is dropped here.
    pub(super) fn withdraw_inputs(&mut self, inputs: &[u64]) {
        for input in inputs {
            if let Some(open) = self.inputs.open.remove(input) {
                open.asking.inspect(AbortHandle::abort);
            }
        }
    }

    /// A call as people know it.
    fn shown_call(&self, ticket: u64) -> String {
        let config = &self.needs.config;
        match self.wanted(ticket) {
            Some(Wanted::Tool { name, .. }) => tool_name(&config.family, name).unwrap_or_else(|| name.clone()),
            Some(Wanted::Resource { uri }) => format!("@{}:{uri}", config.name),
            Some(Wanted::Prompt { name, .. }) => format!("/{}:{name}", config.name),
            None => String::new(),
        }
    }
}

/// Asks one after the other. What is asked behind one that was not accepted has the same answer.
async fn replies(
    server: String,
    call: String,
    each: Vec<(String, Ask)>,
    changes: mpsc::UnboundedSender<Change>,
) -> Vec<(String, Reply)> {
    if each.is_empty() {
        // It only wants to be asked once more.
        tokio::time::sleep(PAUSE).await;
    }
    let (mut replies, mut refused) = (Vec::new(), None);
    for (name, ask) in each {
        let reply = match &refused {
            Some(refused) => Reply::clone(refused),
            None => {
                let (question, answered) = Question::new(&server, call.clone(), ask);
                let _ = changes.send(Change::Asked(question));
                // One that is dropped was dismissed.
                answered.await.unwrap_or(Reply::Cancel)
            }
        };
        if !matches!(reply, Reply::Accept(_)) {
            refused = Some(reply.clone());
        }
        replies.push((name, reply));
    }
    replies
}

/// Before a call is sent once more that asks for nothing.
const PAUSE: Duration = Duration::from_millis(200);
