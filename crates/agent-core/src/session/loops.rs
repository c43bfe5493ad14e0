//! Detects that the model repeats itself: it is warned once, and then the turn ends.
//!
//! A fold over the calls: how often the same call with the same result came in a row, and how many calls failed in a row. At half of a
//! limit the rest of the answer does not run and the model is warned; at the limit the rows of `CheckingBudget` end the turn. Absent:
//! limits; without one there is no circle.

use super::Session;
use super::batch::Counts;
use crate::budget::{Limits, half};
use crate::conversation::{ToolCall, UserMessage};
use crate::fingerprint;
use alloc::format;
use serde::{Deserialize, Serialize};

/// The last call and its result, as a fingerprint, and how often it came in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Repetition {
    fingerprint: u64,
    pub(super) times: u32,
    /// Whether the model was warned in this turn.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    warned: bool,
}

impl Session {
    /// Warns the model, once a turn, halfway to a limit that ends the turn.
    pub(super) fn warn_of_loop(&mut self) {
        if self.repetition.warned {
            return;
        }
        let limits = self.config.limits;
        let text = if let Some(limit) = limits.max_repetitions.filter(|limit| is_half(self.repetition.times, *limit)) {
            let times = self.repetition.times;
            format!("[The same call gave the same result {times} times in a row. After {limit} times the turn ends.")
        } else if let Some(limit) =
            limits.max_failures_in_row.filter(|limit| is_half(self.ledger.failures_in_row, *limit))
        {
            let failures = self.ledger.failures_in_row;
            format!("[{failures} tool calls in a row failed. After {limit} the turn ends.")
        } else {
            return;
        };
        self.repetition.warned = true;
        self.outbox.note(UserMessage::of_agent(text + " Do something else, or say what is missing.]"));
    }
}

impl Repetition {
    /// A call was answered; the fingerprint is of both.
    pub(super) fn count(&mut self, fingerprint: u64) {
        self.times = if self.fingerprint == fingerprint { self.times.saturating_add(1) } else { 1 };
        self.fingerprint = fingerprint;
    }
}

/// How far the calls have gone in circles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) repetition: Repetition,
    pub(super) failures_in_row: u32,
}

impl Progress {
    /// A call has ended; what the model reads of it is part of what is repeated.
    pub(super) fn count(&mut self, counts: Counts, call: &ToolCall, content: &str) {
        self.repetition.count(fingerprint::of(&[call.name.as_ref(), call.arguments.as_str(), content]));
        self.failures_in_row = counts.failures_after(self.failures_in_row);
    }
}

/// How often calls may repeat or fail before the rest of an answer does not run: first with a warning to the model, then the turn ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Most {
    failures: Option<u32>,
    repetitions: Option<u32>,
}

impl Most {
    pub(super) fn of(limits: &Limits, repetition: &Repetition) -> Self {
        let most = |limit: u32| if repetition.warned { limit } else { limit.min(half(limit)) };
        Self { failures: limits.max_failures_in_row.map(most), repetitions: limits.max_repetitions.map(most) }
    }

    /// Whether there is no limit.
    pub(super) const fn is_none(&self) -> bool {
        self.failures.is_none() && self.repetitions.is_none()
    }

    /// Why no further call runs, in words for the model.
    pub(super) fn reached(&self, progress: &Progress) -> Option<&'static str> {
        if self.failures.is_some_and(|most| progress.failures_in_row >= most) {
            return Some("too many earlier calls failed");
        }
        let times = progress.repetition.times;
        self.repetitions.is_some_and(|most| times >= most).then_some("the same call was repeated too often")
    }

    /// How many calls may run beside each other, and how many of the same: no more than may fail, or be repeated, before no further one
    /// runs.
    pub(super) fn left(&self, progress: &Progress) -> (Option<u32>, Option<u32>) {
        let left = |most: Option<u32>, count: u32| most.map(|most| most.saturating_sub(count).max(1));
        (left(self.failures, progress.failures_in_row), left(self.repetitions, progress.repetition.times))
    }
}

/// Whether it is half of the limit or more.
const fn is_half(count: u32, limit: u32) -> bool {
    count >= half(limit)
}
