//! What one event did to the machine, and why one is refused.

use super::{Action, State, Trigger};
use crate::trace;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A row of the lifecycle table that fired.
pub type Transition = trace::Transition<State, Trigger>;

/// What a lifecycle did.
pub type Trace = trace::Trace<State, Trigger>;

/// A refusal of a lifecycle.
pub type Rejected = trace::Rejected<State, Trigger, Reason>;

/// All that one event did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[must_use = "the actions of a step have to be performed"]
#[non_exhaustive]
pub struct Step {
    /// The row that fired.
    pub transition: Transition,
    /// What the driver is asked to do, in order.
    pub actions: Vec<Action>,
}

/// Why an event is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The table has no row for it.
    #[error("there is no row for it")]
    NoRow,
    /// It answers something that is not open: already answered, withdrawn, or never asked.
    #[error("its ticket is not open")]
    StaleTicket,
    /// It names a commitment whose check is not open.
    #[error("it names a commitment whose check is not open")]
    UnknownCommitment,
    /// The turn that ended had not taken everything that was sent.
    #[error("the turn ended before it took what was sent")]
    OldTurn,
    /// It is blank.
    #[error("it is blank")]
    Blank,
}
