//! An agent as a driver keeps it: its lifecycle, and what of its session the lifecycle's events tell.

use super::{Turns, command, turn_ended};
use crate::lifecycle::{Event, Lifecycle, LifecycleConfig, Rejected, Step};
use crate::session::{self, Outcome, Trigger};
use alloc::collections::VecDeque;
use alloc::string::String;

/// A lifecycle over a session. The driver that runs both and the [`Replayer`](crate::journal::Replayer) that reads what it recorded tell it
/// the same, so both come to the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    lifecycle: Lifecycle,
    turns: Turns,
    /// Messages that the session has taken.
    inputs_taken: u64,
    /// Messages given to the session that it has not taken, oldest first.
    given: VecDeque<String>,
}

impl Agent {
    /// An idle agent over a session, whatever that went through before.
    #[must_use]
    pub fn new(config: LifecycleConfig) -> Self {
        let (lifecycle, given) = (Lifecycle::new(config), VecDeque::new());
        Self { lifecycle, turns: Turns::default(), inputs_taken: 0, given }
    }

    /// The session moved: one of its rows fired.
    pub fn session_moved(&mut self, transition: &session::Transition) {
        if transition.on == Trigger::UserInput {
            self.inputs_taken = self.inputs_taken.saturating_add(1);
            self.given.pop_front();
        }
    }

    /// What the lifecycle is to be told when the session's run ended with this outcome.
    #[must_use]
    pub const fn turn_ended(&self, outcome: &Outcome) -> Event {
        turn_ended(outcome, self.inputs_taken)
    }

    /// Lets the lifecycle take an event. With the end of a turn comes the outcome of the session's run; it counts when the lifecycle takes the event.
    ///
    /// # Errors
    /// [`Rejected`] when the event does not fit; nothing has changed then.
    pub fn step(&mut self, at_ms: u64, event: Event, turn: Option<&Outcome>) -> Result<Step, Rejected> {
        let step = self.lifecycle.step(at_ms, event)?;
        if let Some(turn) = turn {
            self.turns.add(turn);
        }
        for given in step.actions.iter().filter_map(command) {
            if let session::Event::UserInput { text } = given {
                self.given.push_back(text);
            }
        }
        Ok(step)
    }

    /// The lifecycle as it stands.
    #[must_use]
    pub const fn lifecycle(&self) -> &Lifecycle {
        &self.lifecycle
    }

    /// The lifecycle, for whoever needs nothing else.
    #[must_use]
    pub fn into_lifecycle(self) -> Lifecycle {
        self.lifecycle
    }

    /// Messages given to the session that it has not taken, oldest first. After a restart they are given again.
    pub fn given(&self) -> impl Iterator<Item = &str> {
        self.given.iter().map(String::as_str)
    }

    /// How the run ended; nothing while the agent works.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.turns.outcome(self.lifecycle.outcome())
    }

    /// Whether the session took messages that did not come from the agent: then how its last run ended does not concern the agent.
    #[must_use]
    pub const fn is_passed_over(&self) -> bool {
        self.inputs_taken > self.lifecycle.inputs_sent()
    }

    /// Whether it was left before it came to rest.
    #[must_use]
    pub const fn is_unfinished(&self) -> bool {
        self.lifecycle.is_busy() && !self.is_passed_over()
    }
}
