//! A table together with the evidence that it is proved.

use super::proof::{Claim, Proof};
use super::{Label, Row, Table};
use core::ops::Range;

/// A table whose proof holds: the only kind of table that a [`Machine`](crate::Machine) runs on.
///
/// [`prove!`](crate::prove) makes one, at compile time. A [`Table`] by itself does not become one:
///
/// ```compile_fail,E0308
/// # use statetable::{Proved, Table, labels, rows};
/// # labels! { enum State { /// Shut.
/// #     Shut } }
/// # labels! { enum Trigger { /// A knock.
/// #     Knocked } }
/// # labels! { enum Action { /// A noise.
/// #     Creak } }
/// const DOOR: Table<State, Trigger, Action> = Table {
///     name: "door",
///     initial: State::Shut,
///     terminal: &[],
///     passing: &[],
///     rows: rows! { State, Trigger, Action; Shut + Knocked => Shut [Creak]; },
/// };
/// const PROVED: Proved<State, Trigger, Action> = DOOR; // Expected `Proved`, found `Table`.
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Proved<S: 'static, T: 'static, A: 'static> {
    table: &'static Table<S, T, A>,
    evidence: &'static Evidence,
}

/// The result of proving a table.
#[derive(Debug)]
pub struct Evidence {
    /// By state: the positions among which its rows are looked for.
    places: &'static [Range<u8>],
    claims: &'static [Claim],
}

impl Evidence {
    /// Of a table with this proof.
    #[doc(hidden)]
    #[must_use]
    pub const fn of(_proof: Proof, places: &'static [Range<u8>], claims: &'static [Claim]) -> Self {
        Self { places, claims }
    }
}

impl<S, T, A> Proved<S, T, A> {
    /// The table that the evidence is of.
    #[doc(hidden)]
    #[must_use]
    pub const fn with_evidence(table: &'static Table<S, T, A>, evidence: &'static Evidence) -> Self {
        Self { table, evidence }
    }

    /// A table without a proof, for tests that break a table and look for the difference.
    #[doc(hidden)]
    #[must_use]
    pub const fn unproved_for_tests(table: &'static Table<S, T, A>) -> Self {
        const NONE: &Evidence = &Evidence { places: &[], claims: &[] };
        Self { table, evidence: NONE }
    }

    /// The table.
    #[must_use]
    pub const fn table(&self) -> &'static Table<S, T, A> {
        self.table
    }

    /// What the machine claims about its own table, proved together with it.
    #[must_use]
    pub const fn claims(&self) -> &'static [Claim] {
        self.evidence.claims
    }
}

impl<S: Label, T: Label, A: Label> Proved<S, T, A> {
    /// The row for a state and a trigger, if that cell is filled.
    #[inline]
    #[must_use]
    pub fn row(&self, from: S, on: T) -> Option<&'static Row<S, T, A>> {
        self.rows_from(from).find(|row| row.on == on)
    }

    /// The rows that leave or keep a state, in the written order. Found by an index: rows before the first of them and after the last are
    /// not looked at.
    #[inline]
    pub fn rows_from(&self, from: S) -> impl Iterator<Item = &'static Row<S, T, A>> + use<S, T, A> {
        let all = self.table.rows;
        let place = self.evidence.places.get(from.index());
        let rows = place.map_or(all, |place| all.get(place.start.into()..place.end.into()).unwrap_or_default());
        rows.iter().filter(move |row| row.from == from)
    }
}

/// Two machines are equal whatever instance of a table they run on.
impl<S, T, A> PartialEq for Proved<S, T, A> {
    fn eq(&self, other: &Self) -> bool {
        self.table.rows.len() == other.table.rows.len()
    }
}

impl<S, T, A> Eq for Proved<S, T, A> {}
