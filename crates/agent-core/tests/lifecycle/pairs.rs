//! Every state with every event, every guard both ways: what follows stands here once more, independent of the table, and whatever does not
//! stand here is refused and changes nothing.

use crate::harness::{Harness, config, exited};
use agent_check::lifecycle::{Tickets, event};
use agent_core::lifecycle::table::TABLE;
use agent_core::lifecycle::{
    Action, CheckEnd, CheckReport, Event, FilesChecked, LifecycleConfig, Objection, Reason, Signal, State, Ticket,
    Trigger, TurnEnd,
};
use std::collections::BTreeSet;

/// A machine in each state, with the timer of its state running; `Verifying` with one check answered, with and without a limit on its time.
fn places() -> Vec<(String, Harness)> {
    let renewed = || LifecycleConfig { is_renewed: true, ..config() };
    let done = |harness: &mut Harness| {
        verifying(harness, exited(0));
        harness.answer(1, exited(0));
    };
    let reaped = |harness: &mut Harness| drop(harness.take(Event::Dismissed).unwrap());
    let others: Vec<(&str, Harness)> = vec![
        ("Idle, new", Harness::new(config())),
        ("Idle", place(config(), &|harness| harness.turn(TurnEnd::Failed))),
        (
            "Waiting",
            place(config(), &|harness| {
                harness.signal(Signal::Waiting);
                harness.turn(TurnEnd::Completed);
            }),
        ),
        ("Done", place(config(), &done)),
        ("Done, renewed", place(renewed(), &done)),
        ("Reaped", place(config(), &reaped)),
        ("Reaped, renewed", place(renewed(), &reaped)),
        (
            "Ended",
            place(config(), &|harness| {
                reaped(harness);
                let ticket = harness.cleanup.unwrap();
                let _ = harness.take(Event::CleanupCompleted { ticket }).unwrap();
            }),
        ),
    ];
    let others = others.into_iter().map(|(place, harness)| (place.to_owned(), harness));
    others.chain(checking("", None)).chain(checking(LIMITED, Some(700))).chain(working()).collect()
}

fn place(config: LifecycleConfig, steps: &dyn Fn(&mut Harness)) -> Harness {
    let mut harness = Harness::new(config);
    harness.message();
    steps(&mut harness);
    harness
}

/// Says of a place that the checks have a timer.
const LIMITED: &str = ", limited";

/// While checks run, with so much left of the message's time.
fn checking(suffix: &str, time_left_ms: Option<u64>) -> Vec<(String, Harness)> {
    let resting = || LifecycleConfig { continues_after_failure: false, ..config() };
    let not_started = || CheckReport::new(CheckEnd::NotStarted { found: String::new() }, String::new());
    let with = |config, steps: &dyn Fn(&mut Harness)| {
        place(config, &|harness| {
            harness.time_left_ms = time_left_ms;
            steps(harness);
        })
    };
    let again = |harness: &mut Harness| {
        verifying(harness, exited(0));
        harness.answer(1, exited(1));
    };
    let places: Vec<(&str, Harness)> = vec![
        ("Verifying", with(config(), &|harness| harness.turn(TurnEnd::Completed))),
        ("Verifying, first kept", with(config(), &|harness| verifying(harness, exited(0)))),
        ("Verifying, resting, first kept", with(resting(), &|harness| verifying(harness, exited(0)))),
        ("Verifying, resting, first not started", with(resting(), &|harness| verifying(harness, not_started()))),
        ("Verifying, first not kept", with(config(), &|harness| verifying(harness, exited(2)))),
        (
            "Verifying, again, first kept",
            with(config(), &|harness| {
                verifying(harness, exited(0));
                harness.answer(1, stale());
                harness.answer(0, exited(0));
            }),
        ),
        ("Verifying, first not started", with(config(), &|harness| verifying(harness, not_started()))),
        (
            "Verifying, last round",
            with(config(), &|harness| {
                (0..3).for_each(|_| again(harness));
                verifying(harness, exited(0));
            }),
        ),
    ];
    places.into_iter().map(|(place, harness)| (format!("{place}{suffix}"), harness)).collect()
}

/// Kept, and a file changed while it ran.
fn stale() -> CheckReport {
    let files = FilesChecked { before: "1".into(), after: "2".into(), changed: vec!["a".into()] };
    CheckReport { files: Some(files), ..exited(0) }
}

fn verifying(harness: &mut Harness, report: CheckReport) {
    harness.turn(TurnEnd::Completed);
    harness.answer(0, report);
}

/// At work, with all that decides what the turn's end means, each with each: commitments, somebody who attends, what was signalled, a
/// cancel.
fn working() -> Vec<(String, Harness)> {
    let mut places = Vec::new();
    for (bound, commitments) in [("bound", config().commitments), ("unbound", Vec::new())] {
        for (attended, unsignalled_turn_claims) in [("headless", true), ("attended", false)] {
            for (said, signal) in [("silent", None), ("done", Some(Signal::Done)), ("waiting", Some(Signal::Waiting))] {
                for stopped in ["going on", "stopped"] {
                    let commitments = commitments.clone();
                    let mut harness =
                        Harness::new(LifecycleConfig { commitments, unsignalled_turn_claims, ..config() });
                    harness.message();
                    signal.into_iter().for_each(|signal| harness.signal(signal));
                    if stopped == "stopped" {
                        drop(harness.take(Event::CancelRequested).unwrap());
                    }
                    places.push((format!("Working, {bound}, {attended}, {said}, {stopped}"), harness));
                }
            }
        }
    }
    places
}

/// What follows on a whole turn. The first line of which every word is the place's counts.
#[rustfmt::skip]
const TURNS: &[Line] = &[
    ("stopped",         &[], State::Idle,      &["StopTimer", "ReportOutcome", "StartTimer"]),
    ("waiting",         &[], State::Waiting,   &["StopTimer", "ReportOutcome", "StartTimer"]),
    ("attended silent", &[], State::Idle,      &["StopTimer", "ReportOutcome", "StartTimer"]),
    ("unbound",         &[], State::Done,      &["StopTimer", "ReportOutcome"]),
    ("bound",           &[], State::Verifying, &["StopTimer", "RunChecks"]),
];

fn events(harness: &Harness) -> Vec<(&'static str, Event)> {
    let (checks, timer) = (harness.checks.last(), harness.timers.last());
    let (checks, timer) = (checks.copied().unwrap_or(Ticket(90)), timer.copied().unwrap_or(Ticket(91)));
    let tickets = Tickets { checks, timer, cleanup: harness.cleanup.unwrap_or(Ticket(92)) };
    // That of the first wait; a new agent has no earlier one.
    let earlier = if harness.timers.len() > 1 { 0 } else { 94 };
    let spelt =
        |line: &str| line.replace("EARLIER", &format!("@{earlier}")).replace("CHECKS", &format!("@{}", checks.0));
    EVENTS.iter().map(|(name, line)| (*name, event(&spelt(line), &tickets).unwrap())).collect()
}

/// Each with a name. `EARLIER` and `CHECKS` stand for tickets.
const EVENTS: &[(&str, &str)] = &[
    ("input", "input more"),
    ("blank input", "input  \n"),
    ("commitment", "commit third"),
    ("blank commitment", "commit  "),
    ("mode", "plan"),
    ("signal done", "done so"),
    ("signal waiting", "waiting so"),
    ("turn completed", "turn completed"),
    ("turn failed", "turn failed"),
    ("turn cancelled", "turn cancelled"),
    ("turn out of budget", "turn out-of-budget"),
    ("turn completed in time", "turn completed left 700"),
    ("work resumed", "work-resumed"),
    ("first kept", "check 1 kept"),
    ("second kept", "check 2 kept"),
    ("second stale", "check 2 stale"),
    ("second not kept", "check 2 exit 1 1"),
    ("second too slow", "check 2 too slow"),
    ("second not started", "check 2 not found"),
    ("unknown check", "check 3 kept"),
    ("stale check", "check 2 kept @0"),
    ("cancel", "cancel"),
    ("timeout", "timeout"),
    ("late timeout", "timeout EARLIER"),
    ("checks as timeout", "timeout CHECKS"),
    ("unknown timeout", "timeout @93"),
    ("budget", "budget"),
    ("session ended", "session-ended"),
    ("dismissed", "dismiss"),
    ("cleanup", "cleaned-up"),
    ("stale cleanup", "cleaned-up @0"),
];

/// From (the beginning of the place's name), events, to, actions. The first line that fits counts.
type Line = (&'static str, &'static [&'static str], State, &'static [&'static str]);

#[rustfmt::skip]
const EXPECTED: &[Line] = &[
    ("Idle", &["input"], State::Working, &["StopTimer", "SendInput", "StartTimer"]),
    ("Idle", &["work resumed"], State::Working, &["StopTimer", "StartTimer"]),
    ("Idle", &["commitment", "cancel"], State::Idle, &[]),
    ("Idle", &["timeout"], State::Reaped, &["ReportOutcome", "CleanUp"]),
    ("Idle", &["budget", "session ended", "dismissed"], State::Reaped, &["StopTimer", "ReportOutcome", "CleanUp"]),

    ("Working", &["input"], State::Working, &["SendInput"]),
    ("Working", &["commitment", "mode", "signal done", "signal waiting"], State::Working, &[]),
    ("Working", &["cancel"], State::Working, &["CancelTurn"]),
    ("Working", &["turn failed", "turn cancelled"], State::Idle, &["StopTimer", "ReportOutcome", "StartTimer"]),
    ("Working", &["turn out of budget"], State::Reaped, &["StopTimer", "ReportOutcome", "CleanUp"]),
    ("Working", &["timeout"], State::Reaped, &["CancelTurn", "ReportOutcome", "CleanUp"]),
    ("Working", &["session ended"], State::Reaped, &["StopTimer", "ReportOutcome", "CleanUp"]),
    ("Working", &["budget", "dismissed"], State::Reaped, &["StopTimer", "CancelTurn", "ReportOutcome", "CleanUp"]),

    ("Waiting", &["input"], State::Working, &["StopTimer", "SendInput", "StartTimer"]),
    ("Waiting", &["work resumed"], State::Working, &["StopTimer", "StartTimer"]),
    ("Waiting", &["commitment", "cancel"], State::Waiting, &[]),
    ("Waiting", &["timeout"], State::Reaped, &["ReportOutcome", "CleanUp"]),
    ("Waiting", &["budget", "session ended", "dismissed"], State::Reaped, &["StopTimer", "ReportOutcome", "CleanUp"]),

    ("Verifying", &["input"], State::Working, &["CancelChecks", "SendInput", "StartTimer"]),
    ("Verifying", &["commitment"], State::Verifying, &["CancelChecks", "RunChecks"]),
    ("Verifying", &["cancel"], State::Idle, &["CancelChecks", "ReportOutcome", "StartTimer"]),
    ("Verifying", &["budget", "session ended", "dismissed"], State::Reaped, &["CancelChecks", "ReportOutcome", "CleanUp"]),
    ("Verifying, first kept", &["second kept"], State::Done, &["ReportOutcome"]),
    ("Verifying, first kept", &["second stale"], State::Verifying, &["RunChecks"]),
    ("Verifying, again, first kept", &["second kept"], State::Done, &["ReportOutcome"]),
    ("Verifying, again, first kept", &["second stale", "second not kept", "second too slow", "second not started"], State::Working, &["SendGapReport", "StartTimer"]),
    ("Verifying, last round", &["second stale"], State::Verifying, &["RunChecks"]),
    ("Verifying, resting, first kept", &["second stale"], State::Verifying, &["RunChecks"]),
    ("Verifying, last round", &["second kept"], State::Done, &["ReportOutcome"]),
    ("Verifying, resting, first kept", &["second kept"], State::Done, &["ReportOutcome"]),
    ("Verifying, resting, first not started", &["second not started"], State::Reaped, &["ReportOutcome", "CleanUp"]),
    ("Verifying, resting", &["second kept", "second stale", "second not kept", "second too slow", "second not started"], State::Idle, &["ReportOutcome", "StartTimer"]),
    ("Verifying, last round", &["second not kept", "second too slow", "second not started"], State::Reaped, &["ReportOutcome", "CleanUp"]),
    ("Verifying, first not started", &["second not started"], State::Reaped, &["ReportOutcome", "CleanUp"]),
    ("Verifying, first", &["second kept", "second stale", "second not kept", "second too slow", "second not started"], State::Working, &["SendGapReport", "StartTimer"]),

    ("Done", &["session ended"], State::Ended, &[]),
    ("Done", &["dismissed"], State::Ended, &["ReleaseSession"]),
    ("Reaped", &["session ended"], State::Reaped, &[]),
    ("Reaped", &["cleanup"], State::Ended, &[]),
];

fn expected(place: &str, event: &str) -> Option<(State, Vec<&'static str>)> {
    let (to, actions) = match place.strip_suffix(LIMITED) {
        Some(_) if event == "timeout" => (State::Reaped, &["CancelChecks", "ReportOutcome", "CleanUp"][..]),
        Some(place) => return expected(place, event).map(|(to, actions)| (to, with_check_timer(to, actions))),
        None => expected_line(place, event).map(|(.., to, actions)| (*to, *actions))?,
    };
    Some((to, actions.to_vec()))
}

/// What leaves the checks stops their timer: before anything but the checks themselves.
fn with_check_timer(to: State, mut actions: Vec<&'static str>) -> Vec<&'static str> {
    if to != State::Verifying {
        actions.insert(usize::from(actions[0] == "CancelChecks"), "StopTimer");
    }
    actions
}

fn expected_line(place: &str, event: &str) -> Option<&'static Line> {
    // Nothing is answered yet: any valid answer leaves one open.
    const FIRST: Line = ("", &[], State::Verifying, &[]);
    // A limit on the message's time is one on the checks.
    const TIMED: Line = ("", &[], State::Verifying, &["StopTimer", "RunChecks", "StartTimer"]);
    let opens =
        ["first kept", "second kept", "second stale", "second not kept", "second too slow", "second not started"];
    if place == "Verifying" && opens.contains(&event) {
        return Some(&FIRST);
    }
    if place.starts_with("Working") && event.starts_with("turn completed") {
        let words: Vec<&str> = place.split(", ").collect();
        let line = TURNS.iter().find(|(when, ..)| when.split(' ').all(|word| words.contains(&word)))?;
        return Some(if event == "turn completed in time" && line.2 == State::Verifying { &TIMED } else { line });
    }
    EXPECTED.iter().find(|(from, events, ..)| place.starts_with(from) && events.contains(&event))
}

fn name(action: &Action) -> String {
    let text = format!("{action:?}");
    text.split([' ', '{']).next().unwrap().to_owned()
}

/// Whether the event is a timer that comes too late: its ticket was given, and nothing waits for it.
fn is_late(place: &str, event: &str) -> bool {
    match event {
        "late timeout" => place != "Idle, new",
        "timeout" => {
            let is_untimed = ["Verifying", "Done", "Reaped", "Ended"].iter().any(|untimed| place.starts_with(untimed));
            is_untimed && !place.ends_with(LIMITED)
        }
        "checks as timeout" => place.starts_with("Done"),
        _ => false,
    }
}

/// Why an event is refused, before or after it is a trigger.
fn refusal(place: &str, event: &str) -> (Option<Trigger>, Reason) {
    let no_row = |trigger| (Some(trigger), Reason::NoRow);
    match event {
        "blank input" | "blank commitment" => (None, Objection::Blank.into()),
        "stale check" | "stale cleanup" | "cleanup" | "late timeout" | "checks as timeout" | "unknown timeout" => {
            (None, Reason::StaleTicket)
        }
        "first kept" | "second kept" | "second stale" | "second not kept" | "second too slow"
        | "second not started" | "unknown check" => {
            let is_open = place.starts_with("Verifying");
            (None, if is_open { Objection::UnknownCommitment.into() } else { Reason::StaleTicket })
        }
        "input" => no_row(Trigger::InputReceived),
        "commitment" => no_row(Trigger::CommitmentAdded),
        "mode" => no_row(Trigger::ModeChanged),
        "signal done" | "signal waiting" => no_row(Trigger::Signalled),
        "turn failed" | "turn cancelled" => no_row(Trigger::TurnFailed),
        "turn out of budget" => no_row(Trigger::TurnOutOfBudget),
        "turn completed" | "turn completed in time" if place == "Waiting" => no_row(Trigger::WaitingSignalled),
        "work resumed" => no_row(Trigger::WorkResumed),
        "turn completed" | "turn completed in time" => no_row(Trigger::CompletionClaimed),
        "cancel" => no_row(Trigger::CancelRequested),
        "budget" => no_row(Trigger::BudgetExceeded),
        "session ended" => no_row(Trigger::SessionEnded),
        "dismissed" => no_row(Trigger::Dismissed),
        other => panic!("{place} + {other}: nothing says why it is refused"),
    }
}

#[test]
fn every_event_in_every_state() {
    assert_eq!(every_event_in(""), (8 + 2 * 8 + 24) * 31);
}

/// In the places of a state, by its name; how many pairs there were.
pub(crate) fn every_event_in(state: &str) -> usize {
    let mut pairs = 0;
    for (place, harness) in places().into_iter().filter(|(place, _)| place.starts_with(state)) {
        assert!(place.starts_with(&format!("{:?}", harness.state())), "{place}: {:?}", harness.state());
        for (label, event) in events(&harness) {
            pairs += 1;
            let bytes = serde_json::to_string(&harness.machine).unwrap();
            let mut harness = harness.clone();
            match (harness.take(event), expected(&place, label)) {
                (Ok(step), None) if step.is_empty() && is_late(&place, label) => {
                    assert_eq!(step.actions, [], "{place} + {label}");
                    assert_eq!(serde_json::to_string(&harness.machine).unwrap(), bytes, "{place} + {label}");
                }
                (Ok(step), Some((to, actions))) => {
                    assert_eq!(harness.state(), to, "{place} + {label}");
                    let names: Vec<_> = step.actions.iter().map(name).collect();
                    assert_eq!(names, actions, "{place} + {label}");
                }
                (Err(rejected), None) if !is_late(&place, label) => {
                    assert_eq!((rejected.trigger, rejected.reason), refusal(&place, label), "{place} + {label}");
                    assert_eq!(serde_json::to_string(&harness.machine).unwrap(), bytes, "{place} + {label}");
                }
                (outcome, line) => panic!("{place} + {label}: {outcome:?}, expected {line:?}"),
            }
        }
    }
    pairs
}

/// The same pairs beside the table: each of its rows fires in one of them, and a refusal says which rows there are.
#[test]
fn every_row_fires_in_some_pair_and_refusals_name_the_others() {
    let mut fired = BTreeSet::new();
    for (place, harness) in places() {
        for (label, event) in events(&harness) {
            match harness.clone().take_unchecked(event) {
                Ok(step) => fired.extend(step.transitions.iter().map(|row| (row.from, row.on))),
                Err(rejected) => {
                    let accepted: Vec<_> = TABLE.rows_from(rejected.state).map(|row| row.on).collect();
                    assert_eq!(rejected.accepted, accepted, "{place} + {label}");
                    let (no_row, why) = (rejected.reason == Reason::NoRow, rejected.refusal(&TABLE));
                    assert_eq!(no_row, why.is_some(), "{place} + {label}");
                }
            }
        }
    }
    let all: BTreeSet<_> = TABLE.rows.iter().map(|row| (row.from, row.on)).collect();
    assert_eq!(fired, all);
}
