//! A workspace that is the home directory, or holds it: there commands may write what every shell, desktop and service of the user runs, and no
//! list of names covers that. One in the agent's own directories: a workspace is never hidden or protected as a whole. And one into which these
//! directories lead, where the sandbox holds nothing within what commands may write.

use crate::config::options::{Options, Seat};
use crate::failure::Failure;
use crate::screen::terminal::{inline, say};
use crate::walls::protected::{GitSettings, own_places};
use agent_exec::{Access, Mechanism, MountTable, Policy, Sandbox, leads_into};
use std::io::{IsTerminal as _, stdin};
use std::path::{Path, PathBuf};

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

/// The same where Landlock alone holds commands: it cannot keep a file as it is within a directory that they may write.
pub(crate) fn check_held(sandbox: &Sandbox, git: &GitSettings, options: &Options, seat: Seat) -> Result<(), Failure> {
    let Policy { access, workspace, writable, .. } = sandbox.policy();
    let is_asked_already = holds_home(workspace) || is_own(workspace);
    if options.allow_home || seat == Seat::Looking || is_asked_already || sandbox.mechanism() != Mechanism::Landlock {
        return Ok(());
    }
    let workspace_too = Some(workspace).filter(|_| *access == Access::WorkspaceWrite);
    let open: Vec<PathBuf> = writable.iter().chain(workspace_too).filter_map(|path| path.canonicalize().ok()).collect();
    let mounts = MountTable::now().unwrap_or_default();
    let leads = |path: &PathBuf| {
        let is_there = |name: &PathBuf| open.iter().any(|open| name.starts_with(open));
        leads_into(path, &open) || path.canonicalize().is_ok_and(|real| mounts.aliases(&real).iter().any(is_there))
    };
    let Some(found) = own_places().into_iter().chain(git.own_links.iter().cloned()).find(leads) else {
        return Ok(());
    };
    let (shown, found) = (inline(&workspace.display().to_string()), inline(&found.display().to_string()));
    let danger = format!(
        "{found} leads into a place where commands may write, and without bubblewrap nothing is protected there: commands could change \
         what the agent uses next time"
    );
    confirm(&shown, &danger, seat)
}

fn confirm(shown: &str, danger: &str, seat: Seat) -> Result<(), Failure> {
    if seat != Seat::Interactive || !stdin().is_terminal() {
        return Err(Failure::input(format!(
            "cannot work in {shown}: {danger}; name a project with `-C DIR` or use `--allow-home`"
        )));
    }
    say(&format!("agent: {danger}"));
    say("agent: work there anyway? [y/N]");
    let mut answer = String::new();
    stdin().read_line(&mut answer).map_err(|error| Failure::input(format!("cannot read the answer: {error}")))?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Failure::input(format!("cannot work in {shown}: not confirmed; name a project with `-C DIR`"))),
    }
}

/// By whatever path: a home directory may be mounted in two places.
fn holds_home(directory: &Path) -> bool {
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    let is_mounted_in = |home: &Path| {
        let names = MountTable::now().unwrap_or_default().other_names(home);
        names.iter().any(|name| name.starts_with(directory))
    };
    home.is_some_and(|home| leads_into(&home, &[directory]) || is_mounted_in(&home))
}

/// Whether it is, or lies in, where this program keeps its configuration or its state.
fn is_own(directory: &Path) -> bool {
    let own: Vec<_> = own_places().into_iter().filter(|own| own.is_dir()).collect();
    !own.is_empty() && leads_into(directory, &own)
}
