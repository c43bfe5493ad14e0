//! A new file beside the one that it is to become.

use agent_exec::leftovers::{self, Leftover};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Stat, fchmod, fchown, fstat, openat, renameat_with, unlinkat};
use rustix::io::{Errno, Result};
use rustix::process::{Resource, getrlimit};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};

/// A name in a directory that no other program uses. What is there is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Temporary {
    pub(super) directory: OwnedFd,
    pub(super) name: String,
    is_there: bool,
}

impl Temporary {
    /// A name under which nothing is yet.
    pub(super) fn named(directory: OwnedFd) -> Self {
        Self { directory, name: leftovers::temporary_name(), is_there: false }
    }

    /// Makes the file. What replaces another one has its owner and its permissions, but never more than read, write and execute.
    pub(super) fn fill(&mut self, content: &[u8], like: Option<&Stat>) -> std::result::Result<Stat, FillError> {
        let limit = getrlimit(Resource::Fsize).current;
        // The system would end a whole program that does not handle the signal.
        if let Some(limit) = limit.filter(|limit| content.len() as u64 > *limit) {
            return Err(FillError::Limit(limit));
        }
        // No other user reads it before it has the permissions of the other one.
        let mode = if like.is_some() { 0o600 } else { 0o666 };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        self.note(Leftover::New);
        let file = openat(&self.directory, &*self.name, flags, Mode::from_raw_mode(mode));
        let file = file.inspect_err(|_| self.note(Leftover::Taken)).map_err(FillError::Make)?;
        self.is_there = true;
        let mut file = File::from(file);
        self.note(Leftover::Made(&fstat(&file)?));
        file.write_all(content)?;
        if let Some(like) = like {
            take_after(&file, like)?;
        }
        file.sync_all()?;
        Ok(fstat(&file)?)
    }

    /// Has the next program remove what is here if this one is killed.
    pub(super) fn note(&self, what: Leftover<'_>) {
        leftovers::note(self.directory.as_fd(), OsStr::new(&self.name), what);
    }

    /// Leaves what is here.
    pub(super) fn keep(&mut self) {
        self.is_there = false;
    }

    /// Moves what is here to another name of the directory, or what is there to here, or both.
    pub(super) fn swap_with(&mut self, name: &str, how: Swap) -> Result<()> {
        let (own, directory) = (&*self.name, self.directory.as_fd());
        match how {
            Swap::Exchange => renameat_with(directory, own, directory, name, RenameFlags::EXCHANGE)?,
            Swap::PutNew => {
                agent_exec::rename_to_free(directory, own, directory, name)?;
                self.is_there = false;
            }
            Swap::PutOver => {
                renameat_with(directory, own, directory, name, RenameFlags::empty())?;
                self.is_there = false;
            }
            Swap::Take => {
                agent_exec::rename_to_free(directory, name, directory, own)?;
                self.is_there = true;
            }
        }
        Ok(())
    }
}

/// How two names change places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Swap {
    /// Each gets what the other had.
    Exchange,
    /// What is here gets a name that must be free.
    PutNew,
    /// What is here gets a name, whatever has it.
    PutOver,
    /// What has the name comes here.
    Take,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.is_there {
            // If it cannot be removed nothing more can be done here.
            let _ = unlinkat(&self.directory, &*self.name, AtFlags::empty());
        }
    }
}

/// Why a new file could not be made.
#[derive(Debug)]
pub(super) enum FillError {
    /// The directory takes no file.
    Make(Errno),
    /// No file may have more bytes than this.
    Limit(u64),
    Write(io::Error),
}

impl From<io::Error> for FillError {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

impl From<Errno> for FillError {
    fn from(error: Errno) -> Self {
        Self::Write(error.into())
    }
}

fn take_after(file: &File, like: &Stat) -> Result<()> {
    let own = fstat(file)?;
    if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid) {
        // Only root may give files away; for others a file in a shared directory becomes theirs, as with every editor.
        let owner = rustix::fs::Uid::from_raw(like.st_uid);
        let group = rustix::fs::Gid::from_raw(like.st_gid);
        let _ = fchown(file, Some(owner), Some(group));
    }
    fchmod(file, Mode::from_raw_mode(like.st_mode & PERMISSION_BITS))
}

/// Read, write, execute for all three; not set-user-id, set-group-id, sticky.
const PERMISSION_BITS: u32 = 0o777;
