//! What one event did to the machine, and why one is refused.

use super::{Action, State, Trigger};
use crate::permission::Ruling;
use crate::trace;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A row of the session table that fired.
pub type Transition = trace::Transition<State, Trigger>;

/// What a session did.
pub type Trace = trace::Trace<State, Trigger>;

/// A refusal of a session.
pub type Rejected = trace::Rejected<State, Trigger, Reason>;

/// All that one event did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[must_use = "the actions of a step have to be performed"]
#[non_exhaustive]
pub struct Step {
    /// The rows that fired, in order; the first is the event's own. None on a timer that came late, and on a piece of an answer, which
    /// changes nothing but the screen.
    pub transitions: Vec<Transition>,
    /// What the driver is asked to do, in order.
    pub actions: Vec<Action>,
    /// What was decided about calls, and why, in call order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rulings: Vec<Ruling>,
}

impl Step {
    /// Whether nothing happened: a timer that came late leaves the session as it was, and asks for nothing.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.transitions.is_empty() && self.actions.is_empty()
    }

    pub(super) fn clear(&mut self) {
        let Self { transitions, actions, rulings } = self;
        transitions.clear();
        actions.clear();
        rulings.clear();
    }
}

/// Why an event is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The table has no row for it.
    #[error("there is no row for it")]
    NoRow,
    /// It answers something that is not open: already answered, withdrawn, or never asked. A timer is refused only when its ticket was never
    /// given, or is open for something else.
    #[error("its ticket is not open")]
    StaleTicket,
    /// It names a call that is not open.
    #[error("it names a call that is not open")]
    UnknownCall,
    /// It does not name every call exactly once.
    #[error("it does not name every call exactly once")]
    IncompleteFacts,
    /// It is blank.
    #[error("it is blank")]
    Blank,
    /// No hook runs there.
    #[error("no hook is configured for it")]
    NoHook,
    /// There is nothing to summarise.
    #[error("there is nothing to summarise")]
    NothingToCompact,
}
