//! The join of both machines.

use super::family::Cause;
use super::{Agent, Event, Oversight, Rejected, Step, signals};
use crate::conversation::Item;
use crate::lifecycle::{self, Lifecycle, LifecycleConfig, TurnEnd};
use crate::session::{self, Outcome, OutcomeKind, Session};
use alloc::boxed::Box;
use alloc::vec::Vec;
use statetable::Rendering;

impl Agent {
    /// The same as [`step`](Self::step) with a step that was used before.
    pub(crate) fn step_into(
        &mut self,
        at_ms: u64,
        event: Event,
        step: &mut Step,
        rendering: Rendering,
    ) -> Result<(), Rejected> {
        (step.down, step.up) = (lifecycle::Step::empty(), lifecycle::Step::empty());
        step.family = None;
        self.take(at_ms, event, step, rendering)
    }

    /// The same with a step in which the lifecycle did nothing yet.
    pub(super) fn take(
        &mut self,
        at_ms: u64,
        event: Event,
        step: &mut Step,
        rendering: Rendering,
    ) -> Result<(), Rejected> {
        // One that is resumed says so, too, and one that has nothing to check any more.
        let says_so = matches!(event, Event::Session(session::Event::SessionResumed { .. })) || !self.is_idle();
        self.note_changes(&event);
        let may_change = self.may_change(&event);
        self.dispatch(at_ms, event, step, rendering)?;
        if may_change {
            self.note_stale();
        }
        self.show_to_parent();
        step.family.take_if(|family| family.is_empty());
        step.ends_run = self.is_idle() && step.has_an_end();
        step.rests = step.ends_run || says_so && self.is_idle();
        Ok(())
    }

    pub(super) fn dispatch(
        &mut self,
        at_ms: u64,
        event: Event,
        step: &mut Step,
        rendering: Rendering,
    ) -> Result<(), Rejected> {
        match event {
            Event::Session(event) => {
                if matches!(event, session::Event::SessionResumed { .. }) {
                    return self.resume(at_ms, event, step, rendering);
                }
                let items = self.session.conversation().len();
                if self.is_apart() {
                    let event = self.as_given(event);
                    self.session.step_into(at_ms, event, &mut step.session, rendering)?;
                    self.session_moved_apart(&step.session.transitions);
                    return Ok(());
                }
                let is_cancel = matches!(event, session::Event::CancelRequested);
                self.session_event(at_ms, event, step, rendering)?;
                if !step.session.transitions.is_empty() {
                    self.settle(at_ms, Cause { is_cancel, ..Cause::default() }, step, rendering);
                    self.report(at_ms, items, step);
                }
                Ok(())
            }
            Event::Lifecycle(event) => {
                step.session = session::Step::empty();
                let items = self.session.conversation().len();
                self.lifecycle_event(at_ms, event, step, rendering)?;
                // A late timer changes nothing, and nothing follows from it.
                if !step.is_empty() {
                    let is_cancel = step.down.actions.contains(&lifecycle::Action::CancelTurn);
                    self.settle(at_ms, Cause { is_cancel, ..Cause::default() }, step, rendering);
                    self.report(at_ms, items, step);
                }
                Ok(())
            }
            Event::Child { number, event } => {
                step.session = session::Step::empty();
                let items = self.session.conversation().len();
                self.child_event(at_ms, number, *event, step.family_mut())?;
                self.settle(at_ms, Cause { is_child: true, ..Cause::default() }, step, rendering);
                self.report(at_ms, items, step);
                Ok(())
            }
            Event::Ordered(order) => self.ordered(at_ms, order, step, rendering),
            Event::HeldBelow(above) => self.held_below(above, step),
            Event::Bound(config) => {
                step.session = session::Step::empty();
                step.down.actions = self.release();
                step.down.actions.extend(self.bind(*config));
                self.report(at_ms, self.session.conversation().len(), step);
                Ok(())
            }
            Event::Released => {
                step.session = session::Step::empty();
                step.down.actions = self.release();
                Ok(())
            }
            Event::Attended => {
                self.attended(at_ms, step);
                Ok(())
            }
        }
    }

    /// From now on another life follows the end of one. A session that works on after such an end, with a higher limit, works in it.
    fn attended(&mut self, at_ms: u64, step: &mut Step) {
        step.session = session::Step::empty();
        if let Some(oversight) = &mut self.oversight {
            oversight.lifecycle.outlive();
            self.report(at_ms, self.session.conversation().len(), step);
        }
    }

    /// Another program resumes the agent: both machines learn of it.
    fn resume(
        &mut self,
        at_ms: u64,
        event: session::Event,
        step: &mut Step,
        rendering: Rendering,
    ) -> Result<(), Rejected> {
        let (left_ms, items) = (self.session.now_ms(), self.session.conversation().len());
        let was_apart = self.is_apart();
        if let Some(family) = self.family.as_deref_mut() {
            family.pass_unwatched(at_ms.saturating_sub(left_ms));
        }
        let cleanup = |agent: &Self| agent.oversight.as_deref().and_then(|oversight| oversight.lifecycle.cleanup());
        let mut ended = cleanup(self);
        if self.session.is_over() {
            // What followed from its end may not have been passed on.
            step.session = session::Step::empty();
            self.join(at_ms, left_ms, step, rendering);
            // No program drives it any more.
            ended = cleanup(self);
        } else {
            self.session.step_into(at_ms, event, &mut step.session, rendering)?;
            self.join(at_ms, left_ms, step, rendering);
            self.settle(at_ms, Cause::default(), step, rendering);
            if !was_apart {
                self.report(at_ms, items, step);
            }
        }
        self.end_cleanup(at_ms, ended, step);
        Ok(())
    }

    /// What an agent that was given up had started ended with its program.
    fn end_cleanup(&mut self, at_ms: u64, cleanup: Option<lifecycle::Ticket>, step: &mut Step) {
        if let (Some(oversight), Some(ticket)) = (self.oversight.as_deref_mut(), cleanup) {
            oversight.tell(at_ms, lifecycle::Event::CleanupCompleted { ticket }, &mut step.up);
        }
    }

    /// The next lifecycle. Its tickets are newer than those of the last one, so that a late answer to that one is refused. Returns what it
    /// waits for before any row fires: the timer of the first wait.
    fn bind(&mut self, config: LifecycleConfig) -> Vec<lifecycle::Action> {
        let lifecycle = match self.newest_ticket {
            Some(newest) => Lifecycle::after(newest, config),
            None => Lifecycle::new(config),
        };
        let asked = lifecycle.outstanding();
        self.oversight = Some(Box::new(Oversight::new(lifecycle)));
        asked
    }

    /// Ends the lifecycle, if there is one. Returns the requested actions that must be withdrawn.
    pub(super) fn release(&mut self) -> Vec<lifecycle::Action> {
        let Some(oversight) = self.oversight.take() else { return Vec::new() };
        self.newest_ticket = Some(oversight.lifecycle.newest_ticket());
        oversight.lifecycle.withdrawals()
    }

    /// A message and a stop reach the lifecycle first. A session that is not started, or is over, refuses both itself.
    fn session_event(
        &mut self,
        at_ms: u64,
        event: session::Event,
        step: &mut Step,
        rendering: Rendering,
    ) -> Result<(), Rejected> {
        let waits = matches!(event, session::Event::InputAfterTurn { .. });
        let takes_commands = self.session.is_started() && !self.session.is_over();
        let event = match (&mut self.oversight, event) {
            (Some(oversight), session::Event::UserInput { text } | session::Event::InputAfterTurn { text })
                if takes_commands =>
            {
                step.down = oversight.message(at_ms, lifecycle::Event::InputReceived { text })?;
                match command(&self.session, &step.down) {
                    Some(session::Event::UserInput { text }) if waits => session::Event::InputAfterTurn { text },
                    Some(command) => command,
                    // There is one on every such row; `claims` holds that.
                    None => {
                        step.session = session::Step::empty();
                        return Ok(());
                    }
                }
            }
            // What the session does besides, such as a summary, is stopped as well.
            (Some(oversight), session::Event::CancelRequested) if takes_commands && oversight.lifecycle.is_busy() => {
                step.down = oversight.lifecycle.step(at_ms, lifecycle::Event::CancelRequested)?;
                session::Event::CancelRequested
            }
            // It would begin a turn that the lifecycle knows nothing of.
            (Some(_), event @ session::Event::FollowUp { .. }) => {
                return Err(Rejected::Derived { event: event.name() });
            }
            (Some(_) | None, event) => event,
        };
        Ok(self.session.step_into(at_ms, event, &mut step.session, rendering)?)
    }

    fn lifecycle_event(
        &mut self,
        at_ms: u64,
        event: lifecycle::Event,
        step: &mut Step,
        rendering: Rendering,
    ) -> Result<(), Rejected> {
        let Some(oversight) = &mut self.oversight else { return Err(Rejected::Unbound { event: event.name() }) };
        if event.is_derived() {
            return Err(Rejected::Derived { event: event.name() });
        }
        step.down = oversight.lifecycle.step(at_ms, event)?;
        if let Some(command) = command(&self.session, &step.down) {
            let taken = self.session.step_into(at_ms, command, &mut step.session, rendering);
            debug_assert!(taken.is_ok(), "a session that is started takes every command: {taken:?}");
        }
        Ok(())
    }

    /// Passes on to the lifecycle what followed. This causes no further command.
    pub(super) fn report(&mut self, at_ms: u64, items_before: usize, step: &mut Step) {
        let waits = self.waits_for_children();
        let Some(oversight) = self.oversight.as_deref_mut() else { return };
        let session = &self.session;
        if oversight.lifecycle.takes_signals() && session.conversation().len() > items_before {
            for signal in signals_that_count(session) {
                oversight.tell(at_ms, signal, &mut step.up);
            }
        }
        // A turn that has ended is not over while children are alive.
        if waits && !session.is_over() {
            return;
        }
        if let Some((event, turn)) = oversight.follows(session) {
            if let Some(turn) = turn {
                oversight.turns.add(&turn);
            }
            oversight.tell(at_ms, event, &mut step.up);
        }
    }
}

impl Oversight {
    /// Takes a message. After the end of a life that is renewed, it begins another with the same commitments.
    fn message(&mut self, at_ms: u64, event: lifecycle::Event) -> Result<lifecycle::Step, lifecycle::Rejected> {
        let Some(mut renewed) = self.lifecycle.renewed() else { return self.lifecycle.step(at_ms, event) };
        // What another life would refuse is refused by the one that stands.
        let Ok(step) = renewed.step(at_ms, event.clone()) else { return self.lifecycle.step(at_ms, event) };
        (self.lifecycle, self.turns) = (renewed, super::Turns::default());
        Ok(step)
    }

    /// What the state of the session means to the lifecycle, as long as it does not know it.
    fn follows(&mut self, session: &Session) -> Option<(lifecycle::Event, Option<Outcome>)> {
        if session.is_over() {
            return (!self.lifecycle.is_over()).then_some((lifecycle::Event::SessionEnded, None));
        }
        if self.lifecycle.is_working() {
            let outcome = session.outcome().filter(|_| session.is_idle())?;
            return Some((self.turn_ended(session, &outcome), Some(outcome)));
        }
        if self.lifecycle.is_busy() || !session.is_at_work() {
            return None;
        }
        if let Some(renewed) = self.lifecycle.renewed() {
            (self.lifecycle, self.turns) = (renewed, super::Turns::default());
        }
        self.lifecycle.is_at_rest().then_some((lifecycle::Event::WorkResumed, None))
    }

    fn turn_ended(&self, session: &Session, outcome: &Outcome) -> lifecycle::Event {
        let end = match outcome.kind {
            // A denied call does not keep the model from ending its turn. No session says the last two.
            OutcomeKind::Success | OutcomeKind::Permission | OutcomeKind::VerificationFailed | OutcomeKind::Waiting => {
                TurnEnd::Completed
            }
            OutcomeKind::Failed | OutcomeKind::Authentication | OutcomeKind::Provider => TurnEnd::Failed,
            OutcomeKind::CallLimit | OutcomeKind::Budget => TurnEnd::OutOfBudget,
            OutcomeKind::Cancelled => TurnEnd::Cancelled,
        };
        lifecycle::Event::TurnEnded { end, time_left_ms: session.time_left_of_run_ms() }
    }

    /// Lets the lifecycle take what follows from the session. It may have no row for it: one that rests does not hear of turns.
    pub(super) fn tell(&mut self, at_ms: u64, event: lifecycle::Event, up: &mut lifecycle::Step) {
        let Ok(step) = self.lifecycle.step(at_ms, event) else { return };
        debug_assert!(command_of(&step.actions).is_none(), "what comes up commands nothing down");
        up.transitions.extend(step.transitions);
        up.actions.extend(step.actions);
    }
}

/// The signals of the round that has just closed, unless the model had not seen every message when it gave them.
fn signals_that_count(session: &Session) -> Vec<lifecycle::Event> {
    match session.conversation().last().map(AsRef::as_ref) {
        Some(Item::Round(round)) if session.pending_input().next().is_none() => signals(round),
        Some(Item::Round(_) | Item::Input(_) | Item::Summary(_) | Item::Answer(_)) | None => Vec::new(),
    }
}

/// What the session has to do for what the lifecycle did.
fn command(session: &Session, step: &lifecycle::Step) -> Option<session::Event> {
    match command_of(&step.actions)? {
        lifecycle::Action::SendInput { text } => Some(session::Event::UserInput { text: text.clone() }),
        lifecycle::Action::SendGapReport { text, time_left_ms, .. } => {
            let limit_ms = session.config().limits.max_wall_time_ms.unwrap_or_default();
            let used_ms = time_left_ms.map_or(0, |left_ms| limit_ms.saturating_sub(left_ms));
            Some(session::Event::FollowUp { text: text.clone(), used_ms })
        }
        lifecycle::Action::CancelTurn => Some(session::Event::CancelRequested),
        lifecycle::Action::RunChecks { .. }
        | lifecycle::Action::CancelChecks { .. }
        | lifecycle::Action::StartTimer { .. }
        | lifecycle::Action::StopTimer { .. }
        | lifecycle::Action::ReportOutcome { .. }
        | lifecycle::Action::CleanUp { .. }
        | lifecycle::Action::ReleaseSession => None,
    }
}

/// The one command among the actions of a row, if it has one.
fn command_of(actions: &[lifecycle::Action]) -> Option<&lifecycle::Action> {
    actions.iter().find(|action| action.is_command())
}

impl Lifecycle {
    /// The next life with the same commitments, if this one is over or done and is followed by another.
    fn renewed(&self) -> Option<Self> {
        (self.config().is_renewed && !self.takes_messages()).then(|| self.renew())
    }
}
