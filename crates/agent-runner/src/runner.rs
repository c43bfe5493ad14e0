//! The loop: take in, record, step, perform.

use crate::checks::Checker;
use crate::inbox::Message;
use crate::notice::Notice;
use crate::oversight::Oversight;
use crate::perform::Performer;
use crate::redact::Redactor;
use crate::runtime::expect_timers;
use agent_core::agent::{Agent, Doing, Event, Step};
use agent_core::conversation::{Item, UserMessage};
use agent_core::journal::{ActionStarted, Begun, Entry, Record};
use agent_core::lifecycle;
use agent_core::ports::{Journal, JournalError};
use agent_core::session::{self, Durability, SessionConfig};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Drives one agent: a session and what binds it. Made by a [`Builder`](crate::Builder); [`run`](Self::run) is its whole life.
pub struct Runner {
    pub(crate) agent: Agent,
    pub(crate) performer: Performer,
    pub(crate) oversight: Oversight,
    pub(crate) inbox: mpsc::UnboundedReceiver<Message>,
    pub(crate) notices: mpsc::UnboundedSender<Notice>,
    pub(crate) journal: Option<Box<dyn Journal>>,
    pub(crate) next_seq: u64,
    /// What of the outstanding had begun when the journal of an earlier life ended.
    pub(crate) begun: Begun,
    pub(crate) redactor: Redactor,
    pub(crate) observers: Option<std::sync::mpsc::Sender<session::Step>>,
    pub(crate) header: Option<Record>,
    /// The session's new configuration, if it changed.
    pub(crate) reconfigured: Option<Box<SessionConfig>>,
    /// What binds the agent from here on, if that is not what bound it before.
    pub(crate) binding: Option<Event>,
    /// How many messages of the host were taken.
    pub(crate) taken: u64,
    /// The last activity that the host was notified of, and after how many messages.
    pub(crate) shown: (Doing, u64),
    /// The waiting messages that the host was notified of.
    pub(crate) waiting: (Vec<String>, Vec<String>),
    /// What the host was told to hold for the session.
    pub(crate) configured: Option<Box<SessionConfig>>,
    /// Fires when the host detaches or drops its last handle.
    pub(crate) host_gone: CancellationToken,
}

impl Runner {
    /// Continues the session with another configuration: what is made again of a session that was rebuilt, such as a model
    /// call that ended with the program, is made with this one.
    #[must_use]
    pub fn reconfigured(mut self, config: SessionConfig) -> Self {
        self.reconfigured = Some(Box::new(config));
        self
    }

    /// Drives the agent until its session is shut down, the host detaches, the agent has ended, or the journal cannot be written. Nothing
    /// that was started is left running; when this future is dropped instead, everything that runs is cancelled and is dropped a moment
    /// later.
    ///
    /// # Panics
    /// Outside of a tokio runtime with timers.
    pub async fn run(mut self) -> (End, Agent) {
        expect_timers();
        let end = match self.drive().await {
            Ok(end) => self.sync().await.map_or_else(End::JournalFailed, |()| end),
            Err(error) => End::JournalFailed(error),
        };
        self.oversight.stop();
        self.performer.stop_everything().await;
        (end, self.agent)
    }

    async fn drive(&mut self) -> Result<End, JournalError> {
        self.open().await?;
        // A session that was rebuilt may have ended before.
        while !self.agent.is_over() {
            match self.next().await {
                Message::Event(event) => self.take(event).await?,
                Message::Host(event) => {
                    self.taken += 1;
                    self.take(event).await?;
                }
                Message::Progress(event, room) => {
                    drop(room);
                    self.take(event.into()).await?;
                }
                // The hooks of the end run first. A host that asks a second time does not wait for them.
                Message::Detach if self.agent.session().runs_hooks_on_leave() => {
                    self.host_gone.cancel();
                    self.take(session::Event::LeaveRequested.into()).await?;
                }
                // They run because the agent has ended: the host that asks now did not ask before.
                Message::Detach if self.agent.session().is_leaving() && !self.host_gone.is_cancelled() => {
                    self.host_gone.cancel();
                }
                Message::Ended if self.agent.session().runs_hooks_on_leave() => {
                    self.take(session::Event::LeaveRequested.into()).await?;
                }
                Message::Detach | Message::Ended => return Ok(End::Detached),
            }
        }
        Ok(End::ShutDown)
    }

    /// What comes next. When the host is gone and nothing is in flight, nothing can come: that is leaving, too.
    async fn next(&mut self) -> Message {
        tokio::select! {
            biased;
            message = self.inbox.recv() => message.unwrap_or(Message::Detach),
            () = self.host_gone.cancelled(), if self.is_idle() => Message::Detach,
            () = std::future::ready(()), if self.is_idle() && self.agent.has_ended() => Message::Ended,
        }
    }

    /// Whether nothing is running whose answer is waited for.
    fn is_idle(&self) -> bool {
        let awaits = self.agent.lifecycle().is_some_and(lifecycle::Lifecycle::awaits_driver);
        self.performer.is_idle() && (!awaits || self.agent.has_ended())
    }

    /// A new session is recorded and started; one that was rebuilt is resumed.
    async fn open(&mut self) -> Result<(), JournalError> {
        if let Some(header) = self.header.take() {
            self.append(&header).await?;
        }
        // The program of one that was rebuilt may have ended before it started it. Before that it takes no other configuration.
        if !self.agent.session().is_started() {
            self.take(session::Event::Started.into()).await?;
            self.take_config(self.performer.now_ms()).await?;
            return self.take_binding().await;
        }
        let asked = self.agent.lifecycle().map(lifecycle::Lifecycle::outstanding).unwrap_or_default();
        // What is made again is made with the new configuration. No time passes with it: that begins where the session is resumed.
        self.take_config(self.agent.session().now_ms()).await?;
        let toolbox = self.performer.toolbox.clone();
        let resumed = self.begun.resumption(self.agent.session(), |call| toolbox.only_reads(call));
        self.take(resumed.into()).await?;
        self.take_binding().await?;
        self.go_on(asked).await
    }

    async fn take_config(&mut self, at_ms: u64) -> Result<(), JournalError> {
        match self.reconfigured.take() {
            Some(config) => self.take_at(at_ms, session::Event::Reconfigured { config }.into()).await,
            None => Ok(()),
        }
    }

    async fn take_binding(&mut self) -> Result<(), JournalError> {
        match self.binding.take() {
            Some(binding) => self.take(binding).await,
            None => Ok(()),
        }
    }

    async fn take(&mut self, event: Event) -> Result<(), JournalError> {
        self.take_at(self.performer.now_ms(), event).await
    }

    /// One event: redacted, recorded, stepped, what it asks for recorded too, performed.
    async fn take_at(&mut self, at_ms: u64, event: Event) -> Result<(), JournalError> {
        let originals = Checker::originals_of(&event);
        let event = self.redactor.event(event);
        if !event.is_transient() {
            let record = Record { seq: self.next_seq, at_ms, entry: Entry::Event(event.clone()) };
            self.append(&record).await?;
        }
        let items = self.agent.session().conversation().len();
        let reports = Notice::of(&event);
        match self.agent.step(at_ms, event) {
            Ok(step) => {
                self.oversight.checker.keep(originals);
                self.make_durable(&step).await?;
                reports.into_iter().for_each(|report| self.notify(report));
                self.show(&step, items);
                self.perform(step);
            }
            Err(rejected) => self.notify(Notice::Refused(rejected)),
        }
        self.show_configured();
        self.show_waiting();
        self.show_doing();
        Ok(())
    }

    fn show_configured(&mut self) {
        let now = self.agent.session().config();
        let is_same = |shown: &SessionConfig| {
            shown.permissions == now.permissions && shown.limits == now.limits && shown.models == now.models
        };
        if !self.configured.as_deref().is_some_and(is_same) {
            let now = Box::new(now.clone());
            self.configured = Some(now.clone());
            self.notify(Notice::Configured(now));
        }
    }

    fn show_waiting(&mut self) {
        let (queued, after_turn) = self.agent.session().waiting_input();
        let is_shown = |now: &[UserMessage], shown: &[String]| now.iter().map(|said| &said.text).eq(shown);
        if !is_shown(queued, &self.waiting.0) || !is_shown(after_turn, &self.waiting.1) {
            let texts = |messages: &[UserMessage]| messages.iter().map(|said| said.text.clone()).collect();
            self.waiting = (texts(queued), texts(after_turn));
            let (queued, after_turn) = self.waiting.clone();
            self.notify(Notice::Waiting { queued, after_turn });
        }
    }

    fn show_doing(&mut self) {
        let now = (self.agent.doing(), self.taken);
        if std::mem::replace(&mut self.shown, now) != now {
            self.notify(Notice::Doing { doing: now.0, taken: now.1 });
        }
    }

    fn perform(&mut self, step: Step) {
        let Step { down, session, up, rests, ends_run, .. } = step;
        for action in down.actions {
            self.oversight.perform(action, &self.agent);
        }
        for action in session.actions {
            self.performer.perform(action, self.agent.session());
        }
        for action in up.actions {
            self.oversight.perform(action, &self.agent);
        }
        self.performer.drop_closed(self.agent.session());
        if rests {
            self.prompt(ends_run);
        }
    }

    /// What begins is noted before it does, and is on the disk together with the event that asked for it.
    async fn make_durable(&mut self, step: &Step) -> Result<(), JournalError> {
        for started in step.session.actions.iter().filter_map(ActionStarted::of) {
            self.note(started).await?;
        }
        match step.durability() {
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

    /// Notifies observers and host of what the step did, before any of its actions is performed.
    fn show(&self, step: &Step, items_before: usize) {
        step.down.transitions.iter().for_each(|transition| self.notify(Notice::Lifecycle(*transition)));
        self.show_session(&step.session, items_before);
        step.up.transitions.iter().for_each(|transition| self.notify(Notice::Lifecycle(*transition)));
    }

    fn show_session(&self, step: &session::Step, items_before: usize) {
        for transition in &step.transitions {
            self.notify(Notice::Transition(*transition));
        }
        if step.notes.begins_turn {
            self.notify(Notice::TurnBegan);
        }
        for ruling in &step.notes.rulings {
            self.notify(Notice::Ruled(ruling.clone()));
        }
        let conversation = self.agent.session().conversation();
        let closed = conversation.last().filter(|item| matches!(item.as_ref(), Item::Round(_)));
        // A summary leaves a round that was there before at the end of a history that is not longer.
        if let Some(round) = closed.filter(|_| conversation.len() > items_before) {
            self.notify(Notice::RoundClosed { round: round.clone() });
        }
        if let Some(observers) = &self.observers {
            // Nothing waits for observers that are gone.
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
