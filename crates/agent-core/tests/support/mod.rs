//! What the tests of all machines share: changes of tables, and witnesses.

pub(crate) mod mutants;
pub(crate) mod quiet;
pub(crate) mod score;
pub(crate) mod witnesses;
