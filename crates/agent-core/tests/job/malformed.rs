//! Jobs, their events and their records that somebody spoilt: a typed error, or what was written, and never a panic.

#[path = "../common/mangle.rs"]
mod mangle;

use crate::harness::{Harness, events, success, system};
use agent_core::job::{AuditRecord, Event, Job, State};
use agent_core::session::Ticket;
use agent_core::table::Label;
use mangle::{Spoilt, What, beginnings, each};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A job in every state.
pub(crate) fn places() -> Vec<Harness> {
    let pending = || Harness::with_retries(2);
    let steps: [fn(&mut Harness) -> State; 7] = [
        Harness::start,
        Harness::validate,
        Harness::define,
        |h| h.end_attempt(system()),
        Harness::wait,
        |h| h.end_attempt(success()),
        Harness::write,
    ];
    let after = |count: usize| {
        let mut harness = pending();
        steps.iter().take(count).for_each(|step| {
            step(&mut harness);
        });
        harness
    };
    let mut out: Vec<Harness> = [0, 1, 2, 3, 4, 6, 7].map(after).into();
    let mut recording = after(4);
    recording.go(Event::CancelRequested);
    out.push(recording);
    let mut failed = after(4);
    failed.go(Event::CancelRequested);
    failed.write();
    out.push(failed);
    out
}

#[test]
fn a_job_that_is_cut_is_an_error() {
    // The simplest, one with an agent at work, and the last with most in it.
    let places = places();
    for place in [&places[0], &places[3], &places[places.len() - 1]] {
        let whole = serde_json::to_string(&place.job).unwrap();
        for cut in beginnings(&whole) {
            assert!(serde_json::from_str::<Job>(cut).is_err(), "{cut}");
        }
    }
}

#[test]
fn a_job_that_is_spoilt_is_an_error_or_what_it_says() {
    let (mut refused, mut read, mut stood) = (0, 0, Vec::new());
    for (number, place) in places().into_iter().enumerate() {
        stood.push(place.job.state());
        let whole = serde_json::to_value(&place.job).unwrap();
        // What is the same everywhere is spoilt once.
        let but: &[&str] = if number == 0 { &[] } else { &["/config/", "/trace/"] };
        each(&whole, but, &mut |spoilt, value| match serde_json::from_value::<Job>(value.clone()) {
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
            Ok(job) => {
                read += 1;
                let back = serde_json::to_value(&job).unwrap();
                assert!(is_what_it_says(&spoilt, &whole, &value, &back), "{spoilt:?} reads as something else: {value}");
                assert!(catch_unwind(AssertUnwindSafe(|| live(&job))).is_ok(), "{spoilt:?} panics: {value}");
            }
        });
    }
    stood.sort();
    use State::{Completed, DefineAgent, End, Failed, Init, Pending, Process, Recording, RetryWait};
    assert_eq!(stood, [Pending, Init, DefineAgent, Process, RetryWait, End, Recording, Completed, Failed]);
    assert!(refused > 2_000 && read > 300, "{refused} refused, {read} read");
}

/// The text says another state than its data: refused, unless the two cannot be told apart.
#[test]
fn a_job_in_another_state_is_refused_or_lives() {
    let (mut refused, mut read) = (0, 0);
    for place in places() {
        let whole = serde_json::to_value(&place.job).unwrap();
        for state in State::NAMES.iter().filter(|state| whole["state"] != **state) {
            let mut value = whole.clone();
            value["state"] = Value::from(*state);
            match serde_json::from_value::<Job>(value) {
                Err(error) => {
                    assert!(error.to_string().starts_with(&format!("no job is ever in {state} ")), "{error}");
                    refused += 1;
                }
                Ok(job) => {
                    live(&job);
                    read += 1;
                }
            }
        }
    }
    assert!(refused > read, "{refused} refused, {read} read");
}

/// As written; but what is added is dropped, and what has a default or may be nothing may be left out.
fn is_what_it_says(spoilt: &Spoilt, whole: &Value, value: &Value, back: &Value) -> bool {
    let defaults = ["/config/limits", "/config/retry", "/config/skills", "/tiers", "/ValidationPassed/tiers"];
    if defaults.iter().any(|place| spoilt.at.starts_with(place)) {
        return true;
    }
    let mut without = whole.clone();
    if let Some(field) = without.pointer_mut(&spoilt.at) {
        *field = Value::Null;
    }
    match spoilt.what {
        What::Added => back == whole,
        What::Removed => *back == without,
        What::Replaced => back == value,
    }
}

fn live(job: &Job) {
    let _ = (job.status(), job.is_finished());
    let waits = !matches!(job.state(), State::Pending | State::Completed | State::Failed);
    assert_eq!(!job.outstanding().is_empty(), waits, "{:?} waits for {:?}", job.state(), job.outstanding());
    for ticket in [0, 1, 3, 77].map(Ticket) {
        for event in events(ticket) {
            let mut job = job.clone();
            let _ = job.step(u64::MAX, event);
            for event in events(ticket) {
                let _ = job.step(u64::MAX, event);
            }
        }
    }
}

#[test]
fn an_event_or_a_record_that_is_spoilt_is_an_error_or_what_it_says() {
    for event in events(Ticket(1)) {
        let text = serde_json::to_string(&event).unwrap();
        assert!(beginnings(&text).all(|cut| serde_json::from_str::<Event>(cut).is_err()), "{text}");
        let whole = serde_json::to_value(&event).unwrap();
        each(&whole, &[], &mut |spoilt, value| {
            let Ok(read) = serde_json::from_value::<Event>(value.clone()) else { return };
            let back = serde_json::to_value(&read).unwrap();
            assert!(is_what_it_says(&spoilt, &whole, &value, &back), "{spoilt:?} reads as something else: {value}");
        });
    }
    let mut harness = Harness::processing(0);
    harness.end_attempt(success());
    let text = serde_json::to_string(&harness.records[0]).unwrap();
    assert!(beginnings(&text).all(|cut| serde_json::from_str::<AuditRecord>(cut).is_err()));
    let whole = serde_json::to_value(&harness.records[0]).unwrap();
    each(&whole, &[], &mut |spoilt, value| {
        let Ok(read) = serde_json::from_value::<AuditRecord>(value.clone()) else { return };
        let back = serde_json::to_value(&read).unwrap();
        // Money is written in dollars, which may be written in more than one way.
        let is_money = spoilt.at == "/cost_usd";
        assert!(is_money || is_what_it_says(&spoilt, &whole, &value, &back), "{spoilt:?} reads otherwise: {value}");
    });
}
