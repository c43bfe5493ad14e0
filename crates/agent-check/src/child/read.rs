//! Lines as events: the one place that spells the events of a child.

use crate::notation::{Unreadable, parsed};
use agent_core::child::lease::{Lease, NoLease, Spent, Unit};
use agent_core::child::{Assignment, Child, Event, Gate, Left, Outcome, Rest, StopCause, Word};

/// `restarts=1 run=2 apart`: everything else is as in a new child named `tests`.
///
/// # Errors
/// Names the word that is not a number.
pub fn config(line: &str) -> Result<Assignment, Unreadable> {
    let mut assignment = Assignment::new(1, "tests", "Run the tests.");
    for word in line.split_whitespace() {
        match word.split_once('=') {
            Some(("restarts", value)) => assignment.max_restarts = parsed(value, "a number of restarts")?,
            None if word == "apart" => assignment.is_apart = true,
            Some(("run", value)) => assignment.run = parsed(value, "a number of a run")?,
            _ => return Err(Unreadable::new(word, "`restarts=N`, `run=N` or `apart`")),
        }
    }
    Ok(assignment)
}

/// What stands in the way: `stop`, `limit`, `poor`, several of them, or nothing.
///
/// # Errors
/// Names the word that is none of these.
pub fn gate(words: &str) -> Result<Gate, Unreadable> {
    let lease = Lease { model_calls: Some(10), agents: 2, depth: 1, ..Lease::default() };
    let mut gate = Gate::open(lease);
    for word in words.split_whitespace() {
        match word {
            "stop" => gate.stop = Some(StopCause::ParentEnds),
            "limit" => gate.limit = Some("8 of 8 agents at work".into()),
            "poor" => gate.lease = Err(NoLease::NothingLeft { unit: Unit::ModelCalls }),
            _ => return Err(Unreadable::new(word, "`stop`, `limit` or `poor`")),
        }
    }
    Ok(gate)
}

/// A line as an event of the child's present run, or of the one that is named: `begun @2`.
///
/// # Errors
/// When nothing is called so.
pub fn event(line: &str, child: &Child) -> Result<Event, Unreadable> {
    let named = line.rsplit_once(" @").and_then(|(line, named)| Some((line, named.parse().ok()?)));
    let (line, run) = named.unwrap_or((line, child.run()));
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    let rested = |outcome, gate, is_repeatable| {
        let spent = Spent { model_calls: 3, ..Spent::default() };
        Event::Rested { run, rest: Rest { outcome, spent, is_repeatable }, gate }
    };
    Ok(match verb {
        "assign" => Event::Assigned { gate: gate(rest)? },
        "begun" => Event::Begun { run },
        "not-begun" => Event::BeginFailed { run, found: rest.into() },
        "say" => Event::MessageSent { text: rest.into() },
        "took" if rest.is_empty() => Event::MessageTaken { run, number: child.taken() + 1 },
        "took" => Event::MessageTaken { run, number: parsed(rest, "a number of messages")? },
        "asks" => Event::Asked { run, number: child.questions() + 1, question: rest.into() },
        "asks-again" => Event::Asked { run, number: child.questions(), question: rest.into() },
        "went-on" => Event::WentOn { run },
        "stop" => Event::StopRequested { by: cause(rest)? },
        "rest" => {
            let (word, text) = rest.split_once(' ').unwrap_or((rest, ""));
            rested(Outcome::new(outcome(word)?, text), gate("")?, false)
        }
        "repeatable" => rested(Outcome::new(Word::Failed, "").because(rest), gate("")?, true),
        "repeatable-under" => rested(Outcome::new(Word::Failed, ""), gate(rest)?, true),
        "lost" => Event::Lost { run, found: rest.into() },
        "cleared" if rest.is_empty() => Event::Cleared { run, left: Left::Nothing },
        "cleared" => Event::Cleared { run, left: Left::Unknown { found: rest.into() } },
        "taken-over" => Event::TakenOver,
        "told" => Event::OutcomeTold,
        _ => return Err(Unreadable::new(line, "something that happens to a child")),
    })
}

fn cause(word: &str) -> Result<StopCause, Unreadable> {
    match word {
        "parent" => Ok(StopCause::Parent),
        "person" => Ok(StopCause::Person),
        "end" => Ok(StopCause::ParentEnds),
        "nobody" => Ok(StopCause::NobodyAnswers),
        _ => Err(Unreadable::new(word, "`parent`, `person`, `end` or `nobody`")),
    }
}

fn outcome(word: &str) -> Result<Word, Unreadable> {
    match word {
        "done" => Ok(Word::Done),
        "asks" => Ok(Word::Asks),
        "not-kept" => Ok(Word::NotKept),
        "failed" => Ok(Word::Failed),
        "out-of-budget" => Ok(Word::OutOfBudget),
        "timed-out" => Ok(Word::TimedOut),
        "cancelled" => Ok(Word::Cancelled),
        _ => Err(Unreadable::new(word, "how a run ends")),
    }
}
