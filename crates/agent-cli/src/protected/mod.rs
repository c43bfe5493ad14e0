//! What of a workspace other programs act on by themselves: repositories, hooks, and files with a protected name. It is found when a session
//! begins, and neither tools nor commands in a sandbox write it; what commands make of it later is told, or set aside ([`Later`]).
//!
//! ```text
//! finder.rs         walks the workspace, and again around every command, where only changed directories are read
//! repositories.rs   git directories by whatever name, and where `.git` files lead
//! settings.rs       what git's configuration names: hooks, included files, programs
//! ```

mod finder;
mod repositories;
mod settings;

pub(crate) use settings::{GitSettings, git_settings};

use crate::terminal::{escaped, say};
use agent_exec::{SearchPath, Watch};
use finder::{Find, Finder, Kind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What of a workspace is protected, and what looks for more of it.
pub(crate) struct Protection {
    workspace: PathBuf,
    finds: Vec<Find>,
    unsearched: Vec<PathBuf>,
    /// Where `.git` of the index's submodules belongs.
    submodules: Vec<PathBuf>,
    /// Why the submodules are not known.
    unknown: Option<String>,
    finder: Mutex<Finder>,
}

impl Protection {
    /// Searches a workspace.
    pub(crate) fn find(workspace: &Path, programs: &SearchPath) -> Self {
        let mut finder = Finder::new(workspace);
        let found = finder.find();
        let (submodules, unknown) = match repositories::submodules(workspace, programs) {
            Ok(submodules) => (submodules, None),
            Err(why) => (Vec::new(), Some(format!("which submodules there are is not known: {why}"))),
        };
        Self {
            workspace: workspace.to_path_buf(),
            finds: found.finds,
            unsearched: found.unsearched,
            submodules,
            unknown,
            finder: Mutex::new(finder),
        }
    }

    /// What commands must not change: those near the root come first, and of very many only those.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = self.submodules.iter().filter(|path| path.exists()).cloned().collect();
        paths.extend(self.finds.iter().flat_map(|find| find.protected(&self.workspace)));
        let mut seen = std::collections::BTreeSet::new();
        paths.retain(|path| seen.insert(path.clone()));
        paths.truncate(MOST_PATHS);
        paths
    }

    /// What no tool writes besides the protected names: the insides of repositories that have other names.
    pub(crate) fn repositories(&self) -> Vec<PathBuf> {
        let unnamed = self.finds.iter().filter(|find| find.kind == Kind::Repository);
        unnamed.flat_map(|find| find.protected(&self.workspace)).collect()
    }

    /// What is set aside when a command makes or replaces it: where git and this program look before anybody has looked at it.
    pub(crate) fn kept(&self) -> Vec<PathBuf> {
        let at_root = [".git", ".agent"].map(|name| self.workspace.join(name));
        let is_kept = |find: &&Find| {
            find.kind == Kind::Repository || is_named(&find.path, ".git") || is_named(&find.path, ".agent")
        };
        let found = self.finds.iter().filter(is_kept).map(|find| find.path.clone());
        at_root
            .into_iter()
            .chain(found)
            .chain(self.submodules.iter().cloned())
            .filter(|path| *path != self.workspace)
            .collect()
    }

    /// What was not searched or is not protected, as a sentence.
    pub(crate) fn warning(&self) -> Option<String> {
        let found: usize = self.finds.iter().map(|find| find.protected(&self.workspace).len()).sum();
        let mut said: Vec<String> = self.unknown.iter().cloned().collect();
        if let Some(first) = self.unsearched.first() {
            let shown = first.strip_prefix(&self.workspace).unwrap_or(first).display();
            let more = match self.unsearched.len() {
                1 => String::new(),
                count => format!(" and {} other directories", count - 1),
            };
            said.push(format!("`{shown}`{more} and what lies below were not searched for repositories and hooks"));
        }
        if found + self.submodules.len() > MOST_PATHS {
            said.push(format!(
                "of {found} repositories and files that other programs run, the nearest {MOST_PATHS} are protected"
            ));
        }
        (!said.is_empty()).then(|| format!("{}: commands can change what is there", said.join("; ")))
    }

    /// What looks for more of it around every command.
    pub(crate) fn later(self) -> Later {
        Later { workspace: self.workspace, finder: self.finder }
    }
}

/// Looks for what commands make of it later, and tells the user.
pub(crate) struct Later {
    workspace: PathBuf,
    finder: Mutex<Finder>,
}

impl Watch for Later {
    fn find(&self) -> Vec<PathBuf> {
        let mut finder = self.finder.lock().unwrap_or_else(PoisonError::into_inner);
        let finds = finder.find().finds.into_iter().filter(|find| find.path.starts_with(&self.workspace));
        // A repository is one by its `HEAD`: that is what is told, and set aside.
        let told = |find: Find| match find.kind {
            Kind::Repository => find.path.join(HEAD),
            Kind::Named => find.path,
        };
        finds.map(told).collect()
    }

    fn protects(&self, path: &Path) -> Vec<PathBuf> {
        match path.parent().filter(|_| is_named(path, HEAD)) {
            Some(folder) => Find { path: folder.to_path_buf(), kind: Kind::Repository }.protected(&self.workspace),
            None => vec![path.to_path_buf()],
        }
    }

    /// An `.agent` is of use to this program only, and in a trusted workspace it names programs to run. Without its `HEAD` a directory is no
    /// repository any more, and all of it is there.
    fn sets_aside(&self, path: &Path, is_new: bool) -> bool {
        is_named(path, ".agent") || is_new && is_named(path, HEAD)
    }

    fn tell(&self, remark: &str) {
        say(&escaped(&format!("agent: sandbox: {remark}")));
    }
}

fn is_named(path: &Path, name: &str) -> bool {
    path.file_name().is_some_and(|found| found.eq_ignore_ascii_case(name))
}

const HEAD: &str = "HEAD";
/// Each is a mount of every sandboxed command.
const MOST_PATHS: usize = 200;

#[cfg(test)]
mod tests;
