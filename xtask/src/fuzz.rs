//! `cargo xtask fuzz [SECONDS]`: breaks recorded streams at random for so long (60 s unless said otherwise) and holds the readers to what
//! must hold of every stream. The short form of it is a test of `agent-llm` like any other.

use std::process::Command;

pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let seconds: u64 = match words {
        [] => 60,
        [seconds] => seconds.parse().map_err(|_| format!("`{seconds}` is no number of seconds"))?,
        _ => return Err("usage: cargo xtask fuzz [SECONDS]".to_owned()),
    };
    let status = Command::new(env!("CARGO"))
        .args(["test", "--release", "--package", "agent-llm", "--test", "fuzz", "--", "--nocapture"])
        .env("FUZZ_SECONDS", seconds.to_string())
        .status()
        .map_err(|error| format!("run cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err("a stream broke something: see above".to_owned()) }
}
