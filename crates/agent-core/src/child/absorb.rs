//! Applies the data of an accepted event. It does not know which row follows.

use super::event::Gate;
use super::lease::Spent;
use super::outcome::{Outcome, Rest, Word};
use super::table::{State, Trigger};
use super::{Child, Event};
use alloc::string::ToString;

impl Child {
    pub(super) fn take_in(&mut self, trigger: Trigger, event: Event) {
        // Whatever else happens, it is answered or of no use.
        if trigger != Trigger::MessageTaken {
            self.question = None;
        }
        match event {
            Event::Assigned { gate } => self.gate = Some(gate),
            Event::BeginFailed { found, .. } => {
                // One that was withdrawn was stopped; one that failed says why.
                let outcome = match self.stop {
                    Some(by) => Outcome::new(Word::NotBegun, "").because(by.to_string()),
                    None => Outcome::new(Word::NotBegun, "").because(found),
                };
                self.end(outcome, Spent::default());
            }
            Event::MessageSent { text } => self.waiting.push_back(text),
            Event::MessageTaken { number, .. } => {
                self.waiting.pop_front();
                self.taken = number;
            }
            Event::Asked { number, question, .. } => {
                self.questions = number;
                self.question = (self.state == State::Working).then_some(question);
            }
            // An outcome stands, and the first who stops a child is who stopped it.
            Event::StopRequested { by } if self.outcome.is_none() => self.stop = self.stop.or(Some(by)),
            Event::StopRequested { .. } => {}
            Event::Rested { rest, gate, .. } => self.rest(trigger, rest, gate),
            Event::Cleared { left, .. } => {
                if let Some(outcome) = &mut self.outcome {
                    outcome.left = left.for_outcome();
                }
            }
            Event::Lost { found, .. } => self.lost = Some(found),
            Event::TakenOver => {
                self.spent = self.spent.plus(&Spent::whole(&self.lease, &Spent::default()));
                self.waiting.clear();
            }
            Event::Begun { run } => self.begun = run,
            Event::WentOn { .. } | Event::OutcomeTold => {}
        }
    }

    /// The run has an outcome: it ends, or another run follows within what is left of the lease.
    fn rest(&mut self, trigger: Trigger, rest: Rest, gate: Gate) {
        if trigger == Trigger::RestedRestarting {
            self.spent = self.spent.plus(&rest.spent);
            self.restarts = self.restarts.saturating_add(1);
            self.run = self.run.saturating_add(1);
            (self.questions, self.taken) = (0, 0);
            // Another run has what this one left, whatever the parent could spare.
            self.gate = Some(Gate { lease: Ok(self.lease.less(&rest.spent)), ..gate });
            return;
        }
        match self.lost.take() {
            // Nothing is known of what it spent, so all of it counts.
            Some(found) => {
                let outcome = Outcome::new(Word::Lost, &rest.outcome.text).because(found);
                self.end(outcome, Spent::whole(&self.lease, &rest.spent));
            }
            None => self.end(rest.outcome, rest.spent),
        }
    }

    fn end(&mut self, outcome: Outcome, spent: Spent) {
        self.spent = self.spent.plus(&spent);
        self.outcome = Some(outcome);
        self.lost = None;
        self.waiting.clear();
    }

    /// What an automatic row decides.
    pub(super) fn decide(&mut self, trigger: Trigger) {
        let Some(Gate { stop, limit, lease }) = self.gate.take() else { return };
        let reason = match trigger {
            Trigger::AutoStopped => stop.map(|by| by.to_string()),
            Trigger::AutoLimit => limit,
            Trigger::AutoNoLease => lease.err().map(|found| found.to_string()),
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
            | Trigger::OutcomeTold => {
                self.lease = lease.unwrap_or_default();
                return;
            }
        };
        let outcome = Outcome::new(Word::NotBegun, "").because(reason.unwrap_or_default());
        self.end(outcome, Spent::default());
    }
}
