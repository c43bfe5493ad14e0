//! Applies the data of an accepted event. It does not know which row follows.

use super::action::CallEnd;
use super::table::{State, Trigger};
use super::{Call, Event, Server};
use alloc::format;
use alloc::string::{String, ToString};

impl Server {
    pub(super) fn take_in(&mut self, trigger: Trigger, event: Event) {
        match event {
            Event::Considered { gate } => self.gate = gate,
            Event::Came { .. } => {
                (self.has_come, self.ready_ms, self.found) = (true, self.now_ms, None);
                (self.is_listing, self.has_changed) = (false, false);
            }
            Event::StartFailed { found, .. } => self.found = Some(found),
            Event::Ended { found, .. } => self.end(trigger, found),
            Event::TimerFired { .. } if self.state == State::Late => {
                let waited_ms = self.limits.start_ms.saturating_add(self.limits.give_up_ms);
                self.found = Some(format!("it did not answer within {waited_ms} ms"));
            }
            Event::TimerFired { .. } => {}
            Event::CallAsked { call } => self.ask(call),
            Event::CallAnswered { ticket } | Event::CallProgressed { ticket } => self.present = ticket,
            Event::CallTimedOut { ticket } => self.give_up(ticket, true),
            Event::CallCancelled { ticket } => self.give_up(ticket, false),
            Event::ListChanged { .. } if trigger == Trigger::ListChanged => self.list(),
            Event::ListChanged { .. } => self.has_changed = true,
            Event::Listed { .. } if trigger == Trigger::ListedStale => self.list(),
            Event::Listed { .. } => (self.is_listing, self.has_changed) = (false, false),
            Event::ListFailed { found, .. } => {
                (self.is_listing, self.has_changed) = (false, false);
                self.found = Some(found);
            }
            Event::RestartRequested => self.restarts = 0,
            Event::StopRequested => self.found = Some("it was stopped".to_string()),
        }
    }

    fn end(&mut self, trigger: Trigger, found: String) {
        // How one that is being ended ends is no news.
        if !matches!(self.state, State::Failed | State::Stopping) {
            self.found = Some(found);
        }
        if trigger == Trigger::EndedRestarting {
            let used = if self.is_steady(self.now_ms) { 0 } else { self.restarts };
            self.restarts = used.saturating_add(1);
        }
    }

    fn ask(&mut self, call: super::Asked) {
        (self.last_ticket, self.present) = (call.ticket, call.ticket);
        // One that takes no calls answers at once, in words.
        if matches!(self.state, State::Trusting | State::Failed | State::Stopping) {
            self.answer = Some(CallEnd::NotRun { why: self.why_no_calls() });
            return;
        }
        let is_sent = self.state == State::Ready;
        self.calls.insert(call.ticket, Call { asked: call, asked_ms: self.now_ms, is_sent, was_repeated: false });
    }

    fn give_up(&mut self, ticket: u64, is_time: bool) {
        let Some(call) = self.calls.remove(&ticket) else { return };
        self.present = ticket;
        let after_ms = self.now_ms.saturating_sub(call.asked_ms);
        self.withdrawn = call.is_sent;
        self.answer = Some(match (is_time, call.is_sent) {
            (true, true) => CallEnd::TimedOut { after_ms },
            (true, false) => {
                let why = format!("the server was not ready within {after_ms} ms");
                CallEnd::NotRun { why }
            }
            (false, was_sent) => CallEnd::Cancelled { was_sent },
        });
    }

    /// Its tools are asked for: counted in stretches of time.
    fn list(&mut self) {
        if self.now_ms.saturating_sub(self.lists_since_ms) >= self.limits.lists_ms {
            (self.lists, self.lists_since_ms) = (0, self.now_ms);
        }
        self.lists = self.lists.saturating_add(1);
        (self.is_listing, self.has_changed) = (true, false);
    }

    /// What an automatic row decides.
    pub(super) fn decide(&mut self, trigger: Trigger) {
        match trigger {
            Trigger::AutoDisabled => self.found = Some("it is disabled".to_string()),
            Trigger::AutoUntrusted => self.found.clone_from(&self.gate.untrusted),
            Trigger::AutoClear => self.run = self.run.saturating_add(1),
            Trigger::Considered
            | Trigger::Came
            | Trigger::StartFailed
            | Trigger::Ended
            | Trigger::EndedRestarting
            | Trigger::TimerFired
            | Trigger::CallAsked
            | Trigger::CallAnswered
            | Trigger::CallProgressed
            | Trigger::CallTimedOut
            | Trigger::CallCancelled
            | Trigger::ListChanged
            | Trigger::ListChangedAgain
            | Trigger::Listed
            | Trigger::ListedStale
            | Trigger::ListFailed
            | Trigger::RestartRequested
            | Trigger::StopRequested => {}
        }
    }
}
