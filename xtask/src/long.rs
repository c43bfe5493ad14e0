//! Tests that are short by default, at their full length.

use std::process::Command;

/// The real program, killed at random moments and gone on with.
pub(crate) fn kill_loop(runs: u32) -> Result<(), String> {
    test("agent-cli", "kill_loop::", &[("KILL_LOOP_RUNS", &runs.to_string())])
}

/// A journal cut at every byte, and damaged 100,000 times.
pub(crate) fn journal_damage() -> Result<(), String> {
    test("agent-runner", "journal_damage::", &[("JOURNAL_CUT_STEP", "1"), ("JOURNAL_DAMAGE_RUNS", "100000")])
}

fn test(package: &str, name: &str, amounts: &[(&str, &str)]) -> Result<(), String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| String::from("cargo"));
    let mut command = Command::new(cargo);
    command.args(["test", "--release", "--package", package, "--test", "suite", name, "--", "--nocapture"]);
    command.envs(amounts.iter().copied());
    let status = command.status().map_err(|error| format!("start cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name} failed: {status}")) }
}
