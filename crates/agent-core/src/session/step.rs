//! What one event did to the machine, and why one is refused.

use super::event::Source;
use super::table::{State, Trigger};
use super::{Action, Durability};
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

/// Further results of a step of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Notes {
    /// What was decided about calls, and why, in call order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rulings: Vec<Ruling>,
    /// When the record of the event must be durable.
    #[serde(skip)]
    pub durability: Durability,
    /// Whether a turn began: the model is asked something new. The calls that follow from one message are one turn.
    #[serde(skip)]
    pub begins_turn: bool,
}

impl Notes {
    /// The notes of a step that followed in the same event.
    pub(crate) fn add(&mut self, mut later: Self) {
        self.rulings.append(&mut later.rulings);
        self.durability = self.durability.sooner(later.durability);
        self.begins_turn |= later.begins_turn;
    }
}

/// Notes what follows for the driver from what a step did.
pub(super) fn note(source: Source, step: &mut Step) {
    let begins_turn = |row: &Transition| {
        let is_message = matches!(
            row.on,
            Trigger::UserInput | Trigger::InputAfterTurn | Trigger::AutoQueuedInput | Trigger::AutoWaitingInput
        );
        row.to == State::PreparingRequest && is_message
    };
    step.notes.durability = if step.is_empty() { Durability::Later } else { Durability::of(source, &step.actions) };
    step.notes.begins_turn = step.transitions.iter().any(begins_turn);
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
    /// No such message waits: it has gone out, or was handed back.
    #[error("no such message waits: it has gone out, or was handed back")]
    NotWaiting,
    /// There is nothing to summarise.
    #[error("there is nothing to summarise")]
    NothingToCompact,
}
