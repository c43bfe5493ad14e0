//! Limits, prices and the ledger that is checked against them.

mod near;
pub mod prices;

pub(crate) use near::half;
pub use near::{LimitNear, Near};

use crate::child::lease::Spent;
use crate::llm::Usage;
use core::fmt;
use serde::{Deserialize, Serialize};

/// The limits of a session. `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Model calls of the session.
    pub max_model_calls: Option<u64>,
    /// Tool calls of the session; calls beyond it are answered "not run". A limit that is lowered while calls of an answer run does not
    /// touch the rest of that answer: which of its calls run is decided before the first of them.
    pub max_tool_calls: Option<u64>,
    /// Tokens of the session, all kinds added up.
    pub max_total_tokens: Option<u64>,
    /// Money of the session, in billionths of a US dollar.
    pub max_cost_nano_usd: Option<u64>,
    /// Time of one turn in milliseconds, without waiting for approvals.
    pub max_wall_time_ms: Option<u64>,
    /// Failing tool calls in a row, in call order, within an answer and across answers. At half of it (and more than one) no further call
    /// of the answer runs and the model is warned, once a turn; at the limit the turn ends. Calls that failed, could not run or were not
    /// allowed by the policy count; a person's "no" does not.
    pub max_failures_in_row: Option<u32>,
    /// Times that the same call brings the same result in a row, in call order, within an answer and across answers. As with failing calls
    /// no further call of the answer runs at half of it, and the turn ends at the limit.
    pub max_repetitions: Option<u32>,
}

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LimitKind {
    /// Model calls.
    ModelCalls,
    /// Tool calls.
    ToolCalls,
    /// Tokens.
    TotalTokens,
    /// Money.
    Cost,
    /// Time of the turn.
    WallTime,
    /// Failing tool calls in a row.
    FailuresInRow,
    /// The same call with the same result.
    Repetitions,
}

/// A limit that was reached, with what was spent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LimitReached {
    /// Which limit.
    pub kind: LimitKind,
    /// What was spent, in the limit's unit. For money this includes what the next call may cost (`u64::MAX` when that is unknown), and for
    /// tokens those of its request.
    pub spent: u64,
    /// The limit.
    pub limit: u64,
}

impl fmt::Display for LimitReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { spent, limit, .. } = self;
        match self.kind {
            LimitKind::ModelCalls => write!(f, "limit on model calls reached: {spent} of {limit}"),
            LimitKind::ToolCalls => write!(f, "limit on tool calls reached: {spent} of {limit}"),
            LimitKind::TotalTokens => write!(f, "limit on tokens reached: {spent} used or needed of {limit}"),
            LimitKind::Cost if *spent == u64::MAX => {
                write!(f, "limit on cost cannot be kept: the price of the model is unknown (limit {} USD)", Usd(*limit))
            }
            LimitKind::Cost => {
                write!(f, "limit on cost reached: {} USD spent or needed of {} USD", Usd(*spent), Usd(*limit))
            }
            LimitKind::WallTime => write!(f, "time limit of the turn reached: {limit} ms"),
            LimitKind::FailuresInRow => write!(f, "limit on failing tool calls in a row reached: {spent} of {limit}"),
            LimitKind::Repetitions => {
                write!(f, "the same call gave the same result {spent} times in a row (limit {limit})")
            }
        }
    }
}

/// Money in billionths of a dollar, written as dollars.
#[derive(Clone, Copy, Debug)]
pub struct Usd(pub u64);

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rounded up to a hundredth of a cent, so that what was spent never reads as nothing.
        let ten_thousandths = self.0.div_ceil(100_000);
        write!(f, "{}.{:04}", ten_thousandths / 10_000, ten_thousandths % 10_000)
    }
}

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
    pub(crate) const fn is_nothing(&self) -> bool {
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

/// What a session has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ledger {
    /// Model calls started.
    pub model_calls: u64,
    /// Tool calls started.
    pub tool_calls: u64,
    /// Tokens, as the providers reported them or, where they did not, as estimated.
    pub usage: Usage,
    /// Money in billionths of a US dollar, as far as prices are known.
    pub cost_nano_usd: u64,
    /// Model calls whose use was estimated because the provider did not report it.
    pub estimated_calls: u64,
    /// Model calls whose price is unknown: the cost is more than it says.
    pub unpriced_calls: u64,
    /// Failing tool calls since the last one that did not fail.
    pub failures_in_row: u32,
    /// What agents below the session spent, as far as their runs have an outcome. It counts for the limits.
    #[serde(default, skip_serializing_if = "Spent::is_nothing")]
    pub below: Spent,
    /// What agents below the session may still spend: it counts for the limits until their runs have an outcome.
    #[serde(default, skip_serializing_if = "Spent::is_nothing")]
    pub leased: Spent,
}

impl Ledger {
    /// All that counts for the limits: what the session spent, what agents below it spent, and what they may still spend.
    #[must_use]
    pub fn committed(&self) -> Spent {
        Spent::from(self).plus(&self.below).plus(&self.leased)
    }

    /// What was spent, by the session and by agents below it.
    #[must_use]
    pub fn whole(&self) -> Spent {
        Spent::from(self).plus(&self.below)
    }

    /// Enters what a model call used.
    pub(crate) fn charge(&mut self, usage: &Usage, estimated: bool, price: Option<&Price>) {
        self.usage = self.usage.plus(usage);
        self.estimated_calls = self.estimated_calls.saturating_add(u64::from(estimated));
        match price {
            Some(price) => self.cost_nano_usd = self.cost_nano_usd.saturating_add(price.cost_nano_usd(usage)),
            None => self.unpriced_calls = self.unpriced_calls.saturating_add(1),
        }
    }

    /// The limit that stands in the way of another model call, if any. The call may cost so much, and its request has so many tokens.
    pub(crate) fn blocks_model_call(
        &self,
        limits: &Limits,
        reservation_nano_usd: Option<u64>,
        request_tokens: u64,
    ) -> Option<LimitReached> {
        // What has no limit is not added up.
        let committed = |own: u64, kind: fn(&Spent) -> u64| {
            own.saturating_add(kind(&self.below)).saturating_add(kind(&self.leased))
        };
        let over = |kind, spent: u64, limit: u64| LimitReached { kind, spent, limit };
        let over_cost = || {
            let limit = limits.max_cost_nano_usd?;
            // A call whose price is unknown cannot be shown to fit, whatever the limit.
            let needed = reservation_nano_usd.map_or(u64::MAX, |reservation| {
                committed(self.cost_nano_usd, |spent| spent.cost_nano_usd).saturating_add(reservation)
            });
            (needed > limit).then(|| over(LimitKind::Cost, needed, limit))
        };
        let over_tokens = || {
            let limit = limits.max_total_tokens?;
            let spent = committed(self.usage.total_tokens(), |spent| spent.tokens);
            let needed = spent.saturating_add(request_tokens);
            let told = if spent >= limit { spent } else { needed };
            (spent >= limit || needed > limit).then(|| over(LimitKind::TotalTokens, told, limit))
        };
        let over_calls = || {
            let limit = limits.max_model_calls?;
            let spent = committed(self.model_calls, |spent| spent.model_calls);
            (spent >= limit).then(|| over(LimitKind::ModelCalls, spent, limit))
        };
        let over_failures = || {
            let (spent, limit) = (u64::from(self.failures_in_row), u64::from(limits.max_failures_in_row?));
            (spent >= limit).then(|| over(LimitKind::FailuresInRow, spent, limit))
        };
        over_cost().or_else(over_tokens).or_else(over_calls).or_else(over_failures)
    }
}

#[cfg(test)]
mod tests;
