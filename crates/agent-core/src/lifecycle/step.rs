//! What one event did to the machine, and why one is refused.

use super::Action;
use super::table::{State, Trigger};
use crate::trace;
use serde::{Deserialize, Serialize};

/// A row of the lifecycle table that fired.
pub type Transition = trace::Transition<State, Trigger>;

/// What a lifecycle did.
pub type Trace = trace::Trace<State, Trigger>;

/// A refusal of a lifecycle.
pub type Rejected = trace::Rejected<State, Trigger, Reason>;

/// Why an event is refused.
pub type Reason = statetable::Reason<Objection>;

/// All that one event did.
pub type Step = statetable::Step<State, Trigger, Action>;

/// Why the data of a lifecycle refuses an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum Objection {
    /// It names a commitment whose check is not open.
    #[error("it names a commitment whose check is not open")]
    UnknownCommitment,
    /// It is blank.
    #[error("it is blank")]
    Blank,
}
