//! Limits: nothing begins beyond one, and what was in flight is all that goes over.

use super::{Edge, Observed};
use crate::invariants::{Fault, Invariant, Tally, hold};
use agent_core::session::{Action, Session};

impl Observed {
    pub(super) fn judge_limits(&self, edge: &Edge<'_>, tally: &mut Tally) -> Result<(), Fault> {
        let (was, is) = (edge.before.ledger(), edge.after.ledger());
        let counted =
            |begun: bool| hold(Invariant::WithinLimits, begun, || "something begins and is not counted".into());
        for action in &edge.step.actions {
            match action {
                Action::SendLlmRequest { .. } => {
                    counted(is.model_calls == was.model_calls + 1)?;
                    judge_model_call(edge.after)?;
                }
                Action::ExecuteTools { calls, .. } => {
                    counted(is.tool_calls == was.tool_calls + calls.len() as u64)?;
                    let (spent, limit) = (edge.after.ledger().tool_calls, edge.after.config().limits.max_tool_calls);
                    let fits = limit.is_none_or(|limit| spent <= limit);
                    hold(Invariant::WithinLimits, fits, || format!("tool call {spent} of {limit:?}"))?;
                }
                _ => {}
            }
        }
        judge_overshoot(edge, tally)
    }
}

/// What must hold when a model call begins; it is counted already.
fn judge_model_call(session: &Session) -> Result<(), Fault> {
    let (limits, ledger) = (session.config().limits, session.ledger());
    let below = |what: &str, spent: u64, limit: Option<u64>| {
        let fits = limit.is_none_or(|limit| spent < limit);
        hold(Invariant::WithinLimits, fits, || format!("a model call with {what} at {spent} of {limit:?}"))
    };
    below("the calls before it", ledger.model_calls.saturating_sub(1), limits.max_model_calls)?;
    below("tokens", ledger.usage.total_tokens(), limits.max_total_tokens)?;
    below("failures in a row", u64::from(ledger.failures_in_row), limits.max_failures_in_row.map(u64::from))?;
    let Some(limit) = limits.max_cost_nano_usd else { return Ok(()) };
    // Whatever the request takes, an answer of the greatest length must fit.
    let answer = session.config().models.iter().filter_map(|model| {
        let price = model.price?;
        Some(price.output_nano_usd.saturating_mul(u64::from(model.max_output_tokens)))
    });
    let needed = answer.min().map_or(u64::MAX, |answer| ledger.cost_nano_usd.saturating_add(answer));
    hold(Invariant::WithinLimits, needed <= limit, || {
        format!("a model call that needs {needed} of {limit} nano-dollars")
    })
}

fn judge_overshoot(edge: &Edge<'_>, tally: &mut Tally) -> Result<(), Fault> {
    let (before, after, limits) = (edge.before.ledger(), edge.after.ledger(), edge.after.config().limits);
    let over = |was: u64, is: u64, limit: Option<u64>| {
        let (over, last) = (limit.map_or(0, |limit| is.saturating_sub(limit)), is.saturating_sub(was));
        (is > was && over > 0).then_some((over, last))
    };
    for (over, most) in [
        (over(before.cost_nano_usd, after.cost_nano_usd, limits.max_cost_nano_usd), &mut tally.cost_over),
        (
            over(before.usage.total_tokens(), after.usage.total_tokens(), limits.max_total_tokens),
            &mut tally.tokens_over,
        ),
    ] {
        let Some((over, last)) = over else { continue };
        *most = (*most).max((over, last));
        hold(Invariant::OvershootOfOneCall, over <= last, || {
            format!("{over} over the limit, the last call took {last}")
        })?;
    }
    Ok(())
}
