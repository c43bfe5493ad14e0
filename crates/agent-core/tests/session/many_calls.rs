//! An answer with very many calls: what fails is not worked off whole, and no step costs more than the calls it is about.

use crate::scenario::script::Script;
use agent_core::budget::Limits;
use agent_core::conversation::{Item, ToolCall};
use agent_core::llm::{LlmResponse, RawCall, ResponseBlock, StopReason};
use agent_core::permission::PermissionMode;
use agent_core::session::{Action, Event, ModelConfig, Session, SessionConfig, State, Ticket};
use agent_core::tool::{CallFacts, Effect, Finding, Inspection, Subject, ToolOutcome};

/// What becomes of the calls of every answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Fails,
    Unknown,
    NoObject,
    Changes,
}

struct Run {
    session: Session,
    fate: Fate,
    /// Calls that were run.
    run: usize,
    requests: usize,
}

impl Run {
    /// A session whose model answers everything with so many calls, until it rests.
    fn of(calls: usize, fate: Fate, limits: Limits) -> Self {
        let mut config = SessionConfig::new(ModelConfig::new("m"));
        (config.limits, config.permissions.mode) = (limits, PermissionMode::Bypass);
        let mut run = Self { session: Session::new(config), fate, run: 0, requests: 0 };
        let mut events = vec![Event::UserInput { text: "go".into() }, Event::Started];
        while let Some(event) = events.pop() {
            let step = run.session.step(0, event).unwrap();
            for action in step.actions {
                run.answer(action, calls, &mut events);
            }
        }
        run
    }

    fn answer(&mut self, action: Action, calls: usize, events: &mut Vec<Event>) {
        match action {
            Action::SendLlmRequest { ticket, .. } => {
                self.requests += 1;
                events.push(Event::LlmCompleted { ticket, response: self.response(calls) });
            }
            Action::PrepareTools { ticket, calls } => events.push(self.prepared(ticket, &calls)),
            Action::ExecuteTools { ticket, calls } => {
                self.run += calls.len();
                let ended = calls.into_iter().rev().map(|call| {
                    let outcome =
                        if self.fate == Fate::Fails { ToolOutcome::failed("no") } else { ToolOutcome::ok("") };
                    Event::ToolCompleted { ticket, call: call.id, outcome }
                });
                events.extend(ended);
            }
            Action::CheckGitCommits { ticket, .. } => {
                events.push(Event::HookFailed { ticket, message: "no git".into() });
            }
            _ => {}
        }
    }

    fn response(&self, calls: usize) -> LlmResponse {
        let arguments = if self.fate == Fate::NoObject { "[1]" } else { "{}" };
        let call = |_| RawCall { id: String::new(), name: "t".into(), arguments: arguments.into(), complete: true };
        let blocks = (0..calls).map(call).map(ResponseBlock::Call).collect();
        LlmResponse { blocks, stop: StopReason::ToolUse, usage: None, model: String::new() }
    }

    fn prepared(&self, ticket: Ticket, calls: &[ToolCall]) -> Event {
        let finding = || match self.fate {
            Fate::Unknown => {
                Finding::UnknownTool { message: "there is no tool `t`, and here are all that there are".into() }
            }
            Fate::Changes => {
                let subject = Subject::Paths(vec!["a".into()]);
                Finding::Runnable(Inspection { effect: Effect::Changes, subject })
            }
            Fate::Fails | Fate::NoObject => {
                Finding::Runnable(Inspection { effect: Effect::Reads, subject: Subject::None })
            }
        };
        let facts = calls.iter().map(|call| CallFacts::new(call.id.clone(), finding())).collect();
        Event::ToolsPrepared { ticket, facts }
    }

    /// Results of the last round that say what was wrong with the call itself.
    fn explained(&self) -> usize {
        let last = self.session.conversation().last().unwrap();
        let Item::Round(round) = last.as_ref() else { panic!() };
        round.results().iter().filter(|result| !result.content().contains("too many earlier calls")).count()
    }
}

#[test]
fn an_answer_with_thirty_calls_that_fail_leads_to_a_warning_and_then_to_the_end() {
    for fate in [Fate::Fails, Fate::Unknown, Fate::NoObject] {
        let limits = Limits { max_failures_in_row: Some(10), ..Limits::default() };
        let run = Run::of(30, fate, limits);
        assert_eq!(run.session.state(), State::WaitingForUserInput);
        assert_eq!(run.requests, 2, "{fate:?}: one request with the warning");
        assert_eq!(run.run, if fate == Fate::Fails { 10 } else { 0 }, "{fate:?}: no more than the limit");
        assert_eq!(run.explained(), 5, "{fate:?}: those behind are not looked at");
        assert_eq!(run.session.ledger().failures_in_row, 10, "{fate:?}");
    }
}

/// Quadratic, each of these would take minutes.
#[test]
fn very_many_calls_of_an_answer_end() {
    for fate in [Fate::Fails, Fate::Unknown, Fate::NoObject] {
        let limits = Limits { max_failures_in_row: Some(30), ..Limits::default() };
        let run = Run::of(50_000, fate, limits);
        assert_eq!((run.requests, run.explained()), (2, 15), "{fate:?}");
    }
    for fate in [Fate::Fails, Fate::Changes] {
        let calls = 10_000;
        let limits = Limits { max_model_calls: Some(1), ..Limits::default() };
        let run = Run::of(calls, fate, limits);
        assert_eq!((run.requests, run.run), (1, calls), "{fate:?}: without a limit all of them run");
    }
}

#[test]
fn facts_of_very_many_calls_may_come_in_any_order() {
    let mut script = Script::default();
    script.play(&["input go"]);
    let run = Run::of(1, Fate::Unknown, Limits { max_failures_in_row: Some(1), ..Limits::default() });
    let Some(Action::SendLlmRequest { ticket, .. }) = script.session.outstanding().pop().map(|open| open.action) else {
        panic!()
    };
    let step = script.session.step(0, Event::LlmCompleted { ticket, response: run.response(50_000) }).unwrap();
    let Some(Action::PrepareTools { ticket, calls }) = step.actions.last() else { panic!() };
    let Event::ToolsPrepared { mut facts, .. } = run.prepared(*ticket, calls) else { panic!() };
    facts.reverse();
    drop(script.session.step(0, Event::ToolsPrepared { ticket: *ticket, facts }).unwrap());
    assert_eq!(script.session.state(), State::SendingToolResults);
}
