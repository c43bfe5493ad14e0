//! What a machine did and what it refused: the same for every machine.

use crate::diagram::{Refusal, cell};
use crate::table::{Label, Table};
use alloc::borrow::Cow;
use alloc::collections::VecDeque;
#[cfg(feature = "serde")]
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Debug, Display};
#[cfg(feature = "serde")]
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// One row that fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Transition<S, T> {
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// State that was left or kept.
    pub from: S,
    /// What happened.
    pub on: T,
    /// State that was entered or kept.
    pub to: S,
    /// How long the machine had been in `from`, in milliseconds.
    pub spent_ms: u64,
}

/// Something odd that no row shows, such as a tool-call id that had to be replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct TraceNote {
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// What.
    pub text: String,
}

/// The newest transitions and notes, at most [`Trace::CAPACITY`] of each, and totals over all transitions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serde", serde(bound(deserialize = "S: Deserialize<'de>, T: Deserialize<'de>")))]
pub struct Trace<S, T> {
    #[cfg_attr(feature = "serde", serde(deserialize_with = "few"))]
    recent: VecDeque<Transition<S, T>>,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "few"))]
    notes: VecDeque<TraceNote>,
    /// By state: times entered, milliseconds spent.
    totals: Vec<(u64, u64)>,
    /// When the state was entered; `None` until an event has given the time.
    entered_at_ms: Option<u64>,
    dropped: u64,
}

#[cfg(feature = "serde")]
/// As many as a trace keeps: no trace ever had more.
fn few<'de, V: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<VecDeque<V>, D::Error> {
    let entries = VecDeque::deserialize(deserializer)?;
    let count = entries.len();
    if count > CAPACITY {
        return Err(D::Error::custom(format!("a trace keeps at most {CAPACITY} entries, and here are {count}")));
    }
    Ok(entries)
}

const CAPACITY: usize = 100;

impl<S: Label, T: Label> Trace<S, T> {
    /// How many transitions, and how many notes, are kept.
    pub const CAPACITY: usize = CAPACITY;

    /// A trace of a machine that was made at a time, in milliseconds since the Unix epoch; without one, time begins with the first event.
    #[must_use]
    pub fn new(made_at_ms: Option<u64>) -> Self {
        Self {
            recent: VecDeque::new(),
            notes: VecDeque::new(),
            totals: vec![(0, 0); S::ALL.len()],
            entered_at_ms: made_at_ms,
            dropped: 0,
        }
    }

    /// The newest transitions, oldest first.
    pub fn recent(&self) -> impl Iterator<Item = &Transition<S, T>> {
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
    pub fn total(&self, state: S) -> (u64, u64) {
        self.totals.get(state.index()).copied().unwrap_or_default()
    }

    /// When the state was entered, if an event has set the time.
    #[must_use]
    pub const fn entered_at_ms(&self) -> Option<u64> {
        self.entered_at_ms
    }

    /// Enters a note.
    pub fn note(&mut self, at_ms: u64, text: String) {
        if self.notes.len() == Self::CAPACITY {
            self.notes.pop_front();
        }
        self.notes.push_back(TraceNote { at_ms, text });
    }

    /// Enters a transition and returns it.
    pub fn enter(&mut self, at_ms: u64, from: S, on: T, to: S) -> Transition<S, T> {
        let spent_ms = at_ms.saturating_sub(*self.entered_at_ms.get_or_insert(at_ms));
        if from != to {
            if let Some((_, spent)) = self.totals.get_mut(from.index()) {
                *spent = spent.saturating_add(spent_ms);
            }
            if let Some((entered, _)) = self.totals.get_mut(to.index()) {
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

/// A refusal. The machine is as it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Rejected<S, T, R> {
    /// The machine's state.
    pub state: S,
    /// The event's name.
    pub event: Cow<'static, str>,
    /// The trigger it would have been, when that could be decided.
    pub trigger: Option<T>,
    /// Why.
    pub reason: R,
    /// The triggers that have a row here: only these are accepted. Several may stand for one event, decided by the machine's data.
    pub accepted: Vec<T>,
}

impl<S: Debug, T, R: Display> Display for Rejected<S, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} refused in {:?}: {}", self.event, self.state, self.reason)
    }
}

impl<S: Debug, T: Debug, R: Debug + Display> core::error::Error for Rejected<S, T, R> {}

impl<S: Label, T: Label, R> Rejected<S, T, R> {
    pub(crate) fn new<A: Label>(
        table: &Table<S, T, A>,
        state: S,
        event: &'static str,
        trigger: Option<T>,
        reason: R,
    ) -> Self {
        let accepted = table.rows_from(state).map(|row| row.on).collect();
        Self { state, event: Cow::Borrowed(event), trigger, reason, accepted }
    }

    /// Why the table has no such row, as its grid says it: where the event would have been expected. `None` if it was the machine's
    /// data that refused the event, before it was a trigger.
    #[must_use]
    pub fn refusal<A: Label>(&self, table: &Table<S, T, A>) -> Option<Refusal> {
        cell(table, self.state, self.trigger?).err()
    }
}
