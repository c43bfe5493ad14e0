//! What one event did to the machine, and why one is refused.

use super::Action;
use super::table::{State, Trigger};
use crate::trace;
use serde::{Deserialize, Serialize};

/// A row of the child machine's table that fired.
pub type Transition = trace::Transition<State, Trigger>;

/// What a child machine did.
pub type Trace = trace::Trace<State, Trigger>;

/// A refusal of a child machine.
pub type Rejected = trace::Rejected<State, Trigger, Reason>;

/// Why an event is refused. One of another run has a stale ticket.
pub type Reason = statetable::Reason<Objection>;

/// All that one event did.
pub type Step = statetable::Step<State, Trigger, Action>;

/// Why the data of a child machine refuses an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum Objection {
    /// A question or a message that is not the next one.
    #[error("it is not the next one")]
    OutOfOrder,
    /// It is blank.
    #[error("it is blank")]
    Blank,
    /// More messages wait than a child takes.
    #[error("{MAX_WAITING} messages wait for the child already")]
    TooMany,
}

/// How many messages may wait for a child to take them.
pub const MAX_WAITING: usize = 32;
