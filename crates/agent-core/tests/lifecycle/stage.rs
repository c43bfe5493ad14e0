//! The table that the machines of the tests stand on: the real one, but while changed ones are tried.

use agent_core::lifecycle::LifecycleTable;
use agent_core::lifecycle::table::TABLE;
use std::cell::Cell;

thread_local! {
    /// Nothing is the real table.
    static ON: Cell<Option<&'static LifecycleTable>> = const { Cell::new(None) };
}

/// The table to stand on.
pub(crate) fn table() -> &'static LifecycleTable {
    ON.get().unwrap_or(&TABLE)
}

/// Whether that is a changed one: what is read back from text stands on the real one.
pub(crate) fn is_changed() -> bool {
    ON.get().is_some()
}

/// Lets machines stand on another table for a while. What is run must not panic.
pub(crate) fn on<R>(table: &'static LifecycleTable, run: impl FnOnce() -> R) -> R {
    let before = ON.replace(Some(table));
    let result = run();
    ON.set(before);
    result
}
