//! Where a repository is, for a host that confines git to it.

use crate::repository::Discovery;
use crate::tree::read_path;
use rustix::process::geteuid;
use std::path::{Path, PathBuf};

/// The directories of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitDirectories {
    /// Root of the working tree.
    pub top: PathBuf,
    /// Git's own data of this working tree.
    pub git_dir: PathBuf,
    /// What working trees share; often the same.
    pub common_dir: PathBuf,
}

/// The repository that a directory lies in, if there is one with a working tree.
#[must_use]
pub fn git_directories(directory: &Path) -> Option<GitDirectories> {
    let directory = directory.canonicalize().ok()?;
    let Discovery::Found(found) = Discovery::look(&directory) else { return None };
    Some(GitDirectories { top: found.top, git_dir: found.git_dir, common_dir: found.common_dir })
}

impl GitDirectories {
    /// Whether git can work in it without the powers of root, and without modes that a sandbox refuses: root may work in a repository of another
    /// user, and a shared repository hands its group on.
    #[must_use]
    pub fn can_be_confined(&self) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let owner = self.common_dir.symlink_metadata().map(|found| found.uid());
        let is_own = !geteuid().is_root() || owner.is_ok_and(|owner| owner == 0);
        let config = read_path(&self.common_dir.join("config"), CONFIG_LIMIT_BYTES).unwrap_or_default();
        is_own && !String::from_utf8_lossy(&config).to_ascii_lowercase().contains("sharedrepository")
    }
}

const CONFIG_LIMIT_BYTES: u64 = 1024 * 1024;
