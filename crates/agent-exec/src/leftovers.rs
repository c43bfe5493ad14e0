//! Temporary files of a program that was killed: noted before they are there, removed by the next program.
//!
//! A name proves nothing: another program may have made a file of that name, and a process may have that number again. What is removed is
//! what the notes say, by device and number, in the directory that they say, by device and number too; and only when the program is gone
//! that wrote the notes, which the system tells by a lock. Anything else under such a name stays, and is said.
//!
//! ```text
//! <folder>/1234-18a7f3c2.notes     one a program, locked for as long as it lives, gone when it ends in order
//! ```

mod notes;

use notes::{Kept, Note, Notes};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, open, statat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Which file it is, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) number: u64,
}

impl Identity {
    #[expect(clippy::unnecessary_cast, reason = "the types differ between systems")]
    const fn of(status: &Stat) -> Self {
        Self { device: status.st_dev as u64, number: status.st_ino as u64 }
    }
}

/// What the next program may remove under a temporary name.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Leftover<'a> {
    /// A file or a link that is about to be made: of a file nothing more than an empty one.
    New,
    /// It is not: another file has the name.
    Taken,
    /// This, which was made: a file, a link, or a directory with all that is in it.
    Made(&'a Stat),
    /// A file in this state, which is about to be exchanged for the temporary one.
    Old(&'a Stat),
}

/// From now on notes are kept in this folder, which is made when there is something to note. Without this call none are.
pub fn keep_notes_in(folder: &Path) {
    *state() = State { folder: Some(folder.to_path_buf()), notes: None };
}

/// Notes that something is, or is about to be, under a temporary name in a directory. A note that cannot be written is none: what was to be
/// made is made all the same, and is left if the program is killed in that moment.
pub fn note(directory: BorrowedFd<'_>, name: &OsStr, what: Leftover<'_>) {
    let mut state = state();
    let Some(folder) = state.folder.clone() else { return };
    let (Ok(path), Ok(found)) = (path_of(directory), fstat(directory)) else { return };
    if state.notes.is_none() {
        state.notes = Notes::begin(&folder).ok();
    }
    if let Some(notes) = &mut state.notes {
        notes.write(&Note { path, directory: Identity::of(&found), name: name.to_os_string(), kept: Kept::of(what) });
    }
}

/// The same of something by its path, which was made.
pub fn note_path(path: &Path) {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return };
    let Ok(directory) = open(parent, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) else {
        return;
    };
    if let Ok(found) = statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        note(directory.as_fd(), name, Leftover::Made(&found));
    }
}

/// A temporary name that no other program gives, even one with the same number.
#[must_use]
pub fn temporary_name() -> String {
    static BEGUN_NS: LazyLock<u128> =
        LazyLock::new(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos());
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!(".agent-{}-{:x}-{number}.tmp", std::process::id(), *BEGUN_NS)
}

/// Takes the notes of this program away, which is about to end, if nothing of what they name is there any more.
pub fn forget_notes() {
    let mut state = state();
    if let Some(notes) = state.notes.take() {
        notes.remove_if_done();
    }
}

/// What was found of programs that are gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cleared {
    /// What was removed.
    pub removed: Vec<PathBuf>,
    /// What has a noted name, and stays: it is not what was noted, or cannot be removed; with the reason.
    pub left: Vec<(PathBuf, String)>,
}

/// Removes what programs that were killed have left, by the notes in a folder.
pub fn clear(folder: &Path) -> Cleared {
    let mut cleared = Cleared::default();
    if !is_own(folder) {
        return cleared;
    }
    for dead in Notes::of_the_dead(folder) {
        let before = cleared.left.len();
        for (directory, name, all) in dead.by_name() {
            let path = directory.path.join(name);
            match remove(directory, name, &all) {
                Ok(true) => cleared.removed.push(path),
                Ok(false) => {}
                Err(error) => cleared.left.push((path, error.to_string())),
            }
        }
        // As long as something is there under a noted name, it is said again.
        if cleared.left.len() == before {
            dead.remove();
        }
    }
    cleared
}

/// Whether no other user can have put notes there.
fn is_own(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let own = geteuid().as_raw();
    folder.symlink_metadata().is_ok_and(|found| found.is_dir() && found.uid() == own && found.mode() & 0o022 == 0)
}

/// Removes what is under a name, if it is what was noted. Whether there was anything.
fn remove(noted: &Note, name: &OsStr, all: &[Kept]) -> io::Result<bool> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory: OwnedFd = match open(&noted.path, flags, Mode::empty()) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(false),
        directory => directory?,
    };
    // Another directory has the path: the one that is meant was moved, or is gone.
    if Identity::of(&fstat(&directory)?) != noted.directory {
        return Ok(false);
    }
    let found = match statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(false),
        found => found?,
    };
    let is_taken = all.contains(&Kept::Taken);
    if !all.iter().any(|kept| kept.is(&found) && !(is_taken && *kept == Kept::New)) {
        if is_taken {
            return Ok(false);
        }
        return Err(io::Error::other("it is not what the agent made there, so it stays"));
    }
    match FileType::from_raw_mode(found.st_mode) {
        FileType::Directory => fs::remove_dir_all(noted.path.join(name))?,
        _ => unlinkat(&directory, name, AtFlags::empty())?,
    }
    Ok(true)
}

impl Kept {
    fn of(what: Leftover<'_>) -> Self {
        match what {
            Leftover::New => Self::New,
            Leftover::Taken => Self::Taken,
            Leftover::Made(status) => Self::Made(Identity::of(status)),
            Leftover::Old(status) => Self::Old {
                file: Identity::of(status),
                bytes: status.st_size,
                modified: (status.st_mtime, i128::from(status.st_mtime_nsec)),
            },
        }
    }

    fn is(&self, found: &Stat) -> bool {
        let kind = FileType::from_raw_mode(found.st_mode);
        match *self {
            // Nothing is lost with it.
            Self::New => {
                let is_empty = kind == FileType::RegularFile && found.st_size == 0 && found.st_nlink == 1;
                (is_empty || kind == FileType::Symlink) && found.st_uid == geteuid().as_raw()
            }
            Self::Taken => false,
            Self::Made(made) => made == Identity::of(found),
            Self::Old { .. } => kind == FileType::RegularFile && *self == Self::of(Leftover::Old(found)),
        }
    }
}

/// Where a directory is that is held by a descriptor.
fn path_of(directory: BorrowedFd<'_>) -> io::Result<PathBuf> {
    use std::os::fd::AsRawFd as _;
    fs::read_link(format!("/proc/self/fd/{}", directory.as_raw_fd())).and_then(|path| match path.is_absolute() {
        true => Ok(path),
        false => Err(io::ErrorKind::NotFound.into()),
    })
}

struct State {
    folder: Option<PathBuf>,
    notes: Option<Notes>,
}

static STATE: Mutex<State> = Mutex::new(State { folder: None, notes: None });

fn state() -> std::sync::MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
