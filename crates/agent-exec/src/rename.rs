//! Renaming to a name that is free.

use rustix::fs::{AtFlags, RenameFlags, renameat, renameat_with, statat};
use rustix::io::{Errno, Result};
use rustix::path::Arg;
use std::os::fd::AsFd;

/// Gives an entry of a directory a name that must be free. A file system that cannot check that itself (FUSE, NFS, 9p) is looked at right
/// before.
///
/// # Errors
/// `EXIST` where the name is taken, and what else the system says.
pub fn rename_to_free(from: impl AsFd, name: impl Arg + Copy, to: impl AsFd, free: impl Arg + Copy) -> Result<()> {
    match renameat_with(&from, name, &to, free, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        renamed => return renamed,
    }
    match statat(&to, free, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => Err(Errno::EXIST),
        Err(Errno::NOENT) => renameat(&from, name, &to, free),
        Err(error) => Err(error),
    }
}
