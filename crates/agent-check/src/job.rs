//! Jobs by hand: the notation of the scenarios, and a driver that goes by it.

pub mod alphabet;
mod read;
pub mod show;

pub use read::{agent, config, spent};

use agent_core::job::{Action, AgentConfig, Event, Job, JobConfig, JobTable, Rejected, Spent, Step};
use agent_core::session::Ticket;

/// A job and what a driver of it would remember.
#[derive(Clone, Debug)]
pub struct Script {
    /// The job.
    pub job: Job,
    /// Its clock.
    pub now_ms: u64,
    /// The ticket of what was asked last.
    pub ticket: Ticket,
    /// The agent that was suggested last.
    pub suggestion: AgentConfig,
    /// Attempts that began.
    pub attempts: u32,
    /// What every answer says was spent, where that is to be the same for all.
    pub spent: Option<Spent>,
}

impl Script {
    /// A new job on a table, made at this time.
    pub fn on(config: JobConfig, now_ms: u64, table: &'static JobTable) -> Self {
        let job = Job::with_table(config, now_ms, table);
        Self { job, now_ms, ticket: Ticket(99), suggestion: agent("m"), attempts: 0, spent: None }
    }

    /// Reads a line as an event. Answers carry the newest ticket, or the one that is named: `written @2`.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn read(&self, line: &str) -> Event {
        read::event(line, self).unwrap_or_else(|error| panic!("{line}: {error}"))
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
        step.actions.iter().for_each(|action| self.note(action));
        Ok(step)
    }

    fn note(&mut self, action: &Action) {
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
