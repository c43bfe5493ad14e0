//! The serialised form of an agent's events: those of the session as they ever were, the others beside them.

use crate::driver::{CONFIGS, Choice, Driver, bound, config};
use agent_core::agent::Event;
use agent_core::journal::{Entry, Format, Record};
use agent_core::lifecycle::{self, CheckEnd, CheckReport, CommitmentId, LifecycleConfig, TaskMode, Ticket};
use agent_core::session;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Reads what it writes, alone and in a line of a journal.
fn check(event: &Event) {
    let text = serde_json::to_string(event).unwrap();
    assert_eq!(&serde_json::from_str::<Event>(&text).unwrap(), event, "{text}");
    let value = serde_json::to_value(event).unwrap();
    assert_eq!(&serde_json::from_value::<Event>(value).unwrap(), event, "{text}");
    let record = Record { seq: 1, at_ms: 2, entry: Entry::Event(event.clone()) };
    let line = serde_json::to_string(&record).unwrap();
    assert_eq!(line, format!("{{\"seq\":1,\"at_ms\":2,\"entry\":{{\"Event\":{text}}}}}"));
    assert_eq!(Format::TODAY.read(&line).unwrap(), record, "{line}");
    match event {
        Event::Session(inner) => {
            assert_eq!(serde_json::to_string(inner).unwrap(), text, "an event of a session has another form");
            assert_eq!(&serde_json::from_str::<session::Event>(&text).unwrap(), inner);
        }
        Event::Bound(_)
        | Event::Released
        | Event::Attended
        | Event::Child { .. }
        | Event::Ordered(_)
        | Event::HeldBelow(_)
        | Event::Lifecycle(_) => {
            let error = serde_json::from_str::<session::Event>(&text).unwrap_err().to_string();
            assert!(error.contains(&format!("`{}`", outer_name(event))), "a session knows {text}");
        }
    }
}

/// The word that stands for the event where it is none of the session's.
const fn outer_name(event: &Event) -> &'static str {
    match event {
        Event::Lifecycle(_) => "Lifecycle",
        Event::Child { .. } => "Child",
        Event::Bound(_)
        | Event::Released
        | Event::Attended
        | Event::Ordered(_)
        | Event::HeldBelow(_)
        | Event::Session(_) => event.name(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// The events of long runs, whatever is in them.
    #[test]
    fn every_event_reads_as_it_was_written(
        number in 0..CONFIGS,
        choices in prop::collection::vec(any::<Choice>(), 1..60),
    ) {
        let mut driver = Driver::new(config(number), bound(number));
        for choice in choices {
            let event = driver.choose(choice);
            check(&event);
            let _ = driver.take_unchecked(event);
        }
    }
}

#[test]
fn the_forms_are_these() {
    let report = CheckReport::new(CheckEnd::Exited { code: -1 }, "é\n".into());
    let checked = lifecycle::Event::CheckCompleted { ticket: Ticket(3), commitment: CommitmentId(1), report };
    let forms = [
        (Event::Released, json!("Released")),
        (Event::Attended, json!("Attended")),
        (
            session::Event::SessionResumed { begun: true, calls: Vec::new() }.into(),
            json!({"SessionResumed": {"begun": true, "calls": []}}),
        ),
        (session::Event::Started.into(), json!("Started")),
        (session::Event::CancelRequested.into(), json!("CancelRequested")),
        (session::Event::CompactionRequested.into(), json!("CompactionRequested")),
        (
            session::Event::FocusedCompactionRequested { focus: "the API".into() }.into(),
            json!({"FocusedCompactionRequested": {"focus": "the API"}}),
        ),
        (session::Event::UserInput { text: "go".into() }.into(), json!({"UserInput": {"text": "go"}})),
        (
            session::Event::FollowUp { text: "go".into(), used_ms: 7 }.into(),
            json!({"FollowUp": {"text": "go", "used_ms": 7}}),
        ),
        (lifecycle::Event::CancelRequested.into(), json!({"Lifecycle": "CancelRequested"})),
        (lifecycle::Event::Dismissed.into(), json!({"Lifecycle": "Dismissed"})),
        (
            lifecycle::Event::ModeChanged { mode: TaskMode::BreakUp }.into(),
            json!({"Lifecycle": {"ModeChanged": {"mode": "break_up"}}}),
        ),
        (
            checked.into(),
            json!({"Lifecycle": {"CheckCompleted": {
                "ticket": 3, "commitment": 1, "report": {"end": {"Exited": {"code": -1}}, "output": "é\n"}
            }}}),
        ),
    ];
    for (event, form) in forms {
        assert_eq!(serde_json::to_value(&event).unwrap(), form);
        check(&event);
    }
    let bound = LifecycleConfig { is_renewed: true, ..LifecycleConfig::default() };
    let form = serde_json::to_value(Event::Bound(Box::new(bound.clone()))).unwrap();
    assert_eq!(form["Bound"], serde_json::to_value(&bound).unwrap());
    assert_eq!(form["Bound"]["is_renewed"], json!(true));
    check(&Event::Bound(Box::new(bound)));
}

/// Before it was an event of the session, only that it was resumed was told.
#[test]
fn a_session_that_was_resumed_before_is_read() {
    let read: Event = serde_json::from_value(json!("Resumed")).unwrap();
    assert_eq!(read, session::Event::SessionResumed { begun: false, calls: Vec::new() }.into());
    check(&read);
}

/// Whoever reads a line that nobody can read wants to know which event it is.
#[test]
fn an_event_that_nobody_knows_is_named() {
    let wrong = [
        (json!("Danced"), "`Danced`"),
        (json!({"Danced": {"with": "somebody"}}), "`Danced`"),
        (json!({"Lifecycle": "Danced"}), "`Danced`"),
        (json!({"Lifecycle": {"Danced": {}}}), "`Danced`"),
        (json!({"UserInput": {}}), "`text`"),
        (json!({"Bound": {}}), "`commitments`"),
        (json!({"Bound": null}), "LifecycleConfig"),
        (json!({"Started": {}}), "expected unit"),
        (json!({"Released": 1}), "unit"),
        (json!("UserInput"), "struct variant"),
        (json!("Bound"), "newtype variant"),
    ];
    for (value, told) in wrong {
        let of_value = serde_json::from_value::<Event>(value.clone()).unwrap_err().to_string();
        let text = value.to_string();
        let of_text = serde_json::from_str::<Event>(&text).unwrap_err().to_string();
        let line = format!("{{\"seq\":1,\"at_ms\":2,\"entry\":{{\"Event\":{text}}}}}");
        let of_line = Format::TODAY.read(&line).unwrap_err().to_string();
        for found in [of_value, of_text, of_line] {
            assert!(found.contains(told), "{value}: {found}");
        }
    }
}

#[test]
fn what_is_no_event_at_all_is_an_error() {
    for wrong in [json!({"Resumed": null, "Started": null}), json!({}), json!([]), json!(7), json!(""), Value::Null] {
        assert!(serde_json::from_value::<Event>(wrong.clone()).is_err(), "{wrong}");
        assert!(serde_json::from_str::<Event>(&wrong.to_string()).is_err(), "{wrong}");
    }
}
