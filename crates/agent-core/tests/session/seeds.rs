//! The machines that this one grew from: three earlier designs, each a diagram of states and edges. Under its projection every edge of a
//! seed is realised by the table or stands in `unrealised` with the reason; every edge of the table that a seed lacks has a reason in
//! `beyond`. A reason that no edge needs is an error too.
//!
//! Projection: some states stand for one state of the seed (`class`), others are collapsed (`None`): a way through them is one edge, named
//! by the trigger that began it.

mod beyond;
mod data;

use agent_core::session::table::TABLE;
use agent_core::session::{State, Trigger};
use data::SEEDS;
use std::collections::BTreeSet;

/// An earlier machine, in the words of this one.
struct Seed {
    name: &'static str,
    /// What a state is in the seed; nothing when it is collapsed.
    class: fn(State) -> Option<State>,
    edges: &'static [Edge],
    unrealised: &'static [(State, State, &'static str)],
    beyond: &'static [Beyond],
}

/// From, the triggers that mean what the seed writes on the edge (none: the seed writes nothing), to.
type Edge = (State, &'static [Trigger], State);

/// Edges that the seed lacks: from, triggers, to; an empty list is any.
struct Beyond {
    why: &'static str,
    from: &'static [State],
    on: &'static [Trigger],
    to: &'static [State],
}

impl Beyond {
    fn covers(&self, (from, on, to): (State, Trigger, State)) -> bool {
        let within = |list: &[State], state| list.is_empty() || list.contains(&state);
        within(self.from, from) && within(self.to, to) && (self.on.is_empty() || self.on.contains(&on))
    }
}

/// The table as the seed would see it.
fn projected(class: fn(State) -> Option<State>) -> BTreeSet<(State, Trigger, State)> {
    let mut edges = BTreeSet::new();
    for row in TABLE.rows {
        let Some(from) = class(row.from) else { continue };
        let (mut open, mut seen) = (vec![row.to], BTreeSet::new());
        while let Some(state) = open.pop() {
            match class(state) {
                Some(to) => {
                    edges.insert((from, row.on, to));
                }
                None if seen.insert(state) => open.extend(TABLE.rows_from(state).map(|row| row.to)),
                None => {}
            }
        }
    }
    edges
}

fn is_edge(edge: &Edge, (from, on, to): (State, Trigger, State)) -> bool {
    edge.0 == from && edge.2 == to && (edge.1.is_empty() || edge.1.contains(&on))
}

#[test]
fn every_edge_of_a_seed_is_realised_or_explained() {
    for seed in SEEDS {
        let ours = projected(seed.class);
        for edge in seed.edges {
            let is_realised = ours.iter().any(|ours| is_edge(edge, *ours));
            let reasons = seed.unrealised.iter().filter(|(from, to, _)| (*from, *to) == (edge.0, edge.2)).count();
            assert_eq!(reasons, usize::from(!is_realised), "{}: {edge:?} is realised: {is_realised}", seed.name);
        }
        for (from, to, why) in seed.unrealised {
            let stands = seed.edges.iter().any(|edge| (edge.0, edge.2) == (*from, *to));
            assert!(stands && !why.is_empty(), "{}: no edge {from:?} -> {to:?}", seed.name);
        }
    }
}

#[test]
fn every_edge_beyond_a_seed_has_a_reason() {
    for seed in SEEDS {
        let ours = projected(seed.class);
        let beyond = ours.iter().filter(|ours| !seed.edges.iter().any(|edge| is_edge(edge, **ours)));
        let beyond: Vec<_> = beyond.copied().collect();
        let unexplained: Vec<_> =
            beyond.iter().filter(|edge| !seed.beyond.iter().any(|reason| reason.covers(**edge))).collect();
        assert!(unexplained.is_empty(), "{} lacks, and nobody says why: {unexplained:#?}", seed.name);
        for reason in seed.beyond {
            assert!(beyond.iter().any(|edge| reason.covers(*edge)), "{}: nothing needs {:?}", seed.name, reason.why);
        }
    }
}
