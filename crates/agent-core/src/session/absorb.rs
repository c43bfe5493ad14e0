//! Moves data in: an event's on its trigger, the session's own on an automatic one. Decides nothing about states.

use super::compaction::Cause;
use super::labels::{Trigger, event_triggers};
use super::{Event, Repetition, Session, stop};
use crate::permission::Ruling;
use alloc::format;
use alloc::vec::Vec;

impl Session {
    /// Applies the data of an event, and notes what is decided about calls.
    pub(super) fn take_in(&mut self, trigger: Trigger, event: Event, rulings: &mut Vec<Ruling>) {
        if trigger.answers_all() {
            self.asked.close();
        }
        match event {
            Event::Started | Event::LlmDelta { .. } | Event::ToolProgress { .. } => {}
            Event::UserInput { text } => self.absorb_input(text),
            Event::InputAfterTurn { text } => self.absorb_input_after_turn(text),
            Event::InputWithdrawn { text } => self.outbox.withdraw(&text),
            Event::FollowUp { text, used_ms } => self.absorb_follow_up(text, used_ms),
            Event::BudgetRaised { limits } => {
                self.config.limits = limits;
                self.held.raise();
                if trigger == Trigger::BudgetRaisedWorkDue {
                    self.resume();
                }
            }
            Event::Reconfigured { config } => self.absorb_config(*config),
            Event::CompactionRequested => self.begin_summary(None),
            Event::FocusedCompactionRequested { focus } => self.begin_summary(Some(focus)),
            Event::CancelRequested => self.absorb_cancel(stop::Reason::Requested),
            Event::DeadlineReached { .. } => {
                self.deadline.reached();
                self.absorb_cancel(stop::Reason::DeadlineReached);
            }
            Event::LeaveRequested => self.hooks.open_end(),
            Event::ShutdownRequested => self.absorb_shutdown(),
            Event::SessionResumed { calls, .. } => self.absorb_resumption(trigger, &calls, rulings),
            Event::LlmCompleted { response, .. } => self.absorb_response(trigger, response),
            Event::LlmFailed { error, chance_permille, .. } => self.absorb_failure(trigger, &error, chance_permille),
            Event::LlmAborted { partial_text, .. } => self.absorb_abort(partial_text),
            Event::LlmInterrupted { .. } => self.absorb_interruption(trigger),
            Event::RetryTimeout { .. } => self.calls.end_wait(),
            Event::ToolsPrepared { facts, .. } => self.absorb_facts(trigger, facts, rulings),
            Event::ApprovalAnswered { call, answer, changed, .. } => {
                self.absorb_approval(trigger, &call, answer, changed.as_deref(), rulings);
            }
            Event::ToolCompleted { call, outcome, .. } => self.absorb_outcome(trigger, &call, outcome, rulings),
            Event::GitChecked { report, .. } => {
                if !report.formatting_due && !report.commit_due {
                    self.changes.settle();
                }
            }
            Event::FormattersFinished { report, .. } => self.absorb_formatting(report),
            Event::ChangesCommitted { .. } => self.changes.settle(),
            Event::HooksFinished { mut report, .. } => match report.stop.take() {
                Some(reason) if trigger == Trigger::HooksStoppedTurn => self.absorb_hook_stop(*report, &reason),
                Some(_) | None => self.absorb_hook_report(*report),
            },
            Event::HookFailed { message, .. } => self.absorb_hook_error(trigger, message),
            Event::HooksStoppedTurn { reason, .. } => self.absorb_hook_error(trigger, reason),
        }
    }

    /// Moves the session's own data on an automatic trigger.
    pub(super) fn take_up(&mut self, trigger: Trigger) {
        self.hooks.close();
        match trigger {
            Trigger::AutoHooksDue => {
                if let Some(occasion) = self.hooks_before_request() {
                    self.hooks.open(occasion);
                }
            }
            Trigger::AutoStopHooksDue => {
                if let Some(occasion) = self.hooks_before_stop() {
                    self.hooks.open(occasion);
                }
            }
            Trigger::AutoCancelled => {
                self.keep_reply();
                self.close_batch("cancelled");
            }
            Trigger::AutoBudgetSpent => self.stop_by_limit(),
            Trigger::AutoCompactionDue => {
                let cause = *self.compaction.due.get_or_insert(Cause::TooLong);
                if cause == Cause::TooLong {
                    self.compaction.try_it();
                }
            }
            Trigger::AutoToolCalls
            | Trigger::AutoResponsePaused
            | Trigger::AutoResponseUnusable
            | Trigger::AutoResponseUnusableForGood
            | Trigger::AutoNoToolCalls => self.take_reply(),
            // A message that a hook held back does not count against the next one.
            Trigger::AutoQueuedInput | Trigger::AutoWaitingInput => {
                self.begin_work();
                self.outbox.take_up_all();
            }
            Trigger::AutoRaisedWorkDue => self.resume(),
            Trigger::AutoInputGathered => self.outbox.take_up_queue(),
            Trigger::AutoNothingToRun => self.close_batch("nothing may run"),
            Trigger::AutoLoopDetected => {
                if let Some(reached) = self.repeats_too_often() {
                    self.notify(format!("{reached}"));
                    self.run.current().limit(&reached);
                }
                self.repetition = Repetition::default();
            }
            Trigger::AutoBudgetLeft => self.warn_of_loop(),
            Trigger::AutoCancelSettled => self.settle_cancel(),
            Trigger::AutoResultsDue
            | Trigger::AutoMessageDue
            | Trigger::AutoQueueEmpty
            | Trigger::AutoAlways
            | Trigger::AutoNeedsApproval
            | Trigger::AutoClear
            | Trigger::AutoGitCheckDue
            | Trigger::AutoToolsAnswered
            | Trigger::AutoWorkDue
            | event_triggers!() => {}
        }
    }
}
