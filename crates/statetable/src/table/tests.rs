//! The proofs refuse each fault for its own reason. A sound table is broken in one place; numbers stand for labels.

use super::proof::{Cell, Claim, Shape, is_automatic, prove};
use alloc::string::String;
use alloc::vec::Vec;
use std::panic::catch_unwind;

const IDLE: u8 = 0;
const CHOOSING: u8 = 1;
const BUSY: u8 = 2;
const OVER: u8 = 3;

const WENT: u8 = 0;
const ENDED: u8 = 1;
const STOPPED: u8 = 2;
const AUTO_BUSY: u8 = 3;
const AUTO_IDLE: u8 = 4;

const BEGIN: u8 = 0;
const FINISH: u8 = 1;

const STATES: &[&str] = &["Idle", "Choosing", "Busy", "Over"];
const TRIGGERS: &[&str] = &["Went", "Ended", "Stopped", "AutoBusy", "AutoIdle"];

const fn row(from: u8, on: u8, to: u8, actions: u128) -> Cell {
    Cell { from, on, to, actions, repeats_action: false }
}

fn sound() -> Vec<Cell> {
    Vec::from([
        row(IDLE, WENT, CHOOSING, 1 << BEGIN),
        row(CHOOSING, AUTO_BUSY, BUSY, 0),
        row(CHOOSING, AUTO_IDLE, IDLE, 0),
        row(BUSY, ENDED, IDLE, 0),
        row(BUSY, STOPPED, OVER, 1 << FINISH),
    ])
}

const fn shape(rows: &[Cell]) -> Shape<'_> {
    Shape {
        states: STATES,
        triggers: TRIGGERS,
        actions: &["Begin", "Finish"],
        initial: IDLE,
        terminal: 1 << OVER,
        passing: 1 << CHOOSING,
        rows,
    }
}

/// What a proof says about a shape, or `None` if it holds.
fn said<P>(proof: impl Fn() -> P + core::panic::UnwindSafe) -> Option<String> {
    let payload = catch_unwind(proof).err()?;
    payload.downcast_ref::<&str>().map(|text| String::from(*text)).or_else(|| payload.downcast_ref::<String>().cloned())
}

fn fault(change: impl Fn(&mut Vec<Cell>)) -> Option<String> {
    let mut rows = sound();
    change(&mut rows);
    said(|| prove(&shape(&rows), &[]))
}

#[test]
fn the_sound_table_holds() {
    assert_eq!(fault(|_| {}), None);
}

#[test]
fn each_fault_is_named() {
    type Change = fn(&mut Vec<Cell>);
    let end_from_idle = |rows: &mut Vec<Cell>| rows[4] = row(IDLE, STOPPED, OVER, 1 << FINISH);
    assert_eq!(fault(end_from_idle), None);
    let faults: [(Change, &str); 11] = [
        (|rows| rows.push(row(IDLE, WENT, BUSY, 0)), "two rows fill one cell, the second is Idle + Went => Busy"),
        (|rows| rows.push(row(OVER, WENT, IDLE, 0)), "a row leaves a terminal state: Over + Went => Idle"),
        (|rows| rows[4].to = IDLE, "no way leads to the state Over"),
        (|rows| (rows[3].to, rows[4]) = (BUSY, row(IDLE, STOPPED, OVER, 1 << FINISH)), "no row leaves the state Busy"),
        (
            |rows| {
                (rows[2].to, rows[3].to, rows[4]) = (BUSY, CHOOSING, row(IDLE, STOPPED, OVER, 1 << FINISH));
            },
            "no way leads to an end from the state Choosing",
        ),
        (|rows| rows.retain(|row| row.on != ENDED), "no row uses the trigger Ended"),
        (|rows| rows[4].actions = 0, "no row uses the action Finish"),
        (|rows| rows[4].repeats_action = true, "an action stands twice on the row Busy + Stopped => Over"),
        (|rows| rows[2].to = CHOOSING, "automatic rows can cycle, from the state Choosing"),
        (|rows| rows.push(row(CHOOSING, ENDED, IDLE, 0)), "a passing state has an event row: Choosing + Ended => Idle"),
        (
            |rows| rows.push(row(BUSY, AUTO_IDLE, IDLE, 0)),
            "a waiting state has an automatic row: Busy + AutoIdle => Idle",
        ),
    ];
    for (change, message) in faults {
        assert_eq!(fault(change).as_deref(), Some(message));
    }
}

#[test]
fn a_machine_without_an_end_is_sound() {
    let rows = [row(IDLE, WENT, BUSY, 1), row(BUSY, ENDED, IDLE, 0)];
    let (states, triggers, actions) = (&["Idle", "Choosing", "Busy"], &["Went", "Ended"], &["Begin"]);
    let endless = Shape { states, triggers, actions, terminal: 0, passing: 0, ..shape(&rows) };
    assert_eq!(said(|| prove(&endless, &[])).as_deref(), Some("no row leaves the state Choosing"));
    let rows = [row(IDLE, WENT, CHOOSING, 1), row(CHOOSING, WENT, BUSY, 0), row(BUSY, ENDED, IDLE, 0)];
    assert_eq!(said(|| prove(&Shape { rows: &rows, ..endless }, &[])), None);
}

#[test]
fn a_terminal_state_does_not_pass_and_labels_have_a_bound() {
    let rows = sound();
    let passing_end = Shape { passing: 1 << CHOOSING | 1 << OVER, ..shape(&rows) };
    assert_eq!(said(|| prove(&passing_end, &[])).as_deref(), Some("a terminal state cannot be passing: Over"));
    let most = Some("a machine has at most 128 labels of a kind");
    let many = &["Another"; 129];
    assert_eq!(said(|| prove(&Shape { states: many, ..shape(&rows) }, &[])).as_deref(), most);
    assert_eq!(said(|| prove(&Shape { triggers: many, ..shape(&rows) }, &[])).as_deref(), most);
    assert_eq!(said(|| prove(&Shape { actions: many, ..shape(&rows) }, &[])).as_deref(), most);
    let just_enough = Shape { actions: &many[1..], ..shape(&rows) };
    assert_eq!(said(|| prove(&just_enough, &[])).as_deref(), Some("no row uses the action Another"));
}

/// Busy passes too: its triggers are named as automatic ones, so that only the cycle can be at fault.
fn two_passing(rows: &[Cell]) -> Shape<'_> {
    let triggers = &["Went", "AutoEnded", "AutoStopped", "AutoBusy", "AutoIdle"];
    Shape { passing: 1 << CHOOSING | 1 << BUSY, triggers, ..shape(rows) }
}

#[test]
fn a_longer_automatic_cycle_is_found() {
    let mut rows = sound();
    assert_eq!(said(|| prove(&two_passing(&rows), &[])), None);
    rows[3].to = CHOOSING;
    let message = "automatic rows can cycle, from the state Choosing";
    assert_eq!(said(|| prove(&two_passing(&rows), &[])).as_deref(), Some(message));
}

#[test]
fn names_are_said_whole_and_what_does_not_fit_is_left_out() {
    let letters = "Ä".repeat(400);
    let (name, too_long) = (letters.as_str(), letters.repeat(2));
    let states = [name, "Choosing", "Busy", "Over"];
    let said_of = |states: &[&str], rows: &[Cell]| said(|| prove(&Shape { states, ..shape(rows) }, &[]));
    let mut closed = sound();
    closed.push(row(OVER, WENT, IDLE, 0));
    let message = std::format!("a row leaves a terminal state: Over + Went => {name}");
    assert_eq!(said_of(&states, &closed), Some(message));
    let cut = said_of(&[too_long.as_str(), "Choosing", "Busy", "Over"], &closed).unwrap();
    assert!(cut.len() <= 1024 && cut.starts_with("a "), "{cut}");
}

/// What is said of one claim about a table whose structure is sound.
fn claimed(rows: &[Cell], claim: Claim) -> Option<String> {
    assert_eq!(said(|| prove(&shape(rows), &[])), None);
    let text = said(|| prove(&shape(rows), &[claim]))?;
    Some(String::from(text.strip_prefix("a claim does not hold: ").unwrap()))
}

#[test]
fn false_claims_are_named() {
    let mut rows = sound();
    let only_from = Claim::ActionOnlyFrom { action: FINISH, states: 1 << BUSY };
    let through = |goal, unless| Claim::OnlyThrough { goal, gate: CHOOSING, unless };
    assert_eq!(claimed(&rows, only_from), None);
    assert_eq!(claimed(&rows, through(BUSY, 0)), None);
    assert_eq!(claimed(&rows, through(CHOOSING, 0)), None);
    rows.push(row(IDLE, ENDED, BUSY, 1 << FINISH));
    let message = "Finish stands on a row out of another state: Idle + Ended => Busy";
    assert_eq!(claimed(&rows, only_from).as_deref(), Some(message));
    let around = "Busy is reached by another way than through Choosing";
    assert_eq!(claimed(&rows, through(BUSY, 0)).as_deref(), Some(around));
    assert_eq!(claimed(&rows, through(BUSY, 1 << ENDED)), None, "the way around is the exception");
    assert_eq!(claimed(&rows, through(BUSY, 1 << STOPPED)).as_deref(), Some(around));
    let nothing_passes_the_start = Claim::OnlyThrough { goal: OVER, gate: IDLE, unless: 0 };
    assert_eq!(claimed(&rows, nothing_passes_the_start), None);
}

#[test]
fn an_action_before_a_row_that_comes_first_is_found() {
    let mut rows = sound();
    let after = |triggers| Claim::ActionAfter { action: FINISH, state: BUSY, triggers };
    assert_eq!(claimed(&rows, after(1 << ENDED)), None);
    rows.swap(3, 4);
    let message = "Finish stands before a row that has to come first: Busy + Stopped => Over";
    assert_eq!(claimed(&rows, after(1 << ENDED)).as_deref(), Some(message));
    rows.swap(3, 4);
    assert_eq!(claimed(&rows, after(1 << ENDED | 1 << WENT)).as_deref(), Some(message), "one of two is missing");
}

#[test]
fn automatic_triggers_are_known_by_their_names() {
    assert!(is_automatic("AutoAlways"));
    assert!(!is_automatic("Automatic".trim_start_matches("Auto")) && !is_automatic("Aut") && !is_automatic("LlmAutoX"));
}

#[test]
fn a_row_that_leaves_on_a_trigger_that_stays_is_found() {
    let mut rows = sound();
    let message = "a row on a trigger that stays leaves its state: Busy + Ended => Idle";
    assert_eq!(claimed(&rows, Claim::Stays { trigger: ENDED }).as_deref(), Some(message));
    rows[3].to = BUSY;
    assert_eq!(claimed(&rows, Claim::Stays { trigger: ENDED }), None);
}

/// A table is proved with its structure first, then with every claim, whatever its kind and place.
#[test]
fn a_proof_looks_at_every_claim() {
    let rows = sound();
    let true_claims = [
        Claim::ActionOnlyFrom { action: FINISH, states: 1 << BUSY },
        Claim::ActionAfter { action: FINISH, state: BUSY, triggers: 1 << ENDED },
        Claim::OnlyThrough { goal: BUSY, gate: CHOOSING, unless: 0 },
        Claim::Stays { trigger: 9 },
    ];
    assert_eq!(said(|| prove(&shape(&rows), &true_claims)), None);
    let false_claims = [
        Claim::ActionOnlyFrom { action: FINISH, states: 1 << IDLE },
        Claim::ActionAfter { action: FINISH, state: BUSY, triggers: 1 << WENT },
        Claim::OnlyThrough { goal: BUSY, gate: OVER, unless: 0 },
        Claim::Stays { trigger: ENDED },
    ];
    for (at, claim) in false_claims.into_iter().enumerate() {
        let mut claims = true_claims;
        claims[at] = claim;
        assert!(said(|| prove(&shape(&rows), &claims)).is_some(), "{claim:?}");
    }
}
