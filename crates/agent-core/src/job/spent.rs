//! What a job has used, over all attempts and the call of a router that makes one.

use crate::budget::{Ledger, Limits, Price};
use crate::llm::Usage;
use serde::{Deserialize, Serialize};

/// Money, tokens and calls, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Spent {
    /// Money in billionths of a US dollar, as far as prices are known.
    pub cost_nano_usd: u64,
    /// Tokens.
    pub usage: Usage,
    /// Model calls.
    pub model_calls: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Model calls whose price is unknown: the cost is more than it says.
    pub unpriced_calls: u64,
}

impl Spent {
    /// What a session used: its tokens at the price of the model that each call went to.
    #[must_use]
    pub const fn of_ledger(ledger: &Ledger) -> Self {
        Self {
            cost_nano_usd: ledger.cost_nano_usd,
            usage: ledger.usage,
            model_calls: ledger.model_calls,
            tool_calls: ledger.tool_calls,
            unpriced_calls: ledger.unpriced_calls,
        }
    }

    /// What one model call used, such as a router's.
    #[must_use]
    pub const fn of_call(usage: Usage, price: Option<&Price>) -> Self {
        let (cost_nano_usd, unpriced_calls) = match price {
            Some(price) => (price.cost_nano_usd(&usage), 0),
            None => (0, 1),
        };
        Self { cost_nano_usd, usage, model_calls: 1, tool_calls: 0, unpriced_calls }
    }

    /// Both together.
    #[must_use]
    pub const fn plus(&self, other: &Self) -> Self {
        Self {
            cost_nano_usd: self.cost_nano_usd.saturating_add(other.cost_nano_usd),
            usage: Usage {
                input_tokens: self.usage.input_tokens.saturating_add(other.usage.input_tokens),
                output_tokens: self.usage.output_tokens.saturating_add(other.usage.output_tokens),
                cache_read_tokens: self.usage.cache_read_tokens.saturating_add(other.usage.cache_read_tokens),
                cache_write_tokens: self.usage.cache_write_tokens.saturating_add(other.usage.cache_write_tokens),
            },
            model_calls: self.model_calls.saturating_add(other.model_calls),
            tool_calls: self.tool_calls.saturating_add(other.tool_calls),
            unpriced_calls: self.unpriced_calls.saturating_add(other.unpriced_calls),
        }
    }

    /// The cost in billionths of a US dollar, when all of it is known.
    #[must_use]
    pub const fn known_cost_nano_usd(&self) -> Option<u64> {
        if self.unpriced_calls == 0 { Some(self.cost_nano_usd) } else { None }
    }

    /// What is left of limits that hold for the whole job. Those on a single turn stay as they are.
    #[must_use]
    pub fn left_of(&self, limits: &Limits) -> Limits {
        let left = |limit: Option<u64>, spent: u64| limit.map(|limit| limit.saturating_sub(spent));
        Limits {
            max_model_calls: left(limits.max_model_calls, self.model_calls),
            max_tool_calls: left(limits.max_tool_calls, self.tool_calls),
            max_total_tokens: left(limits.max_total_tokens, self.usage.total_tokens()),
            max_cost_nano_usd: left(limits.max_cost_nano_usd, self.cost_nano_usd),
            ..*limits
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ledger, Limits, Spent, Usage};

    fn ledger() -> Ledger {
        let usage = Usage { input_tokens: 1, output_tokens: 2, cache_read_tokens: 3, cache_write_tokens: 4 };
        Ledger { model_calls: 2, tool_calls: 3, usage, cost_nano_usd: 40, unpriced_calls: 1, ..Ledger::default() }
    }

    #[test]
    fn a_session_s_use_is_the_job_s() {
        let spent = Spent::of_ledger(&ledger());
        assert_eq!((spent.cost_nano_usd, spent.usage), (40, ledger().usage));
        assert_eq!((spent.model_calls, spent.tool_calls, spent.unpriced_calls), (2, 3, 1));
    }

    #[test]
    fn what_is_left_is_less_by_what_was_spent_and_never_below_nothing() {
        let spent = Spent::of_ledger(&ledger());
        let limits = |limit| Limits {
            max_model_calls: Some(limit),
            max_tool_calls: Some(limit),
            max_total_tokens: Some(limit),
            max_cost_nano_usd: Some(limit),
            max_wall_time_ms: Some(limit),
            ..Limits::default()
        };
        let left = Limits {
            max_model_calls: Some(98),
            max_tool_calls: Some(97),
            max_total_tokens: Some(90),
            max_cost_nano_usd: Some(60),
            ..limits(100)
        };
        assert_eq!(spent.left_of(&limits(100)), left);
        let none = Limits { max_wall_time_ms: Some(1), ..limits(0) };
        assert_eq!(spent.left_of(&limits(1)), none);
        assert_eq!(spent.left_of(&Limits::default()), Limits::default(), "no limit stays none");
    }
}
