//! Ports: the traits through which a host plugs in the outside.
//!
//! The core calls none of them. A driver (such as `agent-runner`) performs the machine's actions through them. The ports of adapters are
//! declared in `agent-types`. The journal and the observer see the machines' own types, so they are declared here.

pub use agent_types::ports::{
    Approver, CancelSignal, Clock, Command, CommandError, CommandOutput, CommandRunner, Exit, Hook, LlmProvider,
    LlmStream, NeverCancelled, PictureError, PictureKeeper, ProgressSink, Tool, ToolContext,
};

use crate::journal::Record;
use crate::session::Step;
use alloc::boxed::Box;
use alloc::string::String;
use async_trait::async_trait;

/// Keeps the session's records.
#[async_trait]
pub trait Journal: Send {
    /// Appends a record. When this returns `Ok` the record survives the end of the program; whether it survives the end
    /// of the machine is decided by [`sync`](Self::sync).
    ///
    /// # Errors
    /// A [`JournalError`] when the record is not in the journal or may not be; the driver then performs nothing more and detaches.
    async fn append(&mut self, record: &Record) -> Result<(), JournalError>;

    /// Makes every record so far survive a crash of the machine, too. The driver acts on a record outside the program, and tells anybody
    /// that it was taken, only after this. A journal whose `append` does as much already has nothing to do here.
    ///
    /// # Errors
    /// A [`JournalError`] when the records may be lost; the driver then performs nothing more and detaches. What was lost is not known
    /// after an error, so it must not be tried again.
    async fn sync(&mut self) -> Result<(), JournalError>;
}

/// Why a record could not be kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("append to the journal {place}: {found}")]
pub struct JournalError {
    /// The file or database.
    pub place: String,
    /// The system's message.
    pub found: String,
}

/// Sees every step. Called by the driver with each step after it was taken; must return at once.
pub trait Observer: Send {
    /// A step was taken.
    fn on_step(&mut self, step: &Step);
}
