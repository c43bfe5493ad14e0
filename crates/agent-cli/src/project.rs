//! Where a project begins: the repository that a directory lies in.

use std::path::{Path, PathBuf};

/// The folders from the repository's root down to the directory; outside a repository there is no root to begin at.
pub(crate) fn folders(directory: &Path) -> Vec<&Path> {
    let mut folders = Vec::new();
    for folder in directory.ancestors() {
        folders.push(folder);
        if folder.join(".git").exists() {
            folders.reverse();
            return folders;
        }
    }
    vec![directory]
}

/// Where the project begins that a directory lies in: what a user trusts or does not.
pub(crate) fn root(directory: &Path) -> PathBuf {
    folders(directory).first().map_or(directory, |root| *root).to_path_buf()
}
