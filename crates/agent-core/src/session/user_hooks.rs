//! The user's own hooks: when they run, what they receive, and what their answers cause.
//!
//! A point without a hook is passed at once: the driver gets no action for it.

use super::Session;
use super::batch::Batch;
use super::compaction::Cause;
use super::outcome::Ending;
use crate::conversation::UserMessage;
use crate::hook::{HookOccasion, HookPoint, HookReport, HookRun};
use crate::tool::CallFacts;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// What a session knows of the user's hooks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct HookState {
    /// What they run on, until the next row is decided.
    run: Option<Box<Running>>,
    /// How many of the pending messages, from the first, they let pass.
    vetted: usize,
    /// Whether those of the session's start have run.
    has_started: bool,
    /// Whether those of the session's end were asked for, and no turn began since.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    has_ended: bool,
    /// Whether those before a summary have let it pass.
    summary_passed: bool,
    /// Whether the model has answered in this turn.
    has_answered: bool,
    /// How often in a row they kept the turn from ending.
    held: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Running {
    occasion: HookOccasion,
    /// Whether something will be sent afterwards.
    goes_on: bool,
    /// Whether they ran for a configuration that has been replaced since.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    is_outdated: bool,
}

impl HookState {
    /// Whether hooks run, or the row after them is not decided yet.
    pub(super) const fn is_running(&self) -> bool {
        self.run.is_some()
    }

    /// Whether they run, or ran, on this.
    pub(super) fn run_on(&self, point: HookPoint) -> bool {
        self.point() == Some(point)
    }

    /// What they run on.
    pub(super) fn point(&self) -> Option<HookPoint> {
        self.run.as_ref().map(|run| run.occasion.point())
    }

    /// Whether they may run once more when their program ended.
    pub(super) fn may_be_repeated(&self) -> bool {
        self.point().is_none_or(HookPoint::may_be_repeated)
    }

    /// How many of the pending messages they let pass.
    pub(super) const fn vetted(&self) -> usize {
        self.vetted
    }

    /// Whether something will be sent after them.
    pub(super) fn goes_on(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.goes_on)
    }

    pub(super) fn occasion(&self) -> Option<Box<HookOccasion>> {
        self.run.as_ref().map(|run| Box::new(run.occasion.clone()))
    }

    /// They are to run on this.
    pub(super) fn open(&mut self, occasion: HookOccasion) {
        self.run = Some(Box::new(Running { occasion, goes_on: false, is_outdated: false }));
    }

    /// Forgets what the hooks ran on: the row after them is decided.
    pub(super) fn close(&mut self) {
        self.run = None;
    }

    /// The session is another one than before: it may have been resumed.
    pub(super) fn start_again(&mut self) {
        (self.has_started, self.has_ended) = (false, false);
        if let Some(run) = &mut self.run {
            run.is_outdated = true;
        }
    }

    /// Those of the session's start have run, if it was for the configuration that there is.
    fn started(&mut self) {
        self.has_started = self.run.as_ref().is_none_or(|run| !run.is_outdated);
    }

    /// The host leaves, and the hooks of the session's end run.
    pub(super) fn open_end(&mut self) {
        self.has_ended = true;
        self.open(HookOccasion::SessionEnd);
    }

    pub(super) const fn turn_began(&mut self) {
        (self.has_answered, self.held, self.has_ended) = (false, 0, false);
    }

    pub(super) const fn model_answered(&mut self) {
        self.has_answered = true;
    }

    /// No message is pending any more.
    pub(super) const fn messages_left(&mut self) {
        self.vetted = 0;
    }

    /// The summary is made, or will not be.
    pub(super) const fn summary_ended(&mut self) {
        self.summary_passed = false;
    }
}

impl Session {
    /// Whether hooks of the session's end have not run since the last turn.
    pub(super) fn end_hooks_due(&self) -> bool {
        self.config.hooks.contains(&HookPoint::SessionEnd) && !self.hooks.has_ended
    }

    /// What the user's hooks must see before the next request.
    pub(super) fn hooks_before_request(&self) -> Option<HookOccasion> {
        let (points, book) = (&self.config.hooks, &self.hooks);
        if points.contains(&HookPoint::SessionStart) && !book.has_started {
            return Some(HookOccasion::SessionStart { is_resumed: !self.conversation.is_empty() });
        }
        if self.compaction_due() {
            let is_due = points.contains(&HookPoint::PreCompact) && !book.summary_passed;
            let is_requested = self.compaction.due == Some(Cause::Requested);
            // What waits to be sent is looked at when it is.
            let focus = self.compaction.focus().map(String::from);
            return is_due.then_some(HookOccasion::PreCompact { is_requested, focus });
        }
        let new = self.outbox.pending().get(book.vetted..).filter(|new| !new.is_empty())?;
        let is_due = points.contains(&HookPoint::UserPromptSubmit);
        is_due.then(|| HookOccasion::UserPromptSubmit { prompt: joined(new) })
    }

    /// What the user's hooks must see before the turn ends.
    pub(super) fn hooks_before_stop(&self) -> Option<HookOccasion> {
        let text = || self.run.text().to_string();
        let is_due = self.config.hooks.contains(&HookPoint::Stop);
        is_due.then(|| HookOccasion::Stop { text: text(), is_held: self.hooks.held > 0 })
    }

    /// The user's hooks answered, or failed without an answer.
    pub(super) fn absorb_hook_report(&mut self, report: HookReport) {
        self.note_runs(&report.runs);
        let Some(mut run) = self.hooks.run.take() else { return };
        // What they say about calls that ran is worth knowing after a cancel, too; the rest is asked again when it is due again.
        run.goes_on = match &run.occasion {
            HookOccasion::PostToolUse { .. } => {
                self.tell_of_calls(report);
                false
            }
            _ if self.cancel.is_pending() => false,
            HookOccasion::SessionStart { .. } => {
                self.hooks.has_started = !run.is_outdated;
                self.tell_model(report.context);
                true
            }
            HookOccasion::UserPromptSubmit { .. } => self.absorb_prompt_verdict(report),
            HookOccasion::PreCompact { .. } => self.absorb_summary_verdict(report),
            HookOccasion::Stop { .. } => self.absorb_stop_verdict(report),
            HookOccasion::SessionEnd => {
                self.hooks.has_started = false;
                false
            }
            // A session runs no hooks on these: for an agent below they take the place of its own start and stop.
            HookOccasion::SubagentStart { .. } | HookOccasion::SubagentStop { .. } => false,
            HookOccasion::PreToolUse { .. } => false,
        };
        self.hooks.run = Some(run);
    }

    /// A hook ends the turn here. What was not looked at goes back; calls that have not run do not.
    pub(super) fn absorb_hook_stop(&mut self, report: HookReport, reason: &str) {
        self.note_runs(&report.runs);
        self.close_batch("a hook stopped the turn");
        self.tell_model(report.context);
        let is_prompt = self.hooks.run_on(HookPoint::UserPromptSubmit);
        if self.hooks.run_on(HookPoint::SessionStart) {
            self.hooks.started();
        }
        self.hooks.close();
        self.drop_requested_compaction();
        let returned_input = if is_prompt { self.take_unvetted() } else { Vec::new() };
        self.end_by_hook(format!("a hook stopped the turn: {reason}"), returned_input);
    }

    /// What the hooks before the calls brought besides their verdicts.
    pub(super) fn absorb_call_hooks(facts: &mut [CallFacts]) -> HookReport {
        let mut all = HookReport::default();
        for fact in facts {
            let Some(report) = fact.hooks.as_deref_mut() else { continue };
            all.runs.append(&mut report.runs);
            all.context.append(&mut report.context);
            all.stop = all.stop.or_else(|| report.stop.take());
        }
        all
    }

    /// Notes of hooks that the next request takes to the model.
    pub(super) fn tell_model(&mut self, context: Vec<String>) {
        context.into_iter().for_each(|text| self.outbox.note(format!("[From a hook: {text}]")));
    }

    /// In the trace, each with its time.
    pub(super) fn note_runs(&mut self, runs: &[HookRun]) {
        for run in runs {
            self.trace.note(self.now_ms, run.to_string());
        }
    }

    /// The calls that ran, for the hooks after them.
    pub(super) fn open_hooks_on_calls(&mut self) {
        let Some(calls) = self.batch.as_deref().map(Batch::ended) else { return };
        self.hooks.open(HookOccasion::PostToolUse { calls });
    }

    fn tell_of_calls(&mut self, report: HookReport) {
        let objection = report.block.map(|reason| format!("It objects to what was done. {reason}"));
        self.tell_model(report.context.into_iter().chain(objection).collect());
    }

    /// Whether the turn continues. It cannot without the message that opened it.
    fn absorb_prompt_verdict(&mut self, report: HookReport) -> bool {
        let Some(reason) = report.block else {
            self.hooks.vetted = self.outbox.pending().len();
            self.tell_model(report.context);
            return true;
        };
        let returned_input = self.take_unvetted();
        let message = format!("a hook blocked the message: {reason}");
        if self.hooks.has_answered && self.conversation.has_results_due() {
            self.notice.say(message, returned_input);
            return true;
        }
        self.end_by_hook(message, returned_input);
        false
    }

    /// Whether a request follows: the summary, or what can be done without.
    fn absorb_summary_verdict(&mut self, report: HookReport) -> bool {
        self.tell_model(report.context);
        let Some(reason) = report.block else {
            self.hooks.summary_passed = true;
            return true;
        };
        self.compaction.try_it();
        if self.end_summary(false) != Some(Cause::Requested) {
            return true;
        }
        self.end_by_hook(format!("a hook blocked the summary: {reason}"), Vec::new());
        false
    }

    /// Whether the turn continues with the text of the hook.
    fn absorb_stop_verdict(&mut self, report: HookReport) -> bool {
        self.tell_model(report.context);
        let Some(reason) = report.block else { return false };
        if self.hooks.held >= MAX_HOLDS {
            self.end_by_hook(format!("a hook kept the turn from ending {MAX_HOLDS} times: {reason}"), Vec::new());
            return false;
        }
        self.hooks.held += 1;
        self.outbox.note(format!("[A hook keeps you from stopping: {reason}]"));
        true
    }

    /// The messages that no hook has let pass.
    fn take_unvetted(&mut self) -> Vec<String> {
        self.outbox.take_pending_from(self.hooks.vetted)
    }

    fn end_by_hook(&mut self, message: String, returned_input: Vec<String>) {
        let run = self.run.current();
        run.fail(message.clone());
        run.end(Ending::HookStopped);
        self.notice.say(message, returned_input);
    }
}

/// What was said, as the model will read it.
fn joined(messages: &[UserMessage]) -> String {
    let texts: Vec<_> = messages.iter().map(UserMessage::whole).collect();
    texts.join("\n\n")
}

/// Times in a row that hooks may keep a turn from ending.
const MAX_HOLDS: u32 = 8;
