//! The full grid: every state with every trigger, and what comes of it.

use super::{Kind, action_names};
use crate::table::proof::is_automatic;
use crate::table::{Label, Row, Table};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Why a cell is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The machine has ended.
    Terminal,
    /// The state takes no events.
    Passing,
    /// The state waits for events, and the trigger is automatic: these states decide by it.
    Waiting(Vec<&'static str>),
    /// The states that expect it are few.
    Elsewhere(Vec<&'static str>),
    /// The states that expect it are many: every waiting one but these.
    NotHere(Vec<&'static str>),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Terminal => f.write_str("the machine has ended"),
            Self::Passing => f.write_str("passing: decides by automatic rows only"),
            Self::Waiting(states) => write!(f, "waits for an event; automatic in {}", list(states)),
            Self::Elsewhere(states) => write!(f, "expected only in {}", list(states)),
            Self::NotHere(states) => write!(f, "expected in every waiting state but {}", list(states)),
        }
    }
}

impl core::error::Error for Refusal {}

fn list(states: &[&str]) -> String {
    let names: Vec<String> = states.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    let more = states.len().saturating_sub(NAMED);
    if more == 0 { names.join(", ") } else { format!("{} and {more} more", names.join(", ")) }
}

/// The row of a state and a trigger, or why no row exists.
///
/// # Errors
/// [`Refusal`] when the cell is empty.
pub fn cell<S: Label, T: Label, A: Label>(
    table: &Table<S, T, A>,
    state: S,
    trigger: T,
) -> Result<&'static Row<S, T, A>, Refusal> {
    table.row(state, trigger).ok_or_else(|| match (Kind::of(table, state), is_automatic(trigger.name())) {
        (Kind::Terminal, _) => Refusal::Terminal,
        (Kind::Passing, false) => Refusal::Passing,
        (Kind::Passing, true) => Refusal::Elsewhere(expecting(table, trigger, true)),
        (Kind::Waiting, true) => Refusal::Waiting(expecting(table, trigger, true)),
        (Kind::Waiting, false) => {
            let (there, not) = (expecting(table, trigger, true), expecting(table, trigger, false));
            if not.len() < there.len() { Refusal::NotHere(not) } else { Refusal::Elsewhere(there) }
        }
    })
}

/// The names of the states that have a row on a trigger, or of the waiting ones that have none.
fn expecting<S: Label, T: Label, A: Label>(table: &Table<S, T, A>, trigger: T, is_expected: bool) -> Vec<&'static str> {
    let is_asked = |state: S| is_expected || Kind::of(table, state) == Kind::Waiting;
    let states =
        S::ALL.iter().filter(|state| table.row(**state, trigger).is_some() == is_expected && is_asked(**state));
    states.map(|state| state.name()).collect()
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

/// How many states a reason names.
const NAMED: usize = 3;
