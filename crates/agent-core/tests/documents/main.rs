//! What the kernel draws and says of the machines: their tables are larger than any that its own tests have.

use agent_core::diagram::{Refusal, cell, svg};
use agent_core::session::table::TABLE;
use agent_core::session::{State, Trigger};
use agent_core::table::{Label, Table};
use agent_core::{child, job, lifecycle, server};

/// Large enough for lists of triggers that take several lines, and for lanes that share a column.
#[test]
fn the_real_machines_are_drawn_as_in_their_documentation() {
    let drawings = [
        (svg(&TABLE), include_str!("../../src/session/table.svg")),
        (svg(&lifecycle::table::TABLE), include_str!("../../src/lifecycle/table.svg")),
        (svg(&child::table::TABLE), include_str!("../../src/child/table.svg")),
        (svg(&job::table::TABLE), include_str!("../../src/job/table.svg")),
        (svg(&server::table::TABLE), include_str!("../../src/server/table.svg")),
    ];
    for (drawn, kept) in drawings {
        assert!(kept.contains(&drawn), "`cargo xtask docs` draws it anew: {drawn}");
    }
}

#[test]
fn an_empty_cell_of_a_large_table_has_a_reason() {
    let said = |state, on| cell(&TABLE, state, on).unwrap_err().to_string();
    let another = cell(&TABLE, State::PreparingRequest, Trigger::AutoNoToolCalls).unwrap_err();
    assert_eq!(another, Refusal::Elsewhere(vec!["ProcessingLlmResponse"]), "automatic, but not this one");
    assert_eq!(said(State::Ready, Trigger::UserInput), "expected in every waiting state but `Ready`");
    assert_eq!(
        said(State::Ready, Trigger::AutoNoToolCalls),
        "waits for an event; automatic in `ProcessingLlmResponse`"
    );
    assert_eq!(said(State::Error, Trigger::ToolsPrepared), "expected only in `PreparingTools`");
}

/// A refusal that the table decides has the reason of its cell, and that names where the trigger is expected: never here.
#[test]
fn every_reason_names_other_states_that_have_such_a_row() {
    fn check<S: Label, T: Label, A: Label>(table: &Table<S, T, A>) {
        for (state, trigger) in S::ALL.iter().flat_map(|state| T::ALL.iter().map(move |trigger| (*state, *trigger))) {
            let states =
                |names: &[&str]| S::ALL.iter().copied().filter(|one| names.contains(&one.name())).collect::<Vec<S>>();
            let rows = |names: &[&str]| states(names).iter().filter(|one| table.row(**one, trigger).is_some()).count();
            match cell(table, state, trigger) {
                Ok(row) => assert_eq!((row.from, row.on), (state, trigger)),
                Err(Refusal::Terminal) => assert!(table.is_terminal(state)),
                Err(Refusal::Passing) => assert!(table.is_passing(state)),
                Err(Refusal::Waiting(names) | Refusal::Elsewhere(names)) => {
                    assert!(!names.is_empty() && rows(&names) == names.len() && !names.contains(&state.name()));
                    assert_eq!(table.rows.iter().filter(|row| row.on == trigger).count(), names.len());
                }
                Err(Refusal::NotHere(names)) => assert!(names.contains(&state.name()) && rows(&names) == 0),
                Err(other) => panic!("a reason that is not looked at: {other}"),
            }
        }
    }
    check(&TABLE);
    check(&lifecycle::table::TABLE);
    check(&child::table::TABLE);
    check(&job::table::TABLE);
    check(&server::table::TABLE);
}
