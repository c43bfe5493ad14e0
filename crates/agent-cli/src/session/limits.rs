//! Limits at the prompt, and of a session that is gone on with.

use crate::config::units;
use crate::config::units::NanoUsd;
use agent_core::budget::{Ledger, LimitKind, Limits, Usd};
use agent_core::session::Session;

/// The limits of the start, so many times more.
pub(crate) fn raised(limits: &Limits, times: u64) -> Limits {
    let more = |limit: u64| limit.saturating_mul(times.saturating_add(1));
    let more_in_row = |limit: u32| limit.saturating_mul(u32::try_from(times).unwrap_or(u32::MAX).saturating_add(1));
    Limits {
        max_model_calls: limits.max_model_calls.map(more),
        max_tool_calls: limits.max_tool_calls.map(more),
        max_total_tokens: limits.max_total_tokens.map(more),
        max_cost_nano_usd: limits.max_cost_nano_usd.map(more),
        max_wall_time_ms: limits.max_wall_time_ms.map(more),
        max_failures_in_row: limits.max_failures_in_row.map(more_in_row),
        max_repetitions: limits.max_repetitions.map(more_in_row),
    }
}

/// How often the limits of the start have to be raised: once more than so often, and until what was used is below them, and what the next
/// call is thought to need, where that is what stands in its way: a kind of limit, and how much of it.
pub(crate) fn next_raise(limits: &Limits, raises: u64, used: &Ledger, reached: Option<(LimitKind, u64)>) -> u64 {
    let needed = |kind: LimitKind, used: u64| {
        reached.filter(|reached| reached.0 == kind).map_or(used, |reached| reached.1.max(used))
    };
    let pairs = [
        (limits.max_model_calls, used.model_calls),
        (limits.max_tool_calls, used.tool_calls),
        (limits.max_total_tokens, needed(LimitKind::TotalTokens, used.usage.total_tokens())),
        (limits.max_cost_nano_usd, needed(LimitKind::Cost, used.cost_nano_usd)),
    ];
    let needed = pairs.into_iter().filter_map(|(limit, used)| used.checked_div(limit?));
    needed.fold(raises.saturating_add(1), u64::max)
}

/// What lets a session go on that a limit ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Raise {
    /// A flag, with a limit that leaves room.
    Flag(&'static str, String),
    /// Where no flag helps: what to do, and the flag to leave out.
    Otherwise(&'static str, Option<&'static str>),
}

impl Raise {
    /// Nothing when no limit ended it.
    pub(crate) fn of(session: &Session) -> Option<Self> {
        let (limits, used) = (session.config().limits, session.ledger());
        let kind = session.ended_by_limit()?;
        // What the next call is thought to need counts, too.
        let blocking = session.limit_reached().filter(|reached| reached.kind == kind);
        let needed = |used: u64| blocking.as_ref().map_or(used, |reached| reached.spent.max(used));
        let room = |limit: Option<u64>, used: u64| {
            let limit = limit.unwrap_or_default().max(1);
            needed(used).max(limit).saturating_add(limit)
        };
        let number = |flag, limit, used| Self::Flag(flag, room(limit, used).to_string());
        Some(match kind {
            LimitKind::ModelCalls => number("--max-turns", limits.max_model_calls, used.model_calls),
            LimitKind::ToolCalls => number("--max-tool-calls", limits.max_tool_calls, used.tool_calls),
            LimitKind::TotalTokens => number("--max-total-tokens", limits.max_total_tokens, used.usage.total_tokens()),
            LimitKind::Cost if needed(used.cost_nano_usd) == u64::MAX => Self::Otherwise(
                "set the model's price in the configuration, under `[models]`, or continue without `--max-budget-usd`",
                Some("--max-budget-usd"),
            ),
            LimitKind::Cost => {
                let cents = room(limits.max_cost_nano_usd, used.cost_nano_usd).div_ceil(10_000_000);
                let limit = NanoUsd(cents.saturating_mul(10_000_000));
                Self::Flag("--max-budget-usd", units::usd(limit))
            }
            LimitKind::WallTime => {
                let limit_ms = limits.max_wall_time_ms.unwrap_or_default().max(1);
                Self::Flag("--max-wall-time", format!("{}ms", limit_ms.saturating_mul(2)))
            }
            LimitKind::FailuresInRow => {
                Self::Otherwise("raise `max_failures_in_row` in the configuration, under `[limits]`", None)
            }
            LimitKind::Repetitions => {
                Self::Otherwise("raise `max_repetitions` in the configuration, under `[limits]`", None)
            }
            _ => return None,
        })
    }
}

/// The limit of a kind that is counted over the whole session.
pub(crate) const fn of(kind: LimitKind, limits: &Limits) -> Option<u64> {
    match kind {
        LimitKind::ModelCalls => limits.max_model_calls,
        LimitKind::ToolCalls => limits.max_tool_calls,
        LimitKind::TotalTokens => limits.max_total_tokens,
        LimitKind::Cost => limits.max_cost_nano_usd,
        _ => None,
    }
}

/// The limits that there are, a phrase each.
pub(crate) fn shown(limits: &Limits) -> Vec<String> {
    let lines = changed(&Limits::default(), limits).into_iter();
    lines.map(|line| line.trim_end_matches(" (before: none)").replace(':', "")).collect()
}

/// What limits a session otherwise than it did, a line each.
pub(crate) fn changed(old: &Limits, new: &Limits) -> Vec<String> {
    let number = |limit: u64| limit.to_string();
    let money = |limit: u64| format!("{} USD", Usd(limit));
    let time = |limit: u64| format!("{limit} ms");
    let small = |limit: Option<u32>| limit.map(u64::from);
    type Shown<'a> = &'a dyn Fn(u64) -> String;
    let all: [(&str, Option<u64>, Option<u64>, Shown<'_>); 7] = [
        ("model calls", old.max_model_calls, new.max_model_calls, &number),
        ("tool calls", old.max_tool_calls, new.max_tool_calls, &number),
        ("tokens", old.max_total_tokens, new.max_total_tokens, &number),
        ("money", old.max_cost_nano_usd, new.max_cost_nano_usd, &money),
        ("time per turn", old.max_wall_time_ms, new.max_wall_time_ms, &time),
        ("failing tool calls in a row", small(old.max_failures_in_row), small(new.max_failures_in_row), &number),
        ("repetitions of a call", small(old.max_repetitions), small(new.max_repetitions), &number),
    ];
    let differ = all.into_iter().filter(|(_, old, new, _)| old != new);
    let said = differ.map(|(what, old, new, shown)| {
        let word = |limit: Option<u64>| limit.map_or_else(|| String::from("none"), shown);
        format!("limit on {what}: {} (before: {})", word(new), word(old))
    });
    said.collect()
}

/// Without a limit, the cost is reported at each of these amounts. The earlier cost of a resumed session is no news.
pub(crate) const fn next_notice(nano_usd: u64) -> u64 {
    (nano_usd / NOTICE_EVERY_NANO_USD + 1) * NOTICE_EVERY_NANO_USD
}

const NOTICE_EVERY_NANO_USD: u64 = 5_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_limited_stays_so_and_nothing_overflows() {
        let limits = Limits {
            max_model_calls: Some(2),
            max_cost_nano_usd: Some(u64::MAX),
            max_failures_in_row: Some(3),
            ..Limits::default()
        };
        let twice_more = raised(&limits, 2);
        assert_eq!(twice_more.max_model_calls, Some(6));
        assert_eq!(twice_more.max_cost_nano_usd, Some(u64::MAX));
        assert_eq!(twice_more.max_failures_in_row, Some(9));
        assert_eq!(twice_more.max_tool_calls, None);
    }

    #[test]
    fn a_raise_reaches_what_the_next_call_needs() {
        let limits = Limits { max_cost_nano_usd: Some(100), max_model_calls: Some(2), ..Limits::default() };
        let mut used = Ledger::default();
        (used.cost_nano_usd, used.model_calls) = (90, 1);
        assert_eq!(next_raise(&limits, 0, &used, None), 1);
        let needed = Some((LimitKind::Cost, 530));
        let raises = next_raise(&limits, 0, &used, needed);
        assert!(raised(&limits, raises).max_cost_nano_usd > Some(530) && raises == 5, "{raises}");
        assert_eq!(next_raise(&limits, 7, &used, needed), 8, "each raise is one");
        assert_eq!(next_raise(&limits, 0, &used, Some((LimitKind::Repetitions, 600))), 1);
    }

    #[test]
    fn what_is_limited_otherwise_is_told_one_by_one() {
        let old = Limits { max_model_calls: Some(5), max_cost_nano_usd: Some(500_000_000), ..Limits::default() };
        let new = Limits { max_model_calls: Some(9), max_wall_time_ms: Some(2_000), ..Limits::default() };
        assert_eq!(
            changed(&old, &new),
            [
                "limit on model calls: 9 (before: 5)",
                "limit on money: none (before: 0.5000 USD)",
                "limit on time per turn: 2000 ms (before: none)"
            ]
        );
        assert_eq!(changed(&old, &old), [""; 0]);
    }
}
