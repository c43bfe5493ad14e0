//! The model goes round in circles: it is told once, and then the turn ends.
//!
//! A fold over the calls: how often the same call with the same result came in a row, and how many calls failed in a row. At half of a limit
//! the model is told, at the limit the rows of `CheckingBudget` end the turn. Absent: limits; without one there is no circle.

use super::Session;
use crate::budget::Limits;
use alloc::format;
use serde::{Deserialize, Serialize};

/// The last call and its result, as a fingerprint, and how often it came in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Repetition {
    fingerprint: u64,
    pub(super) times: u32,
    /// Whether the model was told in this turn.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    warned: bool,
}

impl Session {
    /// Tells the model, once a turn, that it is half on the way to a limit that ends the turn.
    pub(super) fn warn_of_loop(&mut self) {
        if self.repetition.warned {
            return;
        }
        let limits = self.config.limits;
        let text = if let Some(limit) = limits.max_repetitions.filter(|limit| is_half(self.repetition.times, *limit)) {
            let times = self.repetition.times;
            format!("[The same call brought the same result {times} times in a row. After {limit} times the turn ends.")
        } else if let Some(limit) =
            limits.max_failures_in_row.filter(|limit| is_half(self.ledger.failures_in_row, *limit))
        {
            let failures = self.ledger.failures_in_row;
            format!("[{failures} tool calls in a row failed. After {limit} the turn ends.")
        } else {
            return;
        };
        self.repetition.warned = true;
        self.notes.push(text + " Do something else, or say what is missing.]");
    }
}

impl Repetition {
    /// A call was answered; the fingerprint is of both.
    pub(super) fn count(&mut self, fingerprint: u64) {
        self.times = if self.fingerprint == fingerprint { self.times.saturating_add(1) } else { 1 };
        self.fingerprint = fingerprint;
    }
}

/// Failing calls in a row after which no further one runs: the model is told first, and then the turn ends.
pub(super) fn most_failures(limits: &Limits, repetition: &Repetition) -> Option<u32> {
    limits.max_failures_in_row.map(|limit| if repetition.warned { limit } else { limit.min(half(limit)) })
}

/// Whether it is half of the limit or more.
const fn is_half(count: u32, limit: u32) -> bool {
    count >= half(limit)
}

/// Half of a limit, and more than one: once is no circle.
const fn half(limit: u32) -> u32 {
    let half = limit.div_ceil(2);
    if half > 1 { half } else { 2 }
}
