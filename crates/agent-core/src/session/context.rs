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

    /// What is left of the tokens of a request when its history shrinks from one size to another, in bytes: as much as of its bytes. So
    /// both are in one measure, the provider's where it counted.
    pub(super) fn shrunk(self, tokens: u64, from_bytes: u64, to_bytes: u64) -> u64 {
        let fixed_bytes = self.fixed_tokens.saturating_mul(4);
        let (from, to) = (from_bytes.saturating_add(fixed_bytes), to_bytes.saturating_add(fixed_bytes));
        let left = (u128::from(tokens) * u128::from(to)).div_ceil(u128::from(from.max(1)));
        u64::try_from(left).unwrap_or(u64::MAX)
    }

    /// Tokens of a request with a history of this size.
    pub(super) const fn estimate(self, bytes: u64, items: usize) -> u64 {
        match self.measured {
            Some((tokens, at_bytes)) => tokens.saturating_add(bytes.saturating_sub(at_bytes) / 4),
            None => (bytes / 4 + items as u64 * 4).saturating_add(self.fixed_tokens),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A provider may count far fewer tokens than bytes let expect, or more.
    #[test]
    fn what_is_left_is_in_the_measure_of_what_was_there() {
        let context = Context::new(250);
        assert_eq!(context.shrunk(110, 9_000, 90), 12, "as much as of the bytes, and never nothing of what stays");
        assert_eq!(context.shrunk(20_000, 9_000, 4_000), 10_000);
        assert_eq!(Context::new(0).shrunk(u64::MAX, u64::MAX, u64::MAX), u64::MAX);
        assert_eq!(Context::new(0).shrunk(5, 0, 0), 0);
    }
}
