//! The user's hooks: each point that is configured is asked before its step, and about something.

use super::{Edge, Inputs, Observed};
use crate::invariants::{Fault, Invariant, hold};
use agent_core::conversation::Item;
use agent_core::hook::{HookOccasion, HookPoint};
use agent_core::llm::{LlmRequest, Purpose};
use agent_core::session::{Action, Event, State, Trigger};

/// What the hooks were asked, and what they let pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hooks {
    /// What they run on.
    asked: Option<HookPoint>,
    /// Messages that they are looking at, and those that they let pass, as bits by their numbers.
    looked_at: u128,
    passed: u128,
    /// Whether those of the session's start ran for the configuration that there is.
    has_started: bool,
    /// Whether those before a summary let it pass.
    summary_passed: bool,
    /// Whether another configuration came while they run.
    is_outdated: bool,
}

impl Hooks {
    /// All that decides what may be sent, in a number; of the messages only how many wait.
    pub(crate) fn word(&self, pending: u128) -> u64 {
        let flags = [self.has_started, self.summary_passed, self.is_outdated];
        let flags = flags.iter().fold(0, |all, flag| all * 2 + u64::from(*flag));
        let asked = self.asked.map_or(0, |point| 1 + point as u64);
        flags + 8 * (asked + 16 * u64::from((pending & self.passed).count_ones()))
    }
}

impl Observed {
    pub(super) fn follow_hooks(&mut self, edge: &Edge<'_>, was_cancelled: bool) -> Result<(), Fault> {
        self.take_verdict(edge, was_cancelled);
        if matches!(edge.event, Event::Reconfigured { .. }) {
            (self.hooks.has_started, self.hooks.is_outdated) = (false, self.hooks.asked.is_some());
        }
        self.judge_ends(edge)?;
        for action in &edge.step.actions {
            match action {
                Action::RunHooks { occasion, .. } => self.note_question(occasion)?,
                Action::SendLlmRequest { request, .. } => self.judge_request(edge, request)?,
                Action::PromptForInput => self.hooks.summary_passed = false,
                _ => {}
            }
        }
        Ok(())
    }

    /// What the hooks said, or that they failed, which objects to nothing.
    fn take_verdict(&mut self, edge: &Edge<'_>, was_cancelled: bool) {
        let (objects, stops) = match edge.event {
            Event::HooksFinished { report, .. } => (report.block.is_some(), report.stop.is_some()),
            Event::HookFailed { .. } => (false, false),
            Event::HooksStoppedTurn { .. } => (false, true),
            _ => return,
        };
        let hooks = &mut self.hooks;
        let passes = !objects && !stops && !was_cancelled;
        match hooks.asked.take() {
            Some(HookPoint::SessionStart) if !was_cancelled => hooks.has_started = !hooks.is_outdated,
            Some(HookPoint::SessionEnd) if !was_cancelled => hooks.has_started = false,
            Some(HookPoint::UserPromptSubmit) if passes => hooks.passed |= hooks.looked_at,
            Some(HookPoint::PreCompact) if passes => hooks.summary_passed = true,
            _ => {}
        }
        (hooks.looked_at, hooks.is_outdated) = (0, false);
    }

    fn note_question(&mut self, occasion: &HookOccasion) -> Result<(), Fault> {
        self.hooks.asked = Some(occasion.point());
        self.hooks.is_outdated = false;
        match occasion {
            HookOccasion::UserPromptSubmit { prompt } => {
                let numbers = prompt.split("\n\n").filter_map(Inputs::number);
                self.hooks.looked_at = numbers.fold(0, |bits, number| bits | 1 << number);
            }
            HookOccasion::PostToolUse { calls } => {
                hold(Invariant::HooksAsked, !calls.is_empty(), || "hooks run on no call".to_owned())?;
            }
            _ => {}
        }
        Ok(())
    }

    fn judge_request(&mut self, edge: &Edge<'_>, request: &LlmRequest) -> Result<(), Fault> {
        let points = &edge.after.config().hooks;
        let missing = |point: HookPoint, was_asked: bool| {
            hold(Invariant::HooksAsked, was_asked || !points.contains(&point), || {
                format!("a request for {:?}, and {point} was not asked", request.purpose)
            })
        };
        missing(HookPoint::SessionStart, self.hooks.has_started)?;
        if request.purpose == Purpose::Compaction {
            return missing(HookPoint::PreCompact, self.hooks.summary_passed);
        }
        self.hooks.summary_passed = false;
        let new = match request.conversation.last().map(AsRef::as_ref) {
            Some(Item::Input(input)) => input.texts().iter().filter_map(|text| Inputs::number(text)).collect(),
            _ => Vec::new(),
        };
        missing(HookPoint::UserPromptSubmit, new.iter().all(|number| self.hooks.passed >> number & 1 == 1))
    }

    /// Neither a turn nor a batch of calls ends unseen.
    fn judge_ends(&mut self, edge: &Edge<'_>) -> Result<(), Fault> {
        let points = &edge.before.config().hooks;
        for done in &edge.step.transitions {
            let (point, is_passed_over) = match (done.from, done.on) {
                (State::EndOfTurn, Trigger::AutoQueueEmpty) => (HookPoint::Stop, true),
                (State::ExecutingTools, Trigger::ToolsAllCompleted | Trigger::ToolsAllCompletedMutating) => {
                    (HookPoint::PostToolUse, !edge.before.is_cancel_pending() && self.has_ran)
                }
                _ => continue,
            };
            hold(Invariant::HooksAsked, !is_passed_over || !points.contains(&point), || {
                format!("{point} was not asked before {:?} + {:?}", done.from, done.on)
            })?;
        }
        if edge.before.state() == State::Compacting && matches!(edge.event, Event::LlmCompleted { .. }) {
            self.hooks.summary_passed = false;
        }
        Ok(())
    }
}
