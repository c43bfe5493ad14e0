//! What follows from a step for the agents below, until nothing follows any more.
//!
//! It ends: each round takes up a call, answers one, moves the machine over all children, or stops; a call is taken up and answered once,
//! a report is sent once, and what waits for the driver waits.

use super::Family;
use crate::agent::{Agent, Step};
use crate::child::{self, StopCause};
use crate::children::{ActionKind, Event, TurnEnd};
use crate::lifecycle::Lifecycle;
use crate::session::{self, OutcomeKind};
use alloc::boxed::Box;
use statetable::Rendering;

/// What the agent's step was, as far as it concerns the children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::agent) struct Cause {
    /// A child moved.
    pub(in crate::agent) is_child: bool,
    /// A stop reached the session.
    pub(in crate::agent) is_cancel: bool,
}

impl Agent {
    /// Lets everything follow that concerns the agents below.
    pub(in crate::agent) fn settle(&mut self, at_ms: u64, cause: Cause, step: &mut Step, rendering: Rendering) {
        if !self.has_family() {
            return;
        }
        let mut cause = cause;
        let mut has_calls = self.take_calls(at_ms, step.family_mut());
        while !self.session.is_over() {
            let Some(mut family) = self.family.take() else { break };
            family.drop_closed(&self.session);
            self.session.count_below(family.leased, family.spent);
            let moved = self.one_round(at_ms, &mut family, &mut cause, step, rendering);
            self.session.count_below(family.leased, family.spent);
            self.family = Some(family);
            let took = moved && self.take_calls(at_ms, step.family_mut());
            has_calls |= took;
            if !moved && !took {
                break;
            }
        }
        if has_calls {
            self.keep_from_driver(step);
        }
    }

    /// One thing that follows. Returns whether something did.
    fn one_round(
        &mut self,
        at_ms: u64,
        family: &mut Box<Family>,
        cause: &mut Cause,
        step: &mut Step,
        rendering: Rendering,
    ) -> bool {
        let is_stopping = self.session.is_cancel_pending();
        if is_stopping && !family.open.is_empty() && family.is_anyone(can_be_stopped) {
            return self.tell_family(at_ms, family, Event::CallsStopped, step, rendering);
        }
        if let Some((open, outcome)) = family.next_answer(at_ms, is_stopping, step.family_mut()) {
            self.session.count_below(family.leased, family.spent);
            step.family_mut().answered.push((open.call.clone(), outcome.clone()));
            let event = session::Event::ToolCompleted { ticket: open.ticket, call: open.call, outcome };
            self.step_session(at_ms, event, step, rendering);
            return true;
        }
        if !family.machine.is_working() && self.session.is_in_turn() {
            family.was_cancelled = false;
            return self.tell_family(at_ms, family, Event::TurnBegan, step, rendering);
        }
        if family.machine.is_working() && self.session.is_idle() && !self.session.is_in_turn() {
            let (end, standing) = (self.turn_end(family), family.standing(self.is_attended()));
            return self.tell_family(at_ms, family, Event::TurnEnded { end, standing }, step, rendering);
        }
        if core::mem::take(&mut cause.is_cancel) {
            family.was_cancelled |= family.is_waiting();
            return self.tell_family(at_ms, family, Event::CancelRequested, step, rendering);
        }
        if core::mem::take(&mut cause.is_child) && family.machine.is_waiting() {
            let standing = family.standing(self.is_attended());
            return self.tell_family(at_ms, family, Event::Moved { standing }, step, rendering);
        }
        false
    }

    /// Whether a person may answer what a child asks: without commitments, or where another life follows.
    fn is_attended(&self) -> bool {
        self.lifecycle().is_none_or(|lifecycle| lifecycle.config().is_renewed)
    }

    fn turn_end(&self, family: &Family) -> TurnEnd {
        let kind = self.session.outcome().map_or(OutcomeKind::Success, |outcome| outcome.kind);
        let was_stopped = self.lifecycle().is_some_and(Lifecycle::is_given_up);
        match kind {
            OutcomeKind::Success | OutcomeKind::Permission | OutcomeKind::VerificationFailed | OutcomeKind::Waiting
                if !was_stopped =>
            {
                TurnEnd::Completed
            }
            OutcomeKind::CallLimit | OutcomeKind::Budget
                if !was_stopped && !family.alive.is_empty() && self.session.waits_for_leases() =>
            {
                TurnEnd::LeasedOut
            }
            OutcomeKind::Success
            | OutcomeKind::Permission
            | OutcomeKind::VerificationFailed
            | OutcomeKind::Waiting
            | OutcomeKind::CallLimit
            | OutcomeKind::Budget
            | OutcomeKind::Failed
            | OutcomeKind::Authentication
            | OutcomeKind::Provider
            | OutcomeKind::Cancelled => TurnEnd::Failed,
        }
    }

    /// Steps the machine over all children, and does what it says.
    fn tell_family(
        &mut self,
        at_ms: u64,
        family: &mut Box<Family>,
        event: Event,
        step: &mut Step,
        rendering: Rendering,
    ) -> bool {
        let Ok(taken) = family.machine.step(at_ms, event) else { return false };
        let waited_ms = family.waits_since_ms.map_or(0, |since_ms| at_ms.saturating_sub(since_ms));
        family.waits_since_ms = family.is_waiting().then(|| family.waits_since_ms.unwrap_or(at_ms));
        step.family_mut().all.extend(taken.transitions);
        for action in taken.actions {
            match action {
                ActionKind::StopChildren => family.stop_all(at_ms, StopCause::ParentEnds, step.family_mut()),
                ActionKind::StopUnanswered => family.stop_all(at_ms, StopCause::NobodyAnswers, step.family_mut()),
                ActionKind::KeepReports => {
                    if let Some(text) = family.reports(at_ms, step.family_mut()) {
                        self.session.keep_report(text);
                    }
                }
                ActionKind::SendReports => {
                    let used_ms = self.session.time_used_of_run_ms().saturating_add(waited_ms);
                    if let Some(text) = family.reports(at_ms, step.family_mut()) {
                        self.step_session(at_ms, session::Event::FollowUp { text, used_ms }, step, rendering);
                    }
                }
            }
        }
        true
    }

    /// Steps the session once more, and adds what it did to the step.
    fn step_session(&mut self, at_ms: u64, event: session::Event, step: &mut Step, rendering: Rendering) {
        let mut more = session::Step::empty();
        let taken = self.session.step_into(at_ms, event, &mut more, rendering);
        debug_assert!(taken.is_ok(), "what follows for the session fits: {taken:?}");
        step.session.transitions.append(&mut more.transitions);
        step.session.actions.append(&mut more.actions);
        step.session.notes.add(more.notes);
    }

    /// The driver runs only what the agent does not answer itself.
    fn keep_from_driver(&self, step: &mut Step) {
        for action in &mut step.session.actions {
            if let session::Action::ExecuteTools { calls, .. } = action {
                calls.retain(|call| !crate::agents::AgentCall::is_tool(&call.name));
            }
        }
        let is_empty = |action: &session::Action| matches!(action, session::Action::ExecuteTools { calls, .. } if calls.is_empty());
        step.session.actions.retain(|action| !is_empty(action));
    }
}

/// Whether a stop makes a difference to a child that is alive.
const fn can_be_stopped(child: &child::Child) -> bool {
    !matches!(child.state(), child::State::Stopping | child::State::Clearing)
}

impl Family {
    /// Forgets calls that the session does not wait for any more: it ended them itself, which it does with a whole group.
    fn drop_closed(&mut self, session: &session::Session) {
        let running = session.running_calls().map(|(ticket, _)| ticket);
        self.open.retain(|open| Some(open.ticket) == running);
    }
}
