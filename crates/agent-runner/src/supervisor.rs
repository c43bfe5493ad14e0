//! Drives an agent's lifecycle over a session's runner.
//!
//! ```text
//! host, checks, timers -> inbox --+
//! session -> notices -> link ------+-> lifecycle.step -> notices -> perform -> link -> session
//! ```
//!
//! As decision-free as the [`Runner`]: what is sent to the session, what is checked, how often, and when it is over follows from the
//! lifecycle's table.
//!
//! What the lifecycle takes is recorded in the session's journal, by way of the session's inbox: so it stands there before whatever the
//! session is told because of it, and checks begin when it is on the disk. [`Supervisor::resume`] goes on from there.

use crate::checks::{Checker, Checks};
use crate::notice::{Notice, Notices};
use crate::redact::Redactor;
use crate::runner::{End, Handle, Runner};
use crate::time_limit::TimeLimit;
use crate::tool_calls::GRACE_MS;
use agent_core::conversation::Item;
use agent_core::journal::{Entry, LifecycleEntry};
use agent_core::lifecycle::{self, Action, Commitment, Event, Lifecycle, LifecycleConfig, TaskMode};
use agent_core::link::{self, Agent};
use agent_core::ports::CommandRunner;
use agent_core::session::{Outcome, Session};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

/// Drives one agent. [`run`](Self::run) is its whole life.
pub struct Supervisor {
    runner: Runner,
    overseen: Overseen,
    inbox: mpsc::UnboundedReceiver<Message>,
    session_notices: Notices,
    /// Whether the agent's life begins with this run.
    is_new: bool,
}

impl Supervisor {
    /// Puts an agent over a session as [`Builder::build`](crate::Builder::build) made it. The notices are the session's and the agent's.
    #[must_use]
    pub fn new(session: (Runner, Handle, Notices), config: LifecycleConfig) -> (Self, SupervisorHandle, Notices) {
        let config = session.0.redactor.lifecycle_config(config);
        Self::over(session, Agent::new(config), true)
    }

    /// Goes on with an agent that was left, as its session's journal tells of it ([`Rebuilt::agent`](agent_core::journal::Rebuilt::agent)),
    /// over that session, which is resumed, too. Messages that the session has not taken are given to it again; checks that had not ended
    /// run again; what the session came to since is looked at.
    #[must_use]
    pub fn resume(session: (Runner, Handle, Notices), agent: Agent) -> (Self, SupervisorHandle, Notices) {
        Self::over(session, agent, false)
    }

    fn over(session: (Runner, Handle, Notices), agent: Agent, is_new: bool) -> (Self, SupervisorHandle, Notices) {
        let (runner, handle, session_notices) = session;
        let (sender, inbox) = mpsc::unbounded_channel();
        let (notices, notices_receiver) = mpsc::unbounded_channel();
        let checker = Checker::new(&runner.performer.clock, &runner.redactor);
        let limit_ms = runner.session.config().limits.max_wall_time_ms;
        let overseen = Overseen {
            agent,
            time: TimeLimit::new(limit_ms, checker.clock.now_ms()),
            session: handle,
            session_gone: CancellationToken::new(),
            checker,
            redactor: runner.redactor.clone(),
            inbox: sender.downgrade(),
            notices,
            checks: Checks::default(),
            timer: None,
            tasks: TaskTracker::new(),
            is_released: false,
        };
        (
            Self { runner, overseen, inbox, session_notices, is_new },
            SupervisorHandle { inbox: sender },
            notices_receiver,
        )
    }

    /// Who runs the commands that check commitments, and in which directory. Without, no commitment can be checked.
    #[must_use]
    pub fn commands(mut self, commands: Arc<dyn CommandRunner>, directory: impl Into<String>) -> Self {
        self.overseen.checker.commands = Some(commands);
        self.overseen.checker.directory = directory.into();
        self
    }

    /// How long a message may take, in milliseconds: its turn, the checks and the turns that follow from them together, without waiting for
    /// approvals. Without this it is the session's limit of time; of one that is reconfigured it has to be said here, too.
    #[must_use]
    pub fn max_wall_time_ms(mut self, limit_ms: Option<u64>) -> Self {
        self.overseen.time = TimeLimit::new(limit_ms, self.overseen.checker.clock.now_ms());
        self
    }

    /// Drives the agent until it has ended or the host detaches. Nothing that was started is left running.
    ///
    /// # Panics
    /// Outside of a tokio runtime with timers.
    pub async fn run(self) -> Supervised {
        crate::runtime::expect_timers();
        let Self { runner, mut overseen, mut inbox, mut session_notices, is_new } = self;
        match is_new {
            true => overseen.begin(),
            false => overseen.go_on(&runner.session),
        }
        let mut running = pin!(runner.run());
        let (mut ended, mut is_left) = (None, false);
        while !overseen.agent.lifecycle().is_over() {
            tokio::select! {
                biased;
                message = inbox.recv() => match message {
                    Some(Message::Event(event)) => overseen.take(event),
                    Some(Message::TimeIsUp(timer)) => overseen.time_is_up(timer),
                    Some(Message::Detach) | None => {
                        is_left = true;
                        break;
                    }
                },
                Some(notice) = session_notices.recv() => overseen.session_says(notice),
                end = &mut running, if ended.is_none() => {
                    ended = Some(end);
                    while let Ok(notice) = session_notices.try_recv() {
                        overseen.session_says(notice);
                    }
                    overseen.session_gone.cancel();
                    overseen.take(Event::SessionEnded);
                }
            }
        }
        overseen.release();
        let stopping = overseen.stop_everything();
        let (end, session) = match ended {
            Some(ended) => {
                stopping.await;
                ended
            }
            None => tokio::join!(stopping, overseen.leave(running, &mut inbox, is_left)).1,
        };
        // What the hooks at the session's end came to is to be known, too.
        while let Ok(notice) = session_notices.try_recv() {
            if matches!(notice, Notice::HookRan(_) | Notice::Transition(_)) {
                overseen.notify(notice);
            }
        }
        let outcome = overseen.agent.outcome();
        Supervised { end, session, lifecycle: overseen.agent.into_lifecycle(), outcome }
    }
}

/// What an agent came to, and what is left of it.
#[derive(Debug)]
pub struct Supervised {
    /// Why its session's runner ended.
    pub end: End,
    /// The session as it stands.
    pub session: Session,
    /// The lifecycle as it stands.
    pub lifecycle: Lifecycle,
    /// How the run ended; nothing when the host left before.
    pub outcome: Option<Outcome>,
}

/// The agent while its session runs.
struct Overseen {
    agent: Agent,
    time: TimeLimit,
    session: Handle,
    /// Fires when the session's runner has ended.
    session_gone: CancellationToken,
    checker: Checker,
    redactor: Redactor,
    /// Held weakly: when nobody else could send any more, nothing can come.
    inbox: mpsc::WeakUnboundedSender<Message>,
    notices: mpsc::UnboundedSender<Notice>,
    checks: Checks,
    /// Stops the timer when it is dropped.
    timer: Option<DropGuard>,
    tasks: TaskTracker,
    /// Whether the session was told that nobody needs it any more.
    is_released: bool,
}

impl Overseen {
    fn begin(&mut self) {
        let config = Box::new(self.agent.lifecycle().config().clone());
        self.record(self.checker.clock.now_ms(), LifecycleEntry::Began(config));
        self.ask_again();
    }

    /// What was asked and not answered is asked again.
    fn go_on(&mut self, session: &Session) {
        let given: Vec<String> = self.agent.given().map(String::from).collect();
        let is_all_said = given.is_empty() && session.pending_input().next().is_none();
        if is_all_said && self.agent.lifecycle().state() == lifecycle::State::Working {
            // A signal stands in the session's history before it is recorded as one.
            last_signals(session).into_iter().for_each(|signalled| self.take(signalled));
        }
        given.into_iter().for_each(|text| self.session.input(text));
        self.ask_again();
    }

    fn ask_again(&mut self) {
        for action in self.agent.lifecycle().outstanding() {
            self.perform(action);
        }
    }

    fn record(&self, at_ms: u64, entry: LifecycleEntry) {
        self.session.record(at_ms, Entry::Lifecycle(self.redactor.lifecycle_entry(entry)));
    }

    /// What the session shows goes on to the host, and what of it concerns the agent to its lifecycle.
    fn session_says(&mut self, notice: Notice) {
        let events = match &notice {
            Notice::Transition(step) => {
                self.agent.session_moved(step);
                self.time.session_moved(step, &self.checker.clock, &self.tasks, &self.inbox);
                Vec::new()
            }
            // A signal that was given before a message says nothing of that message.
            Notice::RoundClosed { has_unseen_input: true, .. } => Vec::new(),
            Notice::RoundClosed { round, .. } => match round.as_ref() {
                Item::Round(round) if self.agent.given().next().is_none() => link::signals(round),
                Item::Round(_) | Item::Input(_) | Item::Answer(_) => Vec::new(),
            },
            Notice::Prompt { outcome: Some(outcome), .. } => vec![self.agent.turn_ended(outcome)],
            _ => Vec::new(),
        };
        let turn = match &notice {
            Notice::Prompt { outcome, .. } => outcome.clone(),
            _ => None,
        };
        self.notify(notice);
        for event in events {
            self.take_of_turn(event, turn.as_ref());
        }
    }

    /// What the limit means for the agent follows from its table.
    fn time_is_up(&mut self, timer: u64) {
        if let Some(limit_ms) = self.time.reached_ms(timer) {
            let message = format!("time limit of the turn and its checks reached: {limit_ms} ms");
            self.notify(Notice::Error { message, returned_input: Vec::new() });
            self.take(Event::BudgetExceeded);
        }
    }

    fn take(&mut self, event: Event) {
        self.take_of_turn(event, None);
    }

    /// One event: redacted, stepped, recorded, performed. What is refused is not recorded: it is often what the lifecycle has no use for.
    fn take_of_turn(&mut self, event: Event, turn: Option<&Outcome>) {
        let event = self.redactor.lifecycle_event(event);
        let finished = match &event {
            Event::CheckCompleted { commitment, report, .. } => {
                Some(Notice::CheckFinished { commitment: *commitment, report: report.clone() })
            }
            _ => None,
        };
        let at_ms = self.checker.clock.now_ms();
        match self.agent.step(at_ms, event.clone(), turn) {
            Ok(step) => {
                self.record(at_ms, LifecycleEntry::Event(event));
                if let Some(finished) = finished {
                    self.notify(finished);
                }
                step.transitions.iter().for_each(|transition| self.notify(Notice::Lifecycle(*transition)));
                for action in step.actions {
                    self.perform(action);
                }
            }
            Err(rejected) => self.notify(Notice::LifecycleRefused(rejected)),
        }
    }

    fn perform(&mut self, action: Action) {
        if let Some(command) = link::command(&action) {
            self.session.event(command);
        }
        match action {
            // The session was told.
            Action::SendInput { .. } => self.time.begin(self.checker.clock.now_ms()),
            Action::CancelTurn => {}
            Action::SendGapReport { mut text, round } => {
                self.redactor.text(&mut text);
                self.notify(Notice::GapReport { text, round });
            }
            Action::RunChecks { ticket, checks } => {
                self.time.watch(&self.checker.clock, &self.tasks, &self.inbox);
                let Some(inbox) = self.inbox.upgrade() else { return };
                let (checker, notices) = (self.checker.clone(), self.notices.clone());
                let durable = self.session.durable();
                self.checks.start(&self.tasks, |stop| async move {
                    // A command runs when it is on the disk that it was asked for; it does not when that will never be.
                    if let Some(Ok(())) = stop.run_until_cancelled(durable).await {
                        checker.run(checks, ticket, inbox, notices, stop).await;
                    }
                });
            }
            Action::CancelChecks { .. } => self.checks.stop(),
            Action::StartTimer { ticket, delay_ms } => {
                let stop = CancellationToken::new();
                let Some(inbox) = self.inbox.upgrade() else { return };
                let (clock, stopped) = (Arc::clone(&self.checker.clock), stop.clone());
                self.tasks.spawn(async move {
                    tokio::select! {
                        () = stopped.cancelled() => {}
                        () = clock.sleep_ms(delay_ms) => send(&inbox, Event::TimedOut { ticket }),
                    }
                });
                self.timer = Some(stop.drop_guard());
            }
            Action::StopTimer { .. } => self.timer = None,
            Action::ReportOutcome { outcome } => {
                self.time.end();
                let run = self.agent.outcome();
                self.notify(Notice::Rested { agent: outcome, run });
            }
            Action::CleanUp { ticket } => {
                self.checks.stop();
                self.release();
                let Some(inbox) = self.inbox.upgrade() else { return };
                let gone = self.session_gone.clone();
                self.tasks.spawn(async move {
                    gone.cancelled().await;
                    send(&inbox, Event::CleanupCompleted { ticket });
                });
            }
            Action::ReleaseSession => self.release(),
        }
    }

    /// Lets go of the session, once: who asks a second time does not want to wait for the hooks at its end.
    fn release(&mut self) {
        if !std::mem::replace(&mut self.is_released, true) {
            self.session.detach();
        }
    }

    /// Waits for the session's end. A host that leaves a second time does not want to wait for the hooks that run there.
    async fn leave<T>(
        &self,
        mut running: Pin<&mut impl Future<Output = T>>,
        inbox: &mut mpsc::UnboundedReceiver<Message>,
        mut is_left: bool,
    ) -> T {
        loop {
            tokio::select! {
                biased;
                ended = &mut running => return ended,
                Some(message) = inbox.recv() => match message {
                    Message::Detach if std::mem::replace(&mut is_left, true) => self.session.detach(),
                    Message::Detach | Message::Event(_) | Message::TimeIsUp(_) => {}
                },
            }
        }
    }

    /// Stops checks and timers, and waits until they have stopped, for a moment.
    fn stop_everything(&mut self) -> impl Future<Output = ()> + use<> {
        self.checks.stop();
        self.timer = None;
        self.time.end();
        self.session_gone.cancel();
        self.tasks.close();
        let tasks = self.tasks.clone();
        async move {
            let _ = tokio::time::timeout(Duration::from_millis(2 * GRACE_MS), tasks.wait()).await;
        }
    }

    fn notify(&self, notice: Notice) {
        // A host that does not listen any more still gets its work done.
        let _ = self.notices.send(notice);
    }
}

/// The signals of the last answer that called tools, when nothing was said to the model since.
fn last_signals(session: &Session) -> Vec<Event> {
    let items: Vec<_> = session.conversation().iter().collect();
    let round = items.iter().rev().take(2).take_while(|item| !matches!(item.as_ref(), Item::Input(_)));
    let round = round.into_iter().find_map(|item| match item.as_ref() {
        Item::Round(round) => Some(link::signals(round)),
        Item::Input(_) | Item::Answer(_) => None,
    });
    round.unwrap_or_default()
}

/// What arrives at a supervisor.
#[derive(Debug)]
pub(crate) enum Message {
    Event(Event),
    /// Sent by the timer of the limit of time with this number.
    TimeIsUp(u64),
    Detach,
}

fn send(inbox: &mpsc::UnboundedSender<Message>, event: Event) {
    // A supervisor that has ended needs it no more.
    let _ = inbox.send(Message::Event(event));
}

/// The host's end for sending. Cheap to clone; sending never blocks, and does nothing once the supervisor has ended.
///
/// When the last handle is dropped and nothing of the agent's own runs, it is left as by [`detach`](Self::detach).
#[derive(Clone, Debug)]
pub struct SupervisorHandle {
    inbox: mpsc::UnboundedSender<Message>,
}

impl SupervisorHandle {
    /// A message to the agent: work, or the answer it waits for.
    pub fn input(&self, text: impl Into<String>) {
        send(&self.inbox, Event::InputReceived { text: text.into() });
    }

    /// Binds the agent to something more.
    pub fn add_commitment(&self, commitment: Commitment) {
        send(&self.inbox, Event::CommitmentAdded { commitment });
    }

    /// Says how the agent works from now on.
    pub fn set_mode(&self, mode: TaskMode) {
        send(&self.inbox, Event::ModeChanged { mode });
    }

    /// Stops the turn, or the checks. Does nothing while the agent rests.
    pub fn cancel(&self) {
        send(&self.inbox, Event::CancelRequested);
    }

    /// Ends the agent. Its session can be resumed.
    pub fn dismiss(&self) {
        send(&self.inbox, Event::Dismissed);
    }

    /// Leaves the agent as it is: what runs is stopped, the machines are told nothing. Only at a prompt do the user's hooks at the session's end
    /// run first; who detaches once more does not wait for them.
    pub fn detach(&self) {
        let _ = self.inbox.send(Message::Detach);
    }
}
