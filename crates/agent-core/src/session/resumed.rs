//! Another program resumes the session: what becomes of what was in flight.
//!
//! Questions, timers and hooks are asked again, but for the user's hooks on what was done: how far those came is not known. A model call
//! that had begun is lost: what it used counts, and it is made again if the limits allow. Calls that only read are repeated; a call that
//! may have changed something never is. Under a stop nothing begins again.

use super::batch::Batch;
use super::event::LeftCall;
use super::labels::Trigger;
use super::{ActionKind, Session};
use crate::conversation::CallId;
use crate::llm::PartialAnswer;
use crate::permission::Ruling;
use crate::tool::ToolOutcome;
use alloc::format;
use alloc::vec::Vec;

impl Session {
    /// What resuming is here and now.
    pub(super) fn resumed(&self, begun: bool, calls: &[LeftCall]) -> Trigger {
        if self.cancel.is_pending() && self.asked.is_open() {
            return Trigger::ResumedStopped;
        }
        match self.state.asks() {
            Some(ActionKind::SendLlmRequest) if begun => Trigger::LlmInterrupted,
            Some(ActionKind::RunHooks) if begun && !self.hooks.may_be_repeated() => Trigger::HookFailed,
            Some(ActionKind::ExecuteTools) => self.calls_lost(calls),
            Some(_) | None => Trigger::SessionResumed,
        }
    }

    /// Calls that were lost have ended: with the last one the group has, too.
    fn calls_lost(&self, calls: &[LeftCall]) -> Trigger {
        let Some(mut batch) = self.batch.as_deref().cloned() else { return Trigger::SessionResumed };
        let mut lost = lost(&batch, calls);
        let Some((last, outcome)) = lost.pop() else { return Trigger::SessionResumed };
        for (call, outcome) in lost {
            batch.complete(&call, outcome, self.config.max_result_bytes);
        }
        let trigger = self.tool_completed(&batch, &last, &outcome);
        if trigger == Trigger::ToolCompletedMoreLeft { Trigger::SessionResumed } else { trigger }
    }

    pub(super) fn absorb_resumption(&mut self, trigger: Trigger, calls: &[LeftCall], rulings: &mut Vec<Ruling>) {
        if trigger == Trigger::ResumedStopped {
            self.end_stopped(rulings);
        } else if trigger == Trigger::LlmInterrupted {
            self.absorb_interruption(trigger);
        } else if trigger == Trigger::HookFailed {
            let point = self.hooks.point().map(|point| point.name()).unwrap_or_default();
            self.absorb_hook_error(trigger, format!("the program ended while hooks at {point} ran"));
        } else {
            self.end_lost(trigger, calls, rulings);
        }
    }

    /// The calls that cannot be repeated have ended.
    fn end_lost(&mut self, trigger: Trigger, calls: &[LeftCall], rulings: &mut Vec<Ruling>) {
        let mut lost = self.batch.as_deref().map(|batch| lost(batch, calls)).unwrap_or_default();
        let last = if trigger == Trigger::SessionResumed { None } else { lost.pop() };
        for (call, outcome) in lost {
            self.absorb_outcome(Trigger::ToolCompletedMoreLeft, &call, outcome, rulings);
        }
        if let Some((call, outcome)) = last {
            self.absorb_outcome(trigger, &call, outcome, rulings);
        }
    }

    /// What was being stopped has stopped: its program has ended.
    fn end_stopped(&mut self, rulings: &mut Vec<Ruling>) {
        if self.state.asks() == Some(ActionKind::SendLlmRequest) {
            self.charge_partial(PartialAnswer::default());
            self.end_summary(false);
        }
        for call in self.batch.as_deref().map(Batch::running).unwrap_or_default() {
            let outcome = ToolOutcome::interrupted("stopped by the user");
            self.absorb_outcome(Trigger::ToolCompletedMoreLeft, &call.id, outcome, rulings);
        }
    }
}

/// The running calls that may have changed something, each with its end. One that has not begun is not begun now either: it was allowed in
/// another life, with other settings perhaps, and the model can call it again.
fn lost(batch: &Batch, calls: &[LeftCall]) -> Vec<(CallId, ToolOutcome)> {
    let mut lost: Vec<(CallId, ToolOutcome)> = Vec::new();
    for left in calls.iter().filter(|left| !left.only_reads && batch.is_running(&left.call)) {
        if lost.iter().any(|(call, _)| *call == left.call) {
            continue;
        }
        let outcome = if left.begun {
            ToolOutcome::interrupted("The program ended while this call ran. Look at what it did before you repeat it.")
        } else {
            ToolOutcome::not_run("the program ended before this call began; it can be repeated")
        };
        lost.push((left.call.clone(), outcome));
    }
    lost
}
