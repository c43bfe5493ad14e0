//! Which trigger an event is: guards are decided here, and nowhere else.

use super::step::MAX_OPEN;
use super::table::{State, Trigger};
use super::{Call, Event, Objection, Reason, Server};

impl Server {
    pub(super) fn trigger(&self, at_ms: u64, event: &Event) -> Result<Trigger, Reason> {
        let is_stale = event.run().is_some_and(|run| run != self.run)
            || event.ticket().is_some_and(|ticket| !self.calls.contains_key(&ticket))
            || event.input().is_some_and(|input| !self.inputs.contains_key(&input));
        if is_stale {
            return Err(Reason::StaleTicket);
        }
        match event {
            Event::Considered { .. } => Ok(Trigger::Considered),
            Event::Came { .. } => Ok(Trigger::Came),
            Event::StartFailed { .. } => Ok(Trigger::StartFailed),
            Event::Ended { .. } if self.may_restart(at_ms) => Ok(Trigger::EndedRestarting),
            Event::Ended { .. } => Ok(Trigger::Ended),
            Event::TimerFired { timer } if *timer != self.timer => Err(Reason::StaleTicket),
            Event::TimerFired { .. } => Ok(Trigger::TimerFired),
            Event::CallAsked { call } if call.ticket <= self.last_ticket => Err(Objection::OutOfOrder.into()),
            Event::CallAsked { .. } if self.calls.len() >= MAX_OPEN => Err(Objection::TooMany.into()),
            Event::CallAsked { .. } => Ok(Trigger::CallAsked),
            Event::CallAnswered { .. } => Ok(Trigger::CallAnswered),
            Event::CallProgressed { .. } => Ok(Trigger::CallProgressed),
            Event::CallTimedOut { .. } => Ok(Trigger::CallTimedOut),
            Event::CallCancelled { .. } => Ok(Trigger::CallCancelled),
            Event::InputAsked { input, .. } if *input <= self.last_input => Err(Objection::OutOfOrder.into()),
            // Asked of nobody where no call is with the server, or when it asks in a loop.
            Event::InputAsked { ticket, .. } => Ok(match self.asking(*ticket) {
                Some(call) if call.inputs < self.limits.max_inputs => Trigger::InputAsked,
                Some(_) | None => Trigger::InputUnwelcome,
            }),
            Event::InputAnswered { .. } => Ok(Trigger::InputAnswered),
            Event::InputWithdrawn { .. } => Ok(Trigger::InputWithdrawn),
            Event::ListChanged { .. } if self.is_listing || self.lists_left(at_ms) == 0 => {
                Ok(Trigger::ListChangedAgain)
            }
            Event::ListChanged { .. } => Ok(Trigger::ListChanged),
            // Asked once more at most as often as the bound allows: a server that announces changes in a loop is not followed.
            Event::Listed { .. } if self.is_listing && self.has_changed && self.lists_left(at_ms) > 0 => {
                Ok(Trigger::ListedStale)
            }
            Event::Listed { .. } if self.is_listing => Ok(Trigger::Listed),
            Event::ListFailed { .. } if self.is_listing => Ok(Trigger::ListFailed),
            Event::Listed { .. } | Event::ListFailed { .. } => Err(Reason::StaleTicket),
            Event::RestartRequested => Ok(Trigger::RestartRequested),
            Event::StopRequested => Ok(Trigger::StopRequested),
        }
    }

    /// The call for which something is asked: where the protocol does not say which, the one that was asked last of those with the server.
    fn asking(&self, ticket: Option<u64>) -> Option<&Call> {
        self.calls.get(&self.asking_ticket(ticket)?).filter(|call| call.is_sent)
    }

    pub(super) fn asking_ticket(&self, ticket: Option<u64>) -> Option<u64> {
        let last = || self.calls.iter().rev().find(|(_, call)| call.is_sent).map(|(ticket, _)| *ticket);
        ticket.or_else(last)
    }

    /// Whether another run follows by itself: not of a server that never came, nor of one that is ending as it should.
    fn may_restart(&self, at_ms: u64) -> bool {
        let is_living = matches!(self.state, State::Starting | State::Late | State::Ready);
        let used = if self.is_steady(at_ms) { 0 } else { self.restarts };
        is_living && self.has_come && used < self.limits.max_restarts
    }

    /// Whether it took calls for so long that earlier ends do not count any more.
    pub(super) fn is_steady(&self, at_ms: u64) -> bool {
        self.state == State::Ready && at_ms.saturating_sub(self.ready_ms) >= self.limits.steady_ms
    }

    /// How often its tools may be asked for in this stretch of time.
    pub(super) fn lists_left(&self, at_ms: u64) -> u32 {
        let is_over = at_ms.saturating_sub(self.lists_since_ms) >= self.limits.lists_ms;
        if is_over { self.limits.max_lists } else { self.limits.max_lists.saturating_sub(self.lists) }
    }

    /// Whether the guard of an automatic row holds.
    pub(super) fn stands_in_the_way(&self, trigger: Trigger) -> bool {
        match trigger {
            Trigger::AutoDisabled => self.gate.is_disabled,
            Trigger::AutoUntrusted => self.gate.untrusted.is_some(),
            Trigger::AutoClear
            | Trigger::Considered
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
            | Trigger::StopRequested => false,
        }
    }
}
