//! A journal that keeps the records of some agents in memory.

use agent_core::journal::{Entry, Record};
use agent_core::ports::{Journal, JournalError};
use async_trait::async_trait;
use std::sync::{Arc, Mutex};

/// The records of an agent, in order.
pub(super) type Records = Arc<Mutex<Vec<Record>>>;

/// Keeps records in memory, and passes them on to another journal where there is one.
pub(super) struct Kept {
    pub(super) records: Records,
    pub(super) beside: Option<Box<dyn Journal>>,
}

#[async_trait]
impl Journal for Kept {
    async fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        if let Ok(mut records) = self.records.lock()
            && !matches!(record.entry, Entry::ActionStarted(_))
        {
            records.push(record.clone());
        }
        match &mut self.beside {
            Some(journal) => journal.append(record).await,
            None => Ok(()),
        }
    }

    async fn sync(&mut self) -> Result<(), JournalError> {
        match &mut self.beside {
            Some(journal) => journal.sync().await,
            None => Ok(()),
        }
    }
}
