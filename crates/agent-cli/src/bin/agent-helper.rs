//! The program `agent-helper`: what `agent` starts with every sandboxed command, in a program that starts quickly. Nobody else starts it.

use std::process::ExitCode;

fn main() -> ExitCode {
    agent_exec::help().unwrap_or(ExitCode::from(2))
}
