//! The event for a job whose action in flight panicked. Repeating it would panic again, and its cost so far is unknown.

use agent_core::job::{Event, FailureKind, Spent, Verdict};
use agent_core::session::Ticket;

pub(super) fn validation(ticket: Ticket) -> Event {
    Event::ValidationFailed { ticket, failure: failure("validating the job") }
}

pub(super) fn routing(ticket: Ticket) -> Event {
    Event::RoutingFailed { ticket, failure: failure("choosing the agent"), spent: unknown() }
}

pub(super) fn attempt(ticket: Ticket, session_id: String) -> Event {
    let verdict = Verdict::FailureForGood(failure("running the attempt"));
    Event::AttemptEnded { ticket, verdict, spent: unknown(), session_id }
}

/// The wait for a retry, which is the clock's: without it the next attempt begins at once.
pub(super) const fn wait(ticket: Ticket) -> Event {
    Event::RetryTimeout { ticket }
}

pub(super) fn record(ticket: Ticket) -> Event {
    Event::RecordFailed { ticket, message: String::from("keeping the record panicked") }
}

fn failure(what: &str) -> FailureKind {
    FailureKind::System(format!("{what} panicked"))
}

/// A call may have been made, at an unknown price.
fn unknown() -> Spent {
    let mut spent = Spent::default();
    spent.unpriced_calls = 1;
    spent
}
