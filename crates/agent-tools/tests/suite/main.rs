//! The tools on real files and real processes, called as a driver calls them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod background;
mod bash_fuzz;
mod commands;
mod conformance;
mod contents;
mod exclusions;
mod git_programs;
mod hostile;
mod patches;
mod paths;
mod pictures;
mod reference;
mod searching;
mod shell;
mod support;
mod walls;
mod write_doors;
