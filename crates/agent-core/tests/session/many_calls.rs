//! An answer with very many calls: what fails is not worked off whole, and no step costs more than the calls it is about.

use agent_check::session::{Command, Script};
use agent_core::conversation::Item;
use agent_core::session::{Action, Event, State};

/// What becomes of the calls of every answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Fails,
    Unknown,
    NoObject,
    Changes,
}

struct Run {
    script: Script,
    fate: Fate,
    /// Calls that were run.
    run: usize,
    requests: usize,
}

impl Run {
    /// A session whose model answers everything with so many calls, until it rests.
    fn of(calls: usize, fate: Fate, limits: &str) -> Self {
        let script = Script::after(&[&format!("config {limits}"), "input go"]);
        let mut run = Self { script, fate, run: 0, requests: 0 };
        while let Some(open) = run.script.session.outstanding().into_iter().next() {
            for line in run.lines(&open.action, calls) {
                drop(run.script.tell(&line));
            }
        }
        run
    }

    fn lines(&mut self, action: &Action, calls: usize) -> Vec<String> {
        match action {
            Action::SendLlmRequest { .. } => {
                self.requests += 1;
                vec![answer(calls, self.fate)]
            }
            Action::PrepareTools { .. } => vec!["prepared".into()],
            Action::ExecuteTools { calls, .. } => {
                self.run += calls.len();
                let end = if self.fate == Fate::Fails { "failed no" } else { "ok" };
                calls.iter().map(|call| format!("tool id:{} {end}", call.id)).collect()
            }
            _ => vec!["hook-failed \"no git\"".into()],
        }
    }

    /// Results of the last round that say what was wrong with the call itself.
    fn explained(&self) -> usize {
        let last = self.script.session.conversation().last().unwrap();
        let Item::Round(round) = last.as_ref() else { panic!() };
        round.results().iter().filter(|result| !result.content().contains("too many earlier calls")).count()
    }
}

/// An answer with so many calls, whose names say what is found out about them.
fn answer(calls: usize, fate: Fate) -> String {
    let call = match fate {
        Fate::Fails => " read#{}",
        Fate::Unknown => " t#{}",
        Fate::NoObject => " read#[1]",
        Fate::Changes => " change#{}",
    };
    format!("answer calls{}", call.repeat(calls))
}

#[test]
fn an_answer_with_thirty_calls_that_fail_leads_to_a_warning_and_then_to_the_end() {
    for fate in [Fate::Fails, Fate::Unknown, Fate::NoObject] {
        let run = Run::of(30, fate, "failures=10");
        assert_eq!(run.script.session.state(), State::WaitingForUserInput);
        assert_eq!(run.requests, 2, "{fate:?}: one request with the warning");
        assert_eq!(run.run, if fate == Fate::Fails { 10 } else { 0 }, "{fate:?}: no more than the limit");
        assert_eq!(run.explained(), 5, "{fate:?}: those behind are not looked at");
        assert_eq!(run.script.session.ledger().failures_in_row, 10, "{fate:?}");
    }
}

/// Quadratic, each of these would take minutes.
#[test]
fn very_many_calls_of_an_answer_end() {
    for fate in [Fate::Fails, Fate::Unknown, Fate::NoObject] {
        let run = Run::of(50_000, fate, "failures=30");
        assert_eq!((run.requests, run.explained()), (2, 15), "{fate:?}");
    }
    for fate in [Fate::Fails, Fate::Changes] {
        let calls = 10_000;
        let run = Run::of(calls, fate, "model-calls=1");
        assert_eq!((run.requests, run.run), (1, calls), "{fate:?}: without a limit all of them run");
    }
}

#[test]
fn facts_of_very_many_calls_may_come_in_any_order() {
    let mut script = Script::after(&["input go", &answer(50_000, Fate::Unknown)]);
    let Command::Take(mut event) = script.read("prepared") else { panic!() };
    let Event::ToolsPrepared { facts, .. } = &mut event else { panic!() };
    facts.reverse();
    drop(script.session.step(0, event).unwrap());
    assert_eq!(script.session.state(), State::SendingToolResults);
}
