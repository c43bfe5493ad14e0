//! `agent commands`: the commands at the prompt, for people and for other front ends.

use crate::commands::args::Commands;
use crate::commands::prompt::registry::{help_lines, listed};
use crate::failure::Failure;
use crate::screen::terminal::{print, print_json};

/// Lists the commands.
pub(crate) fn run(arguments: &Commands) -> Result<u8, Failure> {
    let written = if arguments.json {
        print_json(&serde_json::to_string_pretty(&listed()).map_err(Failure::internal)?)
    } else {
        print(&help_lines().iter().map(|(usage, help)| format!("{usage}  {help}\n")).collect::<String>())
    };
    written.map_err(|error| Failure::internal(format!("cannot list the commands: {error}")))?;
    Ok(0)
}
