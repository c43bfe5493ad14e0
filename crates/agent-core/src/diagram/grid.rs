//! The full grid: every state with every trigger, and what comes of it.

use super::{Kind, action_names};
use crate::table::proof::is_automatic;
use crate::table::{Label, Row, Table};
use alloc::format;
use alloc::string::String;

/// Why a cell is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The machine has ended.
    #[error("terminal")]
    Terminal,
    /// The state takes no events.
    #[error("passing: decides by automatic rows only")]
    Passing,
    /// The state has other rows, but none for this.
    #[error("not expected here")]
    NotExpected,
}

/// The row of a state and a trigger, or why there is none.
///
/// # Errors
/// [`Refusal`] when the cell is empty.
pub fn cell<S: Label, T: Label, A: Label>(
    table: &Table<S, T, A>,
    state: S,
    trigger: T,
) -> Result<&'static Row<S, T, A>, Refusal> {
    table.row(state, trigger).ok_or_else(|| match Kind::of(table, state) {
        Kind::Terminal => Refusal::Terminal,
        Kind::Passing if !is_automatic(trigger.name()) => Refusal::Passing,
        Kind::Passing | Kind::Waiting => Refusal::NotExpected,
    })
}

/// A Markdown table with a line for every state and trigger.
#[must_use]
pub fn grid<S: Label, T: Label, A: Label>(table: &Table<S, T, A>) -> String {
    let mut out = String::from("| State | Trigger | Outcome |\n|---|---|---|\n");
    for state in S::ALL {
        for trigger in T::ALL {
            let outcome = match cell(table, *state, *trigger) {
                Ok(row) if row.actions.is_empty() => format!("→ `{}`", row.to.name()),
                Ok(row) => format!("→ `{}` [{}]", row.to.name(), action_names(row)),
                Err(refusal) => format!("refused: {refusal}"),
            };
            out.push_str(&format!("| `{}` | `{}` | {outcome} |\n", state.name(), trigger.name()));
        }
    }
    out
}
