//! Gives the actions of a row their data. An action that has nothing to say is left out.

use super::Lifecycle;
use super::action::Action;
use super::table::{ActionKind, State};
use super::verification::{Verification, checks};
use alloc::vec::Vec;
use core::mem;

impl Lifecycle {
    pub(super) fn action(&mut self, kind: ActionKind) -> Option<Action> {
        match kind {
            ActionKind::SendInput => Some(Action::SendInput { text: mem::take(&mut self.input) }),
            ActionKind::SendGapReport => {
                let (round, max_rounds) = (self.rounds, self.config.max_rounds);
                let verification = self.verification.as_ref()?;
                Some(Action::SendGapReport {
                    text: verification.gap_report(&self.commitments, round, max_rounds),
                    round,
                    time_left_ms: self.checks_time_left_ms(),
                })
            }
            ActionKind::RunChecks => {
                let ticket = self.ticket();
                self.verification = Some(Verification::new(ticket, self.commitments.len()));
                Some(Action::RunChecks { ticket, checks: checks(&self.commitments) })
            }
            ActionKind::CancelChecks => {
                let verification = self.verification.as_mut().filter(|open| open.is_open)?;
                verification.is_open = false;
                Some(Action::CancelChecks { ticket: verification.ticket })
            }
            ActionKind::CancelTurn => Some(Action::CancelTurn),
            ActionKind::StartIdleTimer => self.start_timer(self.config.max_idle_ms),
            ActionKind::StartWorkTimer => self.start_timer(self.config.max_work_ms),
            ActionKind::StartWaitTimer => self.start_timer(self.config.max_wait_ms),
            ActionKind::StartCheckTimer => self.start_timer(self.checks_time_left_ms()),
            ActionKind::StopTimer => self.timer.take().map(|ticket| Action::StopTimer { ticket }),
            ActionKind::ReportOutcome => self.outcome.clone().map(|outcome| Action::ReportOutcome { outcome }),
            ActionKind::CleanUp => {
                let ticket = self.ticket();
                self.cleanup = Some(ticket);
                Some(Action::CleanUp { ticket })
            }
            ActionKind::ReleaseSession => Some(Action::ReleaseSession),
        }
    }

    pub(super) fn render_outstanding(&self) -> Vec<Action> {
        let open = self.verification.as_ref().filter(|open| open.is_open);
        let checks =
            open.map(|open| Action::RunChecks { ticket: open.ticket, checks: open.unanswered(&self.commitments) });
        let timer = self.timer.zip(self.time_limit_ms());
        let timer = timer.map(|(ticket, delay_ms)| Action::StartTimer { ticket, delay_ms });
        let cleanup = self.cleanup.map(|ticket| Action::CleanUp { ticket });
        checks.into_iter().chain(timer).chain(cleanup).collect()
    }

    /// Withdraws the checks and the timer, for an agent that is over in the middle of them.
    pub(crate) fn withdrawals(&self) -> Vec<Action> {
        let open = self.verification.as_ref().filter(|open| open.is_open);
        let checks = open.map(|open| Action::CancelChecks { ticket: open.ticket });
        let timer = self.timer.map(|ticket| Action::StopTimer { ticket });
        checks.into_iter().chain(timer).collect()
    }

    /// How long the agent may be where it is.
    fn time_limit_ms(&self) -> Option<u64> {
        match self.state {
            State::Idle => self.config.max_idle_ms,
            State::Working => self.config.max_work_ms,
            State::Waiting => self.config.max_wait_ms,
            State::Verifying => self.checks_time_left_ms(),
            State::Done | State::Reaped | State::Ended => None,
        }
    }

    /// What is left of the message's time; the checks use it up too.
    fn checks_time_left_ms(&self) -> Option<u64> {
        let (left_ms, since_ms) = self.checks_time?;
        Some(left_ms.saturating_sub(self.now_ms.saturating_sub(since_ms)))
    }

    fn start_timer(&mut self, limit_ms: Option<u64>) -> Option<Action> {
        let delay_ms = limit_ms?;
        let ticket = self.ticket();
        self.timer = Some(ticket);
        Some(Action::StartTimer { ticket, delay_ms })
    }
}
