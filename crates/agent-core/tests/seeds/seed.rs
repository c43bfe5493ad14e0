//! What a seed is, and how this project's tables look through its eyes.
//!
//! Some states of ours stand for one state of the seed, some are states that it lacks, and the others are collapsed: a way through them is
//! one edge, named by the trigger that began it.

use agent_core::table::{Label, Table};
use std::collections::BTreeSet;

/// An earlier design and what became of it.
pub(crate) struct Seed<S: 'static, T: 'static> {
    /// Its number, as its document is called.
    pub(crate) number: &'static str,
    pub(crate) title: &'static str,
    /// What the document is, for readers.
    pub(crate) about: &'static str,
    /// Its states, and which of ours each stands for.
    pub(crate) states: &'static [(&'static str, &'static [S])],
    /// States of ours that it lacks. All others are collapsed.
    pub(crate) own: &'static [S],
    /// What is collapsed, and why.
    pub(crate) collapsed: &'static str,
    /// Where its machine begins and where nothing follows.
    pub(crate) begins: &'static str,
    pub(crate) ends: &'static [&'static str],
    pub(crate) words: &'static [Word],
    pub(crate) edges: &'static [Edge<T>],
    pub(crate) beyond: &'static [&'static [Beyond<T>]],
    pub(crate) said: &'static [Said],
}

/// An event or an action of the seed, and what it is called here; nothing, with the reason, where there is no such thing.
pub(crate) struct Word {
    pub(crate) theirs: &'static str,
    /// Actions, or the triggers that the event becomes.
    pub(crate) ours: &'static [&'static str],
    /// Events of ours that become these triggers and no others.
    pub(crate) events: &'static [&'static str],
    pub(crate) note: &'static str,
}

/// An edge of the seed: from, what is written on it, the triggers that mean this, to.
pub(crate) struct Edge<T: 'static> {
    pub(crate) from: &'static str,
    pub(crate) label: &'static str,
    pub(crate) on: &'static [T],
    pub(crate) to: &'static str,
    pub(crate) shown: Shown,
}

pub(crate) enum Shown {
    /// The seed's first mark: here the table begins.
    Begins,
    /// The seed's last mark: here the table ends.
    Ends,
    /// Events that walk the edge.
    By(&'static str),
    /// It is not there, for this reason.
    Not(&'static str),
}

/// Why there are edges that the seed lacks. Where a list of states is empty, any state is meant.
pub(crate) struct Beyond<T: 'static> {
    pub(crate) why: &'static str,
    pub(crate) from: &'static [&'static str],
    pub(crate) on: &'static [T],
    pub(crate) to: &'static [&'static str],
}

/// A sentence of the seed: its section, what it says, and whether that holds.
pub(crate) struct Said {
    pub(crate) section: &'static str,
    pub(crate) what: &'static str,
    pub(crate) held: Held,
}

pub(crate) enum Held {
    /// These tests hold it: by name, `file::name` where tests of two files are called so, a scenario by its title.
    By(&'static [&'static str]),
    /// It holds otherwise, or not at all, for this reason; with the tests of what holds instead.
    Otherwise(&'static str, &'static [&'static str]),
}

/// From, trigger, to, in the seed's states.
pub(crate) type Seen<T> = (&'static str, T, &'static str);

impl<S: Label, T: Label + Ord> Seed<S, T> {
    /// What a state of ours is to the seed; nothing when it is collapsed.
    pub(crate) fn class(&self, state: S) -> Option<&'static str> {
        let own = || self.own.contains(&state).then(|| state.name());
        self.states.iter().find(|(_, ours)| ours.contains(&state)).map(|(theirs, _)| *theirs).or_else(own)
    }

    /// The table as the seed would draw it.
    pub(crate) fn projected<A: Label>(&self, table: &Table<S, T, A>) -> BTreeSet<Seen<T>> {
        let mut edges = BTreeSet::new();
        for row in table.rows {
            let Some(from) = self.class(row.from) else { continue };
            let (mut open, mut seen) = (vec![row.to], Vec::new());
            while let Some(state) = open.pop() {
                if let Some(to) = self.class(state) {
                    edges.insert((from, row.on, to));
                } else if !seen.contains(&state) {
                    seen.push(state);
                    open.extend(table.rows_from(state).map(|row| row.to));
                }
            }
        }
        edges
    }

    /// A run as the seed would see it.
    pub(crate) fn walked(&self, transitions: &[(S, T, S)]) -> Vec<Seen<T>> {
        let (mut begun, mut out) = (None, Vec::new());
        for (from, on, to) in transitions {
            if let Some(from) = self.class(*from) {
                begun = Some((from, *on));
            }
            if let (Some(to), Some((from, on))) = (self.class(*to), begun) {
                out.push((from, on, to));
                begun = None;
            }
        }
        out
    }

    /// The reasons for what it lacks.
    pub(crate) fn reasons(&self) -> impl Iterator<Item = &'static Beyond<T>> {
        self.beyond.iter().copied().flatten()
    }

    /// The edges that the seed lacks, each with its reason; `Err` names one that has none, or more than one.
    pub(crate) fn beyond<A: Label>(&self, table: &Table<S, T, A>) -> Result<Vec<(Seen<T>, &'static str)>, String> {
        let beyond = self.projected(table).into_iter().filter(|seen| !self.edges.iter().any(|edge| edge.is(seen)));
        beyond
            .map(|seen| {
                let reasons: Vec<_> = self.reasons().filter(|reason| reason.covers(&seen)).collect();
                match reasons[..] {
                    [reason] => Ok((seen, reason.why)),
                    _ => Err(format!("seed {}: {seen:?} has {} reasons", self.number, reasons.len())),
                }
            })
            .collect()
    }
}

impl<T: Label> Edge<T> {
    pub(crate) fn is(&self, (from, on, to): &Seen<T>) -> bool {
        self.from == *from && self.to == *to && self.on.contains(on)
    }
}

impl<T: Label> Beyond<T> {
    pub(crate) fn covers(&self, (from, on, to): &Seen<T>) -> bool {
        let within = |list: &[&str], state: &str| list.is_empty() || list.contains(&state);
        within(self.from, from) && self.on.contains(on) && within(self.to, to)
    }
}
