//! Which limit comes near: the model is warned at half of some limits, the user at four fifths of each.

use super::{Ledger, LimitKind, Limits, Usd};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::fmt;

/// Reports each limit once when it comes near. Time is not in the ledger: [`Limits::time_nears_in_ms`] says when it does. What a call costs
/// at most is reserved before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Near {
    limits: Limits,
    reported: BTreeSet<LimitKind>,
}

impl Near {
    /// Begins anew with these limits.
    #[must_use]
    pub const fn new(limits: Limits) -> Self {
        Self { limits, reported: BTreeSet::new() }
    }

    /// The limits that have come near since the last time.
    pub fn due(&mut self, ledger: &Ledger) -> Vec<LimitNear> {
        let limits = &self.limits;
        let spent = ledger.whole();
        let counted = [
            (LimitKind::ModelCalls, spent.model_calls, limits.max_model_calls),
            (LimitKind::ToolCalls, spent.tool_calls, limits.max_tool_calls),
            (LimitKind::TotalTokens, spent.tokens, limits.max_total_tokens),
            (LimitKind::FailuresInRow, u64::from(ledger.failures_in_row), limits.max_failures_in_row.map(u64::from)),
            (LimitKind::Cost, spent.cost_nano_usd, limits.max_cost_nano_usd),
        ];
        let near = counted.into_iter().filter_map(|(kind, spent, limit)| {
            let limit = limit.filter(|limit| spent > 0 && spent >= nears_at(*limit))?;
            self.reported.insert(kind).then_some(LimitNear { kind, spent, limit })
        });
        near.collect()
    }
}

/// A limit that is used to four fifths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitNear {
    /// Which limit.
    pub kind: LimitKind,
    /// What was spent, in the limit's unit.
    pub spent: u64,
    /// The limit.
    pub limit: u64,
}

impl fmt::Display for LimitNear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, spent, limit } = self;
        let what = match kind {
            LimitKind::ModelCalls => "model calls",
            LimitKind::ToolCalls => "tool calls",
            LimitKind::TotalTokens => "tokens",
            LimitKind::FailuresInRow => "failing tool calls in a row",
            LimitKind::Cost => return write!(f, "{} of {} USD spent", Usd(*spent), Usd(*limit)),
            LimitKind::WallTime => "ms",
            LimitKind::Repetitions => "repetitions of a call",
        };
        write!(f, "{spent} of {limit} {what} used")
    }
}

impl Limits {
    /// In how many milliseconds the limit on time comes near, given what is left of it, and how much is used then; `None` if it did
    /// before.
    #[must_use]
    pub fn time_nears_in_ms(&self, left_ms: u64) -> Option<(u64, u64)> {
        let limit_ms = self.max_wall_time_ms?;
        let near_ms = nears_at(limit_ms);
        Some((near_ms.checked_sub(limit_ms.saturating_sub(left_ms))?, near_ms))
    }
}

/// From how much on a limit comes near: four fifths of it.
const fn nears_at(limit: u64) -> u64 {
    limit - limit / 5
}

/// Half of a limit, and more than one: once is no circle.
pub(crate) const fn half(limit: u32) -> u32 {
    let half = limit.div_ceil(2);
    if half > 1 { half } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::{Ledger, Limits, Near};
    use alloc::format;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    fn due(near: &mut Near, ledger: &Ledger) -> Vec<String> {
        near.due(ledger).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn four_fifths_of_a_limit_are_told_once() {
        let limits = Limits { max_model_calls: Some(10), max_cost_nano_usd: Some(1_000_000_000), ..Limits::default() };
        let mut near = Near::new(limits);
        let mut ledger = Ledger::default();
        let mut told = Vec::new();
        for calls in 1..=10 {
            (ledger.model_calls, ledger.tool_calls) = (calls, 1_000);
            ledger.cost_nano_usd = calls * 90_000_000;
            told.extend(due(&mut near, &ledger).into_iter().map(|text| format!("{calls}: {text}")));
        }
        assert_eq!(told, ["8: 8 of 10 model calls used", "9: 0.8100 of 1.0000 USD spent"]);
        let mut raised = Near::new(Limits { max_model_calls: Some(12), ..Limits::default() });
        assert_eq!(due(&mut raised, &ledger), ["10 of 12 model calls used"]);
        let none = Limits { max_tool_calls: Some(0), ..Limits::default() };
        assert_eq!(due(&mut Near::new(none), &Ledger::default()), [""; 0]);
    }

    #[test]
    fn time_comes_near_once() {
        let limits = Limits { max_wall_time_ms: Some(1_000), ..Limits::default() };
        assert_eq!(limits.time_nears_in_ms(1_000), Some((800, 800)));
        assert_eq!(limits.time_nears_in_ms(300), Some((100, 800)));
        assert_eq!(limits.time_nears_in_ms(200), Some((0, 800)));
        assert_eq!(limits.time_nears_in_ms(199), None);
        assert_eq!(Limits::default().time_nears_in_ms(7), None);
    }
}
