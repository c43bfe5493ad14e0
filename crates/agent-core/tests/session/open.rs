//! What is open, and what of it may begin again: a call that may cost money, a question that somebody has to answer, hooks.

use agent_check::session::{Command, Script};
use agent_core::budget::{LimitKind, Price};
use agent_core::conversation::Item;
use agent_core::hook::HookPoint;
use agent_core::llm::{Effort, LlmResponse};
use agent_core::session::{Action, Event, ModelConfig, Session, SessionConfig, State};

const FREE: Price = Price { input_nano_usd: 0, output_nano_usd: 0, cache_read_nano_usd: 0, cache_write_nano_usd: 0 };

#[test]
fn a_call_that_is_open_may_cost_something_unless_nothing_is_asked_for_any_use() {
    let dear = [
        Price { input_nano_usd: 1, ..FREE },
        Price { output_nano_usd: 1, ..FREE },
        Price { cache_read_nano_usd: 1, ..FREE },
        Price { cache_write_nano_usd: 1, ..FREE },
    ];
    let prices = dear.map(|price| (Some(price), true)).into_iter().chain([(None, true), (Some(FREE), false)]);
    for (price, is_open) in prices {
        let model = ModelConfig { price, ..ModelConfig::new("m") };
        let mut session = Session::new(SessionConfig::new(model));
        drop(session.step(0, Event::Started).unwrap());
        assert!(!session.has_open_cost(), "nothing was asked");
        drop(session.step(0, Event::UserInput { text: "go".into() }).unwrap());
        assert_eq!(session.has_open_cost(), is_open, "{price:?}");
        let Action::SendLlmRequest { ticket, .. } = session.outstanding().remove(0).action else { panic!() };
        drop(session.step(0, Event::LlmCompleted { ticket, response: LlmResponse::text("hi") }).unwrap());
        assert!(!session.has_open_cost(), "it was answered");
    }
}

#[test]
fn a_call_in_flight_keeps_its_effort_and_the_next_has_the_new_one() {
    let config = |effort| SessionConfig::new(ModelConfig { effort, ..ModelConfig::new("m") });
    let mut session = Session::new(config(Some(Effort::Low)));
    drop(session.step(0, Event::Started).unwrap());
    let asked = |session: &Session| match session.outstanding().remove(0).action {
        Action::SendLlmRequest { ticket, request } => (ticket, request.effort),
        other => panic!("{other:?}"),
    };
    drop(session.step(0, Event::UserInput { text: "go".into() }).unwrap());
    let (ticket, effort) = asked(&session);
    assert_eq!(effort, Some(Effort::Low));
    for (next, then) in [(Some(Effort::High), Some(Effort::High)), (None, None)] {
        let before = asked(&session);
        drop(session.step(0, Event::Reconfigured { config: Box::new(config(next)) }).unwrap());
        assert_eq!(asked(&session), before, "a repeated request is unchanged");
        drop(session.step(0, Event::LlmCompleted { ticket: before.0, response: LlmResponse::text("hi") }).unwrap());
        drop(session.step(0, Event::UserInput { text: "go on".into() }).unwrap());
        assert_eq!(asked(&session).1, then);
    }
    assert_ne!(asked(&session).0, ticket);
}

/// A late answer is refused, so what the call used can only be estimated.
#[test]
fn a_call_that_the_end_of_the_session_cuts_is_charged_as_far_as_it_is_known() {
    let price = Price { input_nano_usd: 1_000, ..FREE };
    let model = ModelConfig { price: Some(price), ..ModelConfig::new("m") };
    for (state, lines) in [
        (State::CallingLlm, &["input go on with it"][..]),
        (State::SendingToolResults, &["input go", "answer calls read{}", "prepared", "tool 1 ok x"]),
        (State::Compacting, &["input go", "answer long=300", "compact"]),
    ] {
        let mut script = Script::default();
        let config = SessionConfig { models: vec![model.clone()], ..script.session.config().clone() };
        drop(script.session.step(0, Event::Reconfigured { config: Box::new(config) }).unwrap());
        script.play(lines);
        assert_eq!(script.session.state(), state);
        let before = *script.session.ledger();
        script.play(&["shutdown"]);
        let after = *script.session.ledger();
        assert_eq!(after.estimated_calls, before.estimated_calls + 1, "{state:?}");
        assert!(after.cost_nano_usd > before.cost_nano_usd, "{state:?}: {after:?}");
        assert!(!script.session.has_open_cost());
    }
}

/// Its counters are the turn's, and another turn begins with new ones.
#[test]
fn at_rest_only_what_stands_in_the_way_of_another_turn_is_a_limit_that_was_reached() {
    let failed = ["config failures=1", "input go", "answer calls read{}", "prepared", "tool 1 failed no"];
    let refused = ["config tool-calls=0", "input go", "answer calls read{}", "prepared"];
    let spent = ["config model-calls=1", "input go", "answer hi"];
    let unpriced = ["config price=1 cost=100000000 fallback=second", "input go", "fail overloaded"];
    for (lines, reached) in
        [(&failed[..], None), (&refused[..], None), (&spent[..], Some(LimitKind::ModelCalls)), (&unpriced[..], None)]
    {
        let script = Script::after(lines);
        assert_eq!(script.session.state(), State::WaitingForUserInput, "{lines:?}");
        assert_eq!(script.session.limit_reached().map(|reached| reached.kind), reached, "{lines:?}");
    }
}

#[test]
fn rulings_are_told_in_call_order_whatever_the_order_of_the_facts() {
    let mut script = Script::after(&["config deny=change", "input go", "answer calls read{} change{} read{} change{}"]);
    let Command::Take(Event::ToolsPrepared { ticket, mut facts }) = script.read("prepared") else { panic!() };
    facts.reverse();
    let step = script.session.step(0, Event::ToolsPrepared { ticket, facts }).unwrap();
    let told: Vec<_> = step.notes.rulings.iter().map(|ruling| ruling.call.as_str()).collect();
    assert_eq!(told, ["c1-1", "c1-2", "c1-3", "c1-4"]);
}

/// After a crash nobody knows how far they came.
#[test]
fn hooks_on_what_was_done_do_not_run_again() {
    let once: Vec<_> = HookPoint::ALL.into_iter().filter(|point| !point.may_be_repeated()).collect();
    assert_eq!(once, [HookPoint::PostToolUse, HookPoint::SessionEnd]);
}

/// There is no empty line behind the words.
#[test]
fn an_interrupted_call_that_said_nothing_has_one_line() {
    let script = Script::after(&["input go", "answer calls read{}", "prepared", "tool 1 interrupted \"\""]);
    let last = script.session.conversation().last().unwrap();
    let Item::Round(round) = last.as_ref() else { panic!("{last:?}") };
    assert_eq!(round.results()[0].content(), "interrupted, outcome unknown");
}
