//! Lines as events: the one place that spells the events of a lifecycle.

use super::Tickets;
use crate::notation::{Unreadable, parsed};
use agent_core::lifecycle::{
    CheckEnd, CheckReport, Commitment, CommitmentId, Event, FilesChecked, LifecycleConfig, Signal, TaskMode, Ticket,
    TurnEnd,
};

/// `commitments=test,lint resting signalled renewed rounds=1 idle-ms=… work-ms=… wait-ms=…`; `attended` is both of `resting` and
/// `signalled`.
///
/// # Errors
/// Names the word that is no setting.
pub fn config(line: &str) -> Result<LifecycleConfig, Unreadable> {
    let mut config = LifecycleConfig::headless(Vec::new());
    for word in line.split_whitespace() {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let ms = || parsed(value, "milliseconds").map(Some);
        match key {
            "commitments" if value.is_empty() => config.commitments.clear(),
            "commitments" => config.commitments = value.split(',').map(commitment).collect(),
            "renewed" => config.is_renewed = true,
            "resting" => config.continues_after_failure = false,
            "signalled" => config.unsignalled_turn_claims = false,
            "attended" => (config.continues_after_failure, config.unsignalled_turn_claims) = (false, false),
            "rounds" => config.max_rounds = parsed(value, "a number of reports")?,
            "idle-ms" => config.max_idle_ms = ms()?,
            "work-ms" => config.max_work_ms = ms()?,
            "wait-ms" => config.max_wait_ms = ms()?,
            _ => return Err(Unreadable::new(word, "a setting of commitments")),
        }
    }
    Ok(config)
}

fn commitment(command: &str) -> Commitment {
    Commitment::of_command(command, 1_000)
}

/// A line as an event. Answers carry the newest ticket, or an older one: `check 1 exit 1 @2`.
///
/// # Errors
/// When nothing is called so.
pub fn event(line: &str, tickets: &Tickets) -> Result<Event, Unreadable> {
    let named = line.rsplit_once(" @").and_then(|(line, named)| Some((line, Ticket(named.parse().ok()?))));
    let (line, named) = named.map_or((line, None), |(line, named)| (line, Some(named)));
    let or = |newest: Ticket| named.unwrap_or(newest);
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    Ok(match verb {
        "input" => Event::InputReceived { text: rest.into() },
        "commit" => Event::CommitmentAdded { commitment: commitment(rest) },
        "plan" => Event::ModeChanged { mode: TaskMode::Plan },
        "mode" => Event::ModeChanged { mode: mode(rest)? },
        "done" => Event::Signalled { signal: Signal::Done, summary: rest.into() },
        "waiting" => Event::Signalled { signal: Signal::Waiting, summary: rest.into() },
        "turn" => {
            let (end, left_ms) = rest.split_once(" left ").unwrap_or((rest, ""));
            Event::TurnEnded { end: turn_end(end)?, time_left_ms: left_ms.parse().ok() }
        }
        "check" => {
            let (number, said) = rest.split_once(' ').ok_or_else(|| Unreadable::new(line, "check NUMBER END"))?;
            let number = parsed::<usize>(number, "the number of a commitment")?;
            let commitment = CommitmentId(number.wrapping_sub(1));
            Event::CheckCompleted { ticket: or(tickets.checks), commitment, report: report(said)? }
        }
        "work-resumed" => Event::WorkResumed,
        "cancel" => Event::CancelRequested,
        "timeout" => Event::TimedOut { ticket: or(tickets.timer) },
        "budget" => Event::BudgetExceeded,
        "session-ended" => Event::SessionEnded,
        "dismiss" => Event::Dismissed,
        "cleaned-up" => Event::CleanupCompleted { ticket: or(tickets.cleanup) },
        _ => return Err(Unreadable::new(line, "something that happens to a lifecycle")),
    })
}

/// `kept`, `stale` (kept, and a file changed while it ran), `exit 1 what it printed`, `signal 9`, `too slow`, `throws why`, `not found`.
fn report(said: &str) -> Result<CheckReport, Unreadable> {
    let (word, rest) = said.split_once(' ').unwrap_or((said, ""));
    let (number, printed) = rest.split_once(' ').unwrap_or((rest, ""));
    let end = match word {
        "kept" | "stale" => CheckEnd::Exited { code: 0 },
        "exit" => CheckEnd::Exited { code: parsed(number, "an exit code")? },
        "signal" => CheckEnd::Killed { signal: parsed(number, "the number of a signal")? },
        "too" => CheckEnd::TimedOut,
        "throws" => CheckEnd::Broke { found: rest.into() },
        "not" => CheckEnd::NotStarted { found: "no such program".into() },
        _ => return Err(Unreadable::new(said, "the end of a check")),
    };
    let files =
        FilesChecked { before: "as it was".into(), after: "otherwise".into(), changed: vec!["src/a.rs".into()] };
    let report = CheckReport::new(end, if word == "throws" { String::new() } else { printed.into() });
    Ok(CheckReport { files: (word == "stale").then_some(files), ..report })
}

fn turn_end(word: &str) -> Result<TurnEnd, Unreadable> {
    Ok(match word {
        "completed" => TurnEnd::Completed,
        "failed" => TurnEnd::Failed,
        "cancelled" => TurnEnd::Cancelled,
        "out-of-budget" => TurnEnd::OutOfBudget,
        _ => return Err(Unreadable::new(word, "the end of a turn")),
    })
}

fn mode(word: &str) -> Result<TaskMode, Unreadable> {
    Ok(match word {
        "delegate" => TaskMode::Delegate,
        "plan" => TaskMode::Plan,
        "break-up" => TaskMode::BreakUp,
        "unify" => TaskMode::Unify,
        "execute" => TaskMode::Execute,
        _ => return Err(Unreadable::new(word, "a mode of work")),
    })
}
