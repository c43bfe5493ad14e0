//! What is here in place of a driver, as plain as a driver can be: it keeps what the lifecycle asked for until that is answered.

use agent_core::agent::{Agent, Event, Step};
use agent_core::lifecycle::{self, Action, CheckEnd, CheckReport, CommitmentId, Ticket};

/// What was asked for and is not answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Driver {
    pub(super) checks: Option<Checks>,
    pub(super) timer: Option<Ticket>,
    pub(super) cleanup: Option<Ticket>,
    /// The newest that nothing waits for any more.
    pub(super) late_timer: Option<Ticket>,
    pub(super) late_checks: Option<Ticket>,
    pub(super) late_cleanup: Option<Ticket>,
}

/// Checks that were asked for: how many there are, and whether each said that its commitment is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Checks {
    pub(super) ticket: Ticket,
    pub(super) answers: Vec<Option<bool>>,
}

/// Whether a check says that its commitment is kept: not when files changed while it ran.
fn says_so(report: &CheckReport) -> bool {
    report.end == CheckEnd::Exited { code: 0 } && report.files.as_ref().is_none_or(|files| files.before == files.after)
}

impl Driver {
    /// An event was taken: what it answers is open no more.
    pub(super) fn answered(&mut self, event: &Event) {
        match event {
            Event::Lifecycle(lifecycle::Event::CheckCompleted { commitment, report, .. }) => {
                let answers = self.checks.as_mut().and_then(|checks| checks.answers.get_mut(commitment.0));
                answers.into_iter().for_each(|answer| *answer = Some(says_so(report)));
            }
            Event::Lifecycle(lifecycle::Event::TimedOut { .. }) => self.stop_timer(),
            Event::Lifecycle(lifecycle::Event::CleanupCompleted { .. }) => self.stop_cleanup(),
            _ => {}
        }
    }

    /// A life is over. It withdraws its requested actions except for the cleanup, whose result no longer matters.
    pub(super) fn forget(&mut self) {
        self.stop_cleanup();
    }

    /// Does what a step asks for.
    pub(super) fn perform(&mut self, step: &Step) {
        for action in step.down.actions.iter().chain(&step.up.actions) {
            match action {
                Action::RunChecks { ticket, checks } => {
                    self.checks = Some(Checks { ticket: *ticket, answers: vec![None; checks.len()] });
                }
                Action::CancelChecks { .. } => self.stop_checks(),
                Action::StartTimer { ticket, .. } => self.timer = Some(*ticket),
                Action::StopTimer { .. } => self.stop_timer(),
                Action::CleanUp { ticket } => self.cleanup = Some(*ticket),
                // It is let go of because the agent has ended.
                Action::ReleaseSession => {}
                // The session has done it.
                Action::SendInput { .. }
                | Action::SendGapReport { .. }
                | Action::CancelTurn
                | Action::ReportOutcome { .. } => {}
            }
        }
    }

    /// Checks are over when all of them have answered.
    pub(super) fn settle(&mut self) {
        if self.checks.as_ref().is_some_and(|checks| !checks.answers.contains(&None)) {
            self.stop_checks();
        }
    }

    /// Continues with the timer that the lifecycle reports as open.
    pub(super) fn resume(&mut self, agent: &Agent) {
        let open = agent.lifecycle().map(lifecycle::Lifecycle::outstanding).unwrap_or_default();
        for action in open {
            if let Action::StartTimer { ticket, .. } = action {
                self.timer = Some(ticket);
            }
        }
    }

    /// Checks that have not ended.
    pub(super) fn open_checks(&self) -> impl Iterator<Item = (Ticket, CommitmentId)> {
        self.checks.iter().flat_map(|checks| {
            let unanswered = (0..).zip(&checks.answers).filter(|(_, answer)| answer.is_none());
            unanswered.map(|(number, _)| (checks.ticket, CommitmentId(number)))
        })
    }

    fn stop_timer(&mut self) {
        self.late_timer = self.timer.take().or(self.late_timer);
    }

    fn stop_cleanup(&mut self) {
        self.late_cleanup = self.cleanup.take().or(self.late_cleanup);
    }

    fn stop_checks(&mut self) {
        self.late_checks = self.checks.take().map(|checks| checks.ticket).or(self.late_checks);
    }
}
