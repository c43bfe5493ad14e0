//! One agent of a tree: take in, record, step, perform.

use crate::checks::Checker;
use crate::notice::{Notice, Teller};
use crate::oversight::Oversight;
use crate::perform::Performer;
use crate::redact::Redactor;
use agent_core::agent::{Agent, Doing, Event, FamilyStep, Rejected, Step};
use agent_core::child;
use agent_core::conversation::{Item, UserMessage};
use agent_core::journal::{ActionStarted, Begun, Entry, Record};
use agent_core::lifecycle;
use agent_core::ports::{Journal, JournalError, Tool};
use agent_core::session::{self, Durability, SessionConfig};
use std::sync::Arc;

/// An agent with its journal, its ports and what runs for it.
pub(crate) struct Member {
    pub(crate) agent: Agent,
    pub(crate) performer: Performer,
    pub(crate) oversight: Oversight,
    pub(crate) notices: Teller,
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
    /// Whether this program resumes it and has not said so to it yet: no time passes until then.
    pub(crate) is_left: bool,
}

impl Member {
    /// Whether nothing is running whose answer is waited for.
    pub(crate) fn is_idle(&self) -> bool {
        let awaits = self.agent.lifecycle().is_some_and(lifecycle::Lifecycle::awaits_driver);
        self.performer.is_idle() && (!awaits || self.agent.has_ended())
    }

    /// Stops what runs for its commitments.
    pub(crate) fn stop(&mut self) {
        self.oversight.stop();
        self.performer.cancel_all();
    }

    /// A new session is recorded and started; one that was rebuilt is resumed.
    pub(crate) async fn open(&mut self) -> Result<Vec<Asked>, JournalError> {
        if let Some(header) = self.header.take() {
            self.append(&header).await?;
        }
        self.is_left = false;
        let mut asked_of_children = Vec::new();
        // The program of one that was rebuilt may have ended before it started it. Before that it takes no other configuration.
        if !self.agent.session().is_started() {
            asked_of_children.extend(self.take(session::Event::Started.into()).await?);
            asked_of_children.extend(self.take_config(self.performer.now_ms()).await?);
            asked_of_children.extend(self.take_binding().await?);
            return Ok(asked_of_children);
        }
        let asked = self.agent.lifecycle().map(lifecycle::Lifecycle::outstanding).unwrap_or_default();
        // What is made again is made with the new configuration. No time passes with it: that begins where the session is resumed.
        asked_of_children.extend(self.take_config(self.agent.session().now_ms()).await?);
        let toolbox = self.performer.toolbox.clone();
        let resumed = self.begun.resumption(&self.agent, |call| toolbox.only_reads(call));
        asked_of_children.extend(self.take(resumed.into()).await?);
        asked_of_children.extend(self.take_binding().await?);
        self.go_on(asked).await?;
        Ok(asked_of_children)
    }

    /// Has further tools, and says so to its session.
    pub(crate) fn offered(&mut self, tools: Vec<Arc<dyn Tool>>) -> Event {
        let toolbox = self.performer.toolbox.with(tools);
        let config = SessionConfig { tools: toolbox.specs(), ..self.agent.session().config().clone() };
        self.performer.toolbox = Arc::new(toolbox);
        session::Event::Reconfigured { config: Box::new(config) }.into()
    }

    async fn take_config(&mut self, at_ms: u64) -> Result<Vec<Asked>, JournalError> {
        match self.reconfigured.take() {
            Some(config) => self.take_at(at_ms, session::Event::Reconfigured { config }.into()).await,
            None => Ok(Vec::new()),
        }
    }

    pub(crate) async fn take_binding(&mut self) -> Result<Vec<Asked>, JournalError> {
        match self.binding.take() {
            Some(binding) => self.take(binding).await,
            None => Ok(Vec::new()),
        }
    }

    /// Takes an event, now. Returns what is asked about its children.
    pub(crate) async fn take(&mut self, event: Event) -> Result<Vec<Asked>, JournalError> {
        // What parents and children tell each other before the agent is resumed takes no time.
        let at_ms = if self.is_left { self.agent.session().now_ms() } else { self.performer.now_ms() };
        self.take_at(at_ms, event).await
    }

    async fn take_at(&mut self, at_ms: u64, event: Event) -> Result<Vec<Asked>, JournalError> {
        let taken = self.try_take_at(at_ms, event).await?;
        Ok(taken.unwrap_or_else(|rejected| {
            self.notify(Notice::Refused(rejected));
            Vec::new()
        }))
    }

    /// Takes an event, now, from somebody who waits to hear whether it fits. Returns what is asked about the agent's children.
    pub(crate) async fn try_take(&mut self, event: Event) -> Result<Result<Vec<Asked>, Rejected>, JournalError> {
        self.try_take_at(self.performer.now_ms(), event).await
    }

    /// One event: redacted, recorded, stepped, what it asks for recorded too, performed.
    async fn try_take_at(&mut self, at_ms: u64, event: Event) -> Result<Result<Vec<Asked>, Rejected>, JournalError> {
        let originals = Checker::originals_of(&event);
        let event = self.redactor.event(event);
        if !event.is_transient() {
            let record = Record { seq: self.next_seq, at_ms, entry: Entry::Event(event.clone()) };
            self.append(&record).await?;
        }
        let items = self.agent.session().conversation().len();
        let reports = Notice::of(&event);
        let taken = match self.agent.step(at_ms, event) {
            Ok(mut step) => {
                let asked =
                    step.family.as_deref_mut().map(|family| std::mem::take(&mut family.actions)).unwrap_or_default();
                self.oversight.checker.keep(originals);
                self.make_durable(&step).await?;
                reports.into_iter().for_each(|report| self.notify(report));
                self.show(&step, items);
                self.perform(step);
                Ok(asked)
            }
            Err(rejected) => Err(rejected),
        };
        self.show_configured();
        self.show_waiting();
        self.show_doing();
        Ok(taken)
    }

    fn show_configured(&mut self) {
        let now = self.agent.session().config();
        let is_same = |shown: &SessionConfig| {
            let same_tools = Arc::ptr_eq(&shown.tools, &now.tools);
            shown.permissions == now.permissions
                && shown.limits == now.limits
                && shown.models == now.models
                && same_tools
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

    pub(crate) async fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        if let Some(journal) = &mut self.journal {
            journal.append(record).await?;
        }
        self.next_seq = record.seq + 1;
        Ok(())
    }

    /// Notifies observers and host of what the step did, before any of its actions is performed.
    fn show(&self, step: &Step, items_before: usize) {
        step.down.transitions.iter().for_each(|transition| self.notify(Notice::Lifecycle(*transition)));
        if let Some(family) = &step.family {
            self.show_family(family);
        }
        self.show_session(&step.session, items_before);
        step.up.transitions.iter().for_each(|transition| self.notify(Notice::Lifecycle(*transition)));
    }

    fn show_family(&self, family: &FamilyStep) {
        for call in &family.begun {
            self.notify(Notice::ToolStarted(call.clone()));
        }
        for (number, transition) in &family.children {
            self.notify(Notice::ChildMoved { number: *number, transition: *transition });
        }
        for transition in &family.all {
            self.notify(Notice::ChildrenMoved(*transition));
        }
        if family.children.iter().any(|(_, row)| row.to == child::State::Ended) {
            // What it spent counts for its parent from here on.
            self.notify(Notice::Spent(*self.agent.session().ledger()));
        }
        for (call, outcome) in &family.answered {
            self.notify(Notice::ToolFinished { call: call.clone(), outcome: outcome.clone() });
        }
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
        self.notices.send(notice);
    }
}

/// What an agent asks about one of its children: the child's number, and what.
pub(crate) type Asked = (u32, child::Action);
