//! The table that the machines of the tests stand on: the real one, but while changed ones are tried.

use agent_core::server::ServerTable;
use agent_core::server::table::TABLE;
use std::cell::Cell;

thread_local! {
    /// Nothing is the real table.
    static ON: Cell<Option<&'static ServerTable>> = const { Cell::new(None) };
}

/// The table to stand on.
pub(crate) fn table() -> &'static ServerTable {
    ON.get().unwrap_or(&TABLE)
}

/// Lets machines stand on another table for a while. What is run must not panic.
pub(crate) fn on<R>(table: &'static ServerTable, run: impl FnOnce() -> R) -> R {
    let before = ON.replace(Some(table));
    let result = run();
    ON.set(before);
    result
}
