//! When a failed attempt is repeated.

use serde::{Deserialize, Serialize};

/// How failed attempts are repeated: after the base delay, then always after twice as long as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RetryConfig {
    /// Repetitions after the first attempt: 3 means up to 4 attempts. At most [`RetryConfig::MAX_RETRIES`].
    pub max_retries: u32,
    /// The first delay, in milliseconds.
    pub base_delay_ms: u64,
}

impl RetryConfig {
    /// More repetitions than these are a mistake: the job does not validate.
    pub const MAX_RETRIES: u32 = 100;

    /// The delay after so many failed attempts, counted from 1, in milliseconds: `base × 2^(attempt − 1)`, and the largest number where
    /// that does not fit.
    #[must_use]
    pub const fn delay_ms(&self, attempt: u32) -> u64 {
        let step = attempt.saturating_sub(1);
        let factor = if step < u64::BITS { 1 << step } else { u64::MAX };
        self.base_delay_ms.saturating_mul(factor)
    }
}

impl Default for RetryConfig {
    fn default() -> Self {
        Self { max_retries: 3, base_delay_ms: 1_000 }
    }
}
