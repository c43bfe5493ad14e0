//! What an observer knows who sees events and steps only.

use super::Together;
use agent_core::agent::{Agent, Event, Step, Turns};
use agent_core::hook::HookOccasion;
use agent_core::lifecycle::{self, Action, State, Trigger};
use agent_core::llm::Purpose;
use agent_core::session;

/// What is known from outside.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// Reports of what is missing since the last message of the user.
    pub(super) reports: u32,
    /// The turns of this life.
    pub(super) turns: Turns,
    /// Whether the session was asked for a summary, or to leave, and does nothing else yet.
    pub(super) is_errand: bool,
    /// Whether a stop was asked for since work began.
    pub(super) is_stopped: bool,
}

impl Seen {
    pub(super) fn follow(&mut self, before: &Together, event: &Event, step: &Step, after: &Agent) {
        if begins_life(&before.agent, event, step) {
            *self = Self { is_errand: self.is_errand, ..Self::default() };
        }
        if is_stop(event) {
            self.is_stopped = true;
        }
        for action in &step.down.actions {
            match action {
                Action::SendInput { .. } => (self.reports, self.is_stopped) = (0, false),
                Action::SendGapReport { .. } => self.reports += 1,
                _ => {}
            }
        }
        for transition in &step.up.transitions {
            if transition.on == Trigger::WorkResumed {
                (self.reports, self.is_stopped) = (0, false);
            }
            if ends_turn(transition.on) {
                let outcome = after.session().outcome();
                outcome.iter().for_each(|outcome| self.turns.add(outcome));
            }
        }
        self.follow_errand(event, step, after);
    }

    fn follow_errand(&mut self, event: &Event, step: &Step, after: &Agent) {
        let asked = [session::Event::CompactionRequested, session::Event::LeaveRequested];
        if matches!(event, Event::Session(event) if asked.contains(event)) {
            self.is_errand = true;
        }
        let works = |action: &session::Action| match action {
            session::Action::SendLlmRequest { request, .. } => request.purpose == Purpose::Turn,
            session::Action::RunHooks { occasion, .. } => matches!(**occasion, HookOccasion::UserPromptSubmit { .. }),
            _ => false,
        };
        if after.session().is_idle() || step.session.actions.iter().any(works) {
            self.is_errand = false;
        }
    }
}

/// Whether a life is over with this step: by a binding, a release, or because one that had ended takes a message or resumes work in
/// another.
pub(super) fn begins_life(before: &Agent, event: &Event, step: &Step) -> bool {
    let was_over = before.lifecycle().is_some_and(|lifecycle| has_ended(lifecycle.state()));
    let first = step.down.transitions.iter().chain(&step.up.transitions).next();
    let is_renewed = was_over && first.is_some_and(|first| first.from == State::Idle);
    is_renewed || matches!(event, Event::Bound(_) | Event::Released)
}

/// Whether a stop was asked for.
pub(super) fn is_stop(event: &Event) -> bool {
    matches!(
        event,
        Event::Session(session::Event::CancelRequested) | Event::Lifecycle(lifecycle::Event::CancelRequested)
    )
}

/// Whether a life has come to its end, though something may be left to clean up.
pub(super) const fn has_ended(state: State) -> bool {
    matches!(state, State::Done | State::Reaped | State::Ended)
}

/// Whether this is the end of a turn.
pub(super) fn ends_turn(on: Trigger) -> bool {
    matches!(on, Trigger::TurnEnded | Trigger::TurnFailed | Trigger::TurnOutOfBudget) || claims(on)
}

/// Whether this takes the model by its word: that it is done, or waits.
pub(super) fn claims(on: Trigger) -> bool {
    matches!(on, Trigger::WaitingSignalled | Trigger::CompletionClaimed | Trigger::CompletionClaimedUnbound)
}
