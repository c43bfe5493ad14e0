//! What of a workspace other programs act on by themselves: repositories, hooks, and files with a protected name. It is found when a
//! session begins, and neither tools nor commands in a sandbox write it; what commands make of it later is told, or set aside ([`Later`]).
//!
//! ```text
//! finder.rs         walks the workspace, and again around every command, where only changed directories are read
//! links.rs          where links with such names lead
//! hard_names.rs     other names of the same files
//! repositories.rs   git directories by whatever name, and where `.git` files lead
//! settings.rs       what git's configuration names: hooks, included files, programs
//! ```

mod finder;
mod hard_names;
mod links;
mod repositories;
mod settings;

pub(crate) use hard_names::other_names;
pub(crate) use settings::{GitSettings, git_settings};

use crate::config::file::{config_home, state_home};
use crate::screen::terminal::{escaped, say, shown_path};
use agent_core::protected::{is_instructions, is_same_name, names_in};
use agent_exec::{SearchPath, Watch, Within};
use finder::{Find, Finder, Kind};
use links::Linked;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What of a workspace is protected, and what looks for more of it.
pub(crate) struct Protection {
    workspace: PathBuf,
    /// What has such a name or is a repository, and then what links among these lead to.
    finds: Vec<Find>,
    linked: Linked,
    unsearched: Vec<PathBuf>,
    closed: Vec<PathBuf>,
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
            Err(why) => (Vec::new(), Some(format!("the submodules are unknown: {why}"))),
        };
        let mut finds: Vec<Find> = found.finds.into_iter().chain(found.linked.finds.iter().cloned()).collect();
        let others = other_names(workspace, finds.iter().map(|find| &find.path));
        finds.extend(others.into_iter().map(|path| Find { path, kind: Kind::Named }));
        Self {
            workspace: workspace.to_path_buf(),
            finds,
            linked: found.linked,
            unsearched: found.unsearched,
            closed: found.closed,
            submodules,
            unknown,
            finder: Mutex::new(finder),
        }
    }

    /// What commands must not change: all repositories, and of very many others those near the root.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let is_repository = |find: &&Find| {
            find.kind == Kind::Repository || is_named(&find.path, ".git") || is_named(&find.path, ".agent")
        };
        let (first, others): (Vec<&Find>, Vec<&Find>) = self.finds.iter().partition(is_repository);
        let of =
            |finds: Vec<&Find>| finds.into_iter().flat_map(|find| find.protected(&self.workspace)).collect::<Vec<_>>();
        let mut paths: Vec<PathBuf> = self.submodules.iter().filter(|path| path.exists()).cloned().collect();
        paths.extend(of(first));
        paths.extend(self.closed.iter().filter(|path| **path != self.workspace).cloned());
        paths.extend(self.fitting(of(others)));
        let mut seen = BTreeSet::new();
        paths.retain(|path| seen.insert(path.clone()));
        paths
    }

    /// As many as mounts can hold at every command, with the directories on the way to them. The first ones: they are near the root.
    fn fitting(&self, paths: Vec<PathBuf>) -> Vec<PathBuf> {
        let mut mounts = BTreeSet::new();
        let fits = |path: &PathBuf| {
            let is_pinned = !is_instructions(&path.file_name().unwrap_or_default().to_string_lossy());
            let way = path.ancestors().take_while(|above| is_pinned && *above != self.workspace);
            mounts.extend(way.chain([path.as_path()]).map(Path::to_path_buf));
            mounts.len() <= MOST_MOUNTS
        };
        paths.into_iter().take_while(fits).collect()
    }

    /// What of the finds is not protected.
    fn left_out(&self) -> BTreeSet<PathBuf> {
        let protected: BTreeSet<PathBuf> = self.paths().into_iter().collect();
        let finds = self.finds.iter().flat_map(|find| find.protected(&self.workspace));
        finds.filter(|path| !protected.contains(path)).collect()
    }

    /// What no tool writes besides the protected names: the insides of repositories that have other names.
    pub(crate) fn repositories(&self) -> Vec<PathBuf> {
        let unnamed = self.finds.iter().filter(|find| find.kind == Kind::Repository);
        unnamed.flat_map(|find| find.protected(&self.workspace)).collect()
    }

    /// The same: where links with a protected name lead, and what has one by the name of a link only.
    pub(crate) fn linked(&self) -> Vec<PathBuf> {
        self.linked.ends.iter().cloned().collect()
    }

    /// The folders of the repositories within the workspace.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        let folders = self.finds.iter().filter_map(|find| match find.kind {
            Kind::Repository => Some(find.path.clone()),
            Kind::Named if is_named(&find.path, ".git") => find.path.parent().map(Path::to_path_buf),
            Kind::Named | Kind::Parent => None,
        });
        folders.filter(|folder| *folder != self.workspace).collect()
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
        let (found, left_out) = (self.finds.len(), self.left_out().len());
        let mut said: Vec<String> = self.unknown.iter().cloned().collect();
        said.extend(not_searched(&self.workspace, &self.unsearched));
        if left_out > 0 {
            let protected = found.saturating_sub(left_out);
            said.push(format!(
                "only {protected} of {found} repositories and files that other programs run are protected"
            ));
        }
        (!said.is_empty()).then(|| format!("{}: commands can change what is in them", said.join("; ")))
    }

    /// What looks for more of it around every command.
    pub(crate) fn later(self, git: &GitSettings) -> Later {
        Later {
            left_out: self.left_out(),
            workspace: self.workspace,
            finder: self.finder,
            named: git.paths().cloned().collect(),
            links: Mutex::new(self.linked.kept),
            unsearched: Mutex::default(),
        }
    }
}

/// Looks for what commands make of it later, and tells the user.
pub(crate) struct Later {
    workspace: PathBuf,
    finder: Mutex<Finder>,
    /// What configurations name.
    named: Vec<PathBuf>,
    /// What was said not to be protected when the session began.
    left_out: BTreeSet<PathBuf>,
    /// What no mount holds, as the last walk saw it.
    links: Mutex<BTreeSet<PathBuf>>,
    /// Where the last walk did not come.
    unsearched: Mutex<Vec<PathBuf>>,
}

impl Watch for Later {
    fn find(&self) -> Vec<PathBuf> {
        let mut finder = self.finder.lock().unwrap_or_else(PoisonError::into_inner);
        let found = finder.find();
        *self.unsearched.lock().unwrap_or_else(PoisonError::into_inner) = found.unsearched;
        *self.links.lock().unwrap_or_else(PoisonError::into_inner) = found.linked.kept;
        let finds =
            found.finds.into_iter().chain(found.linked.finds).filter(|find| find.path.starts_with(&self.workspace));
        finds.map(Find::told).chain(self.named.iter().filter(|path| path.symlink_metadata().is_ok()).cloned()).collect()
    }

    fn unsearched(&self) -> Option<String> {
        let unsearched = self.unsearched.lock().unwrap_or_else(PoisonError::into_inner);
        not_searched(&self.workspace, &unsearched)
    }

    fn find_in(&self, directory: &Path) -> Within {
        let found = Finder::new(directory).find();
        let finds = found.finds.into_iter().chain(found.linked.finds).filter(|find| find.path.starts_with(directory));
        let first = found.unsearched.first().map(|first| shown_path(first));
        let unsearched = first.map(|first| not_searched_at(&first, found.unsearched.len()));
        Within { paths: finds.map(Find::told).collect(), unsearched }
    }

    fn protects(&self, path: &Path) -> Vec<PathBuf> {
        match path.parent().filter(|_| is_named(path, HEAD)) {
            Some(folder) => Find { path: folder.to_path_buf(), kind: Kind::Repository }.protected(&self.workspace),
            None if self.left_out.contains(path) || self.is_parent_only(path) => Vec::new(),
            None => vec![path.to_path_buf()],
        }
    }

    fn keeps(&self) -> Vec<PathBuf> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// A repository may be made in steps.
    fn evidence(&self, path: &Path) -> Vec<PathBuf> {
        let mut all = vec![path.to_path_buf()];
        if is_named(path, HEAD) {
            all.extend(["objects", "refs", "commondir"].map(|part| path.with_file_name(part)));
        }
        all
    }

    /// An `.agent` is of use to this program only, and in a trusted workspace it names programs to run. Without its `HEAD` a directory is
    /// no repository any more, and all of it is there.
    fn sets_aside(&self, path: &Path, is_new: bool) -> bool {
        is_named(path, ".agent") || is_new && is_named(path, HEAD)
    }

    fn tell(&self, remark: &str) {
        say(&escaped(&format!("agent: sandbox: {remark}")));
    }
}

impl Later {
    /// Whether a link is found only because it makes a parent of protected names: what it leads to is not protected as a whole.
    fn is_parent_only(&self, path: &Path) -> bool {
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let parent = path.parent().map(name).unwrap_or_default();
        path.is_symlink() && names_in(&name(path)).next().is_some() && !finder::is_protected(&parent, &name(path))
    }
}

/// Where a walk did not come, as a sentence.
fn not_searched(workspace: &Path, unsearched: &[PathBuf]) -> Option<String> {
    let first = unsearched.first()?;
    let shown = shown_path(first.strip_prefix(workspace).unwrap_or(first));
    Some(not_searched_at(&shown, unsearched.len()))
}

fn not_searched_at(shown: &str, count: usize) -> String {
    let more = match count {
        1 => String::new(),
        count => format!(" and {} other directories", count - 1),
    };
    format!("`{shown}`{more} and everything below were not searched for repositories and hooks")
}

fn is_named(path: &Path, name: &str) -> bool {
    path.file_name().is_some_and(|found| is_same_name(&found.to_string_lossy(), name))
}

/// The directories of this program's own, by name and by where they really are.
pub(crate) fn own_places() -> Vec<PathBuf> {
    let own = [config_home(), state_home()].into_iter().flatten();
    own.flat_map(|home| [real_place(&home), home]).collect()
}

/// Where a path leads, whether something is there or not.
pub(crate) fn real_place(path: &Path) -> PathBuf {
    links::follow(path).real
}

/// The links on the way to the end of a path, each by its own path without links.
pub(crate) fn links_to(path: &Path) -> Vec<PathBuf> {
    links::follow(path).links
}

const HEAD: &str = "HEAD";
/// Of what is no repository, and of the directories on the way to it. Repositories and what comes later are not counted: where those are
/// too many for mounts, no command is started.
const MOST_MOUNTS: usize = 400;

#[cfg(test)]
mod link_tests;
#[cfg(test)]
mod patience_tests;
#[cfg(test)]
mod tests;
