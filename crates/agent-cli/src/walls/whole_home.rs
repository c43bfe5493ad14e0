//! A workspace that is the home directory, or holds it: there commands may write what every shell, desktop and service of the user runs,
//! and no list of names covers that. One in the agent's own directories: a workspace is never hidden or protected as a whole. And one into
//! which these directories lead, where the sandbox holds nothing within what commands may write.

use crate::config::options::{Options, Seat};
use crate::failure::Failure;
use crate::screen::confirm::confirmed;
use crate::screen::terminal::{inline, say};
use crate::walls::own_within;
use crate::walls::protected::{GitSettings, own_places, real_place};
use agent_exec::{MountTable, Sandbox, leads_into};
use std::io::{IsTerminal as _, stdin};
use std::path::Path;

/// Asks the person at the terminal whether that is meant; without one it is an error, unless the command line says so.
pub(crate) fn check(directory: &Path, options: &Options, seat: Seat) -> Result<(), Failure> {
    if options.allow_home || seat == Seat::Looking {
        return Ok(());
    }
    let shown = inline(&directory.display().to_string());
    if holds_home(directory) {
        let danger = format!(
            "{shown} holds your home directory: commands could change what your shell, desktop and services run"
        );
        confirm(&shown, &danger, seat)
    } else if is_own(directory) {
        let danger = format!(
            "{shown} is one of the agent's own directories: commands could change what the next session may do"
        );
        confirm(&shown, &danger, seat)
    } else {
        Ok(())
    }
}

/// The same where the sandbox cannot keep this program's own directories as they are.
pub(crate) fn check_held(sandbox: &Sandbox, git: &GitSettings, options: &Options, seat: Seat) -> Result<(), Failure> {
    let workspace = &sandbox.policy().workspace;
    let is_asked_already = holds_home(workspace) || is_own(workspace);
    if options.allow_home || seat == Seat::Looking || is_asked_already {
        return Ok(());
    }
    let Some(what) = own_within::not_held(sandbox, git) else { return Ok(()) };
    let shown = inline(&workspace.display().to_string());
    confirm(&shown, &format!("{}: commands could change what the next session may do", inline(&what)), seat)
}

fn confirm(shown: &str, danger: &str, seat: Seat) -> Result<(), Failure> {
    if seat != Seat::Interactive || !stdin().is_terminal() {
        return Err(Failure::input(format!(
            "cannot work in {shown}: {danger}; name a project with `-C DIR` or use `--allow-home`"
        )));
    }
    say(&format!("agent: {danger}"));
    let answer = confirmed("agent: work there anyway?");
    match answer.map_err(|error| Failure::input(format!("cannot read the answer: {error}")))? {
        true => Ok(()),
        false => Err(Failure::input(format!("cannot work in {shown}: not confirmed; name a project with `-C DIR`"))),
    }
}

/// By whatever path: a home directory may be mounted in two places, reached by a link of the directory, or be made later.
fn holds_home(directory: &Path) -> bool {
    let Some(home) = std::env::home_dir().filter(|home| home.is_absolute()) else { return false };
    let real = real_place(&home);
    let names = MountTable::now().unwrap_or_default().other_names(&real);
    leads_into(&home, &[directory])
        || leads_into(&real, &[directory])
        || names.iter().any(|name| name.starts_with(directory))
}

/// Whether it is, or lies in, where this program keeps its configuration or its state.
fn is_own(directory: &Path) -> bool {
    let own: Vec<_> = own_places().into_iter().filter(|own| own.is_dir()).collect();
    !own.is_empty() && leads_into(directory, &own)
}
