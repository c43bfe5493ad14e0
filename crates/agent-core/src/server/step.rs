//! What one event did to the machine, and why one is refused.

use super::Action;
use super::table::{State, Trigger};
use crate::trace;
use serde::{Deserialize, Serialize};

/// A row of the server machine's table that fired.
pub type Transition = trace::Transition<State, Trigger>;

/// What a server machine did.
pub type Trace = trace::Trace<State, Trigger>;

/// A refusal of a server machine.
pub type Rejected = trace::Rejected<State, Trigger, Reason>;

/// Why an event is refused. One of another run, of a call that is answered, or of a timer that was armed anew, has a stale ticket.
pub type Reason = statetable::Reason<Objection>;

/// All that one event did.
pub type Step = statetable::Step<State, Trigger, Action>;

/// Why the data of a server machine refuses an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum Objection {
    /// A call whose number is not higher than those before it.
    #[error("its number is not higher than the ones before")]
    OutOfOrder,
    /// More calls are open than a server takes.
    #[error("{MAX_OPEN} calls of the server are open already")]
    TooMany,
}

/// How many calls of one server may be open at once.
pub const MAX_OPEN: usize = 64;
