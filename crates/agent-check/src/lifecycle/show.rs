//! What a lifecycle does, in few words.

use crate::action_name;
use agent_core::agent::Turns;
use agent_core::lifecycle::{Action, Outcome};

/// An action.
pub fn action(action: &Action) -> String {
    match action {
        Action::SendInput { text } => format!("send \"{text}\""),
        Action::SendGapReport { text, round, time_left_ms } => {
            let lines = text.lines().fold(String::new(), |out, line| format!("{out}\n    | {line}"));
            let left = time_left_ms.map(|left_ms| format!(" with {left_ms} ms left")).unwrap_or_default();
            format!("send the report of round {round}{left}:{lines}")
        }
        Action::RunChecks { ticket, checks } => {
            let checks: Vec<&str> = checks.iter().map(|check| check.assertion.command.as_str()).collect();
            format!("check #{}: {}", ticket.0, checks.join(", "))
        }
        Action::CancelChecks { ticket } => format!("cancel the checks #{}", ticket.0),
        Action::CancelTurn => "cancel the turn".into(),
        Action::StartTimer { ticket, delay_ms } => format!("timer #{} in {delay_ms} ms", ticket.0),
        Action::StopTimer { ticket } => format!("stop the timer #{}", ticket.0),
        Action::ReportOutcome { outcome } => format!("report: {}", told(outcome)),
        Action::CleanUp { ticket } => format!("clean up #{}", ticket.0),
        Action::ReleaseSession => "release the session".into(),
    }
}

/// The outcome that a run reports whose turns all succeeded. The outcome of a turn is reported by its session.
fn told(outcome: &Outcome) -> String {
    let name = action_name(outcome);
    if matches!(outcome, Outcome::TurnEnded | Outcome::TurnFailed | Outcome::TurnOutOfBudget) {
        return name;
    }
    let Some(run) = Turns::default().outcome(Some(outcome)) else { return name };
    let error = run.error.map(|error| format!(": {error}")).unwrap_or_default();
    format!("{name} (exit {}{error})", run.kind.exit_code())
}
