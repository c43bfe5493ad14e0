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
            Event::CallAnswered { ticket } => {
                self.present = ticket;
                self.take_back(|_, of| of == ticket);
            }
            Event::CallProgressed { ticket } => self.present = ticket,
            Event::InputAsked { input, ticket, .. } => self.input_asked(trigger, input, ticket),
            Event::InputAnswered { input } => {
                self.present_input = input;
                self.present = self.inputs.remove(&input).unwrap_or_default();
            }
            Event::InputWithdrawn { input } => {
                self.present = self.inputs.get(&input).copied().unwrap_or_default();
                self.take_back(|other, _| other == input);
            }
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
            Event::StopRequested => {
                self.take_back(|_, _| true);
                self.found = Some("it was stopped".to_string());
            }
        }
    }

    /// Something is asked for, of a person or of nobody.
    fn input_asked(&mut self, trigger: Trigger, input: u64, ticket: Option<u64>) {
        (self.last_input, self.present_input) = (input, input);
        let Some(ticket) = self.asking_ticket(ticket).filter(|_| trigger == Trigger::InputAsked) else { return };
        self.present = ticket;
        self.inputs.insert(input, ticket);
        if let Some(call) = self.calls.get_mut(&ticket) {
            call.inputs = call.inputs.saturating_add(1);
        }
    }

    /// What was asked for needs no answer any more, where that holds for it and its call.
    fn take_back(&mut self, is_over: impl Fn(u64, u64) -> bool) {
        let over = self.inputs.iter().filter(|(input, ticket)| is_over(**input, **ticket));
        self.taken_back = over.map(|(input, _)| *input).collect();
        self.inputs.retain(|input, ticket| !is_over(*input, *ticket));
    }

    fn end(&mut self, trigger: Trigger, found: String) {
        self.take_back(|_, _| true);
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
        let open = Call { asked: call, asked_ms: self.now_ms, is_sent, was_repeated: false, inputs: 0 };
        self.calls.insert(call.ticket, open);
    }

    fn give_up(&mut self, ticket: u64, is_time: bool) {
        let Some(call) = self.calls.remove(&ticket) else { return };
        self.take_back(|_, of| of == ticket);
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
            | Trigger::InputAsked
            | Trigger::InputUnwelcome
            | Trigger::InputAnswered
            | Trigger::InputWithdrawn
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
