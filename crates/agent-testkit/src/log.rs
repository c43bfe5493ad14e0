//! A shared list of what happened, and locks that outlive a panic.

use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// A list that a stand-in appends to and a test reads. Clones share the same entries.
#[derive(Debug)]
pub struct Log<T> {
    entries: watch::Sender<Vec<T>>,
}

impl<T> Log<T> {
    /// Appends an entry and returns its number, from 1.
    pub(crate) fn push(&self, entry: T) -> usize {
        let mut number = 0;
        self.entries.send_modify(|entries| {
            entries.push(entry);
            number = entries.len();
        });
        number
    }

    /// Number of entries so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.borrow().len()
    }

    /// Whether nothing was recorded yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Resolves when there are at least so many entries.
    pub async fn wait_for(&self, count: usize) {
        let mut entries = self.entries.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        let _ = entries.wait_for(|entries| entries.len() >= count).await;
    }
}

impl<T: Clone> Log<T> {
    /// A copy of the entries so far, oldest first.
    #[must_use]
    pub fn all(&self) -> Vec<T> {
        self.entries.borrow().clone()
    }

    /// A copy of the newest entry.
    #[must_use]
    pub fn last(&self) -> Option<T> {
        self.entries.borrow().last().cloned()
    }
}

impl<T> Clone for Log<T> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone() }
    }
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self { entries: watch::Sender::new(Vec::new()) }
    }
}

/// Locks, also after a holder has panicked: stand-ins are made to panic, and their records are wanted afterwards all the more.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
