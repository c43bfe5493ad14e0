//! What agents below the session are to it: calls that they answer, a part of its budget, and a policy from above.

use super::table::State;
use super::{Session, Ticket};
use crate::budget::{Ledger, LimitKind};
use crate::child::lease::Spent;
use crate::conversation::{ToolCall, UserMessage};
use crate::permission::Permissions;
use alloc::string::String;
use alloc::vec::Vec;

impl Session {
    /// The calls that run, with the ticket of their answers.
    pub(crate) fn running_calls(&self) -> Option<(Ticket, impl Iterator<Item = &ToolCall>)> {
        let ticket = self.asked.ticket().filter(|_| self.state == State::ExecutingTools)?;
        Some((ticket, self.batch.as_deref()?.begun()))
    }

    /// Agents below may spend so much from here on, and have spent so much.
    pub(crate) const fn count_below(&mut self, leased: Spent, spent: Spent) {
        (self.ledger.leased, self.ledger.below) = (leased, spent);
    }

    /// Whether a limit ended the last run that has room again when what is leased comes back.
    pub(crate) fn waits_for_leases(&self) -> bool {
        let of_budget = |kind| !matches!(kind, LimitKind::WallTime | LimitKind::FailuresInRow | LimitKind::Repetitions);
        let without = Ledger { leased: Spent::default(), ..self.ledger };
        self.ended_by_limit().is_some_and(of_budget)
            && self.blocking_limit().is_some()
            && self.limit_of(&without).is_none()
    }

    /// Whether a run is in progress that works on something the user or the agent said.
    pub(crate) fn is_in_turn(&self) -> bool {
        self.run.is_at_work()
    }

    /// The time that the last run used, in milliseconds, where that is limited.
    pub(crate) fn time_used_of_run_ms(&self) -> u64 {
        let limit_ms = self.config.limits.max_wall_time_ms;
        match (limit_ms, self.time_left_of_run_ms()) {
            (Some(limit_ms), Some(left_ms)) => limit_ms.saturating_sub(left_ms),
            (None, _) | (_, None) => 0,
        }
    }

    /// What the turn in progress has left of its time, in milliseconds; nothing where that is not limited.
    pub(crate) fn time_left_in_turn_ms(&self, at_ms: u64) -> Option<u64> {
        self.time_left_ms(at_ms)
    }

    /// The model is to know this with the next request.
    pub(crate) fn keep_report(&mut self, text: String) {
        self.outbox.note(UserMessage::of_agent(text));
    }

    /// The policies of the agents above are these from here on.
    pub(crate) fn hold_below(&mut self, above: Vec<Permissions>) {
        self.config.permissions.above = above;
    }
}
