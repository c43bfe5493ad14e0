//! `message; signal done; turn completed; check kept`: an agent with one commitment and a limit on every wait, unless `config` says
//! otherwise: `unbound`, `attended`, `resting`, `rounds=1`.

use agent_core::lifecycle::{
    Action, CheckEnd, CheckReport, Commitment, CommitmentId, Event, Lifecycle, LifecycleConfig, Signal, State,
    TaskMode, Ticket, Trigger, TurnEnd,
};

pub(crate) fn lifecycle(words: &str) -> Vec<(State, Trigger, State)> {
    let (mut walk, mut out) = (Walk::new(&[]), Vec::new());
    for line in words.split("; ") {
        let words: Vec<&str> = line.split(' ').collect();
        if words[0] == "config" {
            walk = Walk::new(&words[1..]);
            continue;
        }
        let event = walk.event(&words);
        let step = walk.machine.step(0, event).unwrap_or_else(|no| panic!("{line}: {no}"));
        walk.note(&step.actions);
        out.extend(step.transitions.iter().map(|row| (row.from, row.on, row.to)));
    }
    out
}

struct Walk {
    machine: Lifecycle,
    checks: Ticket,
    answered: usize,
    timer: Ticket,
    cleanup: Ticket,
}

impl Walk {
    fn new(words: &[&str]) -> Self {
        let mut config = LifecycleConfig {
            max_idle_ms: Some(1),
            max_work_ms: Some(1),
            max_wait_ms: Some(1),
            ..LifecycleConfig::headless(vec![Commitment::of_command("true", 1)])
        };
        for word in words {
            match *word {
                "unbound" => config.commitments.clear(),
                "attended" => config.unsignalled_turn_claims = false,
                "resting" => config.continues_after_failure = false,
                word => config.max_rounds = word.strip_prefix("rounds=").unwrap().parse().unwrap(),
            }
        }
        let none = Ticket(0);
        Self { machine: Lifecycle::new(config), checks: none, answered: 0, timer: none, cleanup: none }
    }

    fn event(&mut self, words: &[&str]) -> Event {
        match *words {
            ["message"] => Event::InputReceived { text: "do it".into() },
            ["commitment"] => Event::CommitmentAdded { commitment: Commitment::of_command("true", 1) },
            ["mode"] => Event::ModeChanged { mode: TaskMode::Plan },
            ["signal", what] => {
                let signal = if what == "done" { Signal::Done } else { Signal::Waiting };
                Event::Signalled { signal, summary: String::new() }
            }
            ["turn", how] => {
                let end = match how {
                    "completed" => TurnEnd::Completed,
                    "failed" => TurnEnd::Failed,
                    "cancelled" => TurnEnd::Cancelled,
                    "out-of-budget" => TurnEnd::OutOfBudget,
                    other => panic!("no such end: {other}"),
                };
                Event::TurnEnded { end, time_left_ms: None }
            }
            ["check", how] => {
                let end = match how {
                    "kept" => CheckEnd::Exited { code: 0 },
                    "not-kept" => CheckEnd::Exited { code: 1 },
                    "not-started" => CheckEnd::NotStarted { found: String::new() },
                    other => panic!("no such end: {other}"),
                };
                let commitment = CommitmentId(self.answered);
                self.answered += 1;
                let report = CheckReport { end, output: String::new() };
                Event::CheckCompleted { ticket: self.checks, commitment, report }
            }
            ["work-resumed"] => Event::WorkResumed,
            ["cancel"] => Event::CancelRequested,
            ["timeout"] => Event::TimedOut { ticket: self.timer },
            ["budget"] => Event::BudgetExceeded,
            ["session-ended"] => Event::SessionEnded,
            ["dismiss"] => Event::Dismissed,
            ["cleanup"] => Event::CleanupCompleted { ticket: self.cleanup },
            ref other => panic!("no such event: {other:?}"),
        }
    }

    fn note(&mut self, actions: &[Action]) {
        for action in actions {
            match action {
                Action::RunChecks { ticket, .. } => (self.checks, self.answered) = (*ticket, 0),
                Action::StartTimer { ticket, .. } => self.timer = *ticket,
                Action::CleanUp { ticket } => self.cleanup = *ticket,
                Action::SendInput { .. }
                | Action::SendGapReport { .. }
                | Action::CancelChecks { .. }
                | Action::CancelTurn
                | Action::StopTimer { .. }
                | Action::ReportOutcome { .. }
                | Action::ReleaseSession => {}
            }
        }
    }
}
