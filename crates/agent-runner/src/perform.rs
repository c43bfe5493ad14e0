//! Performs actions: each becomes a task whose answer is an event, or something to show.

use crate::approval::Asking;
use crate::hooks::{self, HookStep, Verdicts};
use crate::inbox::{Inbox, send};
use crate::model_call;
use crate::notice::{Notice, Teller};
use crate::progress::Progress;
use crate::redact::Redactor;
use crate::stop::GRACE_MS;
use crate::tool_calls::{self, Toolbox};
use agent_core::ports::{Approver, Clock, Hook, LlmProvider};
use agent_core::session::{Action, Event, Session, Ticket};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The ports and everything that is running.
pub(crate) struct Performer {
    pub(crate) provider: Arc<dyn LlmProvider>,
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) hook: Arc<dyn Hook>,
    pub(crate) hook_timeout_ms: u64,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) chance: Box<dyn FnMut() -> u16 + Send>,
    pub(crate) redactor: Redactor,
    pub(crate) inbox: Inbox,
    pub(crate) notices: Teller,
    /// What is in flight, with the token that stops it.
    pub(crate) flights: HashMap<Ticket, CancellationToken>,
    pub(crate) tasks: TaskTracker,
}

impl Performer {
    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// Starts what an action asks for, or shows it.
    pub(crate) fn perform(&mut self, action: Action, session: &Session) {
        match action {
            Action::SendLlmRequest { ticket, request } => {
                let (provider, inbox, chance) = (self.provider.clone(), self.inbox.clone(), (self.chance)());
                let redactor = self.redactor.clone();
                self.start(ticket, |stop| model_call::run(provider, request, ticket, chance, redactor, inbox, stop));
            }
            Action::PrepareTools { ticket, calls } => {
                let (toolbox, inbox) = (self.toolbox.clone(), self.inbox.clone());
                let verdicts = self.verdicts(session);
                self.start(ticket, |stop| tool_calls::prepare(toolbox, verdicts, calls, ticket, inbox, stop));
            }
            Action::RequestApproval { ticket, questions } => {
                let asking = self.asking(ticket, session);
                self.start(ticket, |stop| asking.run(questions, stop));
            }
            Action::ExecuteTools { ticket, calls } => {
                let stop = self.token(ticket);
                let (width, hook) = (Arc::new(Semaphore::new(tool_calls::WIDTH)), self.verdicts(session));
                for call in calls {
                    self.show(Notice::ToolStarted(call.clone()));
                    let progress = Progress::new(ticket, call.id.clone(), &self.redactor, self.inbox.clone());
                    let (toolbox, judged) = (self.toolbox.clone(), tool_calls::Judged::of(session, &call.id));
                    let (hook, width, stop) = (hook.clone(), width.clone(), stop.clone());
                    self.tasks.spawn(tool_calls::run(toolbox, hook, call, judged, progress, width, stop));
                }
            }
            Action::CheckGitCommits { ticket, changes } => self.start_hook(ticket, HookStep::CheckGit(changes)),
            Action::RunAutoformatters { ticket, changes } => self.start_hook(ticket, HookStep::Format(changes)),
            Action::CommitChanges { ticket, changes } => self.start_hook(ticket, HookStep::Commit(changes)),
            Action::RunHooks { ticket, occasion } => {
                let (hook, inbox) = (self.hook.clone(), self.inbox.clone());
                self.start(ticket, |stop| hooks::run_users(hook, *occasion, ticket, inbox, stop));
            }
            Action::ScheduleRetry { ticket, delay_ms, failed_attempts, reason } => {
                self.show(Notice::RetryScheduled { delay_ms, failed_attempts, reason });
                self.start_timer(ticket, delay_ms, Event::RetryTimeout { ticket });
            }
            Action::StartDeadline { ticket, delay_ms } => self.start_deadline(ticket, delay_ms, session),
            Action::CancelLlmRequest { ticket }
            | Action::CancelTools { ticket }
            | Action::CancelHooks { ticket }
            | Action::WithdrawApproval { ticket }
            | Action::CancelRetry { ticket }
            | Action::HoldDeadline { ticket } => self.stop(ticket),
            Action::DisplayText { delta } => self.show(Notice::Delta(delta)),
            Action::DisplayProgress { call, text } => self.show(Notice::ToolProgress { call, text }),
            Action::DisplayMessage { blocks, usage } => {
                self.show(Notice::Message { blocks, usage });
                self.show(Notice::Spent(*session.ledger()));
            }
            Action::DisplayError { message, returned_input } => self.show(Notice::Error { message, returned_input }),
            Action::DisplaySummary { summarised } => {
                self.show(Notice::Summarised(summarised));
                self.show(Notice::Spent(*session.ledger()));
            }
            Action::DiscardPartial => self.show(Notice::Discarded),
            // The agent prompts when its commitments are checked, too.
            Action::PromptForInput => {}
            Action::ReturnQueuedInput { texts } => self.show(Notice::InputReturned(texts)),
            // The loop ends because of the state; there is nothing to start.
            Action::Shutdown => {}
        }
    }

    /// Forgets what is not open any more: answered, withdrawn, or a clock that was replaced.
    pub(crate) fn drop_closed(&mut self, session: &Session) {
        self.flights.retain(|ticket, stop| {
            let is_open = session.is_open(*ticket);
            if !is_open {
                stop.cancel();
            }
            is_open
        });
    }

    /// Whether what the action asks for is running.
    pub(crate) fn is_in_flight(&self, action: &Action) -> bool {
        action.ticket().is_some_and(|ticket| self.flights.contains_key(&ticket))
    }

    /// Whether nothing is running whose answer is waited for.
    pub(crate) fn is_idle(&self) -> bool {
        self.flights.is_empty()
    }

    /// Stops everything.
    pub(crate) fn cancel_all(&self) {
        self.flights.values().for_each(CancellationToken::cancel);
    }

    /// Stops everything and waits until it has stopped, for a moment.
    pub(crate) async fn stop_everything(&mut self) {
        self.cancel_all();
        self.flights.clear();
        self.tasks.close();
        // Tasks end within the grace of a tool; those that do not are dropped with the runtime.
        let _ = tokio::time::timeout(Duration::from_millis(2 * GRACE_MS), self.tasks.wait()).await;
    }

    fn start<F>(&mut self, ticket: Ticket, task: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let stop = self.token(ticket);
        self.tasks.spawn(task(stop));
    }

    fn start_hook(&mut self, ticket: Ticket, step: HookStep) {
        let (hook, clock, timeout_ms, inbox) =
            (self.hook.clone(), self.clock.clone(), self.hook_timeout_ms, self.inbox.clone());
        self.start(ticket, |stop| hooks::run(hook, step, ticket, clock, timeout_ms, inbox, stop));
    }

    fn asking(&self, ticket: Ticket, session: &Session) -> Asking {
        Asking {
            approver: self.approver.clone(),
            toolbox: self.toolbox.clone(),
            verdicts: self.verdicts(session),
            ticket,
            inbox: self.inbox.clone(),
            agent: self.notices.agent().cloned(),
        }
    }

    fn verdicts(&self, session: &Session) -> Verdicts {
        let (hook, clock) = (self.hook.clone(), self.clock.clone());
        Verdicts { hook, users: false, clock, timeout_ms: self.hook_timeout_ms }.of(session)
    }

    fn start_timer(&mut self, ticket: Ticket, delay_ms: u64, then: Event) {
        let (clock, inbox) = (self.clock.clone(), self.inbox.clone());
        self.start(ticket, |stop| async move {
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = clock.sleep_ms(delay_ms) => send(&inbox, then),
            }
        });
    }

    /// The end of a turn's time, and a word when four fifths of it are used: once, unless the limit was raised since.
    fn start_deadline(&mut self, ticket: Ticket, left_ms: u64, session: &Session) {
        self.start_timer(ticket, left_ms, Event::DeadlineReached { ticket });
        let Some(limit_ms) = session.config().limits.max_wall_time_ms else { return };
        let Some((delay_ms, near_ms)) = session.config().limits.time_nears_in_ms(left_ms) else { return };
        let (clock, notices) = (self.clock.clone(), self.notices.clone());
        self.start(ticket, |stop| async move {
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = clock.sleep_ms(delay_ms) => {
                    notices.send(Notice::TimeNear { used_ms: near_ms, limit_ms });
                }
            }
        });
    }

    fn token(&mut self, ticket: Ticket) -> CancellationToken {
        self.flights.entry(ticket).or_default().clone()
    }

    fn stop(&self, ticket: Ticket) {
        if let Some(stop) = self.flights.get(&ticket) {
            stop.cancel();
        }
    }

    fn show(&self, notice: Notice) {
        self.notices.send(notice);
    }
}

/// A runner that is dropped in the middle leaves nothing running either.
impl Drop for Performer {
    fn drop(&mut self) {
        self.cancel_all();
    }
}
