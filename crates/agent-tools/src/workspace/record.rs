//! What the model has seen: which state of which file it last read or wrote.

use super::RelativePath;
use rustix::fs::Stat;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The state of a file, as far as it is known without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    size: i64,
    modified: (i64, u64),
    changed: (i64, u64),
}

impl Stamp {
    pub(crate) fn of(status: &Stat) -> Self {
        Self {
            device: status.st_dev,
            inode: status.st_ino,
            size: status.st_size,
            modified: (status.st_mtime, status.st_mtime_nsec),
            changed: (status.st_ctime, status.st_ctime_nsec),
        }
    }

    /// Whether it is the same file with the same content, perhaps under another name: renaming counts as a change of the status.
    pub(crate) fn has_content_of(&self, other: &Self) -> bool {
        Self { changed: other.changed, ..*self } == *other
    }
}

/// States by path.
#[derive(Debug, Default)]
pub(super) struct Record(Mutex<HashMap<String, Stamp>>);

impl Record {
    pub(super) fn note(&self, path: &RelativePath, stamp: Stamp) {
        self.stamps().insert(path.to_string(), stamp);
    }

    pub(super) fn refresh(&self, path: &RelativePath, stamp: Stamp) {
        if let Some(known) = self.stamps().get_mut(path.as_str()) {
            *known = stamp;
        }
    }

    pub(super) fn forget(&self, path: &RelativePath) {
        self.stamps().remove(path.as_str());
    }

    pub(super) fn last_seen(&self, path: &RelativePath) -> Option<Stamp> {
        self.stamps().get(path.as_str()).copied()
    }

    fn stamps(&self) -> MutexGuard<'_, HashMap<String, Stamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
