//! What the tests of all machines share: changes of tables, witnesses, and scenarios in text.

pub(crate) mod mutants;
pub(crate) mod quiet;
pub(crate) mod scenarios;
pub(crate) mod score;
pub(crate) mod witnesses;
