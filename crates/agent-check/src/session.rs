//! Sessions by hand: the notation of the scenarios, what may follow on every action, and a driver that goes by them.

pub mod alphabet;
mod config;
mod read;
mod script;
pub mod show;
mod tables;
mod write;

pub use config::config;
pub use script::{Command, Script, ticket};
pub use write::line;

use crate::notation::Unreadable;
use agent_core::conversation::ToolCall;
use agent_core::session::{Action, Event, Session, Ticket};
use read::{Context, Tickets};
use std::borrow::Cow;

/// Reads a line as an answer to an action: its ticket, and its calls by their numbers. Calls of the model's answer are numbered by the model
/// calls there were.
///
/// # Errors
/// When nothing is called so.
pub fn answer(line: &str, action: &Action, session: &Session) -> Result<Event, Unreadable> {
    let calls: Cow<'_, [ToolCall]> = match action {
        Action::PrepareTools { calls, .. } | Action::ExecuteTools { calls, .. } => Cow::Borrowed(calls),
        Action::RequestApproval { questions, .. } => questions.iter().map(|question| question.call.clone()).collect(),
        _ => Cow::Borrowed(&[]),
    };
    let tickets = Tickets::all(ticket(action).unwrap_or(NO_TICKET));
    let (config, answer) = (session.config(), session.ledger().model_calls);
    read::event(line, &Context { tickets: &tickets, calls: &calls, answer, config })
}

/// Reads a line as something that happens by itself, or as an answer to a question that nobody asked.
///
/// # Errors
/// When nothing is called so.
pub fn event(line: &str, ticket: Ticket, session: &Session) -> Result<Event, Unreadable> {
    let (config, answer) = (session.config(), session.ledger().model_calls);
    read::event(line, &Context { tickets: &Tickets::all(ticket), calls: &[], answer, config })
}

/// None is ever given this one.
const NO_TICKET: Ticket = Ticket(u64::MAX);
