//! A driver by hand: it remembers what a session asked for, and tells it what a line says.

use super::config::config;
use super::read::{Context, Tickets, event};
use super::show;
use crate::notation::Unreadable;
use agent_core::conversation::ToolCall;
use agent_core::session::table::TABLE;
use agent_core::session::{Action, Event, ModelConfig, Session, SessionConfig, SessionTable, Step, Ticket};

/// A session and what a driver of it would remember.
#[derive(Clone, Debug)]
pub struct Script {
    /// The session.
    pub session: Session,
    /// Its clock.
    pub now_ms: u64,
    table: &'static SessionTable,
    calls: Vec<ToolCall>,
    answers: u64,
    asked: Tickets,
    newest: Ticket,
}

/// What a line is.
#[derive(Debug)]
pub enum Command {
    /// It was done.
    Nothing,
    /// A question about the session, with the answer.
    Show(String),
    /// Something that will be told to the session.
    Take(Event),
}

impl Default for Script {
    fn default() -> Self {
        Self::on(&TABLE)
    }
}

impl Script {
    /// A started session on a table, to which all is allowed.
    pub fn on(table: &'static SessionTable) -> Self {
        let mut script = Self::made(SessionConfig::new(ModelConfig::new("first")), table);
        script.read("config");
        script
    }

    fn made(config: SessionConfig, table: &'static SessionTable) -> Self {
        let (none, calls) = (Ticket(0), Vec::new());
        let session = Session::with_table(config, table);
        Self { session, now_ms: 0, table, calls, answers: 0, asked: Tickets::all(none), newest: none }
    }

    /// The calls of the last answer that had some.
    pub fn calls(&self) -> &[ToolCall] {
        &self.calls
    }

    /// The newest ticket of all.
    pub const fn newest(&self) -> Ticket {
        self.newest
    }

    /// The ticket of the turn's deadline.
    pub const fn deadline(&self) -> Ticket {
        self.asked.deadline
    }

    /// A started session after these lines.
    ///
    /// # Panics
    /// When a line cannot be read, or is refused.
    pub fn after(lines: &[&str]) -> Self {
        let mut script = Self::default();
        script.play(lines);
        script
    }

    /// Takes the events of these lines; what the last one asks for.
    ///
    /// # Panics
    /// When a line cannot be read, or is refused.
    pub fn play(&mut self, lines: &[&str]) -> Vec<Action> {
        let told = lines.iter().filter_map(|line| self.tell(line));
        told.last().map(|step| step.actions).unwrap_or_default()
    }

    /// Applies the event of a line, if it is one, and returns the result.
    ///
    /// # Panics
    /// When the line cannot be read, or is refused.
    pub fn tell(&mut self, line: &str) -> Option<Step> {
        let Command::Take(event) = self.read(line) else { return None };
        let step = self.session.step(self.now_ms, event).unwrap_or_else(|no| panic!("{line}: {no}"));
        self.note(&step.actions);
        Some(step)
    }

    /// Remembers the tickets of what was asked.
    pub fn note(&mut self, actions: &[Action]) {
        for action in actions {
            let Some(ticket) = ticket(action) else { continue };
            self.newest = self.newest.max(ticket);
            *self.asked.of(action) = ticket;
            if let Action::PrepareTools { calls, .. } = action {
                self.calls.clone_from(calls);
            }
        }
    }

    /// Reads a line, and handles what is not an event: `config …`, `not-started …`, `wait 100`.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn read(&mut self, line: &str) -> Command {
        self.try_read(line).unwrap_or_else(|error| panic!("{line}: {error}"))
    }

    fn try_read(&mut self, line: &str) -> Result<Command, Unreadable> {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match verb {
            "config" | "not-started" => {
                *self = Self::made(config(rest)?, self.table);
                if verb == "config" {
                    let started = self.session.step(0, Event::Started).map(drop);
                    started.map_err(|_| Unreadable::new(line, "a session that starts"))?;
                }
                return Ok(Command::Nothing);
            }
            "wait" => {
                self.now_ms += rest.parse::<u64>().map_err(|_| Unreadable::new(line, "wait MILLISECONDS"))?;
                return Ok(Command::Nothing);
            }
            "history" => return Ok(Command::Show(show::history(&self.session))),
            "ledger" => return Ok(Command::Show(show::ledger(&self.session))),
            "outstanding" => return Ok(Command::Show(show::outstanding(&self.session))),
            "answer" => self.answers += 1,
            _ => {}
        }
        let config = self.session.config();
        let context = Context { tickets: &self.asked, calls: &self.calls, answer: self.answers, config };
        event(line, &context).map(Command::Take)
    }
}

/// The ticket of an action that expects an answer.
pub const fn ticket(action: &Action) -> Option<Ticket> {
    match action {
        Action::SendLlmRequest { ticket, .. }
        | Action::PrepareTools { ticket, .. }
        | Action::RequestApproval { ticket, .. }
        | Action::ExecuteTools { ticket, .. }
        | Action::CheckGitCommits { ticket, .. }
        | Action::RunAutoformatters { ticket, .. }
        | Action::CommitChanges { ticket, .. }
        | Action::RunHooks { ticket, .. }
        | Action::ScheduleRetry { ticket, .. }
        | Action::StartDeadline { ticket, .. } => Some(*ticket),
        _ => None,
    }
}
