//! A journal: events written as JSON Lines before anything acts on them, and read again to the same session.
//!
//! `cargo run -p agent-core --example record_replay`
//!
//! The program "crashes" while the model is answering. The journal makes the same session again, which then says itself what was asked
//! and not answered, with the same ticket.
#![expect(clippy::print_stdout, reason = "the terminal is this host's user interface")]

use agent_core::journal::{self, Entry, Format, Header, Record, ReplayError};
use agent_core::llm::LlmResponse;
use agent_core::session::{Action, Event, ModelConfig, Session, SessionConfig, State, Ticket};
use std::error::Error;

/// A session that writes down what happens to it. A host would write to a file, and sync it, where this one grows a string.
struct Recorded {
    session: Session,
    lines: String,
    records: u64,
}

impl Recorded {
    fn new(config: SessionConfig) -> Result<Self, serde_json::Error> {
        let header = Header::new("example", "record_replay", "/tmp", config.clone());
        let mut recorded = Self { session: Session::new(config), lines: String::new(), records: 0 };
        recorded.append(Entry::Header(Box::new(header)))?;
        Ok(recorded)
    }

    /// First the record, then the step: what was acted on can be read again. Refused events are kept, too, and refused again.
    fn take(&mut self, event: Event) -> Result<Vec<Action>, Box<dyn Error>> {
        self.append(Entry::Event(event.clone().into()))?;
        Ok(self.session.step(self.records, event)?.actions)
    }

    fn append(&mut self, entry: Entry) -> Result<(), serde_json::Error> {
        let record = Record { seq: self.records, at_ms: self.records + 1, entry };
        self.lines += &serde_json::to_string(&record)?;
        self.lines.push('\n');
        self.records += 1;
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut recorded = Recorded::new(SessionConfig::new(ModelConfig::new("some-model")))?;
    recorded.take(Event::Started)?;
    recorded.take(Event::UserInput { text: "What is a journal?".into() })?;
    let lost = Ticket(77);
    assert!(recorded.take(Event::RetryTimeout { ticket: lost }).is_err(), "nobody asked for this");
    print!("{}", recorded.lines);

    // After the crash there is nothing but the lines.
    let records: Vec<Record> = recorded.lines.lines().map(|line| Format::TODAY.read(line)).collect::<Result<_, _>>()?;
    let (header, mut session) = journal::replay(records)?;
    assert_eq!((header.program.as_str(), &session), ("record_replay", &recorded.session));

    // A model call may be asked again.
    let outstanding = session.outstanding();
    let Some(Action::SendLlmRequest { ticket, .. }) = outstanding.first().map(|asked| &asked.action) else {
        return Err("nothing is outstanding".into());
    };
    let response = LlmResponse::text("What happened, in order.");
    let step = session.step(recorded.records, Event::LlmCompleted { ticket: *ticket, response })?;
    assert_eq!((session.state(), step.actions.len()), (State::WaitingForUserInput, 2));

    // A journal with a hole makes no session.
    let torn = recorded.lines.lines().enumerate().filter(|(number, _)| *number != 1);
    let records: Vec<Record> = torn.map(|(_, line)| Format::TODAY.read(line)).collect::<Result<_, _>>()?;
    assert_eq!(journal::replay(records).err(), Some(ReplayError::Gap { expected: 1, found: 2 }));
    println!("{} records, replayed to {:?}", recorded.records, session.state());
    Ok(())
}
