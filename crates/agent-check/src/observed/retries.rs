//! Repetitions: bounded, never of what is hopeless, and not before the provider wants them.

use super::{Edge, Observed};
use crate::invariants::{Fault, Invariant, Tally, hold};
use crate::session::commands::{Bound, bound};
use agent_core::conversation::Conversation;
use agent_core::llm::{LlmError, StopReason};
use agent_core::session::{Action, Event, State};
use std::sync::Arc;

impl Observed {
    pub(super) fn follow_retries(&mut self, edge: &Edge<'_>, tally: &mut Tally) -> Result<(), Fault> {
        judge_answer(edge)?;
        let is_word_of_the_user =
            matches!(bound(edge.event), Some(Bound::Messages | Bound::Raises | Bound::Changes | Bound::Summaries));
        let is_progress = !is_same(edge.before.conversation(), edge.after.conversation());
        if is_progress || is_word_of_the_user || edge.after.state() == State::WaitingForUserInput {
            self.in_vain = 0;
        }
        if matches!(edge.event, Event::LlmInterrupted { .. } | Event::SessionResumed { .. }) {
            // A program that dies over and over is held by the limits, not by the retries of failures.
            return Ok(());
        }
        let sent = edge.step.actions.iter().filter(|action| matches!(action, Action::SendLlmRequest { .. })).count();
        self.in_vain += sent as u64;
        tally.calls_in_vain = tally.calls_in_vain.max(self.in_vain);
        let config = edge.after.config();
        // Each model as often as it may, twice more because the conversation was too long, and once more behind a summary of no use.
        let most = config.models.len() as u64 * (u64::from(config.retry.max_retries) + 1) + 3;
        hold(Invariant::RetriesBounded, self.in_vain <= most, || format!("{} model calls in vain", self.in_vain))
    }
}

/// Whether two histories are made of the same items.
fn is_same(before: &Conversation, after: &Conversation) -> bool {
    before.len() == after.len() && before.iter().zip(after.iter()).all(|(a, b)| Arc::ptr_eq(a, b))
}

fn judge_answer(edge: &Edge<'_>) -> Result<(), Fault> {
    let scheduled = edge.step.actions.iter().find_map(|action| match action {
        Action::ScheduleRetry { delay_ms, .. } => Some(*delay_ms),
        _ => None,
    });
    let is_sent = edge.step.actions.iter().any(|action| matches!(action, Action::SendLlmRequest { .. }));
    match edge.event {
        Event::LlmFailed { error, .. } => judge_failure(edge, error, scheduled, is_sent),
        // What is sent behind a summary that was refused is the work, and no repetition of it.
        Event::LlmCompleted { response, .. } if edge.before.state() != State::Compacting => {
            let is_hopeless = matches!(response.stop, StopReason::Refusal | StopReason::ContextWindow);
            hold(Invariant::RetriesBounded, !(is_hopeless && (is_sent || scheduled.is_some())), || {
                format!("{:?} is repeated", response.stop)
            })
        }
        _ => Ok(()),
    }
}

fn judge_failure(edge: &Edge<'_>, error: &LlmError, scheduled: Option<u64>, is_sent: bool) -> Result<(), Fault> {
    use agent_core::llm::LlmErrorKind::{Authentication, Billing, InvalidRequest, NotFound, Permission};
    let retry = edge.before.config().retry;
    let is_hopeless = matches!(error.kind, Authentication | Billing | InvalidRequest | NotFound | Permission);
    hold(Invariant::RetriesBounded, !(is_hopeless && (is_sent || scheduled.is_some())), || {
        format!("{:?} is repeated", error.kind)
    })?;
    let Some(delay_ms) = scheduled else { return Ok(()) };
    let longest = error.retry_after_ms.map_or(retry.max_delay_ms, |_| retry.max_retry_after_ms);
    let kept = error.retry_after_ms.is_none_or(|asked_ms| asked_ms == delay_ms);
    hold(Invariant::RetriesBounded, kept && delay_ms <= longest, || {
        format!("{delay_ms} ms to wait, {:?} asked for, at most {longest}", error.retry_after_ms)
    })
}
