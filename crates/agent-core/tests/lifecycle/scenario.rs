//! Scenarios in text: what happens to an agent, and what is asked of its driver. `config` names commitments and limits; what else can be
//! said stands in `event`. Answers carry the newest ticket.

use crate::stage::table;
use crate::support::scenarios::{self, Story};
use crate::support::witnesses::action_name;
use agent_core::lifecycle::{
    Action, CheckEnd, CheckReport, Commitment, CommitmentId, Event, Lifecycle, LifecycleConfig, Outcome, Signal,
    TaskMode, Ticket, TurnEnd,
};
use agent_core::link::Turns;
use std::fmt::Write;

#[test]
fn every_scenario_reads_as_written() {
    scenarios::check("lifecycle", &play);
}

pub(crate) fn play(text: &str) -> String {
    scenarios::play(text, &mut Told::default())
}

struct Told {
    agent: Lifecycle,
    sent: u64,
    checks: Ticket,
    timer: Ticket,
    cleanup: Ticket,
}

impl Default for Told {
    fn default() -> Self {
        Self::of(config(""))
    }
}

impl Told {
    fn of(config: LifecycleConfig) -> Self {
        let none = Ticket(99);
        Self { agent: Lifecycle::with_table(config, table()), sent: 0, checks: none, timer: none, cleanup: none }
    }

    fn event(&self, line: &str) -> Event {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match verb {
            "input" => Event::InputReceived { text: rest.into() },
            "commit" => Event::CommitmentAdded { commitment: Commitment::of_command(rest, 1_000) },
            "plan" => Event::ModeChanged { mode: TaskMode::Plan },
            "done" => Event::Signalled { signal: Signal::Done, summary: rest.into() },
            "waiting" => Event::Signalled { signal: Signal::Waiting, summary: rest.into() },
            "turn" => {
                let (end, behind) = rest.split_once(" behind ").unwrap_or((rest, "0"));
                Event::TurnEnded { end: turn_end(end), inputs_taken: self.sent - behind.parse::<u64>().unwrap() }
            }
            "check" => {
                let (number, said) = rest.split_once(' ').unwrap();
                let commitment = CommitmentId(number.parse::<usize>().unwrap() - 1);
                Event::CheckCompleted { ticket: self.checks, commitment, report: report(said) }
            }
            "cancel" => Event::CancelRequested,
            "timeout" => Event::TimedOut { ticket: self.timer },
            "budget" => Event::BudgetExceeded,
            "session-ended" => Event::SessionEnded,
            "dismiss" => Event::Dismissed,
            "cleaned-up" => Event::CleanupCompleted { ticket: self.cleanup },
            other => panic!("nothing happens that is called {other}"),
        }
    }

    fn note(&mut self, action: &Action) {
        match action {
            Action::SendInput { .. } | Action::SendGapReport { .. } => self.sent += 1,
            Action::RunChecks { ticket, .. } => self.checks = *ticket,
            Action::StartTimer { ticket, .. } => self.timer = *ticket,
            Action::CleanUp { ticket } => self.cleanup = *ticket,
            _ => {}
        }
    }
}

impl Story for Told {
    fn begin(&mut self) {
        *self = Self::default();
    }

    fn perform(&mut self, line: &str) -> String {
        if let Some(words) = line.strip_prefix("config ") {
            *self = Self::of(config(words));
            let first = self.agent.outstanding();
            first.iter().for_each(|action| self.note(action));
            return first.iter().fold(String::new(), |out, action| format!("{out}- {}\n", shown(action)));
        }
        let before = self.agent.clone();
        match self.agent.step(0, self.event(line)) {
            Ok(step) => {
                let mut out = format!("{:?}\n", self.agent.state());
                for action in &step.actions {
                    self.note(action);
                    let _ = writeln!(out, "- {}", shown(action));
                }
                out
            }
            Err(rejected) => {
                assert_eq!(self.agent, before, "a refusal changed the agent: {line}");
                rejected.to_string()
            }
        }
    }
}

/// `commitments=test,lint attended rounds=1 idle-ms=… work-ms=… wait-ms=…`
fn config(words: &str) -> LifecycleConfig {
    let mut config = LifecycleConfig::headless(Vec::new());
    for word in words.split_whitespace() {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let ms = || Some(value.parse().unwrap());
        match key {
            "commitments" => {
                config.commitments = value.split(',').map(|check| Commitment::of_command(check, 1_000)).collect();
            }
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

fn turn_end(word: &str) -> TurnEnd {
    match word {
        "completed" => TurnEnd::Completed,
        "failed" => TurnEnd::Failed,
        "cancelled" => TurnEnd::Cancelled,
        "out-of-budget" => TurnEnd::OutOfBudget,
        other => panic!("no turn ends {other}"),
    }
}

/// `kept`, `exit 1 what it printed`, `signal 9`, `too slow`, `throws why`, `not found`.
fn report(said: &str) -> CheckReport {
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

fn shown(action: &Action) -> String {
    match action {
        Action::SendInput { text } => format!("send \"{text}\""),
        Action::SendGapReport { text, round } => {
            let lines = text.lines().fold(String::new(), |out, line| format!("{out}\n    | {line}"));
            format!("send the report of round {round}:{lines}")
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
