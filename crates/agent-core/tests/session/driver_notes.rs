//! What a step tells its driver besides actions: when its record has to be durable, and whether a turn began; and what a driver does with
//! what was outstanding when it ended.

use agent_check::session::Script;
use agent_core::journal::{Begun, Resumption};
use agent_core::llm::{LlmResponse, RawCall, ResponseBlock};
use agent_core::session::{Action, Durability, Event, Step};
use agent_core::tool::{CallFacts, Effect, Finding, Inspection, Subject, ToolOutcome, ToolStatus};

fn answer(calls: &[&str]) -> LlmResponse {
    let raw = |id: &&str| {
        let (id, name) = ((*id).to_owned(), "write".to_owned());
        ResponseBlock::Call(RawCall { id, name, arguments: "{}".to_owned(), complete: true })
    };
    LlmResponse { blocks: calls.iter().map(raw).collect(), ..LlmResponse::text("") }
}

fn model_answers(script: &mut Script, response: LlmResponse) -> Step {
    let Action::SendLlmRequest { ticket, .. } = script.session.outstanding().remove(0).action else { panic!() };
    script.session.step(0, Event::LlmCompleted { ticket, response }).unwrap()
}

fn prepared(script: &mut Script) {
    let Action::PrepareTools { ticket, calls } = script.session.outstanding().remove(0).action else { panic!() };
    let finding = || Finding::Runnable(Inspection { effect: Effect::Reads, subject: Subject::None });
    let facts = calls.into_iter().map(|call| CallFacts::new(call.id, finding())).collect();
    drop(script.session.step(0, Event::ToolsPrepared { ticket, facts }).unwrap());
}

#[test]
fn a_record_is_durable_before_anything_acts_on_it() {
    let mut script = Script::default();
    let said = script.session.step(0, Event::UserInput { text: "go".into() }).unwrap();
    assert_eq!((said.notes.durability, said.notes.begins_turn), (Durability::Now, true));
    let queued = script.session.step(0, Event::UserInput { text: "and more".into() }).unwrap();
    assert_eq!((queued.notes.durability, queued.notes.begins_turn), (Durability::Now, false), "it is acknowledged");
    let calls = model_answers(&mut script, answer(&["a", "b"]));
    assert_eq!((calls.notes.durability, calls.notes.begins_turn), (Durability::NowIfHooksAct, false));
    prepared(&mut script);
    let Action::ExecuteTools { ticket, calls } = script.session.outstanding().remove(0).action else { panic!() };
    let ran = |id: usize| Event::ToolCompleted { ticket, call: calls[id].id.clone(), outcome: ToolOutcome::ok("done") };
    assert_eq!(script.session.step(0, ran(0)).unwrap().notes.durability, Durability::Later, "another one runs");
    let last = script.session.step(0, ran(1)).unwrap().notes;
    assert_eq!((last.durability, last.begins_turn), (Durability::Now, false), "a model call follows");
}

#[test]
fn an_answer_that_ends_the_turn_is_durable_before_the_prompt() {
    let mut script = Script::default();
    script.play(&["input go"]);
    assert_eq!(model_answers(&mut script, LlmResponse::text("hello")).notes.durability, Durability::Now);
}

#[test]
fn a_message_that_waited_begins_a_turn_of_its_own() {
    let mut script = Script::default();
    script.play(&["input go", "input and then this"]);
    assert!(model_answers(&mut script, LlmResponse::text("done")).notes.begins_turn);
}

#[test]
fn what_was_outstanding_is_repeated_or_answered_by_its_kind() {
    let mut script = Script::default();
    script.play(&["input go"]);
    let begun = Resumption::of(&script.session, &Begun::unknown(), |_| true);
    assert!(matches!(begun.answers[..], [Event::LlmInterrupted { .. }]) && begun.repeated.is_empty());
    let not_begun = Resumption::of(&script.session, &Begun::nothing(), |_| true);
    assert!(matches!(not_begun.repeated[..], [Action::SendLlmRequest { .. }]) && not_begun.answers.is_empty());

    let _ = model_answers(&mut script, answer(&["a", "b"]));
    prepared(&mut script);
    let some = Resumption::of(&script.session, &Begun::unknown(), |call| call.id.as_str() == "a");
    let [Action::ExecuteTools { calls, .. }] = &some.repeated[..] else { panic!("{:?}", some.repeated) };
    assert_eq!(calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["a"]);
    let [Event::ToolCompleted { call, outcome, .. }] = &some.answers[..] else { panic!("{:?}", some.answers) };
    assert_eq!((call.as_str(), outcome.status), ("b", ToolStatus::Interrupted));
    let unbegun = Resumption::of(&script.session, &Begun::nothing(), |_| false);
    let statuses = unbegun.answers.iter().map(|event| match event {
        Event::ToolCompleted { outcome, .. } => outcome.status,
        other => panic!("{other:?}"),
    });
    assert_eq!(statuses.collect::<Vec<_>>(), [ToolStatus::NotRun; 2]);

    drop(script.session.step(0, Event::CancelRequested).unwrap());
    let cancelled = Resumption::of(&script.session, &Begun::unknown(), |_| true);
    assert!(cancelled.repeated.is_empty() && cancelled.answers.len() == 2, "nothing begins again under a cancel");
}
