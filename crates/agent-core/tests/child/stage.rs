//! The table that the machines of the tests stand on: the real one, but while changed ones are tried.

use agent_core::child::ChildTable;
use agent_core::child::table::TABLE;
use std::cell::Cell;

thread_local! {
    /// Nothing is the real table.
    static ON: Cell<Option<&'static ChildTable>> = const { Cell::new(None) };
}

/// The table to stand on.
pub(crate) fn table() -> &'static ChildTable {
    ON.get().unwrap_or(&TABLE)
}

/// Lets machines stand on another table for a while. What is run must not panic.
pub(crate) fn on<R>(table: &'static ChildTable, run: impl FnOnce() -> R) -> R {
    let before = ON.replace(Some(table));
    let result = run();
    ON.set(before);
    result
}
