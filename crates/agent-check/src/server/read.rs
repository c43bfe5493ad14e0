//! Lines as events: the one place that spells the events of a server.

use crate::notation::{Unreadable, parsed};
use agent_core::server::{Asked, Event, Gate, Limits, Server};

/// `restarts=1 lists=2 inputs=10 steady=600000`: everything else is as by default.
///
/// # Errors
/// Names the word that is none of these, or not a number.
pub fn config(line: &str) -> Result<Limits, Unreadable> {
    let mut limits = Limits::default();
    for word in line.split_whitespace() {
        match word.split_once('=') {
            Some(("restarts", value)) => limits.max_restarts = parsed(value, "a number of restarts")?,
            Some(("lists", value)) => limits.max_lists = parsed(value, "a number of lists")?,
            Some(("inputs", value)) => limits.max_inputs = parsed(value, "a number of inputs")?,
            Some(("steady", value)) => limits.steady_ms = parsed(value, "milliseconds")?,
            _ => return Err(Unreadable::new(word, "`restarts=N`, `lists=N`, `inputs=N` or `steady=N`")),
        }
    }
    Ok(limits)
}

/// A line as an event: of the server's present run, or of the one that is named (`came @2`); of its oldest open call, or of the one that
/// is named (`answered #2`); of the oldest thing that is asked for, or of the one that is named (`replied #2`).
///
/// # Errors
/// When nothing is called so.
pub fn event(line: &str, server: &Server) -> Result<Event, Unreadable> {
    let named = line.rsplit_once(" @").and_then(|(line, named)| Some((line, named.parse().ok()?)));
    let (line, run) = named.unwrap_or((line, server.run()));
    let named = line.rsplit_once(" #").and_then(|(line, named)| Some((line, named.parse().ok()?)));
    let oldest = server.open().next().map_or(0, |(ticket, _)| ticket);
    let (line, ticket) = named.map_or((line, None), |(line, ticket)| (line, Some(ticket)));
    let next = server.last_ticket() + 1;
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    let of = ticket.unwrap_or(oldest);
    let input = ticket.or_else(|| server.inputs().next().map(|(input, _)| input)).unwrap_or(0);
    Ok(match verb {
        "consider" => Event::Considered { gate: gate(rest)? },
        "came" => Event::Came { run },
        "not-started" => Event::StartFailed { run, found: rest.into() },
        "ended" => Event::Ended { run, found: rest.into() },
        "timer" if rest.is_empty() => Event::TimerFired { timer: server.timer() },
        "timer" => Event::TimerFired { timer: parsed(rest, "a number of a timer")? },
        "call" => Event::CallAsked { call: asked(ticket.unwrap_or(next), rest)? },
        "answered" => Event::CallAnswered { ticket: of },
        "progress" => Event::CallProgressed { ticket: of },
        "timed-out" => Event::CallTimedOut { ticket: of },
        "cancel" => Event::CallCancelled { ticket: of },
        "asks" => Event::InputAsked { run, input: server.last_input() + 1, ticket },
        "replied" => Event::InputAnswered { input },
        "asks-no-more" => Event::InputWithdrawn { input },
        "changed" => Event::ListChanged { run },
        "listed" => Event::Listed { run },
        "not-listed" => Event::ListFailed { run, found: rest.into() },
        "restart" => Event::RestartRequested,
        "stop" => Event::StopRequested,
        _ => return Err(Unreadable::new(line, "something that happens to a server")),
    })
}

fn gate(words: &str) -> Result<Gate, Unreadable> {
    let mut gate = Gate::default();
    for word in words.split_whitespace() {
        match word {
            "disabled" => gate.is_disabled = true,
            "changed" => gate.untrusted = Some("its program changed".into()),
            _ => return Err(Unreadable::new(word, "`disabled` or `changed`")),
        }
    }
    Ok(gate)
}

fn asked(ticket: u64, words: &str) -> Result<Asked, Unreadable> {
    let is_repeatable = match words {
        "" => false,
        "repeatable" => true,
        _ => return Err(Unreadable::new(words, "`repeatable`")),
    };
    Ok(Asked { ticket, idle_ms: 60_000, max_ms: 90_000, is_repeatable })
}
