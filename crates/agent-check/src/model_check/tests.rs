//! The checker finds what is wrong: each fault that is planted here is found, and the shortest way to it.

mod planted;

use super::check_session;
use super::explore::{Explored, Reach, Violation};
use super::world::{Bounds, PLAIN, WORLDS, World};
use crate::invariants::Invariant;
use agent_core::session::table::TABLE;
use agent_core::session::{ActionKind, SessionTable, State, Trigger};
use agent_core::table::{Label as _, Row};

const REACH: Reach = Reach { threads: 2, max_states: 20_000 };

type SessionRow = Row<State, Trigger, ActionKind>;

/// The session's table with one row changed, or taken away.
fn table(from: State, on: Trigger, change: impl Fn(SessionRow) -> Option<SessionRow>) -> &'static SessionTable {
    let is_meant = |row: &&SessionRow| (row.from, row.on) == (from, on);
    assert!(TABLE.rows.iter().any(|row| is_meant(&row)), "there is no such row");
    let rows = TABLE.rows.iter().filter_map(|row| if is_meant(&row) { change(*row) } else { Some(*row) });
    Box::leak(Box::new(SessionTable { rows: rows.collect::<Vec<_>>().leak(), ..TABLE }))
}

fn world(name: &str) -> World {
    let found = WORLDS.iter().find(|world| world.name == name).unwrap();
    let raises = found.smoke.raises;
    World { bounds: Bounds { inputs: 2, rounds: 1, calls: 2, mixed: 1, raises, ..PLAIN.smoke }, ..*found }
}

fn violation(world: &World, table: &'static SessionTable) -> Violation {
    check_session(world, table, REACH).unwrap().violation.expect("nothing is found")
}

/// What the faults in tables break.
const BROKEN: &[Invariant] =
    &[Invariant::CancelArrives, Invariant::CancelStopsAll, Invariant::NotStuck, Invariant::WithinLimits];

fn assert_found(found: &Violation, broken: Invariant) {
    assert_eq!(found.fault.invariant, broken, "{}", found.fault.found);
    assert!(BROKEN.contains(&broken), "{broken:?} is not listed");
}

#[test]
fn every_invariant_is_broken_by_a_planted_fault() {
    for invariant in Invariant::ALL {
        let is_broken = [BROKEN, planted::BROKEN, planted::agents::BROKEN, planted::trees::BROKEN]
            .iter()
            .any(|list| list.contains(invariant));
        assert!(is_broken, "no planted fault breaks {invariant:?}");
    }
}

/// The events of a path.
fn events(violation: &Violation) -> Vec<&str> {
    violation.path.iter().map(|line| line.lines().next().unwrap_or_default()).collect()
}

#[test]
fn a_missing_row_is_found() {
    let found = violation(&world("tools"), table(State::CallingLlm, Trigger::CancelRequested, |_| None));
    assert_found(&found, Invariant::CancelArrives);
    assert_eq!(events(&found), ["# started", "> input input-01", "> cancel"]);
}

/// The calls were closed with the cancel, so nothing runs: what is left is a state that waits for nothing.
#[test]
fn a_row_that_leads_past_a_cancel_is_found() {
    let past = |row| Some(SessionRow { to: State::ExecutingTools, actions: &[ActionKind::ExecuteTools], ..row });
    let found = violation(&world("tools"), table(State::CheckingForCancellation, Trigger::AutoCancelled, past));
    assert_found(&found, Invariant::CancelArrives);
    assert_eq!(found.path.len(), 5, "{:?}", events(&found));
}

#[test]
fn a_row_that_starts_something_under_a_cancel_is_found() {
    let looks =
        |row| Some(SessionRow { to: State::CheckingGitCommits, actions: &[ActionKind::CheckGitCommits], ..row });
    let found = violation(&world("tools"), table(State::ProcessingLlmResponse, Trigger::AutoCancelled, looks));
    assert_found(&found, Invariant::CancelStopsAll);
    assert_eq!(found.path.len(), 4, "{:?}", events(&found));
}

#[test]
fn a_row_that_forgets_to_ask_is_found() {
    let silent = |row| Some(SessionRow { actions: &[], ..row });
    let found = violation(&world("tools"), table(State::ToolUseRequested, Trigger::AutoAlways, silent));
    assert_found(&found, Invariant::NotStuck);
    assert_eq!(found.path.len(), 3, "{:?}", events(&found));
}

#[test]
fn messages_that_stay_behind_a_cancel_are_found() {
    let kept = |row| Some(SessionRow { actions: &[ActionKind::DisplayError, ActionKind::PromptForInput], ..row });
    let found = violation(&world("tools"), table(State::Cancelled, Trigger::AutoCancelSettled, kept));
    assert_found(&found, Invariant::CancelStopsAll);
    assert_eq!(events(&found)[1..4], ["> input input-01", "> cancel", "> input input-02"]);
}

#[test]
fn a_limit_that_nobody_looks_at_is_found() {
    let found = violation(&world("limits"), table(State::PreparingRequest, Trigger::AutoBudgetSpent, |_| None));
    assert_found(&found, Invariant::WithinLimits);
}

#[test]
fn the_true_table_holds_whatever_the_threads_do() {
    let run = |threads| check_session(&world("approvals"), &TABLE, Reach { threads, ..REACH }).unwrap();
    let (one, three) = (run(1), run(3));
    for Explored { states, violation, is_cut, .. } in [&one, &three] {
        assert!(violation.is_none() && !is_cut && *states > 500, "{states} states, {violation:?}");
    }
    assert_eq!((one.states, one.edges, one.depth, one.tally), (three.states, three.edges, three.depth, three.tally));
}
