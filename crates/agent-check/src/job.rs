//! Jobs by hand: the notation of the scenarios, and a driver that goes by it.

pub mod alphabet;
mod read;
pub mod show;

pub use read::{agent, config, event, spent};

use agent_core::job::{Action, AgentConfig, Event, Job, JobConfig, JobTable, Rejected, Spent, Step};
use agent_core::session::Ticket;

/// What a line leaves unsaid.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The ticket of what was asked last.
    pub ticket: Ticket,
    /// The agent that was suggested last.
    pub suggestion: AgentConfig,
    /// Attempts that began.
    pub attempts: u32,
    /// What every answer says was spent, where that is to be the same for all.
    pub spent: Option<Spent>,
}

impl Asked {
    /// Nothing but a ticket was seen.
    pub fn of(ticket: Ticket) -> Self {
        Self { ticket, suggestion: agent("m"), attempts: 0, spent: None }
    }

    /// Remembers what an action asks.
    pub fn note(&mut self, action: &Action) {
        match action {
            Action::DefineAgent { ticket, suggestion, .. } => {
                (self.ticket, self.suggestion) = (*ticket, suggestion.clone());
            }
            Action::RunAgent { ticket, .. } => (self.ticket, self.attempts) = (*ticket, self.attempts + 1),
            Action::ValidateJob { ticket }
            | Action::ScheduleRetry { ticket, .. }
            | Action::WriteAuditRecord { ticket, .. } => self.ticket = *ticket,
            Action::StopWork { .. } | Action::CancelRetry { .. } => {}
        }
    }
}

/// A job and what a driver of it would remember.
#[derive(Clone, Debug)]
pub struct Script {
    /// The job.
    pub job: Job,
    /// Its clock.
    pub now_ms: u64,
    /// What it asked.
    pub asked: Asked,
}

impl Script {
    /// A new job on a table, made at this time.
    pub fn on(config: JobConfig, now_ms: u64, table: &'static JobTable) -> Self {
        Self { job: Job::with_table(config, now_ms, table), now_ms, asked: Asked::of(Ticket(99)) }
    }

    /// Reads a line as an event.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn read(&self, line: &str) -> Event {
        event(line, &self.asked).unwrap_or_else(|error| panic!("{line}: {error}"))
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
    /// When the job refuses it.
    pub fn take(&mut self, event: Event) -> Result<Step, Rejected> {
        let step = self.job.step(self.now_ms, event)?;
        step.actions.iter().for_each(|action| self.asked.note(action));
        Ok(step)
    }
}
