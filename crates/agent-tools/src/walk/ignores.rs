//! What `.gitignore`, `.ignore` and git's own exclude file leave out.

use super::directory::Kind;
use crate::workspace::{For, RelativePath, Workspace, descend, open_regular};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::ffi::{CStr, CString};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

/// The rules that hold in a directory, innermost first. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Ignores {
    /// Those of `.ignore`, which go before those of git.
    own: Option<Arc<Rules>>,
    git: Option<Arc<Rules>>,
}

struct Rules {
    matcher: Gitignore,
    /// Length of the path of the directory that they are about, with its slash.
    prefix: usize,
    above: Option<Arc<Self>>,
}

impl Ignores {
    /// The rules that come from the directories above a start. None when they leave out the start itself: it was asked for by name.
    pub(super) fn above(workspace: &Workspace, start: &RelativePath) -> Self {
        let Some((_, _)) = start.split() else {
            return Self::exclude_file(workspace);
        };
        let mut ignores = Self::exclude_file(workspace);
        let mut path = String::new();
        for name in start.as_str().split('/') {
            let Ok(directory) = descend(workspace.descriptor(), super::entered(&path), For::Entering) else {
                break;
            };
            ignores = ignores.with_files(directory.as_fd(), &path, true, true);
            path = super::below(&path, name);
            if ignores.covers(&path, true) {
                return Self::default();
            }
        }
        ignores
    }

    /// Whether a directory, or one that it is in, is left out.
    pub(super) fn cover_way(workspace: &Workspace, directory: &RelativePath) -> bool {
        let (mut ignores, mut path) = (Self::exclude_file(workspace), String::new());
        directory.as_str().split('/').filter(|name| !name.is_empty()).any(|name| {
            let Ok(parent) = descend(workspace.descriptor(), super::entered(&path), For::Entering) else {
                return false;
            };
            ignores = ignores.with_files(parent.as_fd(), &path, true, true);
            path = super::below(&path, name);
            ignores.covers(&path, true)
        })
    }

    fn exclude_file(workspace: &Workspace) -> Self {
        let info = descend(workspace.descriptor(), Path::new(".git/info"), For::Entering);
        let rules = info.ok().and_then(|info| read(info.as_fd(), c"exclude", 0, None));
        Self { own: None, git: rules }
    }

    /// The same with the rules of a directory.
    pub(super) fn with(&self, directory: &OwnedFd, names: &[(CString, Kind)], path: &str) -> Self {
        let has = |name: &CStr| names.binary_search_by(|(known, _)| known.as_c_str().cmp(name)).is_ok();
        let mut ignores = self.clone();
        if has(c".git") && !path.is_empty() {
            // A repository within the repository: the outer one's rules are not about it.
            ignores.git = None;
        }
        match (has(c".ignore"), has(c".gitignore")) {
            (false, false) => ignores,
            (own, git) => ignores.with_files(directory.as_fd(), path, own, git),
        }
    }

    fn with_files(&self, directory: BorrowedFd<'_>, path: &str, own: bool, git: bool) -> Self {
        let prefix = if path.is_empty() { 0 } else { path.len() + 1 };
        let more = |name, above: &Option<Arc<Rules>>| read(directory, name, prefix, above.clone());
        let own = own.then(|| more(c".ignore", &self.own)).flatten().or_else(|| self.own.clone());
        let git = git.then(|| more(c".gitignore", &self.git)).flatten().or_else(|| self.git.clone());
        Self { own, git }
    }

    /// Whether something is left out.
    pub(super) fn covers(&self, path: &str, is_directory: bool) -> bool {
        match decide(&self.own, path, is_directory) {
            Some(is_ignored) => is_ignored,
            None => decide(&self.git, path, is_directory).unwrap_or(false),
        }
    }
}

fn decide(rules: &Option<Arc<Rules>>, path: &str, is_directory: bool) -> Option<bool> {
    let mut rules = rules.as_ref();
    while let Some(these) = rules {
        let relative = path.get(these.prefix..).unwrap_or_default();
        match these.matcher.matched(relative, is_directory) {
            Match::None => rules = these.above.as_ref(),
            Match::Ignore(_) => return Some(true),
            Match::Whitelist(_) => return Some(false),
        }
    }
    None
}

/// Reads a file of rules; what is no rule in it is passed over, as git does. `None` if there is no such regular file.
fn read(directory: BorrowedFd<'_>, name: &CStr, prefix: usize, above: Option<Arc<Rules>>) -> Option<Arc<Rules>> {
    let (file, _) = open_regular(directory, name).ok()?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut builder = GitignoreBuilder::new("");
    for line in text.trim_start_matches('\u{feff}').lines() {
        let _ = builder.add_line(None, line);
    }
    let matcher = builder.build().ok()?;
    Some(Arc::new(Rules { matcher, prefix, above }))
}

const MOST_BYTES: u64 = 1024 * 1024;
