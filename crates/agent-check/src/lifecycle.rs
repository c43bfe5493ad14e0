//! Lifecycles by hand: the notation of the scenarios, what may follow, and a driver that goes by them.

pub mod alphabet;
mod read;
pub mod show;

pub use read::{config, event};

use agent_core::lifecycle::{Action, Event, Lifecycle, LifecycleConfig, LifecycleTable, Step, Ticket};

/// The newest ticket of each kind of question.
#[derive(Clone, Copy, Debug)]
pub struct Tickets {
    /// Of the checks.
    pub checks: Ticket,
    /// Of the timer.
    pub timer: Ticket,
    /// Of the cleanup.
    pub cleanup: Ticket,
}

impl Tickets {
    /// The same for each.
    pub const fn all(ticket: Ticket) -> Self {
        Self { checks: ticket, timer: ticket, cleanup: ticket }
    }

    /// Remembers what an action asks.
    pub const fn note(&mut self, action: &Action) {
        match action {
            Action::RunChecks { ticket, .. } => self.checks = *ticket,
            Action::StartTimer { ticket, .. } => self.timer = *ticket,
            Action::CleanUp { ticket } => self.cleanup = *ticket,
            Action::SendInput { .. }
            | Action::SendGapReport { .. }
            | Action::CancelChecks { .. }
            | Action::CancelTurn
            | Action::StopTimer { .. }
            | Action::ReportOutcome { .. }
            | Action::ReleaseSession => {}
        }
    }
}

/// A lifecycle and what a driver of it would remember.
#[derive(Clone, Debug)]
pub struct Script {
    /// The lifecycle.
    pub machine: Lifecycle,
    /// Its clock.
    pub now_ms: u64,
    tickets: Tickets,
}

impl Script {
    /// A new lifecycle on a table.
    pub fn on(config: LifecycleConfig, table: &'static LifecycleTable) -> Self {
        let machine = Lifecycle::with_table(config, table);
        let mut tickets = Tickets::all(Ticket(99));
        // The timer of the first wait begins without a step.
        machine.outstanding().iter().for_each(|action| tickets.note(action));
        Self { machine, now_ms: 0, tickets }
    }

    /// Reads a line as an event.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn read(&self, line: &str) -> Event {
        event(line, &self.tickets).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    /// Takes the event of a line.
    ///
    /// # Panics
    /// When the line cannot be read, or is refused.
    pub fn tell(&mut self, line: &str) -> Step {
        self.take(self.read(line)).unwrap_or_else(|no| panic!("{line}: {no}"))
    }

    /// Takes an event and remembers what it asks for.
    ///
    /// # Errors
    /// When the lifecycle refuses it.
    pub fn take(&mut self, event: Event) -> Result<Step, agent_core::lifecycle::Rejected> {
        let step = self.machine.step(self.now_ms, event)?;
        step.actions.iter().for_each(|action| self.tickets.note(action));
        Ok(step)
    }
}
