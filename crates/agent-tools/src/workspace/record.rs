//! What the model has seen: which state of which file it last read or wrote.

use cap_std::fs::{Metadata, MetadataExt as _};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The state of a file, as far as it can be told without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// States by path.
#[derive(Debug, Default)]
pub(super) struct Record(Mutex<HashMap<PathBuf, Stamp>>);

impl Record {
    pub(super) fn note(&self, path: &Path, metadata: &Metadata) {
        self.stamps().insert(path.to_path_buf(), Stamp::of(metadata));
    }

    pub(super) fn refresh(&self, path: &Path, metadata: &Metadata) {
        if let Some(stamp) = self.stamps().get_mut(path) {
            *stamp = Stamp::of(metadata);
        }
    }

    pub(super) fn last_seen(&self, path: &Path) -> Option<Stamp> {
        self.stamps().get(path).copied()
    }

    fn stamps(&self) -> MutexGuard<'_, HashMap<PathBuf, Stamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
