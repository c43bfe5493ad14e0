//! Gives the actions of a row their data.

use super::action::{Action, CallEnd};
use super::table::{ActionKind, State};
use super::{Call, Server};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

impl Server {
    pub(super) fn action(&mut self, kind: ActionKind) -> Option<Action> {
        let (run, ticket) = (self.run, self.present);
        Some(match kind {
            ActionKind::ConsiderServer => Action::ConsiderServer,
            ActionKind::AskReview => Action::AskReview { found: self.gate.untrusted.clone()? },
            ActionKind::StartServer => Action::StartServer { run },
            ActionKind::ArmTimer => {
                self.timer = self.timer.saturating_add(1);
                Action::ArmTimer { timer: self.timer, delay_ms: self.time_of_state() }
            }
            ActionKind::OfferTools => Action::OfferTools { run },
            ActionKind::SendHeld => Action::SendHeld { calls: self.send_held() },
            ActionKind::SendCall => Action::SendCall { ticket },
            ActionKind::ArmCall => {
                let delay_ms = self.left_to(self.calls.get(&ticket)?, self.is_asked(ticket));
                Action::ArmCall { ticket, delay_ms }
            }
            ActionKind::DeliverAnswer => {
                self.calls.remove(&ticket)?;
                Action::DeliverAnswer { ticket }
            }
            ActionKind::WithdrawCall if self.withdrawn => Action::WithdrawCall { ticket },
            ActionKind::WithdrawCall => return None,
            ActionKind::AnswerCall => Action::AnswerCall { ticket, end: self.answer.take()? },
            ActionKind::AnswerOpen => {
                let why = self.why_no_calls();
                let calls = core::mem::take(&mut self.calls);
                let ended = |call: &Call| match call.is_sent {
                    true => CallEnd::Unknown { why: why.clone() },
                    false => CallEnd::NotRun { why: why.clone() },
                };
                let calls: Vec<_> = calls.iter().map(|(ticket, call)| (*ticket, ended(call))).collect();
                return (!calls.is_empty()).then_some(Action::AnswerOpen { calls });
            }
            ActionKind::AnswerLost => {
                let calls = self.lose();
                return (!calls.is_empty()).then_some(Action::AnswerLost { calls });
            }
            ActionKind::AskPerson => Action::AskPerson { input: self.present_input, ticket },
            ActionKind::SendInput => Action::SendInput { input: self.present_input, ticket },
            ActionKind::RefuseInput => Action::RefuseInput { input: self.present_input },
            ActionKind::WithdrawInputs => {
                let inputs = core::mem::take(&mut self.taken_back);
                return (!inputs.is_empty()).then_some(Action::WithdrawInputs { inputs });
            }
            ActionKind::ListTools => Action::ListTools { run },
            ActionKind::EndServer => Action::EndServer { run },
        })
    }

    /// How long the present state may last, in milliseconds.
    fn time_of_state(&self) -> u64 {
        match self.state {
            State::Starting => self.limits.start_ms,
            State::Late => self.limits.give_up_ms,
            // Twice as long after each end.
            State::Restarting => {
                self.limits.pause_ms.saturating_mul(1 << self.restarts.saturating_sub(1).min(MAX_DOUBLINGS))
            }
            State::Configured
            | State::Wanted
            | State::Trusting
            | State::Ready
            | State::Stopping
            | State::Failed
            | State::Stopped => 0,
        }
    }

    /// What is left to a call: less than it may take without progress when its whole time ends before that, and all of that while a person
    /// is asked, for whom the server waits.
    fn left_to(&self, call: &Call, is_asked: bool) -> u64 {
        let end_ms = call.asked_ms.saturating_add(call.asked.max_ms);
        let left_ms = end_ms.saturating_sub(self.now_ms);
        if is_asked { left_ms } else { call.asked.idle_ms.min(left_ms) }
    }

    /// Whether a person is asked something for the call.
    fn is_asked(&self, ticket: u64) -> bool {
        self.inputs.values().any(|of| *of == ticket)
    }

    fn send_held(&mut self) -> Vec<(u64, u64)> {
        let held: Vec<u64> = self.calls.iter().filter(|(_, call)| !call.is_sent).map(|(ticket, _)| *ticket).collect();
        let mut sent = Vec::with_capacity(held.len());
        for ticket in held {
            if let Some(call) = self.calls.get_mut(&ticket) {
                call.is_sent = true;
                let call = *call;
                sent.push((ticket, self.left_to(&call, false)));
            }
        }
        sent
    }

    /// The calls that end with the server; one that may be repeated is, once.
    fn lose(&mut self) -> Vec<(u64, CallEnd)> {
        let why = self.why_no_calls();
        let mut lost = Vec::new();
        self.calls.retain(|ticket, call| {
            let stays = !call.is_sent || call.asked.is_repeatable && !call.was_repeated;
            if !stays {
                lost.push((*ticket, CallEnd::Unknown { why: why.clone() }));
            } else if call.is_sent {
                (call.is_sent, call.was_repeated) = (false, true);
            }
            stays
        });
        lost
    }

    /// Why it takes no calls, for the model.
    pub(super) fn why_no_calls(&self) -> String {
        let found = self.found.as_deref().unwrap_or_default();
        match self.state {
            State::Trusting => format!("the server is not as it was trusted: {found}; a person has to review it"),
            State::Failed => format!("the server does not run: {found}"),
            State::Restarting => format!("the server ended: {found}"),
            State::Stopping | State::Stopped => format!("the server does not run: {found}"),
            State::Configured | State::Wanted | State::Starting | State::Late | State::Ready => found.to_string(),
        }
    }
}

/// How often a pause is doubled at most.
const MAX_DOUBLINGS: u32 = 6;
