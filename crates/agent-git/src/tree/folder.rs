//! The directory in which a path has its name.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The directory of a path: the one that is held, or one below it.
pub(super) enum Folder<'a> {
    Root(BorrowedFd<'a>),
    Entered(OwnedFd),
}

impl AsFd for Folder<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Root(root) => *root,
            Self::Entered(folder) => folder.as_fd(),
        }
    }
}
