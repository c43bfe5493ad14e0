//! Sessions by hand: the notation of the scenarios, what may follow on every action, and a driver that goes by them.

pub mod alphabet;
pub(crate) mod commands;
mod config;
mod read;
mod script;
pub mod show;
mod tables;
mod write;

pub use commands::message;
pub use config::config;
pub use script::{Command, Script, ticket};
pub use write::line;

use crate::notation::Unreadable;
use agent_core::conversation::ToolCall;
use agent_core::session::{Action, Event, Session, Ticket};
use alphabet::{Question, TROUBLES};
use read::{Context, Tickets};
use std::borrow::Cow;

/// Reads a line as an answer to an action: its ticket, and its calls by their numbers. Calls of the model's answer are numbered by the
/// model calls there were.
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

/// Reads a line as something that happens by itself, or as an answer to a question that was never asked.
///
/// # Errors
/// When nothing is called so.
pub fn event(line: &str, ticket: Ticket, session: &Session) -> Result<Event, Unreadable> {
    let (config, answer) = (session.config(), session.ledger().model_calls);
    read::event(line, &Context { tickets: &Tickets::all(ticket), calls: &[], answer, config })
}

/// The answer of a driver that was told to stop.
///
/// # Panics
/// When what is asked is over with its cancel, and has no answer.
pub fn stop(action: &Action, session: &Session) -> Event {
    let line = match Question::of(action) {
        Some(Question::Model) => "aborted",
        Some(Question::Facts) => "prepared",
        Some(Question::Tools) => "tool 1 interrupted stopped",
        Some(Question::Git | Question::Format | Question::Commit | Question::Hooks) => "hook-failed stopped",
        Some(Question::Approval | Question::Retry | Question::Deadline) | None => "nothing",
    };
    answer(line, action, session).unwrap_or_else(|_| panic!("{action:?} cannot be outstanding after a cancel"))
}

/// The answer to an action that two numbers choose among all that there are, those that call tools more often than others.
///
/// # Panics
/// When the action expects no answer.
pub fn chosen(action: &Action, session: &Session, a: u8, b: u8) -> Event {
    let Some(question) = Question::of(action) else { panic!("{action:?} expects no answer") };
    let troubles = if question.has_troubles() && a % 4 == 3 { TROUBLES } else { &[] };
    let all = question.answers().iter().chain(question.traps()).chain(troubles);
    let only_calls = question == Question::Model && a % 2 == 1;
    let lines: Vec<&str> = all.copied().filter(|line| !only_calls || line.contains("calls")).collect();
    let line = lines[usize::from(b) % lines.len()];
    let calls = match action {
        Action::ExecuteTools { calls, .. } => calls.len(),
        Action::RequestApproval { questions, .. } => questions.len(),
        _ => 1,
    };
    let number = (1 + usize::from(a) % calls).to_string();
    let usage = if line.starts_with("answer") && b.is_multiple_of(2) { " usage=100,10" } else { "" };
    let line = line.replace("ASKED", &number).replace("RUNNING", &number).replace("IDLE", "id:nobody") + usage;
    answer(&line, action, session).unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// None is ever given this one.
const NO_TICKET: Ticket = Ticket(u64::MAX);
