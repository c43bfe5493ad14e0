//! How long the conversation is for the model: measured where the provider counted, and estimated beyond.

use serde::{Deserialize, Serialize};

/// What estimates are made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Context {
    /// What the provider last counted, and the history's size then: the base of estimates.
    measured: Option<(u64, u64)>,
    /// Estimated tokens of the system prompt and the tools.
    fixed_tokens: u64,
}

impl Context {
    /// With a system prompt and tools of so many tokens, and nothing measured.
    pub(super) const fn new(fixed_tokens: u64) -> Self {
        Self { measured: None, fixed_tokens }
    }

    /// The provider counted so many tokens for a history of this size.
    pub(super) const fn measure(&mut self, tokens: u64, bytes: u64) {
        self.measured = Some((tokens, bytes));
    }

    /// What was measured says nothing about the next request.
    pub(super) const fn forget(&mut self) {
        self.measured = None;
    }

    /// Tokens of a request with a history of this size.
    pub(super) const fn estimate(self, bytes: u64, items: usize) -> u64 {
        match self.measured {
            Some((tokens, at_bytes)) => tokens.saturating_add(bytes.saturating_sub(at_bytes) / 4),
            None => (bytes / 4 + items as u64 * 4).saturating_add(self.fixed_tokens),
        }
    }
}
