//! The loop: take in, record, step, perform.

use crate::notice::Notice;
use crate::perform::Performer;
use crate::redact::Redactor;
use crate::runtime::expect_timers;
use agent_core::budget::Limits;
use agent_core::conversation::Item;
use agent_core::journal::{ActionStarted, Begun, Entry, Record};
use agent_core::ports::{Journal, JournalError};
use agent_core::session::{Durability, Event, Session, SessionConfig, Step};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Drives one session. Made by a [`Builder`](crate::Builder); [`run`](Self::run) is its whole life.
pub struct Runner {
    pub(crate) session: Session,
    pub(crate) performer: Performer,
    pub(crate) inbox: mpsc::UnboundedReceiver<Message>,
    pub(crate) notices: mpsc::UnboundedSender<Notice>,
    pub(crate) journal: Option<Box<dyn Journal>>,
    pub(crate) next_seq: u64,
    /// What of the outstanding had begun when the journal of an earlier life ended.
    pub(crate) begun: Begun,
    pub(crate) redactor: Redactor,
    pub(crate) observers: Option<std::sync::mpsc::Sender<Step>>,
    pub(crate) header: Option<Record>,
    /// The configuration that the session goes on with, if it is another than it had.
    pub(crate) reconfigured: Option<Box<SessionConfig>>,
    /// Fires when the host detaches or drops its last handle.
    pub(crate) host_gone: CancellationToken,
}

impl Runner {
    /// Lets the session go on with another configuration than it has: what is made again of a session that was rebuilt, such as a model
    /// call that ended with the program, is made with this one.
    #[must_use]
    pub fn reconfigured(mut self, config: SessionConfig) -> Self {
        self.reconfigured = Some(Box::new(config));
        self
    }

    /// Drives the session until it is shut down, the host detaches, or the journal cannot be written. Nothing that was started is left
    /// running; when this future is dropped instead, everything that runs is told to stop and is dropped a moment later.
    ///
    /// # Panics
    /// Outside of a tokio runtime with timers.
    pub async fn run(mut self) -> (End, Session) {
        expect_timers();
        let end = match self.drive().await {
            Ok(end) => self.sync().await.map_or_else(End::JournalFailed, |()| end),
            Err(error) => End::JournalFailed(error),
        };
        self.performer.stop_everything().await;
        (end, self.session)
    }

    async fn drive(&mut self) -> Result<End, JournalError> {
        self.open().await?;
        // A session that was rebuilt may have ended before.
        while !self.session.is_over() {
            match self.next().await {
                Message::Event(event) => self.take(event).await?,
                Message::Progress(event, room) => {
                    drop(room);
                    self.take(event).await?;
                }
                Message::Record(at_ms, entry) => self.append(&Record { seq: self.next_seq, at_ms, entry }).await?,
                Message::Sync(done) => {
                    self.sync().await?;
                    // Whoever does not wait any more has stopped what was to follow.
                    let _ = done.send(());
                }
                // The hooks of the end run first. Whoever asks a second time does not want to wait for them.
                Message::Detach if self.session.runs_hooks_on_leave() => {
                    self.host_gone.cancel();
                    self.take(Event::LeaveRequested).await?;
                }
                Message::Detach => return Ok(End::Detached),
            }
        }
        Ok(End::ShutDown)
    }

    /// What comes next. When the host is gone and nothing is in flight, nothing can come: that is leaving, too.
    async fn next(&mut self) -> Message {
        tokio::select! {
            biased;
            message = self.inbox.recv() => message.unwrap_or(Message::Detach),
            () = self.host_gone.cancelled(), if self.performer.is_idle() => Message::Detach,
        }
    }

    /// A new session is recorded and started; one that was rebuilt goes on with what is open.
    async fn open(&mut self) -> Result<(), JournalError> {
        if let Some(header) = self.header.take() {
            self.append(&header).await?;
        }
        // The program of one that was rebuilt may have ended before it started it. Before that it takes no other configuration.
        if !self.session.is_started() {
            self.take(Event::Started).await?;
            return self.take_config().await;
        }
        self.take_config().await?;
        self.prompt_again();
        for event in self.go_on().await? {
            self.take(event).await?;
        }
        Ok(())
    }

    async fn take_config(&mut self) -> Result<(), JournalError> {
        match self.reconfigured.take() {
            Some(config) => self.take(Event::Reconfigured { config }).await,
            None => Ok(()),
        }
    }

    /// One event: redacted, recorded, stepped, what it asks for recorded too, performed.
    async fn take(&mut self, event: Event) -> Result<(), JournalError> {
        let event = self.redactor.event(event);
        let at_ms = self.performer.now_ms();
        if !event.is_transient() {
            let record = Record { seq: self.next_seq, at_ms, entry: Entry::Event(event.clone()) };
            self.append(&record).await?;
        }
        let items = self.session.conversation().len();
        let reports = Notice::of(&event);
        match self.session.step(at_ms, event) {
            Ok(step) => {
                self.make_durable(&step).await?;
                reports.into_iter().for_each(|report| self.notify(report));
                self.show(&step, items);
                for action in step.actions {
                    self.performer.perform(action, &self.session);
                }
                self.performer.drop_closed(&self.session);
            }
            Err(rejected) => self.notify(Notice::Refused(rejected)),
        }
        Ok(())
    }

    /// What begins is noted before it does, and is on the disk together with the event that asked for it.
    async fn make_durable(&mut self, step: &Step) -> Result<(), JournalError> {
        for started in step.actions.iter().filter_map(ActionStarted::of) {
            self.note(started).await?;
        }
        match step.notes.durability {
            Durability::Now => self.sync().await,
            Durability::NowIfHooksAct if self.performer.hook.acts_before_tools() => self.sync().await,
            Durability::NowIfHooksAct | Durability::Later => Ok(()),
        }
    }

    pub(crate) async fn note(&mut self, started: ActionStarted) -> Result<(), JournalError> {
        let entry = Entry::ActionStarted(started);
        self.append(&Record { seq: self.next_seq, at_ms: self.performer.now_ms(), entry }).await
    }

    pub(crate) async fn sync(&mut self) -> Result<(), JournalError> {
        match &mut self.journal {
            Some(journal) => journal.sync().await,
            None => Ok(()),
        }
    }

    async fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        if let Some(journal) = &mut self.journal {
            journal.append(record).await?;
        }
        self.next_seq = record.seq + 1;
        Ok(())
    }

    /// Tells observers and host what the step did, before anything of it is performed.
    fn show(&self, step: &Step, items_before: usize) {
        for transition in &step.transitions {
            self.notify(Notice::Transition(*transition));
        }
        if step.notes.begins_turn {
            self.notify(Notice::TurnBegan);
        }
        for ruling in &step.notes.rulings {
            self.notify(Notice::Ruled(ruling.clone()));
        }
        let closed = self.session.conversation().last().filter(|item| matches!(item.as_ref(), Item::Round(_)));
        // A summary leaves a round that was there before at the end of a history that is not longer.
        if let Some(round) = closed
            && self.session.conversation().len() > items_before
        {
            let has_unseen_input = self.session.pending_input().next().is_some();
            self.notify(Notice::RoundClosed { round: round.clone(), has_unseen_input });
        }
        if let Some(observers) = &self.observers {
            // Observers that are gone miss nothing that anybody waits for.
            let _ = observers.send(step.clone());
        }
    }

    pub(crate) fn notify(&self, notice: Notice) {
        // A host that does not listen any more still gets its work done and recorded.
        let _ = self.notices.send(notice);
    }
}

/// Why a runner ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// The session was ended for good.
    ShutDown,
    /// The host left; the session can be resumed.
    Detached,
    /// A record could not be written or made durable. What runs was stopped, and everything acknowledged is in the journal. The session
    /// that comes with it may be one event ahead of the journal.
    JournalFailed(JournalError),
}

/// What arrives at a runner.
#[derive(Debug)]
pub(crate) enum Message {
    Event(Event),
    /// What a call reports, with the room that it takes until it is seen.
    Progress(Event, OwnedSemaphorePermit),
    /// What is to stand in the journal besides the session's own, and when it happened.
    Record(u64, Entry),
    /// Told when everything that was recorded so far is on the disk; dropped when it will never be.
    Sync(oneshot::Sender<()>),
    Detach,
}

/// The host's end for sending. Cheap to clone; sending never blocks, and does nothing once the runner has ended.
///
/// When the last handle is dropped, the runner finishes what it is doing and detaches at the next prompt, behind the user's hooks at the
/// session's end.
#[derive(Clone, Debug)]
pub struct Handle {
    inbox: Inbox,
    _alive: Arc<DropGuard>,
}

impl Handle {
    /// A handle, and what fires when it and all its clones are gone.
    pub(crate) fn new(inbox: Inbox) -> (Self, CancellationToken) {
        let gone = CancellationToken::new();
        (Self { inbox, _alive: Arc::new(gone.clone().drop_guard()) }, gone)
    }

    /// The user's message. While the session is busy it is queued and goes out at the next opportunity.
    pub fn input(&self, text: impl Into<String>) {
        self.event(Event::UserInput { text: text.into() });
    }

    /// Stops the turn. Does nothing while the session is idle.
    pub fn cancel(&self) {
        self.event(Event::CancelRequested);
    }

    /// Asks for a summary of the conversation, to make room.
    pub fn compact(&self) {
        self.event(Event::CompactionRequested);
    }

    /// Changes the limits; work that a limit had stopped goes on.
    pub fn set_limits(&self, limits: Limits) {
        self.event(Event::BudgetRaised { limits });
    }

    /// Changes model, tools, limits or permissions for what comes.
    pub fn reconfigure(&self, config: SessionConfig) {
        self.event(Event::Reconfigured { config: Box::new(config) });
    }

    /// Ends the session for good.
    pub fn shut_down(&self) {
        self.event(Event::ShutdownRequested);
    }

    /// Leaves the session as it is, to be resumed: what runs is stopped, the machine is told nothing. Only at a prompt do the user's hooks at
    /// the session's end run first; who detaches once more does not wait for them.
    pub fn detach(&self) {
        // A runner that has ended is detached already.
        let _ = self.inbox.send(Message::Detach);
    }

    /// Has this stand in the journal, before everything that is sent later.
    pub(crate) fn record(&self, at_ms: u64, entry: Entry) {
        let _ = self.inbox.send(Message::Record(at_ms, entry));
    }

    /// What is told when everything that was sent so far is on the disk, or dropped when that will never be.
    pub(crate) fn durable(&self) -> oneshot::Receiver<()> {
        let (done, told) = oneshot::channel();
        let _ = self.inbox.send(Message::Sync(done));
        told
    }

    pub(crate) fn event(&self, event: Event) {
        let _ = self.inbox.send(Message::Event(event));
    }
}

pub(crate) type Inbox = mpsc::UnboundedSender<Message>;
