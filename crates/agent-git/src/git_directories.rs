//! Where a repository's own files are, for a host that confines git to them, and the agent's among them.

use crate::checkpoint::FOLDER;
use crate::repository::Discovery;
use std::path::{Path, PathBuf};

/// Git's own directories of the repository that a directory is in: of this working tree, and what working trees share. None where there
/// is no repository with a working tree.
#[must_use]
pub fn git_directories(directory: &Path) -> Vec<PathBuf> {
    let Ok(directory) = directory.canonicalize() else { return Vec::new() };
    match Discovery::look(&directory) {
        Discovery::Found(found) => vec![found.git_dir, found.common_dir],
        Discovery::None | Discovery::Bare | Discovery::Foreign | Discovery::Unusable(_) => Vec::new(),
    }
}

/// The root of the working tree that a directory is in, if it is one that the agent uses.
#[must_use]
pub fn working_tree(directory: &Path) -> Option<PathBuf> {
    match Discovery::look(&directory.canonicalize().ok()?) {
        Discovery::Found(found) => Some(found.top),
        Discovery::None | Discovery::Bare | Discovery::Foreign | Discovery::Unusable(_) => None,
    }
}

/// The folders in which the agent keeps how files were before it changed them, of the repository that a directory is in; there or not.
#[must_use]
pub fn kept_in(directory: &Path) -> Vec<PathBuf> {
    let mut folders = git_directories(directory);
    folders.dedup();
    folders.iter().map(|folder| folder.join(FOLDER)).collect()
}
