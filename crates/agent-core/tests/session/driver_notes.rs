//! What a step tells its driver besides actions: when its record has to be durable, and whether a turn began; and what a driver does with
//! what was outstanding when it ended.

use agent_check::session::Script;
use agent_core::journal::{Begun, Resumption};
use agent_core::session::{Action, Durability, Event};
use agent_core::tool::ToolStatus;

#[test]
fn a_record_is_durable_before_anything_acts_on_it() {
    let mut script = Script::default();
    let mut told = |line| script.tell(line).unwrap().notes;
    let said = told("input go");
    assert_eq!((said.durability, said.begins_turn), (Durability::Now, true));
    let queued = told("input and more");
    assert_eq!((queued.durability, queued.begins_turn), (Durability::Now, false), "it is acknowledged");
    let calls = told(CALLS);
    assert_eq!((calls.durability, calls.begins_turn), (Durability::NowIfHooksAct, false));
    told("prepared");
    assert_eq!(told("tool 1 ok done").durability, Durability::Later, "another one runs");
    let last = told("tool 2 ok done");
    assert_eq!((last.durability, last.begins_turn), (Durability::Now, false), "a model call follows");
}

#[test]
fn an_answer_that_ends_the_turn_is_durable_before_the_prompt() {
    let mut script = Script::after(&["input go"]);
    assert_eq!(script.tell("answer hello").unwrap().notes.durability, Durability::Now);
}

#[test]
fn a_message_that_waited_begins_a_turn_of_its_own() {
    let mut script = Script::after(&["input go", "input and then this"]);
    assert!(script.tell("answer done").unwrap().notes.begins_turn);
}

#[test]
fn what_was_outstanding_is_repeated_or_answered_by_its_kind() {
    let mut script = Script::after(&["input go"]);
    let begun = Resumption::of(&script.session, &Begun::unknown(), |_| true);
    assert!(matches!(begun.answers[..], [Event::LlmInterrupted { .. }]) && begun.repeated.is_empty());
    let not_begun = Resumption::of(&script.session, &Begun::nothing(), |_| true);
    assert!(matches!(not_begun.repeated[..], [Action::SendLlmRequest { .. }]) && not_begun.answers.is_empty());

    script.play(&[CALLS, "prepared"]);
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

    script.play(&["cancel"]);
    let cancelled = Resumption::of(&script.session, &Begun::unknown(), |_| true);
    assert!(cancelled.repeated.is_empty() && cancelled.answers.len() == 2, "nothing begins again under a cancel");
}

const CALLS: &str = "answer calls read#a{} read#b{}";
