//! Children by hand: the notation of the scenarios, and a driver that goes by it.

pub mod alphabet;
mod read;
pub mod show;

pub use read::{config, event, gate};

use agent_core::child::{Assignment, Child, ChildTable, Event, Rejected, Step};

/// A child and what a driver of it would remember.
#[derive(Clone, Debug)]
pub struct Script {
    /// The child, as its parent knows it.
    pub child: Child,
    /// Its clock.
    pub now_ms: u64,
}

impl Script {
    /// A new child on a table.
    pub fn on(assignment: Assignment, table: &'static ChildTable) -> Self {
        Self { child: Child::with_table(assignment, table), now_ms: 0 }
    }

    /// Reads a line as an event.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn read(&self, line: &str) -> Event {
        event(line, &self.child).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    /// Takes the event of a line.
    ///
    /// # Panics
    /// When the line cannot be read, or is refused.
    pub fn tell(&mut self, line: &str) -> Step {
        self.take(self.read(line)).unwrap_or_else(|no| panic!("{line}: {no}"))
    }

    /// Takes an event.
    ///
    /// # Errors
    /// When the child refuses it.
    pub fn take(&mut self, event: Event) -> Result<Step, Rejected> {
        self.child.step(self.now_ms, event)
    }
}
