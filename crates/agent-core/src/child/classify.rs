//! Which trigger an event is: guards are decided here, and nowhere else.

use super::event::Gate;
use super::outcome::Rest;
use super::step::MAX_WAITING;
use super::table::Trigger;
use super::{Child, Event, Objection, Reason};

impl Child {
    pub(super) fn trigger(&self, event: &Event) -> Result<Trigger, Reason> {
        if event.run().is_some_and(|run| run != self.run) {
            return Err(Reason::StaleTicket);
        }
        match event {
            Event::Assigned { .. } => Ok(Trigger::Assigned),
            Event::Begun { .. } => Ok(Trigger::Begun),
            Event::BeginFailed { .. } if self.is_apart => Ok(Trigger::BeginFailedApart),
            Event::BeginFailed { .. } => Ok(Trigger::BeginFailed),
            Event::MessageSent { text } if text.trim().is_empty() => Err(Objection::Blank.into()),
            Event::MessageSent { .. } if self.waiting.len() >= MAX_WAITING => Err(Objection::TooMany.into()),
            Event::MessageSent { .. } => Ok(Trigger::MessageSent),
            Event::MessageTaken { number, .. } => {
                let is_next = *number == self.taken.saturating_add(1) && !self.waiting.is_empty();
                next(is_next, Trigger::MessageTaken)
            }
            // Whoever answered the ones between, they are answered.
            Event::Asked { number, .. } => next(*number > self.questions, Trigger::Asked),
            Event::WentOn { .. } => Ok(Trigger::WentOn),
            Event::StopRequested { .. } => Ok(Trigger::StopRequested),
            Event::Rested { rest, gate, .. } if self.may_restart(rest, gate) => Ok(Trigger::RestedRestarting),
            Event::Rested { .. } if self.is_apart => Ok(Trigger::RestedApart),
            Event::Rested { .. } => Ok(Trigger::Rested),
            Event::Lost { .. } => Ok(Trigger::Lost),
            Event::Cleared { .. } => Ok(Trigger::Cleared),
            Event::TakenOver => Ok(Trigger::TakenOver),
            Event::OutcomeTold => Ok(Trigger::OutcomeTold),
        }
    }

    /// Whether another run follows: one that could not begin would only hide why the last one failed.
    fn may_restart(&self, rest: &Rest, gate: &Gate) -> bool {
        let is_clear = gate.stop.is_none() && gate.limit.is_none() && !self.lease.less(&rest.spent).is_spent();
        rest.is_repeatable && self.stop.is_none() && self.restarts < self.max_restarts && is_clear
    }

    /// Whether the guard of an automatic row holds.
    pub(super) fn stands_in_the_way(&self, trigger: Trigger) -> bool {
        let Some(gate) = &self.gate else { return false };
        match trigger {
            Trigger::AutoStopped => gate.stop.is_some(),
            Trigger::AutoLimit => gate.limit.is_some(),
            Trigger::AutoNoLease => gate.lease.is_err(),
            Trigger::AutoClear
            | Trigger::Assigned
            | Trigger::Begun
            | Trigger::BeginFailed
            | Trigger::BeginFailedApart
            | Trigger::MessageSent
            | Trigger::MessageTaken
            | Trigger::Asked
            | Trigger::WentOn
            | Trigger::StopRequested
            | Trigger::Rested
            | Trigger::RestedApart
            | Trigger::RestedRestarting
            | Trigger::Lost
            | Trigger::Cleared
            | Trigger::TakenOver
            | Trigger::OutcomeTold => false,
        }
    }
}

fn next(is_next: bool, trigger: Trigger) -> Result<Trigger, Reason> {
    if is_next { Ok(trigger) } else { Err(Objection::OutOfOrder.into()) }
}
