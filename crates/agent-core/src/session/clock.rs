//! The turn's clock: what the limit on time is measured with.

use super::{Event, Session, Ticket};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Deadline {
    /// Whether a turn is going on.
    running: bool,
    /// Time used before the clock was last started, in milliseconds.
    used_ms: u64,
    /// The armed deadline, and when it was armed.
    armed: Option<(Ticket, u64)>,
}

impl Deadline {
    /// Of a turn that begins.
    pub(super) const fn of_turn() -> Self {
        Self { running: true, used_ms: 0, armed: None }
    }

    /// The turn continues one that has used so much time.
    pub(super) const fn go_on(&mut self, used_ms: u64) {
        self.used_ms = used_ms;
    }

    /// The ticket of the armed deadline.
    pub(super) fn ticket(&self) -> Option<Ticket> {
        self.armed.map(|(ticket, _)| ticket)
    }

    /// The time is up.
    pub(super) const fn reached(&mut self) {
        self.armed = None;
    }

    /// Time that no program was there for is not the turn's.
    const fn pass(&mut self, unwatched_ms: u64) {
        if let Some((_, armed_at_ms)) = &mut self.armed {
            *armed_at_ms = armed_at_ms.saturating_add(unwatched_ms);
        }
    }

    /// Arms it.
    const fn arm(&mut self, ticket: Ticket, now_ms: u64) {
        self.armed = Some((ticket, now_ms));
    }

    /// Stops the clock, if it is running.
    fn stop(&mut self, now_ms: u64) -> Option<Ticket> {
        let used_ms = self.used_ms(now_ms);
        let (ticket, _) = self.armed.take()?;
        self.used_ms = used_ms;
        Some(ticket)
    }

    fn used_ms(&self, at_ms: u64) -> u64 {
        let running_ms = self.armed.map_or(0, |(_, armed_at_ms)| at_ms.saturating_sub(armed_at_ms));
        self.used_ms.saturating_add(running_ms)
    }
}

impl Session {
    /// Advances the time to an event. The turn is not charged for time in which no program drove the session: another one resumes it,
    /// or the deadline passed unreported.
    pub(super) fn pass_time(&mut self, at_ms: u64, event: &Event) {
        let resumes = matches!(event, Event::SessionResumed { .. } | Event::LlmInterrupted { .. });
        let is_unwatched = resumes || self.is_overdue(at_ms);
        let passed_ms = at_ms.saturating_sub(self.now_ms);
        if is_unwatched {
            self.deadline.pass(passed_ms);
        }
        self.now_ms = self.now_ms.max(at_ms);
    }

    /// When the last event was, in milliseconds since the Unix epoch.
    #[must_use]
    pub const fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// The time that the turn has used.
    pub(super) fn time_used_ms(&self) -> u64 {
        self.deadline.used_ms(self.now_ms)
    }

    /// What was left of the last run's time when it ended, in milliseconds; nothing without a limit, or while it is going on.
    pub(crate) fn time_left_of_run_ms(&self) -> Option<u64> {
        let used_ms = self.run.finished()?.used_ms();
        self.config.limits.max_wall_time_ms.map(|limit_ms| limit_ms.saturating_sub(used_ms))
    }

    /// What is left of the turn's time, if its clock is running.
    pub(super) fn time_left_ms(&self, at_ms: u64) -> Option<u64> {
        self.deadline.armed?;
        let at_ms = if self.is_overdue(at_ms) { self.now_ms } else { at_ms.max(self.now_ms) };
        let limit_ms = self.config.limits.max_wall_time_ms?;
        Some(limit_ms.saturating_sub(self.deadline.used_ms(at_ms)))
    }

    /// Whether the turn's time was up long before, without a report. A running driver reports it soon, and one with a late timer does not
    /// get the time back.
    fn is_overdue(&self, at_ms: u64) -> bool {
        let limit_ms = self.config.limits.max_wall_time_ms.filter(|_| self.deadline.armed.is_some());
        limit_ms.is_some_and(|limit_ms| self.deadline.used_ms(at_ms) > limit_ms.saturating_add(LATEST_TIMER_MS))
    }

    /// Arms the turn's clock with what is left, unless no turn is going on, it is being stopped, or nothing limits it.
    pub(super) fn start_deadline(&mut self) -> Option<Ticket> {
        if !self.deadline.running || self.cancel.is_pending() {
            return None;
        }
        // Also when the limit was lifted: the old deadline must not count any more.
        self.stop_clock();
        self.config.limits.max_wall_time_ms?;
        let ticket = self.next_ticket.give();
        self.deadline.arm(ticket, self.now_ms);
        Some(ticket)
    }

    /// Stops the turn's clock, if it is running.
    pub(super) fn stop_clock(&mut self) -> Option<Ticket> {
        self.deadline.stop(self.now_ms)
    }
}

/// How late the timer of a running driver may be, in milliseconds. A longer delay means that no driver ran.
const LATEST_TIMER_MS: u64 = 60_000;
