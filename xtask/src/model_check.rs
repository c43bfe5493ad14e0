//! The bounded model check of `agent-check`, and its figures.

use crate::figures::{Basis, Made};
use crate::say;
use agent_check::model_check::{Options, check};

/// `cargo xtask model-check [--smoke] [--bounds NAME=N,…] [--only NAME,…] [--keep]`.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let options = Options::read(words)?;
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
