//! The table that sessions are made on: the real one, but for tests that change rows and look for the difference.

use agent_core::session::SessionTable;
use agent_core::session::table::TABLE;
use std::cell::Cell;

thread_local! {
    static ON: Cell<&'static SessionTable> = const { Cell::new(&TABLE) };
}

/// The table that sessions are made on.
pub(crate) fn table() -> &'static SessionTable {
    ON.get()
}

/// Makes sessions on another table for a while. What is run must not panic.
pub(crate) fn on<R>(table: &'static SessionTable, run: impl FnOnce() -> R) -> R {
    let before = ON.replace(table);
    let result = run();
    ON.set(before);
    result
}
