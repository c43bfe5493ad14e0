//! Agents and their events that somebody spoilt: a typed error, or an agent that is what was written and never panics.

#[path = "../common/mangle.rs"]
mod mangle;

use crate::harness::{Harness, config, exited};
use agent_core::lifecycle::{CheckEnd, CommitmentId, Event, Lifecycle, Signal, State, TaskMode, Ticket, TurnEnd};
use agent_core::table::Label;
use mangle::{Spoilt, What, beginnings, each};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An agent in every state.
fn places() -> Vec<Harness> {
    let mut harness = Harness::new(config());
    let mut out = vec![harness.clone()];
    harness.message();
    harness.signal(Signal::Done);
    out.push(harness.clone());
    harness.time_left_ms = Some(700);
    harness.turn(TurnEnd::Completed);
    harness.answer(1, exited(1));
    out.push(harness.clone());
    let mut done = harness.clone();
    harness.answer(0, exited(0));
    harness.signal(Signal::Waiting);
    harness.turn(TurnEnd::Completed);
    out.push(harness.clone());
    let _ = harness.take(Event::Dismissed).unwrap();
    out.push(harness);
    done.message();
    done.turn(TurnEnd::Completed);
    done.answer(0, exited(0));
    done.answer(1, exited(0));
    out.push(done.clone());
    let _ = done.take(Event::Dismissed).unwrap();
    out.push(done);
    out
}

#[test]
fn an_agent_that_is_spoilt_is_an_error_or_what_it_says() {
    let (mut refused, mut read, mut stood) = (0, 0, Vec::new());
    for place in places() {
        stood.push(place.state());
        if place.state() == State::Verifying {
            let text = serde_json::to_string(&place.machine).unwrap();
            assert!(beginnings(&text).all(|cut| serde_json::from_str::<Lifecycle>(cut).is_err()));
        }
        let whole = serde_json::to_value(&place.machine).unwrap();
        each(&whole, &[], &mut |spoilt, value| match serde_json::from_value::<Lifecycle>(value.clone()) {
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
            Ok(agent) => {
                read += 1;
                let back = serde_json::to_value(&agent).unwrap();
                assert!(is_what_it_says(&spoilt, &whole, &value, &back), "{spoilt:?} reads as something else: {value}");
                assert!(catch_unwind(AssertUnwindSafe(|| live(&agent))).is_ok(), "{spoilt:?} panics: {value}");
            }
        });
    }
    let states =
        [State::Idle, State::Working, State::Verifying, State::Waiting, State::Reaped, State::Done, State::Ended];
    assert_eq!(stood, states);
    assert!(refused > 2_000 && read > 300, "{refused} refused, {read} read");
}

/// The agent that waits for its checks, with one thing changed.
fn verifying(change: impl Fn(&mut Value)) -> Result<Lifecycle, String> {
    let place = places().into_iter().find(|place| place.state() == State::Verifying).unwrap();
    let mut value = serde_json::to_value(&place.machine).unwrap();
    change(&mut value);
    serde_json::from_value(value).map_err(|error| error.to_string())
}

#[test]
fn an_agent_that_waits_for_a_ticket_of_the_future_is_refused() {
    let with_last = |change: fn(u64) -> u64| {
        verifying(|value| {
            let open = value["verification"]["ticket"].as_u64().max(value["timer"].as_u64());
            value["next_ticket"] = Value::from(change(open.unwrap()));
        })
    };
    assert!(with_last(|open| open).is_ok() && with_last(|open| open + 1).is_ok());
    let told = with_last(|open| open - 1).unwrap_err();
    assert_eq!(told, "no agent is ever Verifying with a ticket that has not been issued");
}

#[test]
fn an_agent_whose_open_checks_are_of_other_commitments_is_refused() {
    let told = verifying(|value| drop(value["commitments"].as_array_mut().unwrap().pop())).unwrap_err();
    assert_eq!(told, "no agent is ever Verifying with checks of other commitments");
}

#[test]
fn checks_without_a_limit_have_no_timer() {
    let told = verifying(|value| drop(value.as_object_mut().unwrap().remove("checks_time"))).unwrap_err();
    assert_eq!(told, "no agent is ever Verifying with a timer");
}

/// The text says another state than its data: refused, unless the two cannot be told apart.
#[test]
fn an_agent_in_another_state_is_refused_or_lives() {
    let (mut refused, mut read) = (0, 0);
    for place in places() {
        let whole = serde_json::to_value(&place.machine).unwrap();
        for state in State::NAMES.iter().filter(|state| whole["state"] != **state) {
            let mut value = whole.clone();
            value["state"] = Value::from(*state);
            match serde_json::from_value::<Lifecycle>(value) {
                Err(error) => {
                    assert!(error.to_string().starts_with(&format!("no agent is ever {state} ")), "{error}");
                    refused += 1;
                }
                Ok(agent) => {
                    live(&agent);
                    read += 1;
                }
            }
        }
    }
    assert!(refused > read, "{refused} refused, {read} read");
}

/// As written; but what is added is dropped, and what may be nothing may be left out.
fn is_what_it_says(spoilt: &Spoilt, whole: &Value, value: &Value, back: &Value) -> bool {
    let (mut nothing, mut without) = (whole.clone(), whole.clone());
    if let Some(field) = nothing.pointer_mut(&spoilt.at) {
        *field = Value::Null;
    }
    let (of, field) = spoilt.at.rsplit_once('/').unwrap_or_default();
    if let Some(Value::Object(object)) = without.pointer_mut(of) {
        drop(object.remove(field));
    }
    match spoilt.what {
        What::Added => back == whole,
        What::Removed => *back == nothing || *back == without,
        What::Replaced => back == value || *value == nothing && *back == without,
    }
}

/// Every event, with tickets that may be open.
fn live(agent: &Lifecycle) {
    for ticket in [1, 2, 3, 4, 77].map(Ticket) {
        for event in alphabet(ticket) {
            let mut agent = agent.clone();
            let _ = agent.step(u64::MAX, event);
            for event in alphabet(ticket) {
                let _ = agent.step(u64::MAX, event);
            }
        }
    }
}

fn alphabet(ticket: Ticket) -> Vec<Event> {
    let report = |end| agent_core::lifecycle::CheckReport::new(end, "é".repeat(5_000));
    let check = |id, end| Event::CheckCompleted { ticket, commitment: CommitmentId(id), report: report(end) };
    vec![
        check(0, CheckEnd::Exited { code: 0 }),
        check(1, CheckEnd::TimedOut),
        check(usize::MAX, CheckEnd::TimedOut),
        Event::TimedOut { ticket },
        Event::CleanupCompleted { ticket },
        Event::InputReceived { text: "more".into() },
        Event::ModeChanged { mode: TaskMode::Plan },
        Event::TurnEnded { end: TurnEnd::Completed, time_left_ms: Some(u64::MAX) },
        Event::TurnEnded { end: TurnEnd::Completed, time_left_ms: None },
        Event::WorkResumed,
        Event::CommitmentAdded { commitment: crate::harness::commitment("third") },
        Event::CancelRequested,
        Event::BudgetExceeded,
        Event::Dismissed,
        Event::SessionEnded,
    ]
}

#[test]
fn an_event_that_is_spoilt_is_an_error_or_what_it_says() {
    for event in alphabet(Ticket(1)) {
        let text = serde_json::to_string(&event).unwrap();
        if text.len() < 1_000 {
            assert!(beginnings(&text).all(|cut| serde_json::from_str::<Event>(cut).is_err()), "{text}");
        }
        let whole = serde_json::to_value(&event).unwrap();
        each(&whole, &[], &mut |spoilt, value| {
            let Ok(read) = serde_json::from_value::<Event>(value.clone()) else { return };
            let back = serde_json::to_value(&read).unwrap();
            assert!(is_what_it_says(&spoilt, &whole, &value, &back), "{spoilt:?} reads as something else: {value}");
        });
    }
}
