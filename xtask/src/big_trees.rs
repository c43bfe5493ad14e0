//! The tools on directories that take too long for every run of the tests: two hundred thousand entries.

use std::process::Command;

/// Runs the tests that are passed over otherwise.
pub(crate) fn run() -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["test", "-p", "agent-tools", "--test", "suite", "--", "--ignored", "--exact", TEST];
    let output = Command::new(cargo).args(arguments).output().map_err(|error| format!("run cargo: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() && text.contains("1 passed") {
        crate::say("two hundred thousand entries are listed, matched and searched\n");
        return Ok(());
    }
    Err(format!("{text}\n{}", String::from_utf8_lossy(&output.stderr)))
}

const TEST: &str = "hostile::search::big_trees";
