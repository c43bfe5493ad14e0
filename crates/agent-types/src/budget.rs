//! What a call of a model costs.

use crate::llm::Usage;
use serde::{Deserialize, Serialize};

/// Price of a model, in billionths of a US dollar a token: 3 USD a million tokens are 3000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Input tokens.
    pub input_nano_usd: u64,
    /// Output tokens.
    pub output_nano_usd: u64,
    /// Input tokens read from the provider's cache.
    pub cache_read_nano_usd: u64,
    /// Input tokens written to the provider's cache.
    pub cache_write_nano_usd: u64,
}

impl Price {
    /// What a use costs, in billionths of a US dollar.
    #[must_use]
    pub const fn cost_nano_usd(&self, usage: &Usage) -> u64 {
        (self.input_nano_usd.saturating_mul(usage.input_tokens))
            .saturating_add(self.output_nano_usd.saturating_mul(usage.output_tokens))
            .saturating_add(self.cache_read_nano_usd.saturating_mul(usage.cache_read_tokens))
            .saturating_add(self.cache_write_nano_usd.saturating_mul(usage.cache_write_tokens))
    }

    /// Whether nothing is asked for any use.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        let Self { input_nano_usd, output_nano_usd, cache_read_nano_usd, cache_write_nano_usd } = *self;
        (input_nano_usd | output_nano_usd | cache_read_nano_usd | cache_write_nano_usd) == 0
    }

    /// The most that a call with so many tokens can cost, in billionths of a US dollar.
    #[must_use]
    pub const fn reservation_nano_usd(&self, input_tokens: u64, output_tokens: u64) -> u64 {
        let dearest_input = if self.cache_write_nano_usd > self.input_nano_usd {
            self.cache_write_nano_usd
        } else {
            self.input_nano_usd
        };
        dearest_input.saturating_mul(input_tokens).saturating_add(self.output_nano_usd.saturating_mul(output_tokens))
    }
}
