//! Servers by hand: the notation of the scenarios, and a driver that goes by it.

pub mod alphabet;
mod read;
pub mod show;

pub use read::{config, event};

use agent_core::server::{Event, Limits, Rejected, Server, ServerTable, Step};

/// A server and what a driver of it would remember.
#[derive(Clone, Debug)]
pub struct Script {
    /// The server.
    pub server: Server,
    /// Its clock.
    pub now_ms: u64,
}

impl Script {
    /// A new server on a table.
    pub fn on(limits: Limits, table: &'static ServerTable) -> Self {
        Self { server: Server::with_table(limits, table), now_ms: 0 }
    }

    /// Reads a line as an event.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn read(&self, line: &str) -> Event {
        event(line, &self.server).unwrap_or_else(|error| panic!("{line}: {error}"))
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
    /// When the server refuses it.
    pub fn take(&mut self, event: Event) -> Result<Step, Rejected> {
        self.server.step(self.now_ms, event)
    }
}
