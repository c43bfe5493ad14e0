//! Small changes of a table, one at a time: a row deleted, sent elsewhere, or stripped of an action.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use agent_core::diagram::Kind;
use agent_core::table::proof::{Cell, Claim, Shape, prove};
use agent_core::table::{Label, Row, Table};

/// How a row was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is gone.
    Deleted,
    /// It leads elsewhere.
    Redirected,
    /// It asks for less.
    Stripped,
}

/// A table with one change.
pub struct Mutant<S: 'static, T: 'static, A: 'static> {
    /// How its row was changed.
    pub change: Change,
    /// What was done to which row, in words.
    pub name: String,
    /// The row's cell: `State + Trigger`.
    pub cell: String,
    /// The changed table.
    pub table: &'static Table<S, T, A>,
}

/// Every row deleted, sent to every other state of the kind that it led to, and stripped of each of its actions. Lives as long as the
/// process: machines want a table that does.
pub fn mutants<S: Label, T: Label, A: Label>(table: &Table<S, T, A>) -> Vec<Mutant<S, T, A>> {
    let mut out = Vec::new();
    for (at, row) in table.rows.iter().enumerate() {
        let cell = format!("{} + {}", row.from.name(), row.on.name());
        let mut add = |change, what: String, rows: Vec<Row<S, T, A>>| {
            let table = Box::leak(Box::new(Table { rows: rows.leak(), ..*table }));
            out.push(Mutant { change, name: format!("{cell} {what}"), cell: cell.clone(), table });
        };
        let mut rows = table.rows.to_vec();
        rows.remove(at);
        add(Change::Deleted, "deleted".to_owned(), rows);
        let others =
            S::ALL.iter().filter(|state| **state != row.to && Kind::of(table, **state) == Kind::of(table, row.to));
        for to in others {
            let mut rows = table.rows.to_vec();
            rows[at].to = *to;
            add(Change::Redirected, format!("sent to {} instead of {}", to.name(), row.to.name()), rows);
        }
        for action in row.actions {
            let kept: Vec<A> = row.actions.iter().copied().filter(|other| other != action).collect();
            let mut rows = table.rows.to_vec();
            rows[at].actions = kept.leak();
            add(Change::Stripped, format!("without {}", action.name()), rows);
        }
    }
    out
}

/// What the proof at compile time would say of a table, by the same function; `None` if the table would compile.
pub fn refusal<S: Label, T: Label, A: Label>(table: &Table<S, T, A>, claims: &[Claim]) -> Option<String> {
    let rows: Vec<Cell> = table.rows.iter().map(numbered).collect();
    let set = |states: &[S]| states.iter().map(|state| 1 << number(*state)).fold(0, |set, state: u128| set | state);
    let shape = Shape {
        states: S::NAMES,
        triggers: T::NAMES,
        actions: A::NAMES,
        initial: number(table.initial),
        terminal: set(table.terminal),
        passing: set(table.passing),
        rows: &rows,
    };
    crate::quiet::caught(|| prove(&shape, claims)).err()
}

fn numbered<S: Label, T: Label, A: Label>(row: &Row<S, T, A>) -> Cell {
    let actions = row.actions.iter().map(|action| 1_u128 << number(*action)).fold(0, |set, action| set | action);
    Cell { from: number(row.from), on: number(row.on), to: number(row.to), actions, repeats_action: false }
}

fn number<L: Label>(label: L) -> u8 {
    let at = L::ALL.iter().position(|other| *other == label).unwrap();
    u8::try_from(at).unwrap()
}
