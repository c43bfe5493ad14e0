//! States and rows as Markdown tables.

use super::{Kind, action_names};
use crate::table::{Label, Table};
use alloc::format;
use alloc::string::String;

/// The states with meaning and kind, then the rows in the written order.
#[must_use]
pub fn markdown<S: Label, T: Label, A: Label>(table: &Table<S, T, A>) -> String {
    let mut out = String::from("| State | Kind | Meaning |\n|---|---|---|\n");
    for state in S::ALL {
        let initial = if *state == table.initial { ", initial" } else { "" };
        let kind = Kind::of(table, *state);
        out.push_str(&format!("| `{}` | {kind}{initial} | {} |\n", state.name(), state.meaning()));
    }
    out.push_str("\n| State | Trigger | Next state | Actions |\n|---|---|---|---|\n");
    for row in table.rows {
        let next = if row.from == row.to { String::from("*self*") } else { format!("`{}`", row.to.name()) };
        let line = format!("| `{}` | `{}` | {next} | {} |\n", row.from.name(), row.on.name(), action_names(row));
        out.push_str(&line);
    }
    out
}
