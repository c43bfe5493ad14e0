//! Takes a worktree away as a whole, or not at all.
//!
//! 1. What cannot be removed is found before anything is: then all of it stays.
//! 2. It gets another name first, in one step: no path that anybody knows leads to half of it.

use rustix::fs::{Access, AtFlags, CWD, accessat};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// What a worktree is called while it is removed, beside where it was.
pub(super) const LEAVING: &str = ".leaving";

/// Removes a directory with all that is in it; one that is not there is removed. `leaving` is where it is meanwhile, or what is left of a
/// removal that was stopped.
///
/// # Errors
/// What cannot be removed, with its path. If `directory` is still there, all of it is.
pub(super) fn remove(directory: &Path, leaving: &Path) -> io::Result<()> {
    remove_all(leaving)?;
    if let Err(error) = directory.symlink_metadata() {
        return if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) };
    }
    make_removable(directory)?;
    fs::rename(directory, leaving).map_err(|error| at(directory, &error))?;
    remove_all(leaving)
}

fn remove_all(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            make_removable(directory)?;
            fs::remove_dir_all(directory).map_err(|error| at(directory, &error))
        }
        removed => removed.map_err(|error| at(directory, &error)),
    }
}

/// Lets this user list and change every directory below.
///
/// # Errors
/// The first in which this user can remove nothing.
fn make_removable(directory: &Path) -> io::Result<()> {
    let mut open = vec![directory.to_path_buf()];
    while let Some(directory) = open.pop() {
        let can_change =
            || accessat(CWD, &directory, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS);
        if can_change().is_err() {
            let found = directory.symlink_metadata().map_err(|error| at(&directory, &error))?;
            if !found.is_dir() {
                continue;
            }
            let mode = found.mode() & 0o7777 | 0o700;
            fs::set_permissions(&directory, Permissions::from_mode(mode)).map_err(|error| at(&directory, &error))?;
            can_change().map_err(|error| at(&directory, &error.into()))?;
        }
        for entry in fs::read_dir(&directory).map_err(|error| at(&directory, &error))? {
            let entry = entry.map_err(|error| at(&directory, &error))?;
            if entry.file_type().map_err(|error| at(&entry.path(), &error))?.is_dir() {
                open.push(entry.path());
            }
        }
    }
    Ok(())
}

/// The error with the path.
fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot remove {}: {error}", path.display()))
}

/// Directories below of which git may know nothing, with what is the matter.
pub(super) fn not_looked_into(tree: &Path) -> Vec<(PathBuf, &'static str)> {
    let mut found = Vec::new();
    let mut open = vec![tree.to_path_buf()];
    while let Some(directory) = open.pop() {
        let Ok(entries) = fs::read_dir(&directory) else {
            found.push((directory, UNREADABLE));
            continue;
        };
        for entry in entries {
            let Ok((entry, kind)) = entry.and_then(|entry| entry.file_type().map(|kind| (entry, kind))) else {
                found.push((directory.clone(), UNREADABLE));
                continue;
            };
            if entry.file_name() == ".git" {
                // That of the worktree itself is known.
                if directory != tree {
                    found.push((directory.clone(), NESTED));
                }
            } else if kind.is_dir() {
                open.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// Git passes over it in silence.
const UNREADABLE: &str = "cannot be looked into";
const NESTED: &str = "has a repository of its own";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_it_goes_whatever_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, leaving) = (folder.path().join("tree"), folder.path().join(LEAVING));
        remove(&tree, &leaving).unwrap();
        for left_before in [false, true] {
            fs::create_dir_all(tree.join("a/b/c")).unwrap();
            fs::write(tree.join("a/b/c/x"), "x").unwrap();
            if left_before {
                fs::create_dir_all(leaving.join("a")).unwrap();
                fs::set_permissions(leaving.join("a"), Permissions::from_mode(0o555)).unwrap();
            }
            std::os::unix::fs::symlink(folder.path(), tree.join("a/link")).unwrap();
            for (path, mode) in [("a/b/c", 0o000), ("a/b", 0o555), ("a", 0o111)] {
                fs::set_permissions(tree.join(path), Permissions::from_mode(mode)).unwrap();
            }
            remove(&tree, &leaving).unwrap();
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn a_repository_below_is_found_and_a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        fs::create_dir_all(tree.join("a/b/.git")).unwrap();
        fs::write(tree.join(".git"), "gitdir: elsewhere").unwrap();
        std::os::unix::fs::symlink("a", tree.join("c")).unwrap();
        assert_eq!(not_looked_into(&tree), [(tree.join("a/b"), NESTED)]);
        fs::create_dir(tree.join("d")).unwrap();
        fs::write(tree.join("d/.git"), "gitdir: elsewhere").unwrap();
        assert_eq!(not_looked_into(&tree).len(), 2);
    }
}
