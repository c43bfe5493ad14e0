//! What may be in a worktree and is not in what git says of it: nothing of that is removed.

use super::removal::not_looked_into;
use super::{Making, WorktreeError};
use crate::git::Git;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// What there is to be doubted in what git says of a worktree.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    /// Files lie where a submodule belongs. They are not checked out here, and git says nothing of what lies there.
    pub(super) has_files_of_submodules: bool,
    /// The first other reason, as a sentence without an end.
    pub(super) reason: Option<String>,
}

impl Making<'_> {
    /// Looks for what git does not say. `base` is the commit that the worktree is made of.
    pub(super) async fn doubts(&self, inside: &Git<'_>, base: &str) -> Result<Doubts, WorktreeError> {
        let index = inside.run(&["ls-files", "--stage", "-v", "-z"], Vec::new()).await?;
        let entries = || index.split(|byte| *byte == 0).filter_map(Entry::read);
        let has_files = |path: &Path| fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
        let has_files_of_submodules =
            { entries() }.any(|entry| entry.is_submodule && has_files(&self.tree.join(entry.path)));
        let hidden = { entries() }.find(|entry| entry.hides_changes(&self.tree));
        let reason = if let Some(entry) = hidden {
            Some(format!("git is told to look at no change of {} (`git update-index`)", entry.path.display()))
        } else if let Some((path, why)) = self.not_ignored(inside, not_looked_into(&self.tree)).await? {
            Some(format!("{} {why}", path.display()))
        } else if self.has_commits_of_no_branch(inside, base).await? {
            Some(format!("there are commits on no branch, which `git -C {} reflog` names", self.tree.display()))
        } else {
            None
        };
        Ok(Doubts { has_files_of_submodules, reason })
    }

    /// The first of these directories that git does not ignore.
    async fn not_ignored(
        &self,
        inside: &Git<'_>,
        found: Vec<(PathBuf, &'static str)>,
    ) -> Result<Option<(PathBuf, &'static str)>, WorktreeError> {
        if found.is_empty() {
            return Ok(None);
        }
        let below = |path: &Path| path.strip_prefix(&self.tree).unwrap_or(path).as_os_str().as_bytes().to_vec();
        let paths = { found.iter() }.flat_map(|(path, _)| [below(path), vec![0]].concat()).collect();
        let ignored = inside.ask(&["check-ignore", "-z", "--stdin"], paths).await?.unwrap_or_default();
        let ignored: Vec<&[u8]> = ignored.split(|byte| *byte == 0).collect();
        Ok(found.into_iter().find(|(path, _)| !ignored.contains(&&*below(path))))
    }

    /// Whether somebody committed here while no branch was checked out, or took a commit back.
    async fn has_commits_of_no_branch(&self, inside: &Git<'_>, base: &str) -> Result<bool, WorktreeError> {
        let seen = inside.run(&["log", "--walk-reflogs", "--format=%H", "HEAD", "--"], Vec::new()).await?;
        let names: String = [&*String::from_utf8_lossy(&seen), "^", base, "\n"].concat();
        let arguments = ["rev-list", "--max-count=1", "--ignore-missing", "--stdin", "--not", "--all"];
        Ok(!inside.run(&arguments, names.into_bytes()).await?.is_empty())
    }
}

/// An entry of the index.
struct Entry<'a> {
    tag: u8,
    is_submodule: bool,
    path: &'a Path,
}

impl<'a> Entry<'a> {
    /// `<tag> SP <mode> SP <id> SP <stage> TAB <path>`
    fn read(line: &'a [u8]) -> Option<Self> {
        let (&tag, rest) = line.split_first()?;
        let path = line.splitn(2, |byte| *byte == b'\t').nth(1)?;
        Some(Self { tag, is_submodule: rest.starts_with(b" 160000 "), path: Path::new(OsStr::from_bytes(path)) })
    }

    /// Whether git was told to take the file for unchanged. A file that a sparse checkout leaves out is not there.
    fn hides_changes(&self, tree: &Path) -> bool {
        let is_there = || tree.join(self.path).symlink_metadata().is_ok();
        self.tag.is_ascii_lowercase() || self.tag == b'S' && is_there()
    }
}
