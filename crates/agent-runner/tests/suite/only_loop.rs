//! The machine is the only loop: take any row out of its table, and the product stops doing that thing.
//!
//! Every scenario runs on the whole table once. Then, for each row, those scenarios that fired it run on the table without it; at least
//! one of them must come out otherwise for the host, the model or the tools. Transitions are left out of what is compared: they would
//! show the row itself.

use crate::scenarios::{Act, Scenario, all};
use crate::support::{line, ms};
use agent_core::budget::Limits;
use agent_core::session::table::TABLE;
use agent_core::session::{SessionConfig, SessionTable, State, Trigger};
use agent_runner::{Handle, Notice, Notices};
use std::collections::BTreeSet;
use tokio::sync::Notify;
use tokio::time::timeout;

type Cell = (State, Trigger);

/// Rows that no runner fires: it starts every session before it listens, and answers a preparation with facts, never with a failure. Other
/// drivers may do otherwise.
const BEYOND_A_RUNNER: &[Cell] =
    &[(State::Ready, Trigger::ShutdownRequested), (State::PreparingTools, Trigger::HookFailed)];

#[test]
fn without_any_one_row_something_is_different() {
    let scenarios = all();
    let whole: Vec<Run> = scenarios.iter().map(|scenario| run(scenario, &TABLE)).collect();
    for (scenario, run) in scenarios.iter().zip(&whole) {
        assert!(!run.summary.contains("in vain"), "{}: {}", scenario.name, run.summary);
        assert!(!run.summary.contains(" refused in "), "{}: {}", scenario.name, run.summary);
    }
    let mut silent = Vec::new();
    for row in TABLE.rows {
        let cell = (row.from, row.on);
        let firing: Vec<usize> = (0..scenarios.len()).filter(|&i| whole[i].may_have_fired(cell)).collect();
        if BEYOND_A_RUNNER.contains(&cell) {
            assert!(firing.is_empty(), "{cell:?} is fired by {}", scenarios[firing[0]].name);
            continue;
        }
        let table = without(cell);
        let is_noticed = |&i: &usize| run(&scenarios[i], table).summary != whole[i].summary;
        if !firing.iter().any(is_noticed) {
            silent.push((cell, firing.len()));
        }
    }
    assert!(
        silent.is_empty(),
        "rows whose absence nobody notices, with the number of runs that fired them: {silent:?}"
    );
}

#[test]
fn the_same_scenario_comes_out_the_same_twice() {
    for scenario in all() {
        assert_eq!(run(&scenario, &TABLE).summary, run(&scenario, &TABLE).summary, "{}", scenario.name);
    }
}

/// What came of a run.
struct Run {
    /// What host, model and tools saw of it.
    summary: String,
    fired: BTreeSet<Cell>,
    visited: BTreeSet<State>,
}

impl Run {
    /// Pieces of text leave no transition: they may have come in any state that was visited.
    fn may_have_fired(&self, cell: Cell) -> bool {
        let is_piece = matches!(cell.1, Trigger::LlmDelta | Trigger::ToolProgress);
        self.fired.contains(&cell) || is_piece && self.visited.contains(&cell.0)
    }
}

fn without(cell: Cell) -> &'static SessionTable {
    let rows: Vec<_> = TABLE.rows.iter().filter(|row| (row.from, row.on) != cell).copied().collect();
    Box::leak(Box::new(SessionTable { rows: rows.leak(), ..TABLE }))
}

fn run(scenario: &Scenario, table: &'static SessionTable) -> Run {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let stage = (scenario.stage)();
        let config = stage.builder.effective_config();
        let builder = match stage.left {
            Some(left) => stage.builder.resume(left.session(config.clone(), table), 100).begun(left.begun()),
            None => stage.builder.table(table),
        };
        let (runner, handle, notices) = builder.build().unwrap();
        let mut task = tokio::spawn(runner.run());
        let mut seen = Seen { notices, log: Vec::new() };
        let mut trouble = String::new();
        for act in &scenario.acts {
            let is_well = match act {
                Act::Until(state) => seen.until(|notice| is_entering(notice, *state)).await,
                Act::Prompt => seen.until(|notice| matches!(notice, Notice::Prompt { outcome: Some(_), .. })).await,
                other => {
                    send(*other, &handle, &config, &stage.gate);
                    true
                }
            };
            if !is_well {
                trouble = format!("waited in vain for {act:?}\n");
                break;
            }
        }
        tokio::time::sleep(ms(1)).await;
        handle.detach();
        let ended = match timeout(ms(PATIENCE_MS), &mut task).await {
            Ok(Ok((end, agent))) => {
                format!("{end:?} in {:?}, {:?}\n", agent.session().state(), agent.outcome())
            }
            Ok(Err(_)) => String::from("panicked\n"),
            Err(_) => String::from("never ended\n"),
        };
        seen.rest();
        seen.run(&stage.provider, &stage.tools, &(trouble + &ended))
    })
}

fn send(act: Act, handle: &Handle, config: &SessionConfig, gate: &Notify) {
    match act {
        Act::Say(text) => handle.input(text),
        Act::Later(text) => handle.send_after_turn(text),
        Act::TakeBack(text) => handle.withdraw(text),
        Act::Cancel => handle.cancel(),
        Act::AnswerAndCancel => {
            gate.notify_one();
            handle.cancel();
        }
        Act::ShutDown => handle.shut_down(),
        Act::Compact => handle.compact(),
        Act::RaiseLimits => handle.set_limits(Limits::default()),
        Act::Reconfigure => handle.reconfigure(config.clone()),
        Act::Leave => handle.detach(),
        Act::Until(_) | Act::Prompt => {}
    }
}

fn is_entering(notice: &Notice, state: State) -> bool {
    matches!(notice, Notice::Transition(t) if t.to == state && t.from != state)
}

struct Seen {
    notices: Notices,
    log: Vec<Notice>,
}

impl Seen {
    async fn until(&mut self, fits: impl Fn(&Notice) -> bool) -> bool {
        loop {
            let Ok(Some(notice)) = timeout(ms(PATIENCE_MS), self.notices.recv()).await else { return false };
            let found = fits(&notice);
            self.log.push(notice);
            if found {
                // What is asked of the outside arrives there before the host goes on.
                tokio::time::sleep(ms(1)).await;
                return true;
            }
        }
    }

    fn rest(&mut self) {
        while let Ok(notice) = self.notices.try_recv() {
            self.log.push(notice);
        }
    }

    fn run(self, provider: &agent_testkit::ScriptedProvider, tools: &[agent_testkit::ToolLog], ended: &str) -> Run {
        let transitions = self.log.iter().filter_map(|notice| match notice {
            Notice::Transition(transition) => Some(*transition),
            _ => None,
        });
        let fired = transitions.clone().map(|t| (t.from, t.on)).collect();
        let visited = transitions.map(|t| t.to).collect();
        let shown = self.log.iter().filter(|notice| !matches!(notice, Notice::Transition(_)));
        let mut summary: String = shown.map(|notice| line(notice) + "\n").collect();
        for request in provider.requests().all() {
            summary += &format!("asked {}\n", serde_json::to_string(&request).unwrap());
        }
        for log in tools {
            let calls: Vec<String> = log.calls().iter().map(|call| format!("{} {}", call.name, call.id)).collect();
            summary += &format!("ran {calls:?}, {} to the end\n", log.finished());
        }
        Run { summary: summary + ended, fired, visited }
    }
}

/// How long a host waits, in virtual milliseconds.
const PATIENCE_MS: u64 = 3_600_000;
