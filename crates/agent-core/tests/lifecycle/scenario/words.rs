//! What a lifecycle is made of, is told and does, in few words.

use crate::support::witnesses::action_name;
use agent_core::agent::Turns;
use agent_core::lifecycle::{Action, CheckEnd, CheckReport, Commitment, LifecycleConfig, Outcome};

/// `commitments=test,lint attended renewed rounds=1 idle-ms=… work-ms=… wait-ms=…`
pub(crate) fn config(words: &str) -> LifecycleConfig {
    let mut config = LifecycleConfig::headless(Vec::new());
    for word in words.split_whitespace() {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let ms = || Some(value.parse().unwrap());
        match key {
            "commitments" => {
                config.commitments = value.split(',').map(|check| Commitment::of_command(check, 1_000)).collect();
            }
            "renewed" => config.is_renewed = true,
            "attended" => (config.continues_after_failure, config.unsignalled_turn_claims) = (false, false),
            "rounds" => config.max_rounds = value.parse().unwrap(),
            "idle-ms" => config.max_idle_ms = ms(),
            "work-ms" => config.max_work_ms = ms(),
            "wait-ms" => config.max_wait_ms = ms(),
            other => panic!("no such setting: {other}"),
        }
    }
    config
}

/// `kept`, `exit 1 what it printed`, `signal 9`, `too slow`, `throws why`, `not found`.
pub(crate) fn report(said: &str) -> CheckReport {
    let (word, rest) = said.split_once(' ').unwrap_or((said, ""));
    let (number, printed) = rest.split_once(' ').unwrap_or((rest, ""));
    let end = match word {
        "kept" => CheckEnd::Exited { code: 0 },
        "exit" => CheckEnd::Exited { code: number.parse().unwrap() },
        "signal" => CheckEnd::Killed { signal: number.parse().unwrap() },
        "too" => CheckEnd::TimedOut,
        "throws" => CheckEnd::Broke { found: rest.into() },
        "not" => CheckEnd::NotStarted { found: "no such program".into() },
        other => panic!("no check ends with {other}"),
    };
    CheckReport { end, output: if word == "throws" { String::new() } else { printed.into() } }
}

pub(crate) fn shown(action: &Action) -> String {
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

/// The outcome with what a run says of it whose turns all went well. What a turn came to, its session says.
fn told(outcome: &Outcome) -> String {
    let name = action_name(outcome);
    if matches!(outcome, Outcome::TurnEnded | Outcome::TurnFailed | Outcome::TurnOutOfBudget) {
        return name;
    }
    let run = Turns::default().outcome(Some(outcome)).unwrap();
    let error = run.error.map(|error| format!(": {error}")).unwrap_or_default();
    format!("{name} (exit {}{error})", run.kind.exit_code())
}
