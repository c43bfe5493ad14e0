//! What the session waits for, and the tickets by which its answer is known.

use super::Ticket;
use serde::{Deserialize, Serialize};

/// The one thing that the current waiting state waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Asked(Option<Question>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Question {
    ticket: Ticket,
    /// Whether the driver was told to stop it.
    is_cancelled: bool,
}

impl Asked {
    /// Something is asked.
    pub(super) const fn ask(&mut self, ticket: Ticket) {
        self.0 = Some(Question { ticket, is_cancelled: false });
    }

    /// It was answered, or is not waited for any more.
    pub(super) const fn close(&mut self) {
        self.0 = None;
    }

    /// The ticket of the action to stop, unless the driver was already asked to stop it.
    pub(super) fn stop(&mut self) -> Option<Ticket> {
        let question = self.0.as_mut().filter(|question| !question.is_cancelled)?;
        question.is_cancelled = true;
        Some(question.ticket)
    }

    /// Whether something is waited for.
    pub(super) const fn is_open(self) -> bool {
        self.0.is_some()
    }

    /// The ticket of what is waited for.
    pub(super) fn ticket(self) -> Option<Ticket> {
        self.0.map(|question| question.ticket)
    }

    /// Whether the driver was told to stop it.
    pub(super) fn is_stopped(self) -> bool {
        self.0.is_some_and(|question| question.is_cancelled)
    }
}

/// The newest ticket that was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Tickets(u64);

impl Tickets {
    /// A new ticket.
    pub(super) const fn give(&mut self) -> Ticket {
        self.0 = self.0.wrapping_add(1);
        Ticket(self.0)
    }

    /// Whether the ticket was ever given.
    pub(super) const fn has_given(self, ticket: Ticket) -> bool {
        0 < ticket.0 && ticket.0 <= self.0
    }
}
