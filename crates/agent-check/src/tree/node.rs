//! One agent of a tree with its journal, and what was asked of the driver.

use agent_core::agent::{Agent, Event};
use agent_core::conversation::{CallId, ToolCall};
use agent_core::journal::{Entry, Header, Record, Replayer};
use agent_core::lifecycle;
use agent_core::session::Ticket;

/// Where an agent stands: the numbers on the way to it.
pub type Place = Vec<u32>;

/// What the driver was asked to do and has not answered, and which agent asked.
#[expect(missing_docs, reason = "an action's ticket and what it is about")]
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// A model call.
    Model { at: Place, ticket: Ticket },
    /// To find out about calls.
    Prepare { at: Place, ticket: Ticket, calls: Vec<ToolCall> },
    /// A call of a tool.
    Tool { at: Place, ticket: Ticket, call: CallId },
    /// A question to a person.
    Approve { at: Place, ticket: Ticket, call: CallId },
    /// To look for changes.
    Git { at: Place, ticket: Ticket },
    /// To run checks.
    Check { at: Place, ticket: Ticket, checks: Vec<lifecycle::Check> },
    /// To clean up after an agent that was given up.
    CleanUp { at: Place, ticket: Ticket },
    /// To make the workspace of its own for a child.
    Make { at: Place, number: u32 },
    /// To look through what a child left in it.
    Clear { at: Place, number: u32 },
}

impl Task {
    /// The agent that asked.
    #[must_use]
    pub const fn at(&self) -> &Place {
        match self {
            Self::Model { at, .. }
            | Self::Prepare { at, .. }
            | Self::Tool { at, .. }
            | Self::Approve { at, .. }
            | Self::Git { at, .. }
            | Self::Check { at, .. }
            | Self::CleanUp { at, .. }
            | Self::Make { at, .. }
            | Self::Clear { at, .. } => at,
        }
    }
}

/// One agent with its journal. What is not durable a crash may take back.
#[derive(Clone, Debug)]
pub struct Node {
    /// The agent as it is now.
    pub agent: Agent,
    pub(super) header: Header,
    pub(super) journal: Vec<Record>,
    pub(super) durable: usize,
    /// The agent as it was when it was durable last.
    base: Agent,
}

impl Node {
    pub(super) fn new(header: Header) -> Self {
        let record = Record { seq: 0, at_ms: 0, entry: Entry::Header(Box::new(header.clone())) };
        let replayer = Replayer::new(record.clone()).unwrap();
        let agent = replayer.finish().agent;
        Self { base: agent.clone(), agent, header, journal: vec![record], durable: 1 }
    }

    pub(super) fn replayed(&self, records: usize) -> Self {
        let mut replayer = Replayer::new(self.journal[0].clone()).unwrap();
        for record in &self.journal[1..records] {
            replayer.advance(record.clone()).unwrap();
        }
        let journal = self.journal[..records].to_vec();
        let agent = replayer.finish().agent;
        Self { base: agent.clone(), agent, header: self.header.clone(), journal, durable: records }
    }

    pub(super) fn sync(&mut self) {
        if self.durable < self.journal.len() {
            (self.durable, self.base) = (self.journal.len(), self.agent.clone());
        }
    }

    /// The agent as a crash leaves it at least, and the events that it may take back.
    pub fn loose(&self) -> (&Agent, impl Iterator<Item = &Event>) {
        let events = self.journal.iter().skip(self.durable).filter_map(|record| match &record.entry {
            Entry::Event(event) => Some(event),
            _ => None,
        });
        (&self.base, events)
    }
}
