//! What one event did to the machine, and why one is refused.

use super::Action;
use super::table::{State, Trigger};
use crate::trace;
use serde::{Deserialize, Serialize};

/// A row of the job table that fired.
pub type Transition = trace::Transition<State, Trigger>;

/// What a job did.
pub type Trace = trace::Trace<State, Trigger>;

/// A refusal of a job.
pub type Rejected = trace::Rejected<State, Trigger, Reason>;

/// Why an event is refused.
pub type Reason = statetable::Reason<Objection>;

/// All that one event did.
pub type Step = statetable::Step<State, Trigger, Action>;

/// Why the data of a job refuses an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum Objection {
    /// Its ticket is open, but asks for something else.
    #[error("its ticket asks for something else")]
    WrongAnswer,
}
