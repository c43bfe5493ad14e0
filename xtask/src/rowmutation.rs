//! Mutation of the tables: the tests of `agent-core` make every small change of every table in their own process and say who notices. Here
//! they are run, and their score is kept.

use crate::figures::{Basis, Made};
use std::path::Path;
use std::process::Command;
use std::{env, fs, process};

/// Runs the mutation tests of all machines and keeps the score.
///
/// # Errors
/// When no test notices a change, or a test cannot be run.
pub(crate) fn run() -> Result<(), String> {
    let made = Made::today(&[Basis::Sources])?;
    let directory = env::temp_dir().join(format!("agent-core-figures-{}", process::id()));
    fs::create_dir_all(&directory).map_err(|error| format!("create {}: {error}", directory.display()))?;
    let figures = test(&directory).and_then(|()| read(&directory));
    // Files left in the directory for temporary files are harmless.
    let _ = fs::remove_dir_all(&directory);
    made.figures(COMMAND, figures?).keep(NAME)
}

fn test(directory: &Path) -> Result<(), String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["test", "--quiet", "--package", "agent-core"]);
    command.args(MACHINES.iter().flat_map(|machine| ["--test", machine]));
    command.args(["--", "every_change_of_the_table_is_noticed"]).env("AGENT_CORE_FIGURES", directory);
    let status = command.status().map_err(|error| format!("run cargo test: {error}"))?;
    if status.success() { Ok(()) } else { Err("no test notices a change of a table, see above".to_owned()) }
}

fn read(directory: &Path) -> Result<Vec<(String, String)>, String> {
    let mut figures = Vec::new();
    for machine in MACHINES {
        let path = directory.join(machine);
        let text = fs::read_to_string(&path).map_err(|error| format!("read {}: {error}", path.display()))?;
        let pairs = text.lines().filter_map(|line| line.split_once('\t'));
        figures.extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
    Ok(figures)
}

const COMMAND: &str = "cargo xtask mutate-rows";
const NAME: &str = "row-mutation";
/// The machines are named like the files of their tests.
const MACHINES: &[&str] = &["session", "lifecycle", "job"];
