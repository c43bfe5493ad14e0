//! Formatters on real git repositories in temporary directories, as a session calls them.
//!
//! Without git these tests prove nothing, and say so by failing unless `AGENT_TESTS_WITHOUT_GIT` is set.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests are tests; clippy.toml exempts the test functions only"
)]

mod files;
mod recipes;
#[allow(dead_code, reason = "the tests of `agent-git` need all of it")]
#[path = "../../../agent-git/tests/repository/support.rs"]
mod support;

use agent_hooks::{FormatterConfig, Formatters};
use agent_types::hook::FormatReport;
use agent_types::ports::{CommandRunner, Hook as _};
use std::sync::Arc;
use support::{Agent, Signal, changes, wait};

impl Agent {
    fn format(&self, paths: &[&str]) -> FormatReport {
        wait(self.hooks.format(&changes(paths), &Signal(false))).unwrap()
    }
}

/// The same agent with these formatters, which its own runner runs.
fn formatting(mut agent: Agent, formatters: Vec<FormatterConfig>) -> Agent {
    let runner = Arc::clone(&agent.runner) as Arc<dyn CommandRunner>;
    agent.hooks = agent.hooks.formatting_with(Arc::new(Formatters::new(formatters, runner)));
    agent
}
