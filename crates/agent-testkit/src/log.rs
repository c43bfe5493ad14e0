//! A shared list of what happened, and locks that outlive a panic.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A list that a stand-in appends to and a test reads. Clones share the same entries.
#[derive(Debug)]
pub struct Log<T> {
    entries: Arc<Mutex<Vec<T>>>,
}

impl<T> Log<T> {
    pub(crate) fn push(&self, entry: T) {
        lock(&self.entries).push(entry);
    }

    /// Number of entries so far.
    #[must_use]
    pub fn len(&self) -> usize {
        lock(&self.entries).len()
    }

    /// Whether nothing was recorded yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Clone> Log<T> {
    /// A copy of the entries so far, oldest first.
    #[must_use]
    pub fn all(&self) -> Vec<T> {
        lock(&self.entries).clone()
    }

    /// A copy of the newest entry.
    #[must_use]
    pub fn last(&self) -> Option<T> {
        lock(&self.entries).last().cloned()
    }
}

impl<T> Clone for Log<T> {
    fn clone(&self) -> Self {
        Self {
            entries: Arc::clone(&self.entries),
        }
    }
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self {
            entries: Arc::default(),
        }
    }
}

/// Locks, also after a holder has panicked: stand-ins are made to panic, and their records are wanted afterwards all the more.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
