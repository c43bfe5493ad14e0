//! Scenarios in text: what happens to an agent, and what is asked of its driver. `config` names commitments and limits; what else can be
//! said stands in `event`. Answers carry the newest ticket.

pub(crate) mod words;

use crate::stage::table;
use crate::support::scenarios::{self, Story};
use agent_core::lifecycle::{
    Action, Commitment, CommitmentId, Event, Lifecycle, LifecycleConfig, Signal, TaskMode, Ticket, TurnEnd,
};
use std::fmt::Write;
use words::{config, report, shown};

#[test]
fn every_scenario_reads_as_written() {
    scenarios::check("lifecycle", &play);
}

pub(crate) fn play(text: &str) -> String {
    scenarios::play(text, &mut Told::default())
}

struct Told {
    agent: Lifecycle,
    now_ms: u64,
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
        Self { agent: Lifecycle::with_table(config, table()), now_ms: 0, checks: none, timer: none, cleanup: none }
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
                let (end, left_ms) = rest.split_once(" left ").unwrap_or((rest, ""));
                Event::TurnEnded { end: turn_end(end), time_left_ms: left_ms.parse().ok() }
            }
            "check" => {
                let (number, said) = rest.split_once(' ').unwrap();
                let commitment = CommitmentId(number.parse::<usize>().unwrap() - 1);
                Event::CheckCompleted { ticket: self.checks, commitment, report: report(said) }
            }
            "work-resumed" => Event::WorkResumed,
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
        if let Some(passed_ms) = line.strip_prefix("wait ") {
            self.now_ms += passed_ms.parse::<u64>().unwrap();
            return String::new();
        }
        let before = self.agent.clone();
        match self.agent.step(self.now_ms, self.event(line)) {
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

fn turn_end(word: &str) -> TurnEnd {
    match word {
        "completed" => TurnEnd::Completed,
        "failed" => TurnEnd::Failed,
        "cancelled" => TurnEnd::Cancelled,
        "out-of-budget" => TurnEnd::OutOfBudget,
        other => panic!("no turn ends {other}"),
    }
}
