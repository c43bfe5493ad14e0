//! The lock of the user's index, held from the first look at it until the commit is made.
//!
//! This is git's own protocol: `index.lock` is created exclusively, filled, and renamed to `index`. While it is held, the user's git
//! refuses to change the index, and the branch and the index move together or not at all.

use std::fs;
use std::io;
use std::path::PathBuf;

/// The lock. Dropping it gives the index back unchanged.
#[derive(Debug)]
pub(crate) struct IndexLock {
    index: PathBuf,
    lock: PathBuf,
    held: bool,
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
    /// Takes the lock, without waiting.
    pub(crate) fn take(git_dir: &std::path::Path) -> Result<Self, LockError> {
        let lock = git_dir.join("index.lock");
        match fs::OpenOptions::new().write(true).create_new(true).open(&lock) {
            Ok(_) => Ok(Self { index: git_dir.join("index"), lock, held: true }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(LockError::Held(lock)),
            Err(error) => Err(error.into()),
        }
    }

    /// The index as it is.
    pub(crate) fn read(&self) -> io::Result<Option<Vec<u8>>> {
        match fs::read(&self.index) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes ready what [`publish`](Self::publish) will make the index. After this only a rename is left to do.
    pub(crate) fn prepare(&self, content: &[u8]) -> io::Result<()> {
        fs::write(&self.lock, content)?;
        if let Ok(found) = fs::metadata(&self.index) {
            fs::set_permissions(&self.lock, found.permissions())?;
        }
        Ok(())
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
