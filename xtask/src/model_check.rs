//! The bounded model check of `agent-check`, built for speed, and its figures.

use crate::figures::{Basis, Made};
use crate::say;
use agent_check::model_check::{Options, check};
use std::env;
use std::process::Command;

/// `cargo xtask model-check [--smoke] [--bounds NAME=N,…] [--only NAME,…] [--keep]`.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let options = Options::read(words)?;
    if env::var_os(IS_OPTIMISED).is_none() {
        return run_optimised(words);
    }
    let made = Made::today(&[Basis::Sources, Basis::Worlds])?;
    let report = check(&options, &mut |text| {
        say(text);
        Ok(())
    })?;
    report.verdict()?;
    if !options.keep {
        return Ok(());
    }
    let words: Vec<&str> = words.iter().copied().filter(|word| *word != "--keep").collect();
    let command = format!("cargo xtask model-check {}", words.join(" "));
    made.figures(command.trim_end(), report.figures()).keep("model-check")
}

/// The chores are built without optimisation; this one would take ten times as long.
fn run_optimised(words: &[&str]) -> Result<(), String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--package", "xtask", "--profile", "model-check", "--", "model-check"])
        .args(words)
        .env(IS_OPTIMISED, "1")
        .status()
        .map_err(|error| format!("run cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err("the model check found a violation, or could not run".to_owned()) }
}

/// Set where this program was built for speed.
const IS_OPTIMISED: &str = "AGENT_MODEL_CHECK_IS_OPTIMISED";
