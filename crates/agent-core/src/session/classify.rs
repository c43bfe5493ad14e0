//! From facts to triggers: reads the session's data, changes nothing.

use super::batch::{self, Batch, Count, Counts, Ended};
use super::labels::{Trigger, event_triggers};
use super::reply::Reply;
use super::{Event, Objection, Reason, Session, Ticket, compaction};
use crate::budget::{Ledger, LimitKind, LimitReached};
use crate::conversation::CallId;
use crate::hook::HookPoint;
use crate::llm::{LlmError, LlmErrorKind, LlmResponse};
use crate::permission::ApprovalAnswer;
use crate::tool::{CallFacts, ToolOutcome, ToolStatus};
use alloc::borrow::Cow;

impl Session {
    /// Whether the event is a timer that the session does not wait for any more: it was withdrawn, replaced or taken already. The driver
    /// cannot know that, and nothing is lost with it. A ticket that is open for something else, or that was never given, is the driver's
    /// mistake.
    pub(super) fn is_late(&self, event: &Event) -> bool {
        let (Event::RetryTimeout { ticket } | Event::DeadlineReached { ticket }) = event else { return false };
        let was_given = self.next_ticket.has_given(*ticket);
        was_given && (!self.is_open(*ticket) || self.is_over())
    }

    /// The trigger that an event is here and now.
    pub(super) fn trigger(&self, at_ms: u64, event: &Event) -> Result<Trigger, Reason> {
        match event {
            Event::Started => Ok(Trigger::Started),
            event if event.required_text().is_some_and(|text| text.trim().is_empty()) => Err(Objection::Blank.into()),
            Event::UserInput { .. } | Event::FollowUp { .. } => Ok(Trigger::UserInput),
            Event::InputAfterTurn { .. } => Ok(Trigger::InputAfterTurn),
            Event::InputWithdrawn { text } => self.withdrawn(text),
            Event::BudgetRaised { .. } if self.held.is_stopped() && !self.asked.is_open() => {
                Ok(Trigger::BudgetRaisedWorkDue)
            }
            Event::BudgetRaised { .. } => Ok(Trigger::BudgetRaised),
            Event::Reconfigured { .. } => Ok(Trigger::Reconfigured),
            Event::CompactionRequested | Event::FocusedCompactionRequested { .. } => self.compaction_requested(),
            Event::CancelRequested => Ok(Trigger::CancelRequested),
            Event::LeaveRequested if self.end_hooks_due() => Ok(Trigger::LeaveRequested),
            Event::LeaveRequested => Err(Objection::NoHook.into()),
            Event::ShutdownRequested => Ok(Trigger::ShutdownRequested),
            Event::SessionResumed { begun, calls } => Ok(self.resumed(*begun, calls)),
            Event::DeadlineReached { ticket } => self.deadline_reached(*ticket),
            Event::LlmDelta { ticket, .. } => self.answers(*ticket, Trigger::LlmDelta),
            Event::LlmAborted { ticket, .. } => self.answers(*ticket, Trigger::LlmAborted),
            Event::LlmInterrupted { ticket } => self.answers(*ticket, self.interrupted()),
            Event::RetryTimeout { ticket } => self.answers(*ticket, Trigger::RetryTimeout),
            Event::LlmCompleted { ticket, response } => {
                self.answers(*ticket, Trigger::LlmCompleted).map(|plain| self.completed(plain, response))
            }
            Event::LlmFailed { ticket, error, chance_permille } => {
                self.answers(*ticket, Trigger::LlmAborted)?;
                Ok(self.failed(at_ms, error, *chance_permille))
            }
            Event::ToolsPrepared { ticket, facts } => self.prepared(*ticket, facts),
            Event::ApprovalAnswered { ticket, call, answer, changed } => {
                self.approval(*ticket, call, answer, changed.as_deref())
            }
            Event::ToolProgress { ticket, call, .. } => {
                self.answers(*ticket, Trigger::ToolProgress)?;
                self.running(call).map(|()| Trigger::ToolProgress)
            }
            Event::ToolCompleted { ticket, call, outcome } => {
                self.answers(*ticket, Trigger::ToolsStopped)?;
                self.running(call)?;
                let batch = self.batch.as_deref();
                Ok(batch.map_or(Trigger::ToolsStopped, |batch| self.tool_completed(batch, call, outcome)))
            }
            Event::GitChecked { ticket, report } => {
                self.answers(*ticket, Trigger::GitChecked).map(|plain| match self.cancel.is_pending() {
                    false if report.formatting_due => Trigger::GitCheckedFormattingDue,
                    false if report.commit_due => Trigger::GitCheckedCommitDue,
                    true | false => plain,
                })
            }
            Event::FormattersFinished { ticket, report } => {
                self.answers(*ticket, Trigger::FormattersFinished).map(|plain| match self.cancel.is_pending() {
                    false if report.commit_due => Trigger::FormattersFinishedCommitDue,
                    true | false => plain,
                })
            }
            Event::ChangesCommitted { ticket, .. } => self.answers(*ticket, Trigger::ChangesCommitted),
            Event::HooksFinished { ticket, report } => {
                let is_stop = report.stop.is_some() && self.hooks.is_running() && self.has_turn_to_stop();
                self.answers(*ticket, if is_stop { Trigger::HooksStoppedTurn } else { Trigger::HooksFinished })
            }
            Event::HookFailed { ticket, .. } => self.answers(*ticket, Trigger::HookFailed),
            Event::HooksStoppedTurn { ticket, .. } => {
                let trigger = if self.has_turn_to_stop() { Trigger::HooksStoppedTurn } else { Trigger::HookFailed };
                self.answers(*ticket, trigger)
            }
        }
    }

    fn withdrawn(&self, text: &str) -> Result<Trigger, Reason> {
        if self.outbox.waits(text) { Ok(Trigger::InputWithdrawn) } else { Err(Objection::NotWaiting.into()) }
    }

    fn interrupted(&self) -> Trigger {
        if self.cancel.is_pending() { Trigger::LlmAborted } else { Trigger::LlmInterrupted }
    }

    fn deadline_reached(&self, ticket: Ticket) -> Result<Trigger, Reason> {
        if self.deadline.ticket() == Some(ticket) { Ok(Trigger::CancelRequested) } else { Err(Reason::StaleTicket) }
    }

    /// Whether the guard of an automatic row holds.
    pub(super) fn guard_holds(&self, trigger: Trigger) -> bool {
        match trigger {
            Trigger::AutoCancelled => self.cancel.is_pending(),
            Trigger::AutoBudgetSpent => self.blocking_limit().is_some(),
            Trigger::AutoHooksDue => self.hooks_before_request().is_some(),
            Trigger::AutoStopHooksDue => self.hooks_before_stop().is_some(),
            Trigger::AutoGitCheckDue => self.hooks.run_on(HookPoint::PostToolUse) && self.has_unseen_changes(),
            Trigger::AutoToolsAnswered => self.hooks.run_on(HookPoint::PostToolUse),
            Trigger::AutoWorkDue => self.hooks.goes_on(),
            Trigger::AutoRaisedWorkDue => self.held.is_raised(),
            Trigger::AutoCompactionDue => self.compaction_due(),
            Trigger::AutoResultsDue => self.conversation.has_results_due(),
            Trigger::AutoMessageDue => !self.conversation.has_results_due(),
            Trigger::AutoToolCalls => matches!(self.reply.as_deref(), Some(Reply::Calls { .. })),
            Trigger::AutoResponsePaused => matches!(self.reply.as_deref(), Some(Reply::Paused(_))),
            Trigger::AutoResponseUnusable => matches!(self.reply.as_deref(), Some(Reply::Unusable { .. })),
            Trigger::AutoResponseUnusableForGood => {
                matches!(self.reply.as_deref(), Some(Reply::UnusableForGood { .. }))
            }
            Trigger::AutoNoToolCalls => matches!(self.reply.as_deref(), Some(Reply::Done(_))),
            Trigger::AutoQueuedInput => self.outbox.has_queue(),
            Trigger::AutoWaitingInput => self.outbox.has_waiting(),
            Trigger::AutoQueueEmpty => !self.outbox.has_queue() && !self.outbox.has_waiting(),
            Trigger::AutoNeedsApproval => self.batch.as_deref().is_some_and(Batch::has_open_questions),
            Trigger::AutoNothingToRun => !self.batch.as_deref().is_some_and(Batch::has_cleared),
            Trigger::AutoClear => self.batch.as_deref().is_some_and(Batch::has_cleared),
            Trigger::AutoLoopDetected => self.repeats_too_often().is_some(),
            Trigger::AutoBudgetLeft => self.blocking_limit().is_none(),
            Trigger::AutoAlways | Trigger::AutoInputGathered | Trigger::AutoCancelSettled => true,
            // These stand on no row of a passing state; the proof of the table holds this.
            event_triggers!() => false,
        }
    }

    /// The limit that stands in the way of another model call, if any.
    pub(super) fn blocking_limit(&self) -> Option<LimitReached> {
        self.limit_of(&self.ledger)
    }

    /// The limit that stands in the way when so much was spent.
    pub(super) fn limit_of(&self, ledger: &Ledger) -> Option<LimitReached> {
        let limits = &self.config.limits;
        // Failed calls are the reason of the end, whether or not the limit had room for the calls after them. And if earlier calls did not
        // run because they repeated, there is room.
        if self.held.refuses_calls() && !self.fails_too_often() {
            let spent = ledger.committed().tool_calls;
            let limit = limits.max_tool_calls.unwrap_or(spent);
            if spent >= limit {
                return Some(LimitReached { kind: LimitKind::ToolCalls, spent, limit });
            }
        }
        // Without a limit on money, the cost of the call does not matter; without one on tokens either, neither does its size.
        let price = limits.max_cost_nano_usd.and_then(|_| self.config.price(self.calls.model_index()));
        let counts = price.is_some() || limits.max_total_tokens.is_some();
        let request_tokens = if counts { self.context_estimate() } else { 0 };
        let output_tokens = || u64::from(self.config.max_output_tokens(self.calls.model_index()));
        let reservation = price.map(|price| price.reservation_nano_usd(request_tokens, output_tokens()));
        ledger.blocks_model_call(limits, reservation, request_tokens)
    }

    /// The limit that a turn would meet if it began now: its counters begin anew.
    pub(super) fn limit_ahead(&self) -> Option<LimitReached> {
        self.blocking_limit().filter(|reached| self.asked.is_open() || reached.kind != LimitKind::FailuresInRow)
    }

    /// The limit on repetitions, if the model reached it.
    pub(super) fn repeats_too_often(&self) -> Option<LimitReached> {
        let limit = self.config.limits.max_repetitions.filter(|limit| self.repetition.times >= *limit)?;
        let spent = u64::from(self.repetition.times);
        Some(LimitReached { kind: LimitKind::Repetitions, spent, limit: u64::from(limit) })
    }

    /// Tokens that the next request will take, measured where the provider counted and estimated beyond.
    pub(super) fn context_estimate(&self) -> u64 {
        let bytes = self.conversation.bytes().saturating_add(self.outbox.unsent_bytes());
        self.context.estimate(bytes, self.conversation.len())
    }

    /// Whether the model call in flight, or the next one, is for a summary.
    pub(super) const fn is_compacting(&self) -> bool {
        self.compaction.due.is_some()
    }

    fn answers(&self, ticket: Ticket, trigger: Trigger) -> Result<Trigger, Reason> {
        if self.asked.ticket() == Some(ticket) { Ok(trigger) } else { Err(Reason::StaleTicket) }
    }

    fn prepared(&self, ticket: Ticket, facts: &[CallFacts]) -> Result<Trigger, Reason> {
        self.answers(ticket, Trigger::ToolsPrepared)?;
        let is_covered = self.batch.as_ref().is_some_and(|batch| batch.is_covered_by(facts));
        let is_stop = |fact: &CallFacts| fact.hooks.as_ref().is_some_and(|report| report.stop.is_some());
        match self.cancel.is_pending() {
            _ if !is_covered => Err(Objection::IncompleteFacts.into()),
            false if facts.iter().any(is_stop) => Ok(Trigger::HooksStoppedTurn),
            true | false => Ok(Trigger::ToolsPrepared),
        }
    }

    /// Whether there is a turn that hooks can end: not at the session's end, and not when it is being stopped already.
    fn has_turn_to_stop(&self) -> bool {
        !self.cancel.is_pending() && !self.hooks.run_on(HookPoint::SessionEnd)
    }

    fn running(&self, call: &CallId) -> Result<(), Reason> {
        let is_running = self.batch.as_ref().is_some_and(|batch| batch.is_running(call));
        if is_running { Ok(()) } else { Err(Objection::UnknownCall.into()) }
    }

    /// A model call succeeded: an answer, or a summary.
    fn completed(&self, plain: Trigger, response: &LlmResponse) -> Trigger {
        if !self.is_compacting() {
            return plain;
        }
        let summary = compaction::summary(response).ok();
        let helps = summary.is_some_and(|text| self.shorter(&text, response).is_some());
        match (helps, self.cancel.is_pending()) {
            (true, true) => Trigger::CompactionCompletedWorkDue,
            (false, true) => Trigger::LlmAborted,
            (true, false) if self.is_work_due_after_compaction() => Trigger::CompactionCompletedWorkDue,
            (true, false) => Trigger::CompactionCompleted,
            (false, false) => self.no_summary(true, true),
        }
    }

    /// A model call failed: what can be done about it?
    fn failed(&self, at_ms: u64, error: &LlmError, chance_permille: u16) -> Trigger {
        if self.cancel.is_pending() {
            return Trigger::LlmAborted;
        }
        let is_hopeful = error.kind.is_retryable();
        let is_overflow = error.kind == LlmErrorKind::ContextOverflow;
        let for_good =
            if self.is_compacting() { self.no_summary(is_hopeful, is_overflow) } else { Trigger::LlmFailedForGood };
        if is_overflow {
            let helps = !self.is_compacting() && self.can_shorten();
            return if helps { Trigger::ContextOverflowed } else { for_good };
        }
        let attempts = self.calls.attempt();
        let in_time = error.retry_after_ms.is_none_or(|asked_ms| asked_ms <= self.longest_retry_after_ms(at_ms).0);
        let again = in_time && self.config.retry.delay_after_ms(attempts, error, chance_permille).is_some();
        let has_fallback = self.next_model() < self.config.models.len();
        let is_overloaded = error.kind == LlmErrorKind::Overloaded;
        if has_fallback && error.kind.is_retryable() && (is_overloaded || !again) {
            return Trigger::LlmFailedFallback;
        }
        if again { Trigger::LlmFailedRetryable } else { for_good }
    }

    /// The longest wait that a provider may ask for, in milliseconds, and whether it is the turn's deadline that limits it.
    pub(super) fn longest_retry_after_ms(&self, at_ms: u64) -> (u64, bool) {
        let allowed_ms = self.config.retry.max_retry_after_ms;
        match self.time_left_ms(at_ms) {
            Some(left_ms) if left_ms < allowed_ms => (left_ms, true),
            Some(_) | None => (allowed_ms, false),
        }
    }

    fn approval(
        &self,
        ticket: Ticket,
        call: &CallId,
        answer: &ApprovalAnswer,
        changed: Option<&CallFacts>,
    ) -> Result<Trigger, Reason> {
        self.answers(ticket, Trigger::ApprovalPartial)?;
        let Some(batch) = self.batch.as_ref().filter(|batch| batch.is_asked(call)) else {
            return Err(Objection::UnknownCall.into());
        };
        if batch.is_another_asked(call) {
            return Ok(Trigger::ApprovalPartial);
        }
        let permissions = &self.config.permissions;
        let ended = batch.ended_after(call, answer, changed, permissions);
        let may_run = ended.is_none() || batch.has_runnable(permissions);
        let any_runs = may_run && !self.is_cut_after(batch, call, || ended);
        Ok(if any_runs { Trigger::ApprovalsGranted } else { Trigger::ApprovalsAllDenied })
    }

    /// A call of the batch ended.
    pub(super) fn tool_completed(&self, batch: &Batch, call: &CallId, outcome: &ToolOutcome) -> Trigger {
        let names_changes = !outcome.changed_paths.is_empty();
        if batch.is_another_running(call) {
            return Trigger::ToolCompletedMoreLeft;
        }
        let has_run = outcome.status != ToolStatus::NotRun;
        let more_to_run = batch.has_runnable(&self.config.permissions);
        if self.cancel.is_pending() {
            if more_to_run { Trigger::ToolsStopped } else { Trigger::ToolsAllCompleted }
        } else if more_to_run && !self.is_cut_after(batch, call, || Some(self.ended(outcome))) {
            Trigger::ToolGroupCompleted
        } else if self.config.hooks.contains(&HookPoint::PostToolUse) && (has_run || batch.has_run()) {
            Trigger::ToolsAllCompletedHooksDue
        } else if names_changes || self.has_unseen_changes() || has_run && batch.changes(call) {
            Trigger::ToolsAllCompletedMutating
        } else {
            Trigger::ToolsAllCompleted
        }
    }

    /// Whether no further call of the batch runs when one has ended so, because they have gone in circles for too long.
    fn is_cut_after<'a>(&'a self, batch: &Batch, call: &'a CallId, ended: impl FnOnce() -> Option<Ended<'a>>) -> bool {
        let (most, before, permissions) = (self.most_in_circles(), self.progress(), &self.config.permissions);
        !most.is_none() && batch.will_be_cut(&Count { call, ended: ended(), before, most, permissions })
    }

    /// How a call that ran ended.
    fn ended<'a>(&self, outcome: &'a ToolOutcome) -> Ended<'a> {
        let content = Cow::Borrowed(outcome.content.as_str());
        (Counts::of(outcome.status), batch::told(outcome.status, content, self.config.max_result_bytes))
    }

    /// Whether as many calls in a row have failed as may.
    fn fails_too_often(&self) -> bool {
        self.config.limits.max_failures_in_row.is_some_and(|max| self.ledger.failures_in_row >= max)
    }

    /// Whether something may have been changed since hooks last looked.
    fn has_unseen_changes(&self) -> bool {
        self.changes.are_unseen()
    }

    fn compaction_requested(&self) -> Result<Trigger, Reason> {
        if self.can_compact() { Ok(Trigger::CompactionRequested) } else { Err(Objection::NothingToCompact.into()) }
    }

    fn can_compact(&self) -> bool {
        compaction::cut(&self.conversation, self.is_continuing()) > 0
    }

    /// Whether the conversation can be made shorter after an overflow: by a summary, then by clipping the last round.
    pub(super) fn can_shorten(&self) -> bool {
        match self.compaction.overflows {
            0 if self.may_summarise(true) => true,
            0 | 1 => compaction::last_round_clipped(&self.conversation).is_some(),
            _ => false,
        }
    }

    pub(super) fn compaction_due(&self) -> bool {
        if self.compaction.due.is_some() {
            return true;
        }
        let model = self.config.model(self.calls.model_index());
        let Some(window) = model.and_then(|model| model.context_window_tokens) else { return false };
        let full = window.saturating_mul(u64::from(self.config.compact_at_permille)) / 1_000;
        self.context_estimate() > full && self.may_summarise(false)
    }

    /// Whether the session may summarise by itself, because the conversation may be too long or because it is: only when that can help. A
    /// summary that cannot would end the turn, although the last round can still be clipped.
    pub(super) fn may_summarise(&self, is_too_long: bool) -> bool {
        self.compaction.may_try(is_too_long, self.config.summaries.max_per_turn)
            && compaction::may_help(&self.conversation, self.is_continuing())
    }

    fn is_work_due_after_compaction(&self) -> bool {
        self.compaction.due != Some(compaction::Cause::Requested)
            || self.outbox.has_queue()
            || self.outbox.has_waiting()
            || self.held.is_raised()
    }

    /// What it is that there will be no summary: work whose limit was raised meanwhile does not depend on it, unless the provider said what
    /// it would say to the work as well. A turn that made it by itself goes on without it, where the work may fit all the same.
    fn no_summary(&self, is_hopeful: bool, may_fit: bool) -> Trigger {
        let is_own = self.compaction.due == Some(compaction::Cause::TooLong);
        let goes_on = is_own && may_fit && self.config.summaries.max_per_turn.is_some();
        if goes_on || self.held.is_raised() && is_hopeful {
            Trigger::CompactionFailedWorkDue
        } else {
            Trigger::CompactionFailedForGood
        }
    }
}
