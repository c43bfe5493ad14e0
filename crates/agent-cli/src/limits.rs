//! Raising limits at the prompt.

use agent_core::budget::Limits;

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
}
