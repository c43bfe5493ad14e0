//! Agents as a model: the real `Agent::step`, driven by an environment that may do anything, and what must hold on every edge and in every
//! state.
//!
//! A node is an agent with what its driver keeps (checks, a timer, a cleanup: [`driver`]) and what an observer knows who sees events and
//! steps only ([`seen`]). What can happen is an event of the agent, no more: nothing is on its way between the two machines.

mod choices;
mod driver;
mod judge;
mod key;
mod seen;
mod setup;
mod ways;

use super::explore::Model;
use super::world::{Bounds, PLAIN, World};
use crate::invariants::{Fault, Invariant, Tally, hold};
use crate::session as notation;
use agent_core::agent::{Agent, Event, Rejected, Step};
use agent_core::lifecycle::{Commitment, LifecycleConfig};
use agent_core::session::{self, Outcome};
use driver::Driver;
use seen::Seen;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(crate) use setup::{Left, SETUPS, Setup};

/// An agent, what its driver keeps, what an observer knows, and what may still happen.
#[derive(Clone, Debug)]
pub(crate) struct Together {
    pub(super) agent: Agent,
    driver: Driver,
    seen: Seen,
    left: Left,
}

/// What is done with an agent. Only a test that plants a fault puts other functions here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steppers {
    pub(super) step: fn(&mut Agent, Event) -> Result<Step, Rejected>,
    pub(super) outcome: fn(&Agent) -> Option<Outcome>,
}

impl Default for Steppers {
    fn default() -> Self {
        Self { step: |agent, event| agent.step(NOW_MS, event), outcome: Agent::outcome }
    }
}

/// Agents in a set-up.
pub(crate) struct Agents<'a> {
    setup: &'a Setup,
    /// What binds the agent.
    bound: LifecycleConfig,
    /// Where everything begins. Only a test that plants a fault puts another one here.
    pub(super) first: Agent,
    pub(super) steps: Steppers,
    /// What the key of the session goes by.
    world: World,
    /// One state in so many is rebuilt from its events.
    pub(super) replay_one_in: u64,
}

impl<'a> Agents<'a> {
    pub(crate) fn new(setup: &'a Setup) -> Result<Self, String> {
        let bound = bound(setup);
        let mut first = Agent::new(notation::config(setup.config)?);
        let begin = |first: &mut Agent, event: Event| first.step(NOW_MS, event).map_err(|error| error.to_string());
        // A driver starts its session before it hears anybody.
        let _ = begin(&mut first, session::Event::Started.into())?;
        if setup.is_bound {
            let _ = begin(&mut first, Event::Bound(Box::new(bound.clone())))?;
        }
        let (raises, summaries) = (setup.left.raises, setup.left.summaries);
        let world = World { bounds: Bounds { raises, summaries, ..PLAIN.bounds }, ..PLAIN };
        Ok(Self { setup, bound, first, steps: Steppers::default(), world, replay_one_in: REPLAY_ONE_IN })
    }

    /// The node after an event, when everything on the way is as it must be; nothing when it was rightly refused.
    fn after(&self, node: &Together, event: &Event, tally: &mut Tally) -> Result<Option<Together>, Fault> {
        let mut next = node.clone();
        let taken = guarded(event.name(), || (self.steps.step)(&mut next.agent, event.clone()))?;
        let step = match taken {
            Ok(step) => step,
            Err(rejected) => {
                tally.refusals += 1;
                let is_same = next.agent == node.agent;
                hold(Invariant::RefusalChangesNothing, is_same, || format!("{} changed something", event.name()))?;
                judge::refusal(node, event, &rejected)?;
                return Ok(None);
            }
        };
        next.agent.forget_traces();
        next.driver.answered(event);
        if seen::begins_life(&node.agent, event, &step) {
            next.driver.forget();
        }
        next.seen.follow(node, event, &step, &next.agent);
        judge::edge(node, event, &step, &next, tally)?;
        next.driver.perform(&step);
        next.driver.settle();
        next.left.spend(event);
        Ok(Some(next))
    }

    /// The same events give the same agent.
    fn judge_replay(&self, node: &Together, path: Vec<Event>) -> Result<(), Fault> {
        let mut again = self.first.clone();
        for event in path {
            // A refusal was a refusal then, too.
            let _ = guarded(event.name(), || (self.steps.step)(&mut again, event.clone()))?;
        }
        again.forget_traces();
        hold(Invariant::ReplayEqual, again == node.agent, || "the replayed agent is another one".to_owned())
    }
}

impl Model for Agents<'_> {
    type Node = Together;
    type Choice = Event;

    fn initial(&self) -> Together {
        let mut agent = self.first.clone();
        agent.forget_traces();
        let mut driver = Driver::default();
        driver.resume(&agent);
        Together { agent, driver, seen: Seen::default(), left: self.setup.left }
    }

    fn choices(&self, node: &Together) -> Vec<Event> {
        choices::of(self.setup, &self.bound, node)
    }

    fn take(&self, node: &Together, event: &Event, tally: &mut Tally) -> Result<Option<Together>, Fault> {
        self.after(node, event, tally)
    }

    fn inspect(&self, node: &Together, path: &dyn Fn() -> Vec<Event>, tally: &mut Tally) -> Result<(), Fault> {
        judge::state(self, node)?;
        judge::without_effect(self, node, tally)?;
        ways::cancel(self, node)?;
        ways::shutdown(self, node, tally)?;
        ways::dismissal(self, node, tally)?;
        if (self.key(node) as u64).is_multiple_of(self.replay_one_in) {
            tally.replays += 1;
            self.judge_replay(node, path())?;
        }
        Ok(())
    }

    fn key(&self, node: &Together) -> u128 {
        key::of(&self.world, node)
    }

    fn show(&self, node: &Together, event: &Event) -> String {
        let mut agent = node.agent.clone();
        let refused = match guarded(event.name(), || (self.steps.step)(&mut agent, event.clone())) {
            Ok(Ok(_)) => String::new(),
            Ok(Err(rejected)) => format!(", {rejected}"),
            Err(_) => ", a panic".to_owned(),
        };
        let of_lifecycle = agent.lifecycle().map(|lifecycle| lifecycle.state());
        let line = match event {
            Event::Session(event) => notation::line(event),
            other => format!("agent > {}", other.name()),
        };
        format!("{line}\n    session {:?}, lifecycle {of_lifecycle:?}{refused}", agent.session().state())
    }
}

/// What binds the agents of a set-up.
fn bound(setup: &Setup) -> LifecycleConfig {
    let commitment = |number: u8| Commitment::of_command(&format!("check {number}"), 1_000);
    LifecycleConfig {
        commitments: (0..setup.commitments).map(commitment).collect(),
        max_rounds: setup.max_rounds,
        continues_after_failure: setup.is_headless,
        unsignalled_turn_claims: setup.is_headless,
        is_renewed: setup.is_renewed,
        max_idle_ms: Some(1_000),
        max_work_ms: Some(1_000),
        max_wait_ms: Some(1_000),
    }
}

/// A step that may panic, which is a fault.
fn guarded<T>(name: &str, step: impl FnOnce() -> T) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(step)).map_err(|_| Fault::new(Invariant::NoPanic, format!("{name} panics")))
}

/// Time stands still: what it decides comes with events, as a timer that fires.
const NOW_MS: u64 = 0;
/// One state in so many is rebuilt from its events.
const REPLAY_ONE_IN: u64 = 256;
