//! A workspace that is the home directory, or holds it: there commands may write what every shell, desktop and service of the user runs, and no
//! list of names covers that. And one in the agent's own directories: a workspace is never hidden or protected as a whole.

use crate::config::options::{Options, Seat};
use crate::failure::Failure;
use crate::screen::terminal::{inline, say};
use crate::walls::protected::own_places;
use agent_exec::leads_into;
use std::io::{IsTerminal as _, stdin};
use std::path::Path;

/// Asks the person at the terminal whether that is meant; without one it is an error, unless the command line says so.
pub(crate) fn check(directory: &Path, options: &Options, seat: Seat) -> Result<(), Failure> {
    if options.allow_home || seat == Seat::Looking {
        return Ok(());
    }
    let shown = inline(&directory.display().to_string());
    let danger = if holds_home(directory) {
        format!("{shown} holds your home directory: commands could change what your shell, desktop and services run")
    } else if is_own(directory) {
        format!("{shown} is a directory of the agent's own: commands could change what the next session may do")
    } else {
        return Ok(());
    };
    if seat != Seat::Interactive || !stdin().is_terminal() {
        return Err(Failure::input(format!(
            "work in {shown}: {danger}; name a project with `-C DIR`, or say `--allow-home`"
        )));
    }
    say(&format!("agent: {danger}"));
    say("agent: work there all the same? [y/N]");
    let mut answer = String::new();
    stdin().read_line(&mut answer).map_err(|error| Failure::input(format!("read the answer: {error}")))?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Failure::input(format!("work in {shown}: not confirmed; name a project with `-C DIR`"))),
    }
}

/// By whatever path: a home directory may be mounted in two places.
fn holds_home(directory: &Path) -> bool {
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    home.is_some_and(|home| leads_into(&home, &[directory]))
}

/// Whether it is, or lies in, where this program keeps its configuration or its state.
fn is_own(directory: &Path) -> bool {
    let own: Vec<_> = own_places().into_iter().filter(|own| own.is_dir()).collect();
    !own.is_empty() && leads_into(directory, &own)
}
