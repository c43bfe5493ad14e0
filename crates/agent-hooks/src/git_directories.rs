//! Where a repository's own files are, for a host that confines git to them.

use crate::repository::Discovery;
use std::path::{Path, PathBuf};

/// Git's own directories of the repository that a directory lies in: of this working tree, and what working trees share. None where there is no
/// repository with a working tree.
#[must_use]
pub fn git_directories(directory: &Path) -> Vec<PathBuf> {
    let Ok(directory) = directory.canonicalize() else { return Vec::new() };
    match Discovery::look(&directory) {
        Discovery::Found(found) => vec![found.git_dir, found.common_dir],
        Discovery::None | Discovery::Bare | Discovery::Foreign | Discovery::Unusable(_) => Vec::new(),
    }
}
