//! The machine that this one grew from: four states and nine rules. Under the projection every edge of it is realised by the table, and
//! every edge that it lacks stands here with the reason.
//!
//! Projection: `Recording` and `RetryWait` are collapsed. `Recording` only keeps the record of a job that has failed; the wait before a
//! retry is drawn in the seed's picture and is no state of its list.

use agent_core::job::State::{self, *};
use agent_core::job::Trigger::{self, *};
use agent_core::job::table::TABLE;
use std::collections::BTreeSet;

type Edge = (State, Trigger, State);

/// The seed's table of rules, in its order. `Failed` is `Complete(Failure)`, `Completed` is `Complete(Success)`.
const SEED: &[Edge] = &[
    (Init, ValidationPassed, DefineAgent),
    (Init, ValidationFailed, Failed),
    (DefineAgent, AgentDefined, Process),
    (DefineAgent, RoutingFailed, Failed),
    (Process, AttemptSucceeded, End),
    (Process, AttemptFailedRetryable, Process),
    (Process, AttemptFailedForGood, Failed),
    (End, RecordWritten, Completed),
    (End, RecordNotWritten, Failed),
];

const BEYOND: &[(&[Edge], &str)] = &[
    (&[(Pending, Started, Init)], "the seed's status `Pending` is a state: a job can be made before it is started"),
    (&[(Pending, CancelRequested, Failed)], "a job that is never started leaves a record too"),
    (
        &[
            (Init, CancelRequested, Init),
            (DefineAgent, CancelRequested, DefineAgent),
            (Process, CancelRequested, Process),
            (End, CancelRequested, End),
        ],
        "the seed cannot be stopped; here a stop waits for the answer of what is in flight, because that says what it cost",
    ),
    (
        &[(Init, WorkStopped, Failed), (DefineAgent, WorkStopped, Failed), (Process, WorkStopped, Failed)],
        "a job that was stopped ends, with a record",
    ),
    (
        &[(Process, AttemptFailedRetryable, Failed)],
        "a stop during the wait before a retry: the wait is collapsed, so it shows as an edge of the failure that began it",
    ),
];

fn is_collapsed(state: State) -> bool {
    matches!(state, Recording | RetryWait)
}

fn projected() -> BTreeSet<Edge> {
    let mut edges = BTreeSet::new();
    for row in TABLE.rows.iter().filter(|row| !is_collapsed(row.from)) {
        let (mut open, mut seen) = (vec![row.to], BTreeSet::new());
        while let Some(state) = open.pop() {
            if !is_collapsed(state) {
                edges.insert((row.from, row.on, state));
            } else if seen.insert(state) {
                open.extend(TABLE.rows_from(state).map(|row| row.to));
            }
        }
    }
    edges
}

#[test]
fn every_edge_of_the_seed_is_realised() {
    let ours = projected();
    for edge in SEED {
        assert!(ours.contains(edge), "{edge:?}");
    }
}

#[test]
fn every_edge_beyond_the_seed_has_a_reason_and_every_reason_an_edge() {
    let explained: BTreeSet<Edge> = BEYOND.iter().flat_map(|(edges, _)| edges.iter().copied()).collect();
    let beyond: BTreeSet<Edge> = projected().into_iter().filter(|edge| !SEED.contains(edge)).collect();
    assert_eq!(beyond, explained);
    assert!(BEYOND.iter().all(|(_, why)| !why.is_empty()));
}
