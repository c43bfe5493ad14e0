//! What the machine did: the last transitions, the time spent in each state, steps and refusals.

use super::{Action, State, Trigger};
use crate::table::Label;
use alloc::borrow::Cow;
use alloc::collections::VecDeque;
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

/// The newest transitions, at most [`Trace::CAPACITY`], and totals over all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    recent: VecDeque<Transition>,
    /// By state: times entered, milliseconds spent.
    totals: Vec<(u64, u64)>,
    /// When the state was entered; nothing before the first event, which tells the time.
    entered_at_ms: Option<u64>,
    dropped: u64,
}

impl Trace {
    /// How many transitions are kept.
    pub const CAPACITY: usize = 100;

    pub(super) fn new() -> Self {
        Self { recent: VecDeque::new(), totals: vec![(0, 0); State::ALL.len()], entered_at_ms: None, dropped: 0 }
    }

    /// The newest transitions, oldest first.
    pub fn recent(&self) -> impl Iterator<Item = &Transition> {
        self.recent.iter()
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

    /// Enters a transition and returns it.
    pub(super) fn enter(&mut self, at_ms: u64, from: State, on: Trigger, to: State) -> Transition {
        let spent_ms = at_ms.saturating_sub(*self.entered_at_ms.get_or_insert(at_ms));
        if from != to {
            if let Some((_, spent)) = self.totals.get_mut(from as usize) {
                *spent = spent.saturating_add(spent_ms);
            }
            if let Some((entered, _)) = self.totals.get_mut(to as usize) {
                *entered = entered.saturating_add(1);
            }
            self.entered_at_ms = Some(at_ms);
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[must_use = "the actions of a step have to be performed"]
pub struct Step {
    /// The row that fired.
    pub transition: Transition,
    /// What the driver is asked to do, in order.
    pub actions: Vec<Action>,
}

/// A refusal. The machine is as it was before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{event} refused in {state:?}: {reason}")]
pub struct Rejected {
    /// Where the machine stands.
    pub state: State,
    /// The event's name.
    pub event: Cow<'static, str>,
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
