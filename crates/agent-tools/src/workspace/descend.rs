//! Directories beneath the root, entered one name at a time: no link is followed on the way, whoever puts one there.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::{Errno, Result};
use rustix::path::Arg;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path};

/// Opens one directory of another. A link is refused, as is anything else that is no directory.
pub(crate) fn open_directory(parent: BorrowedFd<'_>, name: impl Arg, for_what: For) -> Result<OwnedFd> {
    let access = match for_what {
        For::Listing => OFlags::RDONLY | OFlags::NONBLOCK,
        For::Entering => OFlags::PATH,
    };
    openat(parent, name, access | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// What a directory is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum For {
    /// Reading the names in it, and entering.
    Listing,
    /// Reaching what is in it by name, which needs no right to list it.
    Entering,
}

/// Enters a path that has no links, from the root.
pub(crate) fn descend(root: BorrowedFd<'_>, path: &Path, for_what: For) -> Result<OwnedFd> {
    let mut names = names(path).peekable();
    let Some(first) = names.next() else {
        return open_directory(root, ".", for_what);
    };
    let purpose = |is_last: bool| if is_last { for_what } else { For::Entering };
    let mut directory = open_directory(root, first, purpose(names.peek().is_none()))?;
    while let Some(name) = names.next() {
        directory = open_directory(directory.as_fd(), name, purpose(names.peek().is_none()))?;
    }
    Ok(directory)
}

/// The same, but what is missing on the way is made.
pub(crate) fn descend_making(root: BorrowedFd<'_>, path: &Path) -> Result<(OwnedFd, MadeDirectories)> {
    let mut made = MadeDirectories::default();
    let mut directory = open_directory(root, ".", For::Entering)?;
    for name in names(path) {
        let entered = match open_directory(directory.as_fd(), name, For::Entering) {
            Err(Errno::NOENT) => {
                match mkdirat(&directory, name, Mode::from_raw_mode(DIRECTORY_MODE)) {
                    Ok(()) => made.below.push((directory.try_clone().map_err(|_| Errno::MFILE)?, name.to_owned())),
                    // Somebody else was faster.
                    Err(Errno::EXIST) => {}
                    Err(error) => return Err(error),
                }
                open_directory(directory.as_fd(), name, For::Entering)?
            }
            opened => opened?,
        };
        directory = entered;
    }
    Ok((directory, made))
}

/// Directories that were made for a file. They go again when this is dropped, unless they are kept.
#[derive(Debug, Default)]
pub(crate) struct MadeDirectories {
    below: Vec<(OwnedFd, OsString)>,
    are_kept: bool,
}

impl MadeDirectories {
    pub(crate) fn keep(&mut self) {
        self.are_kept = true;
    }

    pub(crate) fn let_go(&mut self) {
        self.are_kept = false;
    }
}

impl Drop for MadeDirectories {
    fn drop(&mut self) {
        for (parent, name) in self.below.iter().rev().filter(|_| !self.are_kept) {
            // What somebody has put something into stays.
            let _ = unlinkat(parent, name, AtFlags::REMOVEDIR);
        }
    }
}

fn names(path: &Path) -> impl Iterator<Item = &OsStr> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
    })
}

/// What the process's mask leaves of it.
const DIRECTORY_MODE: u32 = 0o777;
