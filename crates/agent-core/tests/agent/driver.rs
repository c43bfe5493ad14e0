//! A driver without an outside: a journal that is read again after every event, and what has to be true of an agent at any time.

mod choices;
mod journal;

pub(crate) use choices::{CONFIGS, Choice, bound, config};
pub(crate) use journal::Journal;

use agent_check::session::stop;
use agent_core::agent::{Agent, Event, Rejected, Step};
use agent_core::conversation::Item;
use agent_core::lifecycle::{self, CheckReport, CommitmentId, Lifecycle, LifecycleConfig, State, Trigger};
use agent_core::session::{self, Action, SessionConfig};
use std::collections::BTreeSet;

/// An agent with everything that was done with it.
pub(crate) struct Driver {
    pub(crate) agent: Agent,
    journal: Journal,
    now_ms: u64,
    /// Messages so far, taken or not.
    inputs: u64,
    /// Messages that the agent took, and what became of those that are not to be seen any more.
    accepted: BTreeSet<String>,
    returned: BTreeSet<String>,
    summarised: BTreeSet<String>,
    /// Reports of what is missing since the last message.
    reports: u32,
    /// Whether the session does something besides its work: a summary, or hooks for somebody who leaves.
    is_aside: bool,
    /// Every ticket that was given, of either machine.
    tickets: Vec<session::Ticket>,
}

impl Driver {
    pub(crate) fn new(config: SessionConfig, bound: Option<LifecycleConfig>) -> Self {
        let mut driver = Self {
            agent: Agent::new(config.clone()),
            journal: Journal::new(config),
            now_ms: 1_000,
            inputs: 0,
            accepted: BTreeSet::new(),
            returned: BTreeSet::new(),
            summarised: BTreeSet::new(),
            reports: 0,
            is_aside: false,
            tickets: Vec::new(),
        };
        let _ = driver.take(&session::Event::Started.into()).unwrap();
        if let Some(bound) = bound {
            let _ = driver.take(&Event::Bound(Box::new(bound))).unwrap();
        }
        driver
    }

    /// Takes an event and checks everything that has to hold then.
    pub(crate) fn take(&mut self, event: &Event) -> Result<Step, Rejected> {
        self.now_ms += 10;
        let before = self.agent.clone();
        let taken = self.agent.step(self.now_ms, event.clone());
        self.journal.write(self.now_ms, event.clone());
        assert!(self.journal.agent() == &self.agent, "the journal makes another agent");
        match &taken {
            Ok(step) => {
                self.note(&before, event, step);
                self.check_step(&before, event, step);
            }
            Err(rejected) => self.check_refusal(&before, event, rejected),
        }
        self.check_messages();
        self.check_join();
        self.check_way_out();
        taken
    }

    /// Takes an event, and checks nothing.
    pub(crate) fn take_unchecked(&mut self, event: Event) -> Result<Step, Rejected> {
        self.now_ms += 10;
        let taken = self.agent.step(self.now_ms, event);
        if let Ok(step) = &taken {
            self.note_tickets(step);
        }
        taken
    }

    fn check_refusal(&self, before: &Agent, event: &Event, rejected: &Rejected) {
        assert!(self.agent == *before, "a refusal changed the agent: {event:?}");
        let Some(text) = message(event) else { return };
        let over = before.lifecycle().filter(|over| !over.config().is_renewed).map(Lifecycle::state);
        let is_over = matches!(over, Some(State::Done | State::Reaped | State::Ended)) || before.is_over();
        assert!(text.trim().is_empty() || is_over, "a message was refused: {rejected}");
    }

    fn note(&mut self, before: &Agent, event: &Event, step: &Step) {
        self.note_tickets(step);
        if let Some(text) = message(event) {
            assert!(self.accepted.insert(text.to_owned()));
        }
        for action in &step.session.actions {
            if let Action::ReturnQueuedInput { texts } | Action::DisplayError { returned_input: texts, .. } = action {
                let own = texts.iter().filter(|text| is_message(text));
                own.for_each(|text| assert!(self.returned.insert(text.clone()), "{text} was handed back twice"));
            }
        }
        let is_summary = step.session.transitions.iter().any(|row| {
            matches!(row.on, session::Trigger::CompactionCompleted | session::Trigger::CompactionCompletedWorkDue)
        });
        if is_summary {
            self.summarised.extend(history(before).into_iter().filter(|text| !history(&self.agent).contains(text)));
        }
        let is_idle = |agent: &Agent| agent.session().is_idle();
        let aside =
            matches!(event, Event::Session(session::Event::CompactionRequested | session::Event::LeaveRequested));
        self.is_aside = !is_idle(&self.agent) && (self.is_aside || aside && is_idle(before));
    }

    fn note_tickets(&mut self, step: &Step) {
        for action in step.down.actions.iter().chain(&step.up.actions) {
            if let lifecycle::Action::RunChecks { ticket, .. }
            | lifecycle::Action::StartTimer { ticket, .. }
            | lifecycle::Action::CleanUp { ticket } = action
            {
                self.tickets.push(*ticket);
            }
        }
    }

    /// What a step did, and what it may not do.
    fn check_step(&mut self, before: &Agent, event: &Event, step: &Step) {
        let is_timer = matches!(
            event,
            Event::Lifecycle(lifecycle::Event::TimedOut { .. })
                | Event::Session(session::Event::RetryTimeout { .. } | session::Event::DeadlineReached { .. })
        );
        assert!(!(is_timer && step.is_empty()) || self.agent == *before, "a late timer changed the agent");
        let commands = step.down.actions.iter().filter(|action| action.is_command()).count();
        assert!(!step.up.actions.iter().any(lifecycle::Action::is_command), "what comes up commands something");
        assert!(commands == 0 || !step.session.transitions.is_empty(), "the session did not take a command: {step:?}");
        let rows = || step.down.transitions.iter().chain(&step.up.transitions);
        let begins = rows().any(|row| matches!(row.on, Trigger::InputReceived | Trigger::WorkResumed));
        if begins || matches!(event, Event::Bound(_)) {
            self.reports = 0;
        }
        let is_report = |action: &&lifecycle::Action| matches!(action, lifecycle::Action::SendGapReport { .. });
        self.reports += u32::try_from(step.down.actions.iter().filter(is_report).count()).unwrap();
        let most = self.agent.lifecycle().map_or(0, |over| over.config().max_rounds);
        assert!(self.agent.lifecycle().is_none() || self.reports <= most, "{} reports", self.reports);
        if let (Some(_), Some(over)) = (message(event), self.agent.lifecycle()) {
            // A limit may end its turn at once.
            let ended = step.up.transitions.last().is_some_and(|row| row.from == State::Working);
            assert!(over.state() == State::Working || ended, "a message does not work: {:?}", over.state());
        }
        if rows().any(|row| row.on == Trigger::CompletionClaimed) {
            assert!(!before.session().is_cancel_pending(), "a turn that was being stopped claims something");
        }
    }

    /// Every message of the user is in the history once, or pending once, or was handed back once, or a summary stands for it.
    fn check_messages(&self) {
        let pending = self.agent.session().pending_input().filter(|text| is_message(text)).map(ToOwned::to_owned);
        let mut places: Vec<String> = history(&self.agent).into_iter().chain(pending).collect();
        places.extend(self.returned.iter().chain(&self.summarised).cloned());
        places.sort();
        let all: Vec<String> = self.accepted.iter().cloned().collect();
        assert_eq!(places, all, "messages, each once");
    }

    /// Both machines together.
    fn check_join(&self) {
        let (session, Some(over)) = (self.agent.session(), self.agent.lifecycle()) else { return };
        let state = over.state();
        if session.is_over() {
            assert!(matches!(state, State::Reaped | State::Ended), "{state:?} over a session that has ended");
            return;
        }
        assert!(state != State::Working || !session.is_idle(), "a turn ended and was not noticed");
        let works = !session.is_idle() && !session.is_cancel_pending() && !self.is_aside;
        let is_given_up = matches!(state, State::Done | State::Reaped | State::Ended) && !over.config().is_renewed;
        assert!(!works || state == State::Working || is_given_up, "the session works in {state:?}");
        assert_eq!(self.agent.is_idle(), session.is_idle() && !over.is_busy());
        assert_eq!(self.agent.is_unfinished(), over.is_busy());
        assert_eq!(self.agent.outcome().is_some(), over.outcome().is_some(), "{state:?}");
        if state == State::Done && !over.commitments().is_empty() {
            let checked = over.verification().unwrap();
            let reports = (0..over.commitments().len()).map(|id| checked.report(CommitmentId(id)));
            assert!(
                reports.flatten().filter(|report| CheckReport::is_kept(report)).count() == over.commitments().len()
            );
        }
    }

    /// From anywhere, an agent that is dismissed and cleaned up after is at its end after at most two events; and a turn that it was in
    /// rests after at most one answer for each thing in flight, and wakes nobody.
    fn check_way_out(&self) {
        let mut agent = self.agent.clone();
        let state = |agent: &Agent| agent.lifecycle().map(Lifecycle::state);
        let (Some(before), false) = (state(&agent), agent.is_over()) else { return };
        let mut events = 0;
        while state(&agent) != Some(State::Ended) {
            assert!(events < DISMISSAL, "still {:?} after {events} events", state(&agent));
            let open = agent.lifecycle().map(Lifecycle::outstanding).unwrap_or_default();
            let cleanup = open.iter().find_map(|action| match action {
                lifecycle::Action::CleanUp { ticket } => Some(*ticket),
                _ => None,
            });
            let event = match cleanup {
                Some(ticket) => lifecycle::Event::CleanupCompleted { ticket },
                None => lifecycle::Event::Dismissed,
            };
            let _ = agent.step(self.now_ms, event.into()).unwrap();
            events += 1;
        }
        let mut answers = 0;
        while before == State::Working && !agent.session().is_idle() {
            assert!(answers < STOP, "still {:?} after {answers} answers", agent.session().state());
            let open = agent.session().outstanding().remove(0);
            let _ = agent.step(self.now_ms, stop(&open.action, agent.session()).into()).unwrap();
            answers += 1;
        }
        assert_eq!(state(&agent), Some(State::Ended), "a dismissed agent works again");
    }
}

/// Events between a dismissal, if there is one left to make, and the end: that, and the end of the cleanup.
const DISMISSAL: u32 = 2;

/// Answers until a turn that was stopped has ended: one for each of the calls that an answer of the model has here.
const STOP: u32 = 2;

/// The user's messages that the model was told of.
fn history(agent: &Agent) -> Vec<String> {
    let items = agent.session().conversation().iter();
    let texts = items.filter_map(|item| match item.as_ref() {
        Item::Input(input) => Some(input.texts().to_vec()),
        Item::Summary(summary) => Some(summary.said().iter().map(String::as_str).collect()),
        Item::Answer(_) | Item::Round(_) => None,
    });
    texts.flatten().filter(|text| is_message(text)).map(str::to_owned).collect()
}

/// The message of the user that an event brings.
fn message(event: &Event) -> Option<&str> {
    match event {
        Event::Session(event) => event.message().filter(|text| is_message(text)),
        _ => None,
    }
}

fn is_message(text: &str) -> bool {
    text.starts_with("input-")
}
