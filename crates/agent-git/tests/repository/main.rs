//! The hooks on real git repositories in temporary directories.
//!
//! Without git these tests prove nothing, and say so by failing unless `AGENT_TESTS_WITHOUT_GIT` is set.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests are tests; clippy.toml exempts the test functions only"
)]

mod commits;
mod commits_later;
mod ended_calls;
mod files_seen;
mod full_disk;
mod hostile;
mod kills;
mod news;
mod planted;
mod processes;
mod states;
mod support;
mod undo;
mod undo_kills;
mod worktrees;
