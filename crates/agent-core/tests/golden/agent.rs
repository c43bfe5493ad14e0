//! An agent: one commitment is kept, one is not, whatever it is told.

use crate::kept::{self, Kept, lines};
use agent_core::agent::{Agent, Event};
use agent_core::journal::{ActionStarted, Entry, Format, Header, LifecycleEntry, Record, Replayer};
use agent_core::lifecycle::{self, CheckEnd, CheckReport, Commitment, CommitmentId, LifecycleConfig, Ticket};
use agent_core::llm::LlmResponse;
use agent_core::session::{self, ModelConfig, SessionConfig, Summaries};

/// The last version of journals that recorded session and lifecycle separately.
pub(crate) const APART: u32 = 4;

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
    replayer.agent().clone()
}

/// The story's records as one version of the journal told them.
pub(crate) fn records(version: u32) -> Vec<Record> {
    let text = kept::read_of("journal", version, "agent.jsonl");
    let format = Format::of(lines(&text)[0]).unwrap();
    assert_eq!(format.version(), version);
    lines(&text).iter().map(|line| format.read(line).unwrap()).collect()
}

/// The kept entries, one a line: those of today, and those that are only read.
pub(crate) fn entries() -> String {
    let all = [APART, agent_core::journal::FORMAT_VERSION].map(records).into_iter().flatten();
    kept::written(all.map(|record| record.entry))
}

/// Those of the lifecycle alone.
pub(crate) fn lifecycle_entries() -> String {
    kept::written(records(APART).into_iter().filter_map(|record| match record.entry {
        Entry::Lifecycle(entry) => Some::<LifecycleEntry>(entry),
        _ => None,
    }))
}

/// Commitments that one version after the other was told of.
fn bound() -> LifecycleConfig {
    let bound = ["cargo test", "true"].map(|command| Commitment::of_command(command, 60_000));
    LifecycleConfig { max_rounds: 1, ..LifecycleConfig::headless(bound.into()) }
}

struct Story {
    agent: Agent,
    records: Vec<Record>,
}

impl Story {
    fn told() -> Self {
        let mut config = SessionConfig::new(ModelConfig::new("large-1"));
        config.summaries = Summaries::of_earlier_versions();
        let header = Header::new("golden-agent", "agent-core 0.1.0", "/home/somebody/project", config.clone());
        let mut story = Self { agent: Agent::new(config), records: Vec::new() };
        story.record(Entry::Header(Box::new(header)));
        story.take(session::Event::Started.into());
        story.take(Event::Bound(Box::new(LifecycleConfig::headless(Vec::new()))));
        story.take(Event::Attended);
        story.take(Event::Released);
        story.take(Event::Bound(Box::new(bound())));
        story.take(session::Event::UserInput { text: "Make the tests pass.".into() }.into());
        assert_eq!(replayed(story.records.clone()), story.agent, "the journal tells the same");
        story
    }

    /// The model has one answer to everything. The program ends while it is given for the first time.
    fn take(&mut self, event: Event) {
        self.record(Entry::Event(event.clone()));
        let at_ms = 1_000 * (self.records.len() as u64 - 1);
        let step = self.agent.step(at_ms, event).unwrap();
        for started in step.session.actions.iter().filter_map(ActionStarted::of) {
            self.record(Entry::ActionStarted(started));
        }
        for action in step.session.actions {
            if let session::Action::SendLlmRequest { ticket, .. } = action {
                self.answer(ticket);
            }
        }
        for action in step.up.actions {
            if let lifecycle::Action::RunChecks { ticket, checks } = action {
                for (code, check) in [101, 0].into_iter().zip(checks) {
                    let report = CheckReport::new(CheckEnd::Exited { code }, String::from("1 failed\n"));
                    let commitment: CommitmentId = check.commitment;
                    self.take(lifecycle::Event::CheckCompleted { ticket, commitment, report }.into());
                }
            }
        }
    }

    fn answer(&mut self, ticket: Ticket) {
        if self.agent.session().ledger().model_calls == 1 {
            self.take(session::Event::SessionResumed { begun: false, calls: Vec::new() }.into());
            return self.take(session::Event::LlmInterrupted { ticket }.into());
        }
        self.take(session::Event::LlmCompleted { ticket, response: LlmResponse::text("They do.") }.into());
    }

    fn record(&mut self, entry: Entry) {
        let seq = self.records.len() as u64;
        self.records.push(Record { seq, at_ms: 1_000 * seq, entry });
    }
}
