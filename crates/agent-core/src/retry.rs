//! When a failed model call is repeated, and after how long.

use crate::llm::LlmError;
use serde::{Deserialize, Serialize};

/// How failed model calls are repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RetryPolicy {
    /// Repetitions after the first attempt: 3 means up to 4 attempts.
    pub max_retries: u32,
    /// How the delay grows.
    pub backoff: Backoff,
    /// The first delay, in milliseconds.
    pub base_delay_ms: u64,
    /// The longest delay of our own, in milliseconds.
    pub max_delay_ms: u64,
    /// The longest delay that a provider may ask for, in milliseconds. A longer one gives up at once.
    pub max_retry_after_ms: u64,
    /// The part of the delay that chance may take off, in thousandths.
    pub jitter_permille: u16,
}

/// How delays grow from one attempt to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backoff {
    /// Base, twice the base, three times the base, …
    Linear,
    /// Base, twice the base, four times the base, …
    Exponential,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_retries: 3,
            backoff: Backoff::Exponential,
            base_delay_ms: 1_000,
            max_delay_ms: 60_000,
            max_retry_after_ms: 120_000,
            jitter_permille: 250,
        }
    }
}

impl RetryPolicy {
    /// The delay before the next attempt in milliseconds, or `None` if there is no next attempt.
    ///
    /// `failed_attempts` counts the attempts so far, at least 1. `chance_permille` is a number from 0 to 1000 that the driver drew.
    #[must_use]
    pub fn delay_ms(&self, failed_attempts: u32, retry_after_ms: Option<u64>, chance_permille: u16) -> Option<u64> {
        if failed_attempts > self.max_retries {
            return None;
        }
        if let Some(asked_ms) = retry_after_ms {
            return (asked_ms <= self.max_retry_after_ms).then_some(asked_ms);
        }
        let step = failed_attempts.saturating_sub(1);
        let factor = match self.backoff {
            Backoff::Linear => u64::from(step) + 1,
            Backoff::Exponential => 1_u64.checked_shl(step).unwrap_or(u64::MAX),
        };
        let delay_ms = self.base_delay_ms.saturating_mul(factor).min(self.max_delay_ms);
        Some(delay_ms - permille(permille(delay_ms, self.jitter_permille), chance_permille))
    }

    /// The delay after this failure, or `None` if repeating is no use or not allowed any more.
    #[must_use]
    pub fn delay_after_ms(&self, failed_attempts: u32, error: &LlmError, chance_permille: u16) -> Option<u64> {
        if !error.kind.is_retryable() {
            return None;
        }
        self.delay_ms(failed_attempts, error.retry_after_ms, chance_permille)
    }
}

/// So many thousandths of a number, at most all of it. Exact also where the product would not fit.
fn permille(whole: u64, part: u16) -> u64 {
    let part = u64::from(part.min(1_000));
    whole / 1_000 * part + whole % 1_000 * part / 1_000
}

#[cfg(test)]
mod tests {
    use super::{RetryPolicy, permille};

    #[test]
    fn chance_takes_off_its_part_of_short_and_long_delays() {
        let policy = RetryPolicy::default();
        let delays = |chance| [1, 2, 3].map(|attempts| policy.delay_ms(attempts, None, chance));
        assert_eq!(delays(0), [Some(1_000), Some(2_000), Some(4_000)]);
        assert_eq!(delays(1_000), [Some(750), Some(1_500), Some(3_000)]);
        assert_eq!(delays(500), [Some(875), Some(1_750), Some(3_500)]);
        assert_eq!(delays(u16::MAX), delays(1_000), "no more than all of the jitter");
        assert_eq!((permille(50, 250), permille(u64::MAX, 1_000)), (12, u64::MAX));
    }

    #[test]
    fn delays_end_with_the_retries_and_never_overflow() {
        let policy = RetryPolicy { max_retries: u32::MAX, max_delay_ms: u64::MAX, ..RetryPolicy::default() };
        assert_eq!(RetryPolicy::default().delay_ms(4, None, 0), None);
        assert_eq!(policy.delay_ms(200, None, 0), Some(u64::MAX));
        assert!(policy.delay_ms(u32::MAX, None, 1_000).is_some());
    }
}
