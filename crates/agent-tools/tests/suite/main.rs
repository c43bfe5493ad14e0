//! The tools on real files and real processes, called as a driver calls them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod commands;
mod contents;
mod paths;
mod searching;
mod shell;
mod support;
