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
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The lock. Dropping it gives the index back unchanged.
#[derive(Debug)]
pub(crate) struct IndexLock {
    index: PathBuf,
    lock: PathBuf,
    held: bool,
    /// Nothing where the file system has no second names.
    _twin: Option<Twin>,
}

/// Why the index could not be locked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockError {
    /// Somebody else holds it.
    #[error("{} exists: another git is at work, or one ended without removing it", .0.display())]
    Held(PathBuf),
    /// It could not be made.
    #[error("lock the index: {0}")]
    Io(#[from] io::Error),
}

impl IndexLock {
    /// Takes the lock for a commit, without waiting.
    pub(crate) fn take(git_dir: &Path, commit: &str) -> Result<Self, LockError> {
        let lock = git_dir.join(LOCK);
        let twin = Twin::make(git_dir, commit).ok();
        let linked = match &twin {
            Some(twin) => fs::hard_link(&twin.path, &lock),
            None => Err(io::ErrorKind::Unsupported.into()),
        };
        let (made, twin) = match linked {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                (fs::OpenOptions::new().write(true).create_new(true).open(&lock).map(drop), None)
            }
            made => (made, twin),
        };
        match made {
            Ok(()) => Ok(Self { index: git_dir.join("index"), lock, held: true, _twin: twin }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(LockError::Held(lock)),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether anybody holds it.
    pub(crate) fn check_free(git_dir: &Path) -> Result<(), LockError> {
        let lock = git_dir.join(LOCK);
        if lock.symlink_metadata().is_ok() { Err(LockError::Held(lock)) } else { Ok(()) }
    }

    /// Makes ready what [`publish`](Self::publish) will make the index. After this only a rename is left to do.
    ///
    /// It gets the time of the index that it replaces. By that time git knows which entries were written down in the moment in which
    /// their files may have changed again, and looks into those; with a later one it would take such a file for unchanged, and a
    /// checkout would overwrite it. The first index of a repository gets the time of the oldest file in it, for the same reason.
    pub(crate) fn prepare(&self, content: &[u8], oldest: Option<SystemTime>) -> io::Result<()> {
        fs::write(&self.lock, content)?;
        let time = match fs::metadata(&self.index) {
            Ok(found) => {
                fs::set_permissions(&self.lock, found.permissions())?;
                Some(found.modified()?)
            }
            Err(_) => oldest,
        };
        match time {
            Some(time) => File::options().write(true).open(&self.lock)?.set_modified(time),
            None => Ok(()),
        }
    }

    /// Makes the prepared content the index.
    pub(crate) fn publish(mut self) -> io::Result<()> {
        fs::rename(&self.lock, &self.index)?;
        self.held = false;
        Ok(())
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        if self.held {
            // Nothing can be done about a failure here; the next taker names the file.
            drop(fs::remove_file(&self.lock));
        }
    }
}

/// The index as it is.
pub(crate) fn read(git_dir: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(git_dir.join("index")) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Ends what agents that were killed left undone: where the branch had moved to the commit, the index follows it; else the lock goes.
pub(crate) fn recover(repository: &Repository) {
    let lock = repository.git_dir.join(LOCK);
    for entry in fs::read_dir(folder(&repository.git_dir)).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(file) = File::open(&path) else { continue };
        if file.try_lock().is_err() {
            continue;
        }
        if is_same_file(&file, &lock) {
            let commit = path.file_name().and_then(|name| name.to_str()?.split('-').next());
            unlock_references(repository, commit.unwrap_or_default(), &file);
            let head = repository.head_commit(&repository.head_mark());
            let is_published = commit.is_some() && commit == head.as_deref();
            // What fails here stays as it is, and is found the next time.
            let index = repository.git_dir.join("index");
            let ended = if is_published { fs::rename(&lock, index) } else { fs::remove_file(&lock) };
            if ended.is_err() {
                continue;
            }
        }
        drop(fs::remove_file(&path));
    }
}

/// Git, which was moving the branch, was killed with the agent, and has left its own locks: they were made while ours was held, and have
/// nothing in them, or the commit.
fn unlock_references(repository: &Repository, commit: &str, twin: &File) {
    let Some(held_since) = twin.metadata().ok().and_then(|found| found.created().ok()) else { return };
    for lock in repository.reference_locks() {
        let made = lock.symlink_metadata().ok().filter(fs::Metadata::is_file).and_then(|found| found.modified().ok());
        let is_of_then =
            made.and_then(|made| made.duration_since(held_since).ok()).is_some_and(|after| after < MOVING_TAKES);
        let is_gits = fs::read_to_string(&lock).is_ok_and(|text| text.is_empty() || text.trim_end() == commit);
        if is_of_then && is_gits {
            drop(fs::remove_file(lock));
        }
    }
}

/// The second name of a lock. It goes when this goes.
#[derive(Debug)]
struct Twin {
    path: PathBuf,
    /// Locked until it is closed, by whatever end.
    _file: File,
}

impl Twin {
    fn make(git_dir: &Path, commit: &str) -> io::Result<Self> {
        fs::create_dir_all(folder(git_dir))?;
        let path = folder(git_dir).join(format!("{commit}-{}", std::process::id()));
        // Never one that is there: it could be a second name of the index itself.
        let file = File::create_new(&path)?;
        file.try_lock().map_err(io::Error::from)?;
        Ok(Self { path, _file: file })
    }
}

impl Drop for Twin {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.path));
    }
}

fn folder(git_dir: &Path) -> PathBuf {
    git_dir.join("agent").join("locks")
}

#[cfg(unix)]
fn is_same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(found) = file.metadata() else { return false };
    path.symlink_metadata().is_ok_and(|other| (other.dev(), other.ino()) == (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn is_same_file(_file: &File, _path: &Path) -> bool {
    false
}

const LOCK: &str = "index.lock";
/// Far more than the moment in which branch and index move.
const MOVING_TAKES: Duration = Duration::from_secs(20);
