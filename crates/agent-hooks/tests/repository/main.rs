//! The hooks on real git repositories in temporary directories.
//!
//! Without git these tests prove nothing, and say so by failing unless `AGENT_TESTS_WITHOUT_GIT` is set.

mod commits;
mod formatters;
mod hostile;
mod news;
mod states;
mod support;
