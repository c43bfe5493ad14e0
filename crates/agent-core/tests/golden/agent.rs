//! An agent over a session: one commitment is kept, one is not, whatever it is told.

use crate::kept::{self, Kept, lines};
use agent_core::journal::{ActionStarted, Entry, Header, LifecycleEntry, Record, Replayer};
use agent_core::lifecycle::{Action, CheckEnd, CheckReport, Commitment, CommitmentId, Event, LifecycleConfig};
use agent_core::link::{self, Agent};
use agent_core::llm::LlmResponse;
use agent_core::session::{self, ModelConfig, Session, SessionConfig};

/// The file of the story as it goes today.
pub(crate) fn written() -> Kept {
    Kept::new("journal", "agent.jsonl", kept::written(Story::told().records))
}

/// The agent that the records make.
pub(crate) fn replayed(records: Vec<Record>) -> Agent {
    let mut records = records.into_iter();
    let mut replayer = Replayer::new(records.next().unwrap()).unwrap();
    for record in records {
        let _ = replayer.take(record).unwrap();
    }
    replayer.agent().unwrap().clone()
}

/// The kept entries, one a line.
pub(crate) fn entries() -> String {
    let text = kept::read("journal", "agent.jsonl");
    kept::written(lines(&text).into_iter().map(|line| serde_json::from_str::<Record>(line).unwrap().entry))
}

/// Those of the lifecycle.
pub(crate) fn lifecycle_entries() -> String {
    let text = kept::read("journal", "agent.jsonl");
    let entries = lines(&text).into_iter().map(|line| serde_json::from_str::<Record>(line).unwrap().entry);
    kept::written(entries.filter_map(|entry| match entry {
        Entry::Lifecycle(entry) => Some(entry),
        _ => None,
    }))
}

struct Story {
    session: Session,
    agent: Agent,
    records: Vec<Record>,
}

impl Story {
    fn told() -> Self {
        let config = SessionConfig::new(ModelConfig::new("large-1"));
        let header = Header::new("golden-agent", "agent-core 0.1.0", "/home/somebody/project", config.clone());
        let bound = ["cargo test", "true"].map(|command| Commitment::of_command(command, 60_000));
        let bound = LifecycleConfig { max_rounds: 1, ..LifecycleConfig::headless(bound.into()) };
        let mut story = Self { session: Session::new(config), agent: Agent::new(bound.clone()), records: Vec::new() };
        story.record(Entry::Header(Box::new(header)));
        story.take(session::Event::Started);
        story.record(Entry::Lifecycle(LifecycleEntry::Began(Box::new(bound))));
        story.agent_takes(Event::InputReceived { text: "Make the tests pass.".into() });
        assert_eq!(replayed(story.records.clone()), story.agent, "the journal tells the same");
        story
    }

    fn agent_takes(&mut self, event: Event) {
        self.record(Entry::Lifecycle(LifecycleEntry::Event(event.clone())));
        let turn = match event {
            Event::TurnEnded { .. } => self.session.outcome(),
            _ => None,
        };
        let step = self.agent.step(self.now_ms(), event, turn.as_ref()).unwrap();
        for action in step.actions {
            if let Some(command) = link::command(&action) {
                self.take(command);
            }
            if let Action::RunChecks { ticket, checks } = action {
                for (code, check) in [101, 0].into_iter().zip(checks) {
                    let report = CheckReport { end: CheckEnd::Exited { code }, output: String::from("1 failed\n") };
                    let commitment: CommitmentId = check.commitment;
                    self.agent_takes(Event::CheckCompleted { ticket, commitment, report });
                }
            }
        }
    }

    /// The model has one answer to everything. The program ends while it is given for the first time.
    fn take(&mut self, event: session::Event) {
        self.record(Entry::Event(event.clone()));
        let step = self.session.step(self.now_ms(), event).unwrap();
        step.transitions.iter().for_each(|transition| self.agent.session_moved(transition));
        for started in step.actions.iter().filter_map(ActionStarted::of) {
            self.record(Entry::ActionStarted(started));
        }
        for action in step.actions {
            match action {
                session::Action::SendLlmRequest { ticket, .. } => {
                    let answered = session::Event::LlmCompleted { ticket, response: LlmResponse::text("They do.") };
                    let is_first = self.session.ledger().model_calls == 1;
                    self.take(if is_first { session::Event::LlmInterrupted { ticket } } else { answered });
                }
                session::Action::PromptForInput => {
                    if let Some(outcome) = self.session.outcome() {
                        self.agent_takes(self.agent.turn_ended(&outcome));
                    }
                }
                _ => {}
            }
        }
    }

    fn record(&mut self, entry: Entry) {
        let seq = self.records.len() as u64;
        self.records.push(Record { seq, at_ms: 1_000 * seq, entry });
    }

    /// As the last record says.
    fn now_ms(&self) -> u64 {
        1_000 * (self.records.len() as u64 - 1)
    }
}
