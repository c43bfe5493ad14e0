//! The proofs refuse each fault for its own reason. A sound table is broken in one place; numbers stand for labels.

use super::proof::{
    Cell, Claim, Shape, action_after, action_only_from, check, is_automatic, only_through, prove, stays,
};
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

const fn row(from: u8, on: u8, to: u8, actions: u128) -> Cell {
    Cell { from, on, to, actions }
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
        states: 4,
        triggers: 5,
        actions: 2,
        initial: IDLE,
        terminal: 1 << OVER,
        passing: 1 << CHOOSING,
        automatic: 1 << AUTO_BUSY | 1 << AUTO_IDLE,
        rows,
    }
}

/// What a proof says about a shape, or nothing when it holds.
fn said(proof: impl Fn() + core::panic::UnwindSafe) -> Option<String> {
    let payload = catch_unwind(proof).err()?;
    payload.downcast_ref::<&str>().map(|text| String::from(*text)).or_else(|| payload.downcast_ref::<String>().cloned())
}

fn fault(change: impl Fn(&mut Vec<Cell>)) -> Option<String> {
    let mut rows = sound();
    change(&mut rows);
    said(|| check(&shape(&rows)))
}

#[test]
fn the_sound_table_holds() {
    assert_eq!(fault(|_| {}), None);
}

#[test]
fn each_fault_is_named() {
    type Change = fn(&mut Vec<Cell>);
    let faults: [(Change, &str); 9] = [
        (|rows| rows.push(row(IDLE, WENT, BUSY, 0)), "two rows fill the same cell"),
        (|rows| rows.push(row(OVER, WENT, IDLE, 0)), "a terminal state has a way out"),
        (|rows| rows[4].to = IDLE, "a state cannot be reached"),
        (
            |rows| (rows[3].to, rows[4]) = (BUSY, row(IDLE, STOPPED, OVER, 1 << FINISH)),
            "a state that is not terminal has no way out",
        ),
        (|rows| rows.retain(|row| row.on != ENDED), "a trigger is used by no row"),
        (|rows| rows[4].actions = 0, "an action is used by no row"),
        (|rows| rows[2].to = CHOOSING, "automatic rows can cycle"),
        (|rows| rows.push(row(CHOOSING, ENDED, IDLE, 0)), "a passing state has an event row"),
        (|rows| rows.push(row(BUSY, AUTO_IDLE, IDLE, 0)), "a waiting state has an automatic row"),
    ];
    for (change, message) in faults {
        assert_eq!(fault(change).as_deref(), Some(message));
    }
}

#[test]
fn a_terminal_state_does_not_pass_and_labels_have_a_bound() {
    let rows = sound();
    let passing_end = Shape { passing: 1 << CHOOSING | 1 << OVER, ..shape(&rows) };
    assert_eq!(said(|| check(&passing_end)).as_deref(), Some("a terminal state cannot be passing"));
    let too_many = Shape { states: 129, ..shape(&rows) };
    assert_eq!(said(|| check(&too_many)).as_deref(), Some("a machine has at most 128 labels of a kind"));
}

/// Busy passes too: its triggers count as automatic, so that only the cycle can be at fault.
fn two_passing(rows: &[Cell]) -> Shape<'_> {
    Shape { passing: 1 << CHOOSING | 1 << BUSY, automatic: !(1 << WENT), ..shape(rows) }
}

#[test]
fn a_longer_automatic_cycle_is_found() {
    let mut rows = sound();
    assert_eq!(said(|| check(&two_passing(&rows))), None);
    rows[3].to = CHOOSING;
    assert_eq!(said(|| check(&two_passing(&rows))).as_deref(), Some("automatic rows can cycle"));
}

#[test]
fn false_claims_are_named() {
    let mut rows = sound();
    assert_eq!(said(|| action_only_from(&shape(&rows), FINISH, 1 << BUSY)), None);
    assert_eq!(said(|| only_through(&shape(&rows), BUSY, CHOOSING, 0)), None);
    assert_eq!(said(|| only_through(&shape(&rows), CHOOSING, CHOOSING, 0)), None);
    rows.push(row(IDLE, ENDED, BUSY, 1 << FINISH));
    assert_eq!(
        said(|| action_only_from(&shape(&rows), FINISH, 1 << BUSY)).as_deref(),
        Some("a claim does not hold: an action stands on a row out of another state")
    );
    assert_eq!(
        said(|| only_through(&shape(&rows), BUSY, CHOOSING, 0)).as_deref(),
        Some("a claim does not hold: a state is reached by another way")
    );
    let unless = |trigger: u8| said(|| only_through(&shape(&rows), BUSY, CHOOSING, 1 << trigger));
    assert_eq!(unless(ENDED), None, "the way around is the exception");
    assert_eq!(unless(STOPPED).as_deref(), Some("a claim does not hold: a state is reached by another way"));
}

#[test]
fn an_action_before_a_row_that_comes_first_is_found() {
    let mut rows = sound();
    assert_eq!(said(|| action_after(&shape(&rows), FINISH, BUSY, 1 << ENDED)), None);
    rows.swap(3, 4);
    let message = "a claim does not hold: an action stands before a row that has to come first";
    assert_eq!(said(|| action_after(&shape(&rows), FINISH, BUSY, 1 << ENDED)).as_deref(), Some(message));
    rows.pop();
    assert_eq!(said(|| action_after(&shape(&rows), FINISH, BUSY, 1 << ENDED)).as_deref(), Some(message), "missing");
}

#[test]
fn automatic_triggers_are_known_by_their_names() {
    assert!(is_automatic("AutoAlways"));
    assert!(!is_automatic("Automatic".trim_start_matches("Auto")) && !is_automatic("Aut") && !is_automatic("LlmAutoX"));
}

#[test]
fn a_row_that_leaves_on_a_trigger_that_stays_is_found() {
    let mut rows = sound();
    rows[3].to = BUSY;
    assert_eq!(said(|| stays(&shape(&rows), ENDED)), None);
    rows[3].to = IDLE;
    let message = "a claim does not hold: a row leaves the state on a trigger that stays";
    assert_eq!(said(|| stays(&shape(&rows), ENDED)).as_deref(), Some(message));
}

/// A table is proved with its structure first, then with every claim, whatever its kind and place.
#[test]
fn a_proof_looks_at_structure_and_at_every_claim() {
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
    let mut broken = rows;
    broken.pop();
    assert!(said(|| prove(&shape(&broken), &[])).is_some(), "no claim, no structure");
}
