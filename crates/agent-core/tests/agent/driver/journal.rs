//! A journal that is read again after every event.

use agent_core::agent::{Agent, Event};
use agent_core::journal::{Entry, Format, Header, Record, Replayer};
use agent_core::session::SessionConfig;

/// A journal in lines, and the agent that they make: it is told nothing else.
#[derive(Clone)]
pub(crate) struct Journal {
    lines: Vec<String>,
    replayer: Replayer,
}

impl Journal {
    pub(crate) fn new(config: SessionConfig) -> Self {
        let header = Header::new("s", "test", "/", config);
        let line = line(0, 0, Entry::Header(Box::new(header)));
        let replayer = Replayer::new(Format::of(&line).unwrap().read(&line).unwrap()).unwrap();
        Self { lines: vec![line], replayer }
    }

    /// Writes the event as a driver would, refused or not: what is transient is not kept.
    pub(crate) fn write(&mut self, at_ms: u64, event: Event) {
        if event.is_transient() {
            return;
        }
        let line = line(self.lines.len() as u64, at_ms, Entry::Event(event));
        self.replayer.advance(Format::TODAY.read(&line).unwrap()).unwrap();
        self.lines.push(line);
    }

    /// The agent that the lines make.
    pub(crate) const fn agent(&self) -> &Agent {
        self.replayer.agent()
    }
}

fn line(seq: u64, at_ms: u64, entry: Entry) -> String {
    serde_json::to_string(&Record { seq, at_ms, entry }).unwrap()
}
