//! What one event did to the machine, and why one is refused.

use super::Action;
use super::table::{State, Trigger};
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

/// Why an event is refused.
pub type Reason = statetable::Reason<Objection>;

/// All that one event did.
pub type Step = statetable::Step<State, Trigger, Action, Notes>;

/// What a step of a session tells besides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Notes {
    /// What was decided about calls, and why, in call order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rulings: Vec<Ruling>,
}

/// Why the data of a session refuses an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum Objection {
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
