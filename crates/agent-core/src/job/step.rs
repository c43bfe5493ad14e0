//! What one event did to the machine, and why one is refused.

use super::action::Action;
use super::table::{State, Trigger};
use crate::trace;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A row of the job table that fired.
pub type Transition = trace::Transition<State, Trigger>;

/// What a job did.
pub type Trace = trace::Trace<State, Trigger>;

/// A refusal of a job.
pub type Rejected = trace::Rejected<State, Trigger, Reason>;

/// All that one event did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[must_use = "the actions of a step have to be performed"]
#[non_exhaustive]
pub struct Step {
    /// The row that fired. None on a timer that came late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition: Option<Transition>,
    /// What the driver is asked to do, in order.
    pub actions: Vec<Action>,
}

impl Step {
    /// A timer came late.
    pub(super) const NOTHING: Self = Self { transition: None, actions: Vec::new() };

    /// Whether nothing happened: a timer that came late leaves the job as it was, and asks for nothing.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.transition.is_none()
    }
}

/// Why an event is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The table has no row for it.
    #[error("there is no row for it")]
    NoRow,
    /// It answers something that is not open: already answered, or never asked. A timer is refused only when its ticket was never given.
    #[error("its ticket is not open")]
    StaleTicket,
    /// Its ticket is open, but asks for something else.
    #[error("its ticket asks for something else")]
    WrongAnswer,
}
