//! The helper of the sandbox, for the tests: a host that is a program of its own would be its own helper.

use std::process::ExitCode;

fn main() -> ExitCode {
    agent_exec::help().unwrap_or(ExitCode::from(2))
}
