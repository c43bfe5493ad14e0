//! A server from outside of its task: what a tool calls, and where the server stands.

use super::run::Ready;
use super::status::Status;
use super::wanted::Wanted;
use super::wire::{Described, Reply};
use crate::ServerConfig;
use crate::content::Answer;
use crate::servers::Outside;
use crate::text::plain;
use crate::trust::{Identity, Record};
use agent_core::ports::ProgressSink;
use agent_core::server::{CallEnd, Event, Gate, State};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot, watch};

/// A server from outside of its task. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Connection(Arc<Shared>);

struct Shared {
    config: ServerConfig,
    inbox: mpsc::UnboundedSender<Input>,
    status: watch::Receiver<Status>,
    /// The number of the last call: held while a call is sent, so that calls arrive in their order.
    last_ticket: Mutex<u64>,
    outside: Arc<Outside>,
    was_known: bool,
}

/// A call of a tool, or of something else that the server has.
pub(crate) struct CallRequest {
    pub(crate) wanted: Wanted,
    pub(crate) is_repeatable: bool,
    pub(crate) progress: Arc<dyn ProgressSink>,
}

/// How a call ended.
pub(crate) enum Ended {
    Answer(Answer),
    /// In the server's place.
    By(CallEnd),
}

/// What comes to the task.
pub(super) enum Input {
    Event(Event),
    Call(u64, CallRequest, oneshot::Sender<Ended>),
    Considered(Gate, Box<(Result<Identity, String>, Option<Record>)>),
    Came(u32, Ready),
    Listed(u32, Vec<Described>),
    Answered(u64, Reply),
    /// What a person says to what the server asks for, each under its name.
    Replied(u64, Vec<(String, crate::ask::Reply)>),
}

impl Connection {
    pub(super) fn new(
        config: ServerConfig,
        inbox: mpsc::UnboundedSender<Input>,
        status: watch::Receiver<Status>,
        outside: Arc<Outside>,
        was_known: bool,
    ) -> Self {
        Self(Arc::new(Shared { config, inbox, status, last_ticket: Mutex::new(0), outside, was_known }))
    }

    /// Whether there was a record of it when the session began.
    pub(crate) fn was_known(&self) -> bool {
        self.0.was_known
    }

    pub(crate) fn name(&self) -> &str {
        &self.0.config.name
    }

    pub(crate) fn family(&self) -> &str {
        &self.0.config.family
    }

    pub(crate) fn config(&self) -> &ServerConfig {
        &self.0.config
    }

    pub(crate) fn outside(&self) -> Arc<Outside> {
        self.0.outside.clone()
    }

    pub(crate) fn status(&self) -> watch::Receiver<Status> {
        self.0.status.clone()
    }

    /// Why a tool is not called, where that is known already.
    pub(crate) fn why_not(&self, tool: &str) -> Option<String> {
        let status = self.0.status.borrow();
        let is_gone = matches!(status.state, State::Failed | State::Trusting | State::Stopping | State::Stopped);
        let gone = || {
            format!(
                "the server {} {}: {}",
                self.name(),
                status.word(),
                plain(status.found.as_deref().unwrap_or_default())
            )
        };
        status.withheld.get(tool).cloned().or_else(|| is_gone.then(gone))
    }

    pub(crate) fn why_withheld(&self, tool: &str) -> Option<String> {
        self.0.status.borrow().withheld.get(tool).cloned()
    }

    /// Asks for something. When this is dropped, the call is withdrawn.
    pub(crate) async fn call(&self, request: CallRequest) -> Ended {
        let (reply, ended) = oneshot::channel();
        let guard = {
            let mut last = self.0.last_ticket.lock().unwrap_or_else(PoisonError::into_inner);
            *last += 1;
            // A task that has ended answers by dropping the sender.
            let _ = self.0.inbox.send(Input::Call(*last, request, reply));
            Withdraw { ticket: *last, inbox: &self.0.inbox }
        };
        let ended = ended.await;
        std::mem::forget(guard);
        ended.unwrap_or_else(|_| {
            Ended::By(CallEnd::NotRun { why: format!("the server {} has been stopped", self.name()) })
        })
    }

    /// Has it tried again: after it failed, or after a review.
    pub(crate) fn restart(&self) {
        self.event(Event::RestartRequested);
    }

    pub(crate) fn stop(&self) {
        self.event(Event::StopRequested);
    }

    fn event(&self, event: Event) {
        let _ = self.0.inbox.send(Input::Event(event));
    }
}

/// Withdraws a call that nobody waits for.
struct Withdraw<'a> {
    ticket: u64,
    inbox: &'a mpsc::UnboundedSender<Input>,
}

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        let _ = self.inbox.send(Input::Event(Event::CallCancelled { ticket: self.ticket }));
    }
}
