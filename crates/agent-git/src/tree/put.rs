//! Puts a whole new file or link in place of what is there, in one step.
//!
//! It is made in a directory in which nobody looks, if there is one on the same file system: a program that is killed leaves nothing beside
//! the file, where the user's `git add` would find it. Else it is made beside the file.

use super::{FILE, Replaced, look};
use crate::image::Image;
use agent_exec::leftovers::{self, Leftover};
use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, Stat, fchmod, fchown, fstat, openat, renameat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt as _;

/// Where something gets its place.
#[derive(Clone, Copy)]
pub(super) struct Spot<'a> {
    pub(super) parent: BorrowedFd<'a>,
    pub(super) name: &'a OsStr,
    /// Where it is made; beside its place where there is none.
    pub(super) staging: Option<BorrowedFd<'a>>,
}

impl Spot<'_> {
    /// Puts a whole new file there, if what is there is as expected. `mode` gives its permissions by those of what is there.
    pub(super) fn put(self, expected: &Image, content: &[u8], mode: impl Fn(u32) -> u32) -> io::Result<Replaced> {
        self.made_in(|staging| self.put_by(staging, expected, content, &mode))
    }

    /// The link takes the place at once, so that there is always something there.
    pub(super) fn relink(self, to: &[u8]) -> io::Result<()> {
        self.made_in(|staging| {
            let (temporary, ()) =
                with_new_name(staging, |temporary| symlinkat(OsStr::from_bytes(to), staging, temporary))?;
            let renamed = renameat(staging, &*temporary, self.parent, self.name);
            if renamed.is_err() {
                let _ = unlinkat(staging, &*temporary, AtFlags::empty());
            }
            Ok(renamed?)
        })
    }

    /// Makes it in the staging directory, or beside its place where that is on another file system.
    fn made_in<T>(self, make: impl Fn(BorrowedFd<'_>) -> io::Result<T>) -> io::Result<T> {
        let Some(staging) = self.staging else { return make(self.parent) };
        match make(staging) {
            Err(error) if error.raw_os_error() == Some(Errno::XDEV.raw_os_error()) => make(self.parent),
            made => made,
        }
    }

    fn put_by(
        self,
        staging: BorrowedFd<'_>,
        expected: &Image,
        content: &[u8],
        mode: impl Fn(u32) -> u32,
    ) -> io::Result<Replaced> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | FILE;
        let (temporary, file) = with_new_name(staging, |temporary| {
            // Who may read a new file is the user's mask's to say.
            openat(staging, temporary, flags, Mode::from_raw_mode(0o666))
        })?;
        let mut file = File::from(file);
        leftovers::note(staging, &temporary, Leftover::Made(&fstat(&file)?));
        let mut fill = || {
            file.write_all(content)?;
            let made = fstat(&file)?;
            let there = statat(self.parent, self.name, AtFlags::SYMLINK_NOFOLLOW).ok();
            let found = there.filter(|found| FileType::from_raw_mode(found.st_mode).is_file());
            if let Some(group) = group_of(&made, found.as_ref(), &fstat(self.parent)?) {
                // A group that the user is not in cannot be given.
                let _ = fchown(&file, None, Some(group));
            }
            fchmod(&file, Mode::from_raw_mode(mode(found.unwrap_or(made).st_mode & 0o7777)))?;
            file.sync_all()?;
            if look(self.parent, self.name)? != *expected {
                return Ok(Replaced::No);
            }
            renameat(staging, &*temporary, self.parent, self.name)?;
            Ok(Replaced::Yes)
        };
        let done = fill();
        if !matches!(done, Ok(Replaced::Yes)) {
            let _ = unlinkat(staging, &*temporary, AtFlags::empty());
        }
        done
    }
}

/// The group that a new file has to be given: that of the file in its place, else that which the directory gives to its files.
fn group_of(made: &Stat, found: Option<&Stat>, parent: &Stat) -> Option<Gid> {
    let gives_group = Mode::from_raw_mode(parent.st_mode).contains(Mode::SGID);
    let group = found.map(|found| found.st_gid).or_else(|| gives_group.then_some(parent.st_gid));
    group.filter(|group| *group != made.st_gid).map(Gid::from_raw)
}

/// Makes something under a name that nothing has.
fn with_new_name<T>(
    parent: BorrowedFd<'_>,
    make: impl Fn(&OsStr) -> rustix::io::Result<T>,
) -> io::Result<(OsString, T)> {
    for _ in 0..MOST_TRIES {
        let name = OsString::from(leftovers::temporary_name());
        leftovers::note(parent, &name, Leftover::New);
        match make(&name) {
            Err(Errno::EXIST) => leftovers::note(parent, &name, Leftover::Taken),
            made => return Ok((name, made?)),
        }
    }
    Err(Errno::EXIST.into())
}

const MOST_TRIES: u32 = 10_000;
