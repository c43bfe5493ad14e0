//! The lock of the user's index, held while branch and index move.
//!
//! This is git's own protocol: `index.lock` is created exclusively, filled, and renamed to `index`. While it is held, the user's git
//! refuses to change the index, and the branch and the index move together or not at all.
//!
//! An agent that is killed leaves its lock. So that the next one knows it for what it is, the lock has a second name, its twin, which says
//! for which commit it is, and whose file the system keeps locked for as long as the process lives:
//!
//! ```text
//! .git/agent/locks/<commit>-<pid>     the twin, locked
//! .git/index.lock                     the same file
//! ```

use crate::repository::Repository;
use crate::tree::{Tree, modified as modified_at, read_path};
use rustix::fs::{FileType, Mode, OFlags, fchmod};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The lock. Dropping it gives the index back unchanged.
#[derive(Debug)]
pub(crate) struct IndexLock {
    own: Tree,
    held: bool,
    /// Nothing where the file system has no second names.
    _twin: Option<Twin>,
}

/// Why the index could not be locked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockError {
    /// Another process holds it.
    #[error("{} exists: another git is running, or one ended without removing it", .0.display())]
    Held(PathBuf),
    /// It could not be made.
    #[error("lock the index: {0}")]
    Io(#[from] io::Error),
}

impl IndexLock {
    /// Takes the lock for a commit, without waiting.
    pub(crate) fn take(repository: &Repository, commit: &str) -> Result<Self, LockError> {
        let own = &repository.own;
        let twin = Twin::make(own, commit).ok();
        let linked = match &twin {
            Some(twin) => own.link(&twin.path, Path::new(LOCK)),
            None => Err(io::ErrorKind::Unsupported.into()),
        };
        let (made, twin) = match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
                (own.file(Path::new(LOCK), flags, Mode::from_raw_mode(0o666)).map(drop), None)
            }
            made => (made, twin),
        };
        match made {
            Ok(()) => Ok(Self { own: own.clone(), held: true, _twin: twin }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(LockError::Held(own.path().join(LOCK))),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether it is free.
    pub(crate) fn check_free(repository: &Repository) -> Result<(), LockError> {
        match repository.own.kind(LOCK)? {
            Some(_) => Err(LockError::Held(repository.git_dir.join(LOCK))),
            None => Ok(()),
        }
    }

    /// Makes ready what [`publish`](Self::publish) will make the index. After this only a rename is left to do.
    ///
    /// It gets the time of the index that it replaces. By that time git knows which entries were written down in the moment in which
    /// their files may have changed again, and looks into those; with a later one it would take such a file for unchanged, and a
    /// checkout would overwrite it. The first index of a repository gets the time of the oldest file in it, for the same reason.
    pub(crate) fn prepare(&self, content: &[u8], oldest: Option<SystemTime>) -> io::Result<()> {
        let mut lock = self.own.file(Path::new(LOCK), OFlags::WRONLY | OFlags::TRUNC, Mode::empty())?;
        lock.write_all(content)?;
        let time = match self.own.stat(INDEX) {
            Ok(found) => {
                fchmod(&lock, Mode::from_raw_mode(found.st_mode & 0o777))?;
                Some(modified_at(&found))
            }
            Err(_) => oldest,
        };
        time.map_or(Ok(()), |time| lock.set_modified(time))
    }

    /// Makes the prepared content the index.
    pub(crate) fn publish(mut self) -> io::Result<()> {
        self.own.rename(Path::new(LOCK), Path::new(INDEX))?;
        self.held = false;
        Ok(())
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        if self.held {
            // Nothing can be done about a failure here; the next taker names the file.
            drop(self.own.remove(Path::new(LOCK)));
        }
    }
}

/// The index as it is.
pub(crate) fn read(repository: &Repository) -> io::Result<Option<Vec<u8>>> {
    repository.own.read(INDEX, LIMIT_BYTES)
}

/// How long it has been held; `None` when it is free, or the clock cannot tell.
pub(crate) fn age(repository: &Repository) -> Option<Duration> {
    modified_at(&repository.own.stat(LOCK).ok()?).elapsed().ok()
}

/// When the index was last written.
pub(crate) fn modified(own: &Tree) -> io::Result<SystemTime> {
    own.stat(INDEX).map(|found| modified_at(&found))
}

/// Ends what agents that were killed left undone: where the branch had moved to the commit, the index follows it; else the lock goes.
pub(crate) fn recover(repository: &Repository) {
    let own = &repository.own;
    for name in own.names(Path::new(FOLDER)).unwrap_or_default() {
        let path = Path::new(FOLDER).join(&name);
        let Ok(file) = own.file(&path, OFlags::RDONLY, Mode::empty()) else { continue };
        if file.try_lock().is_err() {
            continue;
        }
        if is_same_file(&file, own) {
            let commit = name.to_str().and_then(|name| name.split('-').next());
            unlock_references(repository, commit.unwrap_or_default(), &file);
            let head = repository.head_commit(&repository.head_mark());
            let is_published = commit.is_some() && commit == head.as_deref();
            // What fails here stays as it is, and is found the next time.
            let (lock, index) = (Path::new(LOCK), Path::new(INDEX));
            let ended = if is_published { own.rename(lock, index) } else { own.remove(lock) };
            if ended.is_err() {
                continue;
            }
        }
        drop(own.remove(&path));
    }
}

/// Git, which was moving the branch, was killed with the agent, and has left its own locks: they were made while ours was held, and have
/// nothing in them, or the commit.
fn unlock_references(repository: &Repository, commit: &str, twin: &File) {
    let Some(held_since) = twin.metadata().ok().and_then(|found| found.created().ok()) else { return };
    for (tree, lock) in repository.reference_locks() {
        let found = tree.stat(&lock).ok().filter(|found| FileType::from_raw_mode(found.st_mode).is_file());
        let after = found.and_then(|found| modified_at(&found).duration_since(held_since).ok());
        let is_of_then = after.is_some_and(|after| after < MOVING_TAKES);
        let text = read_path(&tree.path().join(&lock), 1_024).unwrap_or_else(|| b"unknown".to_vec());
        let is_gits = text.is_empty() || text.trim_ascii_end() == commit.as_bytes();
        if is_of_then && is_gits {
            drop(tree.remove(&lock));
        }
    }
}

/// The second name of a lock. It goes when this goes.
#[derive(Debug)]
struct Twin {
    own: Tree,
    path: PathBuf,
    /// Locked until it is closed, by whatever end.
    _file: File,
}

impl Twin {
    fn make(own: &Tree, commit: &str) -> io::Result<Self> {
        own.make_directory(Path::new(FOLDER))?;
        let path = Path::new(FOLDER).join(format!("{commit}-{}", std::process::id()));
        // Never one that is there: it could be a second name of the index itself.
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let file = own.file(&path, flags, Mode::from_raw_mode(0o666))?;
        file.try_lock().map_err(io::Error::from)?;
        Ok(Self { own: own.clone(), path, _file: file })
    }
}

impl Drop for Twin {
    fn drop(&mut self) {
        drop(self.own.remove(&self.path));
    }
}

fn is_same_file(file: &File, own: &Tree) -> bool {
    let Ok(found) = rustix::fs::fstat(file) else { return false };
    own.stat(LOCK).is_ok_and(|other| (other.st_dev, other.st_ino) == (found.st_dev, found.st_ino))
}

const LOCK: &str = "index.lock";
const INDEX: &str = "index";
/// Where the second names are.
const FOLDER: &str = "agent/locks";
/// A longer index is not read: some ten million files.
pub(crate) const LIMIT_BYTES: u64 = 1024 * 1024 * 1024;
/// Far more than the moment in which branch and index move.
const MOVING_TAKES: Duration = Duration::from_secs(20);
