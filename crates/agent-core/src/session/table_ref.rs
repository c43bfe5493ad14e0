//! The rows of a session's table, found by their state.

use super::table::{ActionKind, SessionTable, State, TABLE, Trigger};
use crate::table::{Label, Row};

/// The table a session runs on. Two sessions are equal whatever instance of a table they point to.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableRef {
    pub(super) table: &'static SessionTable,
    /// By state: the position from which on its rows are looked for.
    starts: &'static [u8; STATES],
}

impl TableRef {
    /// A table of a test.
    pub(super) const fn of_test(table: &'static SessionTable) -> Self {
        Self { table, starts: &[0; STATES] }
    }

    pub(super) fn row(&self, from: State, on: Trigger) -> Option<&'static Row<State, Trigger, ActionKind>> {
        self.rows_from(from).find(|row| row.on == on)
    }

    pub(super) fn rows_from(
        &self,
        from: State,
    ) -> impl Iterator<Item = &'static Row<State, Trigger, ActionKind>> + use<> {
        let start = self.starts.get(from as usize).copied().unwrap_or_default();
        let rows = self.table.rows.get(usize::from(start)..).unwrap_or_default();
        rows.iter().filter(move |row| row.from == from)
    }
}

impl Default for TableRef {
    fn default() -> Self {
        Self { table: &TABLE, starts: &STARTS }
    }
}

impl PartialEq for TableRef {
    fn eq(&self, other: &Self) -> bool {
        self.table.rows.len() == other.table.rows.len()
    }
}

/// How many states there are.
const STATES: usize = <State as Label>::ALL.len();
/// By state: the position of its first row in the table. A table of a test is searched from its beginning.
const STARTS: [u8; STATES] = first_rows();

#[expect(clippy::indexing_slicing, reason = "evaluated at compile time, where a wrong index is a compile error")]
const fn first_rows() -> [u8; STATES] {
    let rows = TABLE.rows;
    assert!(rows.len() <= u8::MAX as usize, "positions of rows are kept in a byte");
    let (mut starts, mut position) = ([0; STATES], rows.len());
    while position > 0 {
        position -= 1;
        starts[rows[position].from as usize] = position as u8;
    }
    starts
}
