//! Sessions and journals that somebody spoilt: a typed error, or a session that is what was written and never panics.

#[path = "../common/mangle.rs"]
mod mangle;

use crate::harness::check_request;
use agent_check::session::alphabet::Question;
use agent_check::session::{Script, answer, chosen, stop};
use agent_core::conversation::Item;
use agent_core::journal::{FORMAT_VERSION, Record, ReplayError, replay};
use agent_core::session::table::TABLE;
use agent_core::session::{Action, Event, Session, State, Ticket};
use agent_core::table::Label;
use mangle::{Spoilt, What, beginnings, each};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A session in every state, with something in every field in one of them.
const PLACES: &[&str] = &[
    "not-started",
    "config model-calls=1; input go; answer calls read{}; prepared; tool 1 ok x; input more",
    "config wall-ms=10000 price=3 fallback=second; input go; input more",
    "input go; answer calls read[1]; prepared",
    "config mode=default deny=change(x); input go; answer calls read{} change{}",
    "config mode=default; input go; answer look thinking calls read{} change{}; prepared; input more",
    "config wall-ms=10000 repetitions=3; input go; answer calls read#a{\"x\":1} read#a{} change{}; prepared; tool 1 ok x; cancel",
    "input go; answer calls change{}; prepared; tool 1 failed x changed=a.rs; input more",
    "input go; answer calls change{}; prepared; tool 1 ok x; git formatting",
    "input go; answer calls change{}; prepared; tool 1 ok x; git commit",
    "input go; answer long=30; compact; input more",
    "input go; answer long=30; input more; fail overflow; fail network",
    "input go; fail rate-limited retry-after=50; input more",
    "input go; answer part stop=paused",
    "config hooks=PreToolUse,UserPromptSubmit,Stop; input go; input more",
    "input go; shutdown",
];

#[test]
fn a_session_that_is_cut_is_an_error() {
    // The simplest, and the two with most in them.
    for words in [PLACES[0], PLACES[5], PLACES[6]] {
        let whole = serde_json::to_string(&session(words)).unwrap();
        for cut in beginnings(&whole) {
            assert!(serde_json::from_str::<Session>(cut).is_err(), "{words}: {cut}");
        }
    }
}

/// Messages that hooks have looked at are pending ones: a session that says otherwise would let one pass that none has looked at.
#[test]
fn a_session_with_more_messages_looked_at_than_wait_is_an_error() {
    let session = session("config hooks=UserPromptSubmit; input go; hooks");
    let mut kept = serde_json::to_value(&session).unwrap();
    assert_eq!(kept["hooks"]["vetted"], 1);
    kept["hooks"]["vetted"] = 2.into();
    let error = serde_json::from_value::<Session>(kept).unwrap_err().to_string();
    assert!(error.contains("more checked messages than there are"), "{error}");
}

type Spoil<'a> = &'a dyn Fn(&mut Value);

/// Parts that are each as they may be, and not together.
#[test]
fn a_session_whose_parts_contradict_each_other_is_an_error() {
    let batch = "input go; answer calls read{} change{}; prepared";
    let done = "input go; answer calls read{}; prepared; tool 1 ok x";
    let without_last = |value: &mut Value| drop(value.as_array_mut().unwrap().pop());
    let twice = |value: &mut Value| {
        let all = value.as_array_mut().unwrap();
        all.push(all.last().unwrap().clone());
    };
    let emptied = |value: &mut Value| *value = Value::Array(Vec::new());
    let blank = |value: &mut Value| *value = serde_json::json!([" \n"]);
    let requested = |value: &mut Value| *value = "Requested".into();
    let goes_on = |value: &mut Value| {
        value["hooks"]["run"]["goes_on"] = true.into();
        value["pending"] = Value::Array(Vec::new());
    };
    let set = |value: &mut Value| *value = true.into();
    let tomorrow = |value: &mut Value| value["armed"][0] = 99.into();
    let long = |value: &mut Value| {
        let all = value.as_array_mut().unwrap();
        *all = vec![all[0].clone(); 101];
    };
    let cases: &[(&str, &str, Spoil<'_>, &str)] = &[
        ("input go; answer hi", "/stopped_by_limit", &set, "missing work that a limit stopped"),
        ("input go", "/stopped_by_limit", &set, "missing work that a limit stopped"),
        ("input go; answer hi; input more; fail network", "/pending", &emptied, "nothing to send"),
        ("config wall-ms=9; input go", "/deadline", &tomorrow, "a ticket that has not been issued"),
        ("input go", "/trace/recent", &long, "a trace keeps at most 100 entries, and here are 101"),
        (batch, "/batch/calls", &without_last, "open calls of another answer"),
        (batch, "/used_ids", &emptied, "a call that occurs twice or is not on record"),
        (done, "/used_ids", &emptied, "a call that occurs twice or is not on record"),
        (done, "/conversation", &twice, "a call that occurs twice or is not on record"),
        (done, "/conversation", &emptied, "nothing to send"),
        (batch, "/conversation", &emptied, "nothing to send"),
        ("input go", "/pending", &emptied, "nothing to send"),
        ("input go", "/pending", &blank, "a blank message"),
        ("input go; input more", "/queue", &blank, "a blank message"),
        ("input go", "/compaction/due", &requested, "a summary to make"),
        ("input go; fail network", "/pending", &emptied, "nothing to send"),
        ("config hooks=UserPromptSubmit; input go", "/pending", &emptied, "nothing to send"),
        ("config hooks=SessionStart; input go", "", &goes_on, "nothing to send"),
        (
            "input go; answer calls change{}; prepared; tool 1 ok x; git commit",
            "/conversation",
            &emptied,
            "nothing to send",
        ),
    ];
    for (words, at, spoil, told) in cases {
        let mut kept = serde_json::to_value(session(words)).unwrap();
        spoil(kept.pointer_mut(at).unwrap_or_else(|| panic!("{words}: no {at}")));
        let error = serde_json::from_value::<Session>(kept).expect_err(words).to_string();
        assert!(error.ends_with(told), "{words}, {at}: {error}");
    }
}

#[test]
fn a_session_that_is_spoilt_is_an_error_or_what_it_says() {
    let (mut refused, mut read, mut wrong) = (0, 0, Vec::new());
    for (number, words) in PLACES.iter().enumerate() {
        let whole = serde_json::to_value(session(words)).unwrap();
        // What is the same everywhere is spoilt once.
        let but: &[&str] = if number == 0 { &[] } else { &["/config/", "/trace/", "/ledger/"] };
        each(&whole, but, &mut |spoilt, value| match serde_json::from_value::<Session>(value.clone()) {
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
            Ok(session) => {
                read += 1;
                let back = serde_json::to_value(&session).unwrap();
                let is_what_it_says = back == value || spoilt.what == What::Added && back == whole;
                if !is_what_it_says && !may_read_otherwise(&spoilt, &whole, &back) {
                    wrong.push(format!("{words}: {spoilt:?} reads as something else"));
                }
                if catch_unwind(AssertUnwindSafe(|| live(&session))).is_err() {
                    wrong.push(format!(
                        "{words}: {spoilt:?} panics: {}",
                        value.pointer(&spoilt.at).unwrap_or(&Value::Null)
                    ));
                }
            }
        });
    }
    assert!(wrong.is_empty(), "{} of {refused} refused, {read} read:\n{}", wrong.len(), wrong.join("\n"));
    assert!(refused > 5_000 && read > 500, "{refused} refused, {read} read");
}

/// Places that may read as something else than they say: a field that is left out may have a default or be nothing; a set has everything
/// once; texts in a history are never blank; and arguments are written as a text.
fn may_read_otherwise(spoilt: &Spoilt, whole: &Value, back: &Value) -> bool {
    let defaults = ["/config/limits", "/config/retry", "/entry/Header/config/limits", "/entry/Header/config/retry"];
    let sets = ["/used_ids", "/changes/paths", "/config/hooks"];
    let begins = |places: &[&str]| places.iter().any(|place| spoilt.at.starts_with(place));
    let mut without = whole.clone();
    if let Some(field) = without.pointer_mut(&spoilt.at) {
        *field = Value::Null;
    }
    let is_nothing = spoilt.what == What::Removed && *back == without;
    // A flag that is not set is left out.
    let is_unset = spoilt.what == What::Replaced && *back == lacking(whole, &spoilt.at);
    let is_text =
        spoilt.at.contains("/blocks/") || spoilt.at.ends_with("/arguments") || spoilt.at.contains("/conversation/");
    is_nothing || is_unset || is_text || begins(&defaults) || begins(&sets)
}

/// The same without one field.
fn lacking(whole: &Value, at: &str) -> Value {
    let mut lacking = whole.clone();
    if let Some((place, field)) = at.rsplit_once('/')
        && let Some(Value::Object(fields)) = lacking.pointer_mut(place)
    {
        fields.remove(field);
    }
    lacking
}

/// Whatever it is: everything that may be asked of it, and every event. Whatever it sends can be sent, and no result gets lost.
fn live(session: &Session) {
    let _ = (session.outcome(), session.limit_reached(), session.is_cancel_pending());
    assert!(!TABLE.is_passing(session.state()), "it rests in {:?}", session.state());
    let outstanding = session.outstanding();
    let mut events = vec![
        Event::Started,
        Event::UserInput { text: "more".into() },
        Event::BudgetRaised { limits: session.config().limits },
        Event::CompactionRequested,
        Event::FocusedCompactionRequested { focus: "more".into() },
        Event::CancelRequested,
        Event::ShutdownRequested,
    ];
    let has_calls = |action: &Action| match action {
        Action::ExecuteTools { calls, .. } => !calls.is_empty(),
        Action::RequestApproval { questions, .. } => !questions.is_empty(),
        _ => true,
    };
    for asked in outstanding.iter().map(|o| &o.action).filter(|action| has_calls(action)) {
        let choices = [(7, 2), (12, 4), (13, 0), (0, 1), (3, 5), (5, 1), (2, 7), (0, 25), (0, 30), (0, 36)];
        events.extend(choices.map(|(a, b)| chosen(asked, session, a, b)));
    }
    for event in events {
        let mut session = session.clone();
        take(&mut session, event);
        for _ in 0..4 {
            let Some(asked) = session.outstanding().into_iter().map(|o| o.action).find(has_calls) else { break };
            let event = if session.is_cancel_pending() { stopped(&asked, &session) } else { next(&asked, &session) };
            take(&mut session, event);
        }
    }
}

fn take(session: &mut Session, event: Event) {
    let completed = match &event {
        Event::ToolCompleted { call, .. } => Some(call.clone()),
        _ => None,
    };
    let Ok(step) = session.step(u64::MAX, event) else { return };
    for action in &step.actions {
        if let Action::SendLlmRequest { request, .. } = action {
            check_request(&request.conversation);
        }
    }
    if let Some(call) = completed.filter(|_| session.state() != State::ExecutingTools) {
        let mut results = session.conversation().iter().flat_map(|item| match item.as_ref() {
            Item::Round(round) => round.results(),
            Item::Input(_) | Item::Summary(_) | Item::Answer(_) => &[],
        });
        assert!(results.any(|result| *result.call() == call), "the result of {call} is lost");
    }
}

fn stopped(asked: &Action, session: &Session) -> Event {
    match asked {
        Action::RequestApproval { .. } => answer("deny 1 no", asked, session).unwrap(),
        Action::ScheduleRetry { .. } | Action::StartDeadline { .. } => next(asked, session),
        other => stop(other, session),
    }
}

/// An answer that goes on.
fn next(asked: &Action, session: &Session) -> Event {
    let line = match Question::of(asked).unwrap() {
        Question::Model => "answer calls change#e{} change#f{} read#g{}",
        Question::Tools => "tool 1 ok",
        Question::Approval => "allow 1",
        other => other.answers()[0],
    };
    answer(line, asked, session).unwrap()
}

/// The ticket that was given last may be open or answered; none can be open that is given only later.
#[test]
fn a_session_that_waits_for_a_ticket_of_the_future_is_refused() {
    let waiting = session("input go");
    let Action::SendLlmRequest { ticket: Ticket(open), .. } = waiting.outstanding().remove(0).action else { panic!() };
    let with_last = |last: u64| {
        let mut value = serde_json::to_value(&waiting).unwrap();
        value["next_ticket"] = Value::from(last);
        serde_json::from_value::<Session>(value)
    };
    assert!(with_last(open).is_ok() && with_last(open + 1).is_ok());
    let told = with_last(open - 1).unwrap_err().to_string();
    assert_eq!(told, "no session is ever in CallingLlm with a ticket that has not been issued");
}

/// The text says another state than its data: refused, unless the two cannot be told apart.
#[test]
fn a_session_in_another_state_is_refused_or_lives() {
    let (mut refused, mut read, mut wrong) = (0, 0, Vec::new());
    for words in PLACES {
        let whole = serde_json::to_value(session(words)).unwrap();
        for state in State::NAMES.iter().filter(|state| whole["state"] != **state) {
            let mut value = whole.clone();
            value["state"] = Value::from(*state);
            match serde_json::from_value::<Session>(value) {
                Err(error) => {
                    let told = error.to_string();
                    assert!(told.starts_with(&format!("no session is ever in {state} ")), "{told}");
                    refused += 1;
                }
                Ok(session) => {
                    if catch_unwind(AssertUnwindSafe(|| live(&session))).is_err() {
                        wrong.push(format!("{words}: {state}"));
                    }
                    read += 1;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refused > read, "{refused} refused, {read} read");
}

#[test]
fn a_session_that_waits_for_nothing_is_refused() {
    for words in PLACES {
        let session = session(words);
        if session.outstanding().is_empty() {
            continue;
        }
        let mut value = serde_json::to_value(&session).unwrap();
        value.as_object_mut().unwrap().remove("asked");
        let told = serde_json::from_value::<Session>(value).unwrap_err().to_string();
        assert!(told.contains("a request to the driver"), "{words}: {told}");
    }
}

#[test]
fn a_journal_that_is_spoilt_is_an_error() {
    let lines = journal();
    for line in &lines {
        assert!(beginnings(line).all(|cut| serde_json::from_str::<Record>(cut).is_err()), "{line}");
        let whole: Value = serde_json::from_str(line).unwrap();
        each(&whole, &[], &mut |spoilt, value| {
            let Ok(record) = serde_json::from_value::<Record>(value.clone()) else { return };
            let back = serde_json::to_value(&record).unwrap();
            let is_what_it_says = back == value || spoilt.what == What::Added && back == whole;
            assert!(
                is_what_it_says || may_read_otherwise(&spoilt, &whole, &back),
                "{spoilt:?} reads as something else: {value}"
            );
        });
    }
    let records = || lines.iter().map(|line| serde_json::from_str::<Record>(line).unwrap()).collect::<Vec<_>>();
    assert_eq!(replay(records()).unwrap().1.state(), State::ExecutingTools);
    assert_eq!(replay(Vec::new()).unwrap_err(), ReplayError::NoHeader);
    assert_eq!(replay(records().into_iter().skip(1)).unwrap_err(), ReplayError::NoHeader);
    let mut of_tomorrow: Value = serde_json::from_str(&lines[0]).unwrap();
    *of_tomorrow.pointer_mut("/entry/Header/format_version").unwrap() = serde_json::json!(FORMAT_VERSION + 1);
    let found = FORMAT_VERSION + 1;
    assert_eq!(replay([serde_json::from_value(of_tomorrow).unwrap()]).unwrap_err(), ReplayError::Version { found });
    for missing in 1..lines.len() - 1 {
        let mut records = records();
        records.remove(missing);
        let (expected, found) = (missing as u64, missing as u64 + 1);
        assert_eq!(replay(records).unwrap_err(), ReplayError::Gap { expected, found });
    }
    let twice = records().into_iter().flat_map(|record| [record.clone(), record]);
    assert_eq!(replay(twice).unwrap_err(), ReplayError::Gap { expected: 1, found: 0 });
    let mut headers = vec![records().remove(0); 2];
    headers[1].seq = 1;
    assert_eq!(replay(headers).unwrap_err(), ReplayError::SecondHeader { seq: 1 });
}

fn session(words: &str) -> Session {
    let mut script = Script::default();
    script.play(&words.split("; ").collect::<Vec<_>>());
    script.session
}

/// A short one with an event of many fields.
fn journal() -> Vec<String> {
    let mut harness = crate::harness::Harness::new(crate::harness::config(0));
    let choices = [(0, 0, 0), (6, 24, 4), (6, 0, 0)];
    let _ = harness.take(Event::Started);
    for choice in choices {
        let event = harness.choose(choice);
        let _ = harness.take(event);
    }
    harness.lines().to_vec()
}
