//! The helper as a program by itself, for hosts that cannot be their own.

use std::process::ExitCode;

fn main() -> ExitCode {
    agent_exec::help().unwrap_or(ExitCode::from(2))
}
