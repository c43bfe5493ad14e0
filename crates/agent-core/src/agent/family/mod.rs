//! The agents below an agent: their machines, the calls that wait for them, what they spend.
//!
//! The model's calls of the tools of [`agents`](crate::agents) do not reach the driver. The agent steps the child machines, and answers the
//! call when they have moved so far, in the same step. So what a call is answered with follows from what is recorded of the children, and
//! is not recorded itself.

mod answers;
mod between;
mod birth;
mod calls;
mod checks;
mod settle;
mod words;

pub use between::{Taker, between};
pub use birth::Birth;
pub(super) use settle::Cause;

use super::{Agent, Event, Rejected};
use crate::agents::{SharedWorkspace, SpawnArguments};
use crate::child::lease::{Lease, Remainder, Spent};
use crate::child::{self, Child};
use crate::children::{self, Children};
use crate::conversation::{CallId, ToolCall};
use crate::session::{self, Action, Evidence, Outstanding};
use crate::tool::{Effect, ToolOutcome, ToolStatus};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use calls::Open;

/// The agents below an agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Family {
    machine: Children,
    /// By number: the first has number 1.
    kin: Vec<Kin>,
    /// Their numbers, by name.
    names: BTreeMap<String, u32>,
    /// The numbers of those that are alive.
    alive: Vec<u32>,
    /// The numbers of those that have ended and whose outcome the model has not read, in the order of the numbers.
    untold: Vec<u32>,
    /// The calls that wait for children, in the order of the calls.
    open: Vec<Open>,
    /// When the last children were begun, in milliseconds since the Unix epoch.
    begun_ms: VecDeque<u64>,
    /// What those that are alive may still spend, themselves included.
    leased: Spent,
    /// What those spent whose runs have an outcome.
    spent: Spent,
    /// Calls of children that were denied because no one could be asked.
    denials: u32,
    /// Whether a stop ended the last turn when its model had ended it already.
    was_cancelled: bool,
    /// Since when the agent waits for its children, its turn having ended: that is time of the turn.
    waits_since_ms: Option<u64>,
}

/// A child, and what its parent was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Kin {
    child: Child,
    asked: SpawnArguments,
    /// The number of the question that the parent's model has read last.
    read: u32,
    /// Whether files that its checks were about may have changed since they passed.
    is_stale: bool,
}

/// What a step did with the agents below.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FamilyStep {
    /// Calls that the agent itself answers and that have begun.
    pub begun: Vec<ToolCall>,
    /// Calls that it has answered.
    pub answered: Vec<(CallId, ToolOutcome)>,
    /// The rows of the child machines that fired, each with the child's number.
    pub children: Vec<(u32, child::Transition)>,
    /// The rows of the machine over all children that fired.
    pub all: Vec<children::Transition>,
    /// What the driver is asked to do, each with the child's number.
    pub actions: Vec<(u32, child::Action)>,
}

impl FamilyStep {
    pub(super) const fn empty() -> Self {
        Self { begun: Vec::new(), answered: Vec::new(), children: Vec::new(), all: Vec::new(), actions: Vec::new() }
    }

    /// Whether nothing happened.
    pub(super) const fn is_empty(&self) -> bool {
        self.begun.is_empty() && self.answered.is_empty() && self.children.is_empty() && self.all.is_empty()
    }

    /// Whether the agent rests now, and did not before.
    pub(super) fn comes_to_rest(&self) -> bool {
        let comes = |row: &children::Transition| {
            matches!(row.from, children::State::Gathering | children::State::Stopping)
                && row.to == children::State::Resting
        };
        self.all.iter().any(comes)
    }
}

impl Kin {
    /// The child's machine.
    #[must_use]
    pub const fn child(&self) -> &Child {
        &self.child
    }

    /// What it was begun with.
    #[must_use]
    pub const fn asked(&self) -> &SpawnArguments {
        &self.asked
    }

    /// Whether it may change the files of its parent.
    #[must_use]
    pub fn changes_files(&self) -> bool {
        self.asked.workspace == SharedWorkspace::Shared
    }

    /// Whether it works in a workspace of its own.
    #[must_use]
    pub fn is_apart(&self) -> bool {
        self.asked.workspace == SharedWorkspace::Worktree
    }

    /// Whether checks of its work passed, and files may have changed since: what they found is of the files as they were.
    #[must_use]
    pub const fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// How far its work is checked, once it has an outcome. Checks of files that may have changed since count no more.
    #[must_use]
    pub fn evidence(&self) -> Option<Evidence> {
        let outcome = self.child.outcome()?;
        Some(if self.is_stale { Evidence::Unverified } else { outcome.evidence() })
    }

    /// Files that its parent works on may have changed.
    fn changed(&mut self) {
        let is_checked = self.child.outcome().is_some_and(|outcome| outcome.evidence() > Evidence::Unverified);
        self.is_stale |= is_checked && !self.is_apart();
    }

    /// What it may still spend, itself included.
    fn held(&self) -> Spent {
        let lease = self.child.lease().filter(|_| self.child.is_living());
        lease.map(Spent::held_by).unwrap_or_default()
    }

    /// Whether it asks something that its parent's model has not read.
    fn has_question(&self) -> bool {
        self.child.question().is_some() && self.child.questions() > self.read
    }
}

impl Family {
    pub(super) fn forget_traces(&mut self) {
        self.machine.forget_trace();
        self.kin.iter_mut().for_each(|kin| kin.child.forget_trace());
    }

    fn kin(&self, number: u32) -> Option<&Kin> {
        self.kin.get(usize::try_from(number.checked_sub(1)?).ok()?)
    }

    fn kin_mut(&mut self, number: u32) -> Option<&mut Kin> {
        self.kin.get_mut(usize::try_from(number.checked_sub(1)?).ok()?)
    }

    fn named(&self, name: &str) -> Option<u32> {
        self.names.get(name).copied()
    }

    /// Whether the agent waits for children, though its turn has ended.
    pub(super) const fn is_waiting(&self) -> bool {
        self.machine.is_waiting()
    }

    /// Time in which no program drove the agent is not the turn's.
    pub(super) fn pass_unwatched(&mut self, unwatched_ms: u64) {
        if let Some(since_ms) = &mut self.waits_since_ms {
            *since_ms = since_ms.saturating_add(unwatched_ms);
        }
    }

    pub(super) const fn was_cancelled(&self) -> bool {
        self.was_cancelled
    }

    pub(super) const fn denials(&self) -> u32 {
        self.denials
    }

    /// How all of them stand. `is_attended` tells whether a person may still answer them.
    fn standing(&self, is_attended: bool) -> children::Standing {
        let waits = |number: &u32| {
            let kin = self.kin(*number);
            kin.is_some_and(|kin| kin.child.state() == child::State::Asking && !kin.has_question())
        };
        children::Standing {
            are_alive: !self.alive.is_empty(),
            has_reports: self.has_report(),
            is_unanswered: !is_attended && !self.alive.is_empty() && self.alive.iter().all(waits),
        }
    }
}

impl Agent {
    /// The agents below, in the order in which they were begun. One that could not begin is not among them.
    pub fn kin(&self) -> impl Iterator<Item = &Kin> {
        self.family.iter().flat_map(|family| &family.kin)
    }

    /// The child with a number, counted from 1.
    #[must_use]
    pub fn kin_of(&self, number: u32) -> Option<&Kin> {
        self.family.as_deref()?.kin(number)
    }

    /// The numbers of the children that are alive.
    #[must_use]
    pub fn alive(&self) -> &[u32] {
        self.family.as_deref().map_or(&[], |family| &family.alive)
    }

    /// Whether the agent waits for its children, though its turn has ended.
    #[must_use]
    pub fn waits_for_children(&self) -> bool {
        self.family.as_deref().is_some_and(Family::is_waiting)
    }

    /// The same over a machine of its own for its children, for tests that change rows and look for the difference.
    #[doc(hidden)]
    #[must_use]
    pub fn with_children(self, machine: Children) -> Self {
        Self { family: Some(alloc::boxed::Box::new(Family { machine, ..Family::default() })), ..self }
    }

    /// What it keeps of agents below and above it besides their machines, for tests that tell states apart.
    #[doc(hidden)]
    #[must_use]
    pub fn kinship(&self) -> String {
        let below = self.family.as_deref().map(|family| {
            let Family { machine, alive, untold, open, spent, was_cancelled, .. } = family;
            let stale: Vec<u32> = family.kin.iter().filter(|kin| kin.is_stale).map(|kin| kin.child.number()).collect();
            (machine.state(), alive, untold, open, spent, was_cancelled, stale)
        });
        format!("{below:?} {:?}", self.origin)
    }

    /// Whether the agent answers a call of this name itself.
    #[must_use]
    pub fn answers(&self, tool: &str) -> bool {
        self.has_family() && crate::agents::AgentCall::is_tool(tool)
    }

    /// Whether there are agents below, or may be.
    pub(super) const fn has_family(&self) -> bool {
        self.session.config().agents.is_some() || self.family.is_some()
    }

    /// What the session waits for of the driver. Calls that the agent answers itself are not among it.
    #[must_use]
    pub fn outstanding(&self) -> Vec<Outstanding> {
        let mut all = self.session.outstanding();
        if self.has_family() {
            for open in &mut all {
                if let Action::ExecuteTools { calls, .. } = &mut open.action {
                    calls.retain(|call| !crate::agents::AgentCall::is_tool(&call.name));
                }
            }
            all.retain(|open| !matches!(&open.action, Action::ExecuteTools { calls, .. } if calls.is_empty()));
        }
        all
    }

    /// What the agent may still lease out or spend.
    fn remainder(&self, at_ms: u64, family: &Family) -> Remainder {
        let config = self.session.config();
        let mut whole = Lease::of(&config.limits, &config.agents.unwrap_or_default());
        // A child's time is part of what its parent's turn has left.
        whole.time_ms = self.session.time_left_in_turn_ms(at_ms).or(whole.time_ms);
        let ledger = self.session.ledger();
        Remainder::of(&whole, &ledger.whole().plus(&family.leased))
    }

    /// What happened to a child, as its journal has it.
    pub(super) fn child_event(
        &mut self,
        at_ms: u64,
        number: u32,
        event: child::Event,
        step: &mut FamilyStep,
    ) -> Result<(), Rejected> {
        // A person may stop a child and send it a message; what else has no run follows from the agent's own calls.
        let is_persons = matches!(event, child::Event::StopRequested { .. } | child::Event::MessageSent { .. });
        let is_derived = event.run().is_none() && !is_persons;
        if is_derived {
            return Err(Rejected::Derived { event: event.name() });
        }
        let name = event.name();
        let Some(family) = self.family.as_deref_mut() else { return Err(Rejected::NoChild { event: name, number }) };
        let has_rested = matches!(event, child::Event::Rested { .. });
        let denied = if let child::Event::Rested { rest, .. } = &event { rest.outcome.unasked_denials } else { 0 };
        family.move_child(at_ms, number, event, step)?;
        family.denials = family.denials.saturating_add(denied);
        if has_rested && family.kin(number).is_some_and(Kin::changes_files) {
            family.kin.iter_mut().filter(|kin| kin.child.number() != number).for_each(Kin::changed);
        }
        Ok(())
    }

    /// Whether an event says that files may have changed that children's checks were about.
    pub(super) fn may_change(&self, event: &Event) -> bool {
        let Event::Session(session::Event::ToolCompleted { call, outcome, .. }) = event else { return false };
        let has_run = outcome.status != ToolStatus::NotRun;
        has_run && self.family.is_some() && self.session.judged(call).effect == Effect::Changes
    }

    /// What children's checks found is of files as they were.
    pub(super) fn note_stale(&mut self) {
        if let Some(family) = self.family.as_deref_mut() {
            family.kin.iter_mut().for_each(Kin::changed);
        }
    }
}

impl Family {
    /// Steps the machine of a child.
    fn move_child(
        &mut self,
        at_ms: u64,
        number: u32,
        event: child::Event,
        out: &mut FamilyStep,
    ) -> Result<(), Rejected> {
        let name = event.name();
        let Some(kin) = self.kin_mut(number) else { return Err(Rejected::NoChild { event: name, number }) };
        let (was_alive, held) = (kin.child.is_living(), kin.held());
        let step = kin.child.step(at_ms, event)?;
        let (is_alive, holds, spent) = (kin.child.is_living(), kin.held(), *kin.child.spent());
        self.leased = self.leased.less(&held).plus(&holds);
        if was_alive && !is_alive {
            // It counts as one of the agents that were begun.
            let spent = spent.with_itself();
            self.spent = self.spent.plus(&spent);
            self.alive.retain(|alive| *alive != number);
            let at = self.untold.partition_point(|untold| *untold < number);
            self.untold.insert(at, number);
        } else if is_alive && !was_alive {
            self.alive.push(number);
        }
        out.children.extend(step.transitions.into_iter().map(|row| (number, row)));
        out.actions.extend(step.actions.into_iter().map(|action| (number, action)));
        Ok(())
    }

    /// The parent's model reads the outcome, or the question. Returns it in words.
    fn tell(&mut self, at_ms: u64, number: u32, out: &mut FamilyStep) -> Option<(child::Counts, String)> {
        let kin = self.kin_mut(number)?;
        if kin.child.state() == child::State::Ended {
            let words = words::outcome(kin)?;
            let told = self.move_child(at_ms, number, child::Event::OutcomeTold, out);
            debug_assert!(told.is_ok(), "an outcome is told once: {told:?}");
            self.untold.retain(|untold| *untold != number);
            return Some(words);
        }
        let question = words::question(kin)?;
        kin.read = kin.child.questions();
        Some((child::Counts::Ok, question))
    }

    /// Stops all children that are alive.
    fn stop_all(&mut self, at_ms: u64, by: child::StopCause, out: &mut FamilyStep) {
        for number in self.alive.clone() {
            // One that is being stopped already stays so.
            let stopped = self.move_child(at_ms, number, child::Event::StopRequested { by }, out);
            debug_assert!(stopped.is_ok(), "a child that is alive can be stopped: {stopped:?}");
        }
    }
}
