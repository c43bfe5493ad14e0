//! Directories beneath the root, entered one name at a time: no link on the way is followed.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, Stat, fstat, mkdirat, openat, unlinkat};
use rustix::io::{Errno, Result};
use rustix::path::Arg;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path};

/// Opens one directory of another. A link is refused, as is anything else that is not a directory.
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
    descend_noting(root, path, for_what).map(|(directory, _)| directory)
}

/// The same, and returns the directories on the way: the root first, the directory itself last.
pub(crate) fn descend_noting(root: BorrowedFd<'_>, path: &Path, for_what: For) -> Result<(OwnedFd, Vec<Identity>)> {
    let mut names = names(path).peekable();
    let purpose = |is_last: bool| if is_last { for_what } else { For::Entering };
    let mut directory = open_directory(root, ".", purpose(names.peek().is_none()))?;
    let mut passed = vec![identity(&fstat(&directory)?)];
    while let Some(name) = names.next() {
        directory = open_directory(directory.as_fd(), name, purpose(names.peek().is_none()))?;
        passed.push(identity(&fstat(&directory)?));
    }
    Ok((directory, passed))
}

/// Device and number.
pub(crate) type Identity = (u64, u64);

pub(crate) fn identity(status: &Stat) -> Identity {
    (status.st_dev, status.st_ino)
}

/// A directory that was entered, or made.
pub(crate) struct Entered {
    pub(crate) directory: OwnedFd,
    /// What was passed: the root first, the directory itself last.
    pub(crate) passed: Vec<Identity>,
    pub(crate) made: MadeDirectories,
}

/// The same, but what is missing on the way is made.
pub(crate) fn descend_making(root: BorrowedFd<'_>, path: &Path) -> Result<Entered> {
    let mut made = MadeDirectories::default();
    let mut directory = open_directory(root, ".", For::Entering)?;
    let mut passed = vec![identity(&fstat(&directory)?)];
    for name in names(path) {
        let entered = match open_directory(directory.as_fd(), name, For::Entering) {
            Err(Errno::NOENT) => {
                match mkdirat(&directory, name, Mode::from_raw_mode(DIRECTORY_MODE)) {
                    Ok(()) => made.below.push((directory.try_clone().map_err(|_| Errno::MFILE)?, name.to_owned())),
                    // Another program was faster.
                    Err(Errno::EXIST) => {}
                    Err(error) => return Err(error),
                }
                open_directory(directory.as_fd(), name, For::Entering)?
            }
            opened => opened?,
        };
        passed.push(identity(&fstat(&entered)?));
        directory = entered;
    }
    Ok(Entered { directory, passed, made })
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
            // A directory that is in use by now stays.
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
