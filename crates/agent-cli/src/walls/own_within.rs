//! This program's own directories, where they lie in what commands may write. The next session obeys what they say.

use super::protected::{GitSettings, links_to, own_places, real_place};
use crate::config::file::{config_home, data_home, state_home};
use crate::failure::Failure;
use crate::screen::terminal::shown_path;
use agent_exec::{Access, Mechanism, MountTable, Policy, Sandbox, leads_into};
use std::path::{Path, PathBuf};

/// What commands may write.
struct Open {
    places: Vec<PathBuf>,
    mounts: MountTable,
}

impl Open {
    fn of<'a>(places: impl IntoIterator<Item = &'a Path>) -> Self {
        let places = places.into_iter().filter_map(|place| place.canonicalize().ok()).collect();
        Self { places, mounts: MountTable::now().unwrap_or_default() }
    }

    /// Whether a path leads there, by links or by mounts. Nothing has to be at its end.
    fn is_reached_by(&self, path: &Path) -> bool {
        leads_into(path, &self.places) || self.aliases_of(path).next().is_some()
    }

    /// The paths there at which what lies at a path is mounted, too.
    fn aliases_of(&self, path: &Path) -> impl Iterator<Item = PathBuf> {
        let aliases = self.mounts.aliases(&real_place(path)).into_iter();
        aliases.filter(|alias| self.places.iter().any(|place| alias.starts_with(place)))
    }

    /// Whether one of the links on the way to the end of a path lies there: commands can replace it.
    fn has_link_of(&self, path: &Path) -> bool {
        links_to(path).iter().any(|link| link.parent().is_some_and(|parent| self.is_reached_by(parent)))
    }
}

/// Where this program's own directories lie in what commands may write: they are protected as a whole. Each is made there, because commands
/// could make one that does not exist, and say in it what the next session is to allow.
pub(super) fn protected(workspace: &Path, writable: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let open = Open::of(writable.iter().map(PathBuf::as_path).chain([workspace]));
    let mut protected = Vec::new();
    for home in [config_home(), state_home(), data_home()].into_iter().flatten() {
        let real = real_place(&home);
        if !open.is_reached_by(&home) || real == workspace {
            continue;
        }
        std::fs::create_dir_all(&real).map_err(|error| {
            let shown = shown_path(&real);
            Failure::config(format!(
                "cannot create {shown}: {error}; it lies where commands may write, so it must exist before they run"
            ))
        })?;
        protected.push(home);
    }
    Ok(protected)
}

/// What must not come into being in the workspace, because something that other programs obey is looked for there by a path outside,
/// through a mount.
pub(super) fn absent_in(workspace: &Path, elsewhere: &[PathBuf]) -> Vec<PathBuf> {
    let open = Open::of([workspace]);
    let absent = elsewhere.iter().filter(|path| real_place(path).symlink_metadata().is_err());
    absent.flat_map(|path| open.aliases_of(path).collect::<Vec<_>>()).collect()
}

/// The first of this program's own files and directories that the sandbox cannot keep as it is, as a sentence.
pub(super) fn not_held(sandbox: &Sandbox, git: &GitSettings) -> Option<String> {
    let Policy { access, workspace, writable, .. } = sandbox.policy();
    let is_open = *access == Access::WorkspaceWrite;
    let links = || git.own_links.iter().cloned();
    let found = if sandbox.mechanism() == Mechanism::Landlock {
        let open = Open::of(writable.iter().chain(Some(workspace).filter(|_| is_open)).map(PathBuf::as_path));
        own_places().into_iter().chain(links()).find(|path| open.is_reached_by(path))
    } else {
        // Mounts hold directories in it, and what links of the workspace lead to is looked at around every command. Other links are not.
        let open = Open::of(writable.iter().map(PathBuf::as_path));
        let hop = own_places().into_iter().find(|path| open.has_link_of(path));
        hop.or_else(|| links().find(|path| open.is_reached_by(path)))
    }?;
    Some(format!("{} leads into a place where commands may write, and nothing protects it there", shown_path(&found)))
}

/// A directory that `sandbox_writable` names must not be one of this program's own, or lie in one.
pub(super) fn check_writable(writable: &[PathBuf]) -> Result<(), Failure> {
    let own: Vec<PathBuf> = own_places().into_iter().filter(|own| own.is_dir()).collect();
    let is_own = |path: &&PathBuf| path.canonicalize().is_ok_and(|real| leads_into(&real, &own));
    match writable.iter().find(is_own) {
        Some(path) if !own.is_empty() => Err(Failure::config(format!(
            "cannot let commands write {} (`sandbox_writable`): it is in the agent's own directories, which the next session obeys; remove the entry",
            shown_path(path)
        ))),
        Some(_) | None => Ok(()),
    }
}
