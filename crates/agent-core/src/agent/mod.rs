//! An agent: a session and, where it is bound to commitments, the lifecycle over it, driven by one step.
//!
//! A driver reports [`Event`]s to an [`Agent`] and performs what the [`Step`] says. The two machines know nothing of each other; this
//! module joins them, in the same step and always in the same order:
//!
//! ```text
//! event from outside
//!   -> down:    the lifecycle, if the event concerns it   (a message, a stop, a check that ended, a timer)
//!   -> session: its own event, or the lifecycle's command (a message, a report of what is missing, a stop)
//!   -> up:      the lifecycle, with what follows          (signals, the end of a turn, the end of the session)
//! ```
//!
//! What follows from something else is derived and never reported: signals, ends of turns, and the session's end are no events from
//! outside. So a journal that holds the events from outside holds everything, and replaying them gives the same agent.
//!
//! 1. A step ends: nothing that comes up commands anything down. The compiler checks this on the lifecycle's table.
//! 2. A refusal leaves both machines as they were: a session that is started takes every command until it ends. The compiler checks
//!    this on the session's table.
//! 3. While the session works, the lifecycle works or is over: no turn ends unnoticed, and no claim goes unchecked.
//! 4. A signal counts only if the model had seen every message when it gave it.
//!
//! ```
//! use agent_core::agent::{Agent, Event};
//! use agent_core::lifecycle::{self, CheckEnd, CheckReport, Commitment, LifecycleConfig};
//! use agent_core::llm::LlmResponse;
//! use agent_core::session::{self, Action, ModelConfig, SessionConfig};
//!
//! let mut agent = Agent::new(SessionConfig::new(ModelConfig::new("some-model")));
//! agent.step(0, session::Event::Started.into())?;
//! let bound = LifecycleConfig::headless(vec![Commitment::of_command("cargo test", 60_000)]);
//! agent.step(0, Event::Bound(Box::new(bound)))?;
//!
//! let step = agent.step(1, session::Event::UserInput { text: "Fix the test.".into() }.into())?;
//! let [Action::SendLlmRequest { ticket, .. }] = step.session.actions[..] else { panic!() };
//! // The model's answer ends the turn, which claims that the work is done: so the commitment is checked.
//! let response = LlmResponse::text("Fixed.");
//! let step = agent.step(2, session::Event::LlmCompleted { ticket, response }.into())?;
//! let [lifecycle::Action::RunChecks { ticket, ref checks }] = step.up.actions[..] else { panic!() };
//! let (commitment, end) = (checks[0].commitment, CheckEnd::Exited { code: 0 });
//! let report = CheckReport::new(end, String::new());
//! agent.step(3, lifecycle::Event::CheckCompleted { ticket, commitment, report }.into())?;
//! assert_eq!(agent.outcome().unwrap().kind, session::OutcomeKind::Success);
//! # Ok::<(), agent_core::agent::Rejected>(())
//! ```

mod apart;
mod claims;
mod event;
mod family;
mod form;
mod join;
mod origin;
mod outcome;
mod report;
mod signal;
mod step;

pub use agent_types::signal::{SIGNAL_TOOL, SignalArguments};
pub use event::Event;
pub use family::{Birth, FamilyStep, Kin, Taker, between};
pub use outcome::Turns;
pub use report::check_report;
pub use signal::signals;
pub use step::{Rejected, Step};

use crate::conversation::Item;
use crate::lifecycle::Lifecycle;
use crate::session::{HistoryError, Outcome, OutcomeKind, Session, SessionConfig};
use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use apart::Apart;
use family::Family;
use origin::Origin;
use statetable::Rendering;

/// A session and, if it is bound, its lifecycle. See the [module](self) for how to drive it.
#[derive(Clone, Debug, PartialEq)]
pub struct Agent {
    session: Session,
    oversight: Option<Box<Oversight>>,
    /// The agents below, where there were any.
    family: Option<Box<Family>>,
    /// What it has of its parent, where another agent began it.
    origin: Option<Box<Origin>>,
    /// The newest ticket of a life that is over: those that follow have newer ones.
    newest_ticket: Option<u64>,
}

impl From<Session> for Agent {
    fn from(session: Session) -> Self {
        Self::over(session)
    }
}

/// What an agent does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doing {
    /// It waits for a message.
    Idle,
    /// A turn or its checks are in progress, or it has not begun, or is over.
    Working,
    /// A stop was asked for and is not complete.
    Stopping,
}

/// The lifecycle over the session.
#[derive(Clone, Debug, PartialEq)]
struct Oversight {
    lifecycle: Lifecycle,
    turns: Turns,
    /// Present while a journal is read that recorded both machines separately.
    apart: Option<Apart>,
}

impl Oversight {
    fn new(lifecycle: Lifecycle) -> Self {
        Self { lifecycle, turns: Turns::default(), apart: None }
    }
}

impl Agent {
    /// An agent in the session's first state, bound to nothing: the first event is
    /// [`session::Event::Started`](crate::session::Event::Started).
    #[must_use]
    pub fn new(config: SessionConfig) -> Self {
        Self::over(Session::new(config))
    }

    /// An agent over a session, whatever that went through before. [`Event::Bound`] binds it to commitments.
    #[must_use]
    pub const fn over(session: Session) -> Self {
        Self { session, oversight: None, family: None, origin: None, newest_ticket: None }
    }

    /// Part of how an agent is made, before its first event: the next item of what was said elsewhere before.
    pub(crate) fn precede(&mut self, item: &Arc<Item>) -> Result<(), HistoryError> {
        self.session.precede(item)
    }

    /// The same over a lifecycle of its own, for tests that change rows and look for the difference.
    #[doc(hidden)]
    #[must_use]
    pub fn with_lifecycle(session: Session, lifecycle: Lifecycle) -> Self {
        Self { oversight: Some(Box::new(Oversight::new(lifecycle))), ..Self::over(session) }
    }

    /// Takes one event in. `at_ms` is the time of the event in milliseconds since the Unix epoch; time that runs backwards is held.
    ///
    /// A timer that fires just before it is withdrawn is not an error: the step is empty, and the agent is as it was.
    ///
    /// # Errors
    /// [`Rejected`] when the event does not fit; the agent is then as it was before.
    pub fn step(&mut self, at_ms: u64, event: Event) -> Result<Step, Rejected> {
        let mut step = Step::empty();
        self.take(at_ms, event, &mut step, Rendering::Actions)?;
        Ok(step)
    }

    /// The session in its present state.
    #[must_use]
    pub const fn session(&self) -> &Session {
        &self.session
    }

    /// The session, for a host that needs nothing else.
    #[must_use]
    pub fn into_session(self) -> Session {
        self.session
    }

    /// The lifecycle in its present state; `None` while the agent has no commitments.
    #[must_use]
    pub fn lifecycle(&self) -> Option<&Lifecycle> {
        self.oversight.as_deref().map(|oversight| &oversight.lifecycle)
    }

    /// The lifecycle, unless the session took messages that did not come through it, as journals up to format 4 may tell.
    #[must_use]
    pub fn unless_passed_over(&self) -> Option<&Lifecycle> {
        let oversight = self.oversight.as_deref().filter(|oversight| !oversight.is_passed_over());
        oversight.map(|oversight| &oversight.lifecycle)
    }

    /// Whether commitments bind it, or may be added.
    #[must_use]
    pub const fn is_bound(&self) -> bool {
        self.oversight.is_some()
    }

    /// How the last run ended: the gravest of what its turns, its commitments and its children's denied calls say. Nothing while the agent
    /// works, or before the first.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        let mut outcome = self.outcome_of_itself()?;
        let Some(family) = self.family.as_deref() else { return Some(outcome) };
        let is_fine = outcome.kind == OutcomeKind::Success;
        if family.was_cancelled() && is_fine {
            outcome.kind = OutcomeKind::Cancelled;
        } else if family.denials() > 0 && is_fine {
            outcome.kind = OutcomeKind::Permission;
        }
        Some(outcome)
    }

    fn outcome_of_itself(&self) -> Option<Outcome> {
        match &self.oversight {
            Some(oversight) if !oversight.is_passed_over() => {
                let mut outcome = oversight.turns.outcome(oversight.lifecycle.outcome())?;
                if let Some(limit_ms) = self.time_limit_reached_ms() {
                    outcome.error = Some(format!("time limit of the turn and its checks reached: {limit_ms} ms"));
                }
                Some(outcome)
            }
            Some(_) | None => self.session.outcome(),
        }
    }

    /// The limit of time that ended the checks, if one did.
    fn time_limit_reached_ms(&self) -> Option<u64> {
        self.lifecycle().filter(|lifecycle| lifecycle.ran_out_of_time())?;
        self.session.config().limits.max_wall_time_ms
    }

    /// Whether the agent waits for a message: its session does, and no check is running.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.session.is_idle() && !self.lifecycle().is_some_and(Lifecycle::is_busy) && !self.waits_for_children()
    }

    /// What the agent does, for a host that shows it.
    #[must_use]
    pub fn doing(&self) -> Doing {
        if self.is_idle() {
            Doing::Idle
        } else if self.session.is_cancel_pending() {
            Doing::Stopping
        } else {
            Doing::Working
        }
    }

    /// Whether the agent was given up or dismissed for good: no message begins another life, and only its session can still be detached.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.lifecycle().is_some_and(|lifecycle| lifecycle.is_given_up() && !lifecycle.config().is_renewed)
    }

    /// Whether the session has ended for good, so that nothing can happen any more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.session.is_over()
    }

    /// Whether it is bound and was left before it rested: then it can continue without a message.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        self.oversight.as_deref().is_some_and(|oversight| oversight.lifecycle.is_busy() && !oversight.is_passed_over())
    }

    /// Empties the traces, which decide nothing: a checker that keeps agents by the million needs their room.
    #[doc(hidden)]
    pub fn forget_traces(&mut self) {
        self.session.forget_trace();
        if let Some(oversight) = &mut self.oversight {
            oversight.lifecycle.forget_trace();
        }
        if let Some(family) = &mut self.family {
            family.forget_traces();
        }
    }
}
