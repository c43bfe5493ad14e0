//! Removes what commands have left, however they have nested it.
//!
//! A directory that goes deeper is emptied by moving what lies in it up, so neither the stack nor the number of descriptors grows with the
//! depth.
#![cfg(target_os = "linux")]

use crate::rename::rename_to_free;
use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, chmod, openat, unlinkat};
use rustix::io::Errno;
use std::ffi::CString;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;

/// Removes a directory and all that lies in it. No link is followed.
///
/// # Errors
/// What the system says of the first thing that cannot be removed; what lies beside it may be gone.
pub(super) fn remove_all(directory: &Path) -> std::io::Result<()> {
    match empty(directory) {
        Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(()) => std::fs::remove_dir(directory),
    }
}

fn empty(directory: &Path) -> rustix::io::Result<()> {
    let top = openat(CWD, directory, DIRECTORY, Mode::empty())?;
    let mut moved = 0_u64;
    loop {
        let names = names(&top)?;
        if names.is_empty() {
            return Ok(());
        }
        for name in names {
            if !is_removed(&top, &name)? {
                clear(&top, name, &mut moved)?;
            }
        }
    }
}

/// A directory that is being emptied.
struct Open {
    directory: OwnedFd,
    name: CString,
    /// What was seen in it and not looked at yet.
    children: Vec<CString>,
}

/// Removes a directory of the top; what lies too deep in it is moved to the top.
fn clear(top: &OwnedFd, name: CString, moved: &mut u64) -> rustix::io::Result<()> {
    let mut stack = vec![Open { directory: opened(top, &name)?, name, children: Vec::new() }];
    while let Some(mut last) = stack.pop() {
        if last.children.is_empty() {
            last.children = names(&last.directory)?;
        }
        let Some(child) = last.children.pop() else {
            let parent = stack.last().map_or(top, |above| &above.directory);
            unlinkat(parent, &last.name, AtFlags::REMOVEDIR)?;
            continue;
        };
        if is_removed(&last.directory, &child)? {
            stack.push(last);
            continue;
        }
        // It could not be moved either if its owner may not write it.
        let directory = opened(&last.directory, &child)?;
        if stack.len() < MOST_OPEN {
            stack.push(last);
            stack.push(Open { directory, name: child, children: Vec::new() });
        } else {
            raise(&last.directory, &child, top, moved)?;
            stack.push(last);
        }
    }
    Ok(())
}

fn raise(from: &OwnedFd, name: &CString, top: &OwnedFd, moved: &mut u64) -> rustix::io::Result<()> {
    loop {
        *moved += 1;
        match rename_to_free(from, name, top, &*format!("{RAISED}{moved}")) {
            Err(Errno::EXIST) => {}
            renamed => return renamed,
        }
    }
}

/// Whether it was a file or an empty directory, and is gone.
fn is_removed(directory: &OwnedFd, name: &CString) -> rustix::io::Result<bool> {
    match unlinkat(directory, name, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) => {}
        unlinked => return unlinked.map(|()| true),
    }
    match unlinkat(directory, name, AtFlags::REMOVEDIR) {
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
        removed => removed.map(|()| true),
    }
}

/// A directory with all rights of its owner: a command may have taken them.
fn opened(directory: &OwnedFd, name: &CString) -> rustix::io::Result<OwnedFd> {
    let held = openat(directory, name, DIRECTORY.union(OFlags::PATH), Mode::empty())?;
    let itself = format!("/proc/self/fd/{}", held.as_raw_fd());
    chmod(&itself, Mode::RWXU)?;
    openat(CWD, &itself, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Some of the names in a directory: a command may have made very many.
fn names(directory: &OwnedFd) -> rustix::io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push(entry.file_name().to_owned());
        }
        if names.len() == AT_ONCE {
            break;
        }
    }
    Ok(names)
}

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const RAISED: &str = ".raised-";
const AT_ONCE: usize = 10_000;
/// Levels that are gone into at once; each holds a descriptor.
const MOST_OPEN: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn a_tree_deeper_than_any_stack_is_removed() {
        let root = tempfile::tempdir().unwrap();
        let (top, outside) = (root.path().join("top"), root.path().join("outside"));
        fs::create_dir(&top).unwrap();
        fs::write(&outside, "x").unwrap();
        // Longer than a path may be: from within.
        let mut here = openat(CWD, &top, DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..30_000 {
            rustix::fs::mkdirat(&here, "d", Mode::RWXU).unwrap();
            here = openat(&here, "d", DIRECTORY, Mode::empty()).unwrap();
        }
        drop(here);
        let closed = top.join("closed/in");
        fs::create_dir_all(&closed).unwrap();
        fs::write(closed.join("file"), "").unwrap();
        symlink(&outside, closed.join("link")).unwrap();
        for path in [closed, top.join("closed"), top.join("d")] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
        }
        remove_all(&top).unwrap();
        assert!(!top.exists() && outside.exists());
        remove_all(&top).unwrap();
    }
}
