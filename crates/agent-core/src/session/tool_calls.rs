//! What becomes of tool calls and of the hooks after them.

use super::Session;
use super::batch::{Approved, Counts};
use super::loops::{Most, Progress};
use super::outcome::Ending;
use super::table::Trigger;
use crate::conversation::CallId;
use crate::hook::{FormatReport, HookReport};
use crate::permission::{ApprovalAnswer, Ruling};
use crate::tool::{CallFacts, ToolOutcome, ToolStatus};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

impl Session {
    /// It is known what the calls would do: those that cannot run are answered, and count as failing calls. Once too many have failed in a
    /// row, nothing is decided about the rest any more.
    pub(super) fn absorb_facts(&mut self, trigger: Trigger, mut facts: Vec<CallFacts>, rulings: &mut Vec<Ruling>) {
        let mut said = Self::absorb_call_hooks(&mut facts);
        if let (Trigger::HooksStoppedTurn, Some(reason)) = (trigger, said.stop.take()) {
            self.absorb_hook_stop(said, &reason);
            return;
        }
        self.note_runs(&said.runs);
        self.tell_model(said.context);
        let Some(facts) = self.batch.as_ref().map(|batch| batch.in_order(facts)) else { return };
        let mut denials = Vec::new();
        for (at, fact) in facts.into_iter().enumerate() {
            let Some(batch) = &mut self.batch else { return };
            denials.extend(batch.decide(at, fact, &self.config.permissions, rulings));
            if self.count_calls() {
                break;
            }
        }
        let left = self.tool_calls_left();
        self.held.refuse_calls(self.batch.as_mut().is_some_and(|batch| batch.limit(left) > 0));
        self.run.current().deny(denials);
    }

    /// Counts the calls that have ended, in call order, up to the next that may still run. Once they have repeated so
    /// often that the model must be warned, later ones do not run. Returns whether that happened.
    fn count_calls(&mut self) -> bool {
        let (mut progress, most) = (self.progress(), self.most_in_circles());
        let Some(batch) = &mut self.batch else { return false };
        let mut why = None;
        while let Some((counts, call, answer)) = batch.count_next() {
            if counts == Counts::Nothing {
                continue;
            }
            progress.count(counts, call, answer);
            why = most.reached(&progress);
            if let Some(why) = why {
                batch.cut(why);
                break;
            }
        }
        (self.repetition, self.ledger.failures_in_row) = (progress.repetition, progress.failures_in_row);
        why.is_some()
    }

    /// How far the calls that were counted have gone in circles.
    pub(super) const fn progress(&self) -> Progress {
        Progress { repetition: self.repetition, failures_in_row: self.ledger.failures_in_row }
    }

    pub(super) fn most_in_circles(&self) -> Most {
        Most::of(&self.config.limits, &self.repetition)
    }

    /// A person answered about a call. With the last answer it is known which calls run.
    pub(super) fn absorb_approval(
        &mut self,
        trigger: Trigger,
        call: &CallId,
        answer: ApprovalAnswer,
        changed: Option<&CallFacts>,
        rulings: &mut Vec<Ruling>,
    ) {
        if let Some(batch) = &mut self.batch {
            let Approved { denial, rules } = batch.approve(call, answer, changed, &self.config.permissions, rulings);
            // Who allows the same for the session again and again allows it once.
            let known = &mut self.config.permissions.allow;
            for rule in rules {
                if !known.contains(&rule) {
                    known.push(rule);
                }
            }
            self.run.current().deny(denial);
        }
        if trigger == Trigger::ApprovalPartial {
            return;
        }
        self.deny_forbidden(rulings);
        self.count_calls();
        // Limits that were lowered meanwhile do not touch what is in flight: one of the calls runs.
        let left = self.tool_calls_left().map(|left| left.max(1));
        let refuses = self.batch.as_mut().is_some_and(|batch| batch.limit(left) > 0);
        self.held.refuse_calls(refuses || self.held.refuses_calls());
        if trigger == Trigger::ApprovalsAllDenied {
            self.close_batch("denied");
        }
    }

    /// What was allowed and has not begun does not run when the policy has become stricter meanwhile.
    fn deny_forbidden(&mut self, rulings: &mut Vec<Ruling>) {
        let (most, _) = self.most_in_group();
        let Some(batch) = &mut self.batch else { return };
        let denials = batch.deny_forbidden(most, &self.config.permissions, rulings);
        if !denials.is_empty() {
            self.run.current().deny(denials);
        }
    }

    fn tool_calls_left(&self) -> Option<u64> {
        self.config.limits.max_tool_calls.map(|max| max.saturating_sub(self.ledger.committed().tool_calls))
    }

    /// A call ended.
    pub(super) fn absorb_outcome(
        &mut self,
        trigger: Trigger,
        call: &CallId,
        mut outcome: ToolOutcome,
        rulings: &mut Vec<Ruling>,
    ) {
        let status = outcome.status;
        let changed_paths = core::mem::take(&mut outcome.changed_paths);
        self.take_instructions(core::mem::take(&mut outcome.instructions));
        let limit_bytes = self.config.max_result_bytes;
        let mut may_have_changed = !changed_paths.is_empty();
        if let Some(batch) = &mut self.batch {
            batch.complete(call, outcome, limit_bytes);
            may_have_changed |= status != ToolStatus::NotRun && batch.changes(call);
        }
        if may_have_changed {
            self.changes.happened(changed_paths);
        }
        if trigger == Trigger::ToolCompletedMoreLeft {
            return;
        }
        if trigger == Trigger::ToolsAllCompletedHooksDue {
            self.open_hooks_on_calls();
        }
        if matches!(trigger, Trigger::ToolsAllCompletedMutating | Trigger::ToolsAllCompletedHooksDue) {
            self.batch.iter().for_each(|batch| self.changes.remember(batch));
        }
        self.deny_forbidden(rulings);
        // Under a cancel nothing follows that the count could decide.
        if !self.cancel.is_pending() {
            self.count_calls();
        }
        if trigger != Trigger::ToolGroupCompleted {
            self.close_batch("cancelled");
        }
    }

    /// Puts the answer and its results into the history. What never ran is answered with the reason.
    pub(super) fn close_batch(&mut self, why: &str) {
        let Some(batch) = self.batch.take() else { return };
        if batch.may_have_changed() {
            self.changes.happened(None);
        }
        for call in batch.changed_by_hooks() {
            self.outbox.note(format!("[A hook changed the input of {} to {}.]", call.id, call.arguments.as_str()));
        }
        // The results are made from the answer's own calls and its input is committed, so both always fit.
        if let Ok(round) = batch.close(why) {
            let _ = self.conversation.push_round(round);
        }
    }

    /// The formatters changed files, which the model must know before its next edit.
    pub(super) fn absorb_formatting(&mut self, report: FormatReport) {
        let is_done = !report.commit_due;
        if !report.changed_paths.is_empty() {
            let list = report.changed_paths.join(", ");
            self.outbox.note(format!("[A formatter changed {list}. Read a file again before you edit it.]"));
            self.changes.formatted(report.changed_paths);
        }
        if is_done {
            self.changes.settle();
        }
    }

    /// A hook failed or stopped the turn. The changed paths stay in the record for the next batch that changes something.
    pub(super) fn absorb_hook_error(&mut self, trigger: Trigger, message: String) {
        let is_users = self.hooks.is_running() || self.batch.is_some();
        if trigger == Trigger::HooksStoppedTurn && is_users {
            self.absorb_hook_stop(HookReport::default(), &message);
            return;
        }
        if is_users {
            // No hook objected.
            self.absorb_hook_report(HookReport::default());
        }
        if self.cancel.is_pending() {
            return;
        }
        if let Some(batch) = &mut self.batch {
            batch.fail(&format!("it is unknown what the call would do: {message}"));
            self.count_calls();
        }
        if !is_users {
            self.changes.seen();
        }
        if trigger == Trigger::HooksStoppedTurn {
            self.notify(message);
            self.run.current().end(Ending::HookStopped);
        } else {
            // The turn continues: this is not an error of the run.
            self.notice.say(message, Vec::new());
        }
    }
}
