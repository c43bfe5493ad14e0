//! What the machine did: the last transitions, and the time spent in each state.

use super::{State, Trigger};
use crate::table::Label;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// One row that fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transition {
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// State that was left or kept.
    pub from: State,
    /// What happened.
    pub on: Trigger,
    /// State that was entered or kept.
    pub to: State,
    /// How long the machine had been in `from`, in milliseconds.
    pub spent_ms: u64,
}

/// Something odd that no row tells, such as a tool-call id that had to be replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceNote {
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// What.
    pub text: String,
}

/// The newest transitions and notes, at most [`Trace::CAPACITY`] of each, and totals over all transitions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    recent: VecDeque<Transition>,
    notes: VecDeque<TraceNote>,
    /// By state: times entered, milliseconds spent.
    totals: Vec<(u64, u64)>,
    entered_at_ms: u64,
    dropped: u64,
}

impl Trace {
    /// How many transitions are kept.
    pub const CAPACITY: usize = 100;

    pub(super) fn new() -> Self {
        Self {
            recent: VecDeque::new(),
            notes: VecDeque::new(),
            totals: vec![(0, 0); State::ALL.len()],
            entered_at_ms: 0,
            dropped: 0,
        }
    }

    /// The newest transitions, oldest first.
    pub fn recent(&self) -> impl Iterator<Item = &Transition> {
        self.recent.iter()
    }

    /// The newest notes, oldest first.
    pub fn notes(&self) -> impl Iterator<Item = &TraceNote> {
        self.notes.iter()
    }

    /// Transitions that are no longer kept.
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// How often a state was entered, and how many milliseconds were spent in it, until the last transition.
    #[must_use]
    pub fn total(&self, state: State) -> (u64, u64) {
        self.totals.get(state as usize).copied().unwrap_or_default()
    }

    /// Enters a note.
    pub(super) fn note(&mut self, at_ms: u64, text: String) {
        if self.notes.len() == Self::CAPACITY {
            self.notes.pop_front();
        }
        self.notes.push_back(TraceNote { at_ms, text });
    }

    /// Enters a transition and returns it.
    pub(super) fn enter(&mut self, at_ms: u64, from: State, on: Trigger, to: State) -> Transition {
        let spent_ms = at_ms.saturating_sub(self.entered_at_ms);
        if from != to {
            if let Some((_, spent)) = self.totals.get_mut(from as usize) {
                *spent = spent.saturating_add(spent_ms);
            }
            if let Some((entered, _)) = self.totals.get_mut(to as usize) {
                *entered = entered.saturating_add(1);
            }
            self.entered_at_ms = at_ms;
        }
        let transition = Transition { at_ms, from, on, to, spent_ms };
        if self.recent.len() == Self::CAPACITY {
            self.recent.pop_front();
            self.dropped = self.dropped.saturating_add(1);
        }
        self.recent.push_back(transition);
        transition
    }
}

/// All that one event did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[must_use = "the actions of a step have to be performed"]
pub struct Step {
    /// The rows that fired, in order; the first is the event's own.
    pub transitions: Vec<Transition>,
    /// What the driver is asked to do, in order.
    pub actions: Vec<super::Action>,
}

/// A refusal. The machine is as it was before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{event} refused in {state:?}: {reason}")]
pub struct Rejected {
    /// Where the machine stands.
    pub state: State,
    /// The event's name.
    pub event: alloc::borrow::Cow<'static, str>,
    /// The trigger it would have been, when that could be decided.
    pub trigger: Option<Trigger>,
    /// Why.
    pub reason: Reason,
    /// What would have been accepted here.
    pub accepted: Vec<Trigger>,
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
    /// It names a call that is not open.
    #[error("it names a call that is not open")]
    UnknownCall,
    /// It does not name every call exactly once.
    #[error("it does not name every call exactly once")]
    IncompleteFacts,
    /// It is blank.
    #[error("it is blank")]
    Blank,
    /// There is nothing to summarise.
    #[error("there is nothing to summarise")]
    NothingToCompact,
}
