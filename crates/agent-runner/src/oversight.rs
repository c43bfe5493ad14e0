//! What the lifecycle asks for: checks, timers, reports.

use crate::checks::{Checker, Checks, Guard, Judged};
use crate::hooks::Verdicts;
use crate::inbox::{Inbox, Message};
use crate::notice::{Notice, Teller};
use crate::tool_calls::Toolbox;
use agent_core::agent::Agent;
use agent_core::lifecycle::{Action, Check, Event};
use agent_core::ports::Clock;
use std::sync::Arc;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

/// What runs for the commitments.
pub(crate) struct Oversight {
    pub(crate) checker: Checker,
    checks: Checks,
    toolbox: Arc<Toolbox>,
    verdicts: Verdicts,
    /// Stops the timer when it is dropped.
    timer: Option<DropGuard>,
    inbox: Inbox,
    notices: Teller,
    tasks: TaskTracker,
}

impl Oversight {
    pub(crate) fn new(
        checker: Checker,
        toolbox: Arc<Toolbox>,
        verdicts: Verdicts,
        inbox: Inbox,
        notices: Teller,
        tasks: TaskTracker,
    ) -> Self {
        Self { checker, checks: Checks::default(), toolbox, verdicts, timer: None, inbox, notices, tasks }
    }

    /// Starts what an action asks for, or shows it. The session has performed its commands already.
    pub(crate) fn perform(&mut self, action: Action, agent: &Agent) {
        match action {
            Action::SendInput { .. } | Action::CancelTurn => {}
            Action::SendGapReport { text, round, .. } => self.show(Notice::GapReport { text, round }),
            Action::RunChecks { ticket, checks } => {
                let (checker, inbox, notices) = (self.checker.clone(), self.inbox.clone(), self.notices.clone());
                let checks = checks.into_iter().map(|check| self.judged(check, agent)).collect();
                self.checks.start(&self.tasks, |stop| checker.run(checks, ticket, inbox, notices, stop));
            }
            Action::CancelChecks { .. } => self.checks.stop(),
            Action::StartTimer { ticket, delay_ms } => self.start_timer(delay_ms, Event::TimedOut { ticket }),
            Action::StopTimer { .. } => self.timer = None,
            Action::ReportOutcome { outcome } => self.show(Notice::Rested { agent: outcome, run: agent.outcome() }),
            Action::CleanUp { ticket } => {
                self.stop();
                // The rest ends with the runner.
                if agent.has_ended() {
                    return;
                }
                let (ended, inbox) = (self.checks.ended(), self.inbox.clone());
                self.tasks.spawn(async move {
                    ended.await;
                    inbox.send(Message::Event(Event::CleanupCompleted { ticket }.into()));
                });
            }
            // The loop ends because the agent has; there is nothing to start.
            Action::ReleaseSession => {}
        }
    }

    /// Whether a check may run. One that a model asked for is judged as a call.
    fn judged(&self, check: Check, agent: &Agent) -> Judged {
        let Some(call) = agent.check_as_call(&check) else { return Judged { check, denied: None, call: None } };
        let denied = agent.judge_check(&self.toolbox.inspect(&call)).err();
        let guard = Guard { toolbox: self.toolbox.clone(), verdicts: self.verdicts.of(agent.session()) };
        Judged { check, denied, call: Some((call, guard)) }
    }

    /// Stops the checks and the timer. What runs has a moment to end by itself.
    pub(crate) fn stop(&mut self) {
        self.checks.stop();
        self.timer = None;
    }

    fn start_timer(&mut self, delay_ms: u64, then: Event) {
        let stop = CancellationToken::new();
        let (clock, inbox, stopped): (Arc<dyn Clock>, _, _) =
            (Arc::clone(&self.checker.clock), self.inbox.clone(), stop.clone());
        self.tasks.spawn(async move {
            tokio::select! {
                biased;
                () = stopped.cancelled() => {}
                () = clock.sleep_ms(delay_ms) => {
                    inbox.send(Message::Event(then.into()));
                }
            }
        });
        self.timer = Some(stop.drop_guard());
    }

    fn show(&self, notice: Notice) {
        self.notices.send(notice);
    }
}
