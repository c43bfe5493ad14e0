//! What a call of the model begins.

use super::{Family, FamilyStep, Kin, words};
use crate::agent::Agent;
use crate::agents::{AgentCall, AgentLimits, SharedWorkspace, SpawnArguments, Until};
use crate::child::lease::{Lease, NoLease, Remainder, Wish};
use crate::child::{Assignment, Child, Event, Gate, State, StopCause};
use crate::conversation::{CallId, ToolCall};
use crate::session::Ticket;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A call that waits for children.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Open {
    pub(super) ticket: Ticket,
    pub(super) call: CallId,
    pub(super) until: Awaited,
}

/// What a call waits for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Awaited {
    /// Nothing: it failed, and why.
    Failure(String),
    /// Nothing: the child could not begin, and why.
    NotBegun(String),
    /// The child has begun.
    Begin(u32),
    /// The child has ended, or asks.
    Outcome(u32),
    /// Some of these have ended, or ask.
    Some(Vec<u32>, Until),
    /// The child has taken so many messages.
    Taken(u32, u32),
    /// The child that was stopped has ended.
    End(u32),
    /// Nothing: the list is there.
    List,
}

/// What the calls of one group share.
struct Share {
    left: Remainder,
    siblings: u32,
}

impl Agent {
    /// Takes up the calls that are the agent's own to answer and have just begun.
    pub(super) fn take_calls(&mut self, at_ms: u64, out: &mut FamilyStep) -> bool {
        let Some((ticket, calls)) = self.session.running_calls() else { return false };
        // The calls of a group are taken up together.
        let newest = self.family.as_deref().and_then(|family| family.open.last());
        if newest.is_some_and(|open| open.ticket == ticket) {
            return false;
        }
        let calls: Vec<ToolCall> = calls.filter(|call| AgentCall::is_tool(&call.name)).cloned().collect();
        if calls.is_empty() {
            return false;
        }
        let mut family = self.family.take().unwrap_or_default();
        let siblings = calls.iter().filter(|call| call.name.as_ref() == crate::agents::SPAWN_TOOL).count();
        let share =
            Share { left: self.remainder(at_ms, &family), siblings: u32::try_from(siblings).unwrap_or(u32::MAX) };
        for call in calls {
            let read = AgentCall::of(&call).unwrap_or_else(|| Err(String::from("it is no call about agents")));
            let until = match read {
                Err(message) => Awaited::Failure(format!("not run: {message}")),
                Ok(AgentCall::Spawn(asked)) => self.spawn(at_ms, &mut family, asked, &share, out),
                Ok(AgentCall::Wait(wait)) => family.wait(&wait.names, wait.until),
                Ok(AgentCall::Send(send)) => family.send(at_ms, &send.name, &send.message, out),
                Ok(AgentCall::Stop(stop)) => family.stop(at_ms, &stop.name, out),
                Ok(AgentCall::List) => Awaited::List,
            };
            family.open.push(Open { ticket, call: call.id.clone(), until });
            out.begun.push(call);
        }
        self.family = Some(family);
        true
    }

    fn spawn(
        &self,
        at_ms: u64,
        family: &mut Family,
        asked: SpawnArguments,
        share: &Share,
        out: &mut FamilyStep,
    ) -> Awaited {
        if let Err(message) = self.can_be_begun(family, &asked) {
            return Awaited::Failure(message);
        }
        let stop = self.session.is_cancel_pending().then_some(StopCause::ParentEnds);
        let limits = self.session.config().agents.unwrap_or_default();
        let lease = lease_for(&self.remainder(at_ms, family), share, &asked);
        let gate = Gate { stop, limit: family.limit_reached(&limits, at_ms), lease };
        let number = u32::try_from(family.kin.len()).unwrap_or(u32::MAX).saturating_add(1);
        let is_apart = asked.workspace == SharedWorkspace::Worktree;
        let assignment = Assignment::new(number, asked.name.as_str(), asked.task.as_str());
        let child = Child::new(Assignment { is_apart, ..assignment });
        let is_background = asked.background;
        family.names.insert(asked.name.clone(), number);
        family.kin.push(Kin { child, asked, read: 0, is_stale: false });
        let mut own = FamilyStep::empty();
        let assigned = family.move_child(at_ms, number, Event::Assigned { gate }, &mut own);
        debug_assert!(assigned.is_ok(), "a child that was just made is assigned: {assigned:?}");
        let child = family.kin(number).map(|kin| &kin.child);
        if let Some(outcome) = child.and_then(Child::outcome) {
            // It used up neither the name nor the number.
            let reason = outcome.reason.clone().unwrap_or_default();
            if let Some(kin) = family.kin.pop() {
                family.names.remove(kin.child.name());
            }
            return Awaited::NotBegun(reason);
        }
        family.begun_ms.push_back(at_ms);
        out.children.append(&mut own.children);
        out.actions.append(&mut own.actions);
        if is_background { Awaited::Begin(number) } else { Awaited::Outcome(number) }
    }

    /// Whether there can be a child like this.
    fn can_be_begun(&self, family: &Family, asked: &SpawnArguments) -> Result<(), String> {
        let config = self.session.config();
        if family.named(&asked.name).is_some() {
            return Err(format!("there is an agent `{}` already: take another name", asked.name));
        }
        if let Some(model) =
            asked.model.as_deref().filter(|model| config.models.iter().all(|known| *known.id != **model))
        {
            let known: Vec<&str> = config.models.iter().map(|known| &*known.id).collect();
            return Err(format!("there is no model `{model}`: the models are {}", known.join(", ")));
        }
        let lacks = |tool: &&String| config.tools.iter().all(|known| *known.name != ***tool);
        match asked.tools.iter().flatten().find(lacks) {
            Some(tool) => Err(format!("you have no tool `{tool}` to give")),
            None => Ok(()),
        }
    }
}

/// What a call that asks for nothing gets is the same for all of a group, as far as it is still there.
fn lease_for(left: &Remainder, share: &Share, asked: &SpawnArguments) -> Result<Lease, NoLease> {
    let wish = Wish::from(&asked.budget);
    match share.left.lease(&wish, share.siblings) {
        Ok(lease) if wish == Wish::default() && left.covers(&lease) => Ok(lease),
        Ok(_) | Err(_) => left.lease(&wish, share.siblings),
    }
}

impl Family {
    /// The limit on agents that stands in the way of another one, in words.
    fn limit_reached(&mut self, limits: &AgentLimits, at_ms: u64) -> Option<String> {
        let alive = u32::try_from(self.alive.len()).unwrap_or(u32::MAX);
        if alive >= limits.width {
            return Some(format!("limit on agents reached: {alive} of {} are alive", limits.width));
        }
        while self.begun_ms.front().is_some_and(|begun_ms| begun_ms.saturating_add(MINUTE_MS) <= at_ms) {
            self.begun_ms.pop_front();
        }
        let begun = u32::try_from(self.begun_ms.len()).unwrap_or(u32::MAX);
        let most = limits.per_minute;
        (begun >= most).then(|| format!("limit on agents reached: {begun} of {most} begun within a minute"))
    }

    fn wait(&mut self, names: &[String], until: Until) -> Awaited {
        let mut numbers = Vec::new();
        for name in names {
            match self.named(name) {
                Some(number) => numbers.push(number),
                None => return Awaited::Failure(self.unknown(name)),
            }
        }
        if names.is_empty() {
            numbers = self.untold.iter().chain(&self.alive).copied().collect();
            numbers.sort_unstable();
        }
        if numbers.is_empty() {
            return Awaited::Failure("there is no agent to wait for".to_string());
        }
        Awaited::Some(numbers, until)
    }

    fn send(&mut self, at_ms: u64, name: &str, message: &str, out: &mut FamilyStep) -> Awaited {
        let Some(number) = self.named(name) else { return Awaited::Failure(self.unknown(name)) };
        match self.move_child(at_ms, number, Event::MessageSent { text: words::message(message) }, out) {
            Ok(()) => Awaited::Taken(number, self.kin(number).map_or(0, |kin| kin.child.sent())),
            Err(rejected) => Awaited::Failure(format!("not delivered: {}", self.why_not(number, &rejected))),
        }
    }

    /// Why a message or a stop does not reach a child.
    fn why_not(&self, number: u32, rejected: &crate::agent::Rejected) -> String {
        match self.kin(number).map(|kin| kin.child.state()) {
            Some(State::Clearing | State::Ended | State::Told) => "the agent has ended; begin another one".to_string(),
            Some(State::Starting) => "the agent has not begun yet; send it again".to_string(),
            Some(State::Stopping) => "the agent is being stopped".to_string(),
            _ => rejected.to_string(),
        }
    }

    fn stop(&mut self, at_ms: u64, name: &str, out: &mut FamilyStep) -> Awaited {
        let Some(number) = self.named(name) else { return Awaited::Failure(self.unknown(name)) };
        if self.kin(number).is_some_and(|kin| kin.child.state() == State::Told) {
            return Awaited::Failure(format!("the agent `{name}` has ended already, and you have read its outcome"));
        }
        let stopped = self.move_child(at_ms, number, Event::StopRequested { by: StopCause::Parent }, out);
        debug_assert!(stopped.is_ok(), "a child that has no outcome told can be stopped: {stopped:?}");
        Awaited::End(number)
    }

    fn unknown(&self, name: &str) -> String {
        words::unknown(name, self.kin.iter().map(|kin| kin.child.name()))
    }
}

const MINUTE_MS: u64 = 60_000;
