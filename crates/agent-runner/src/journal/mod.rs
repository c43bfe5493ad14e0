//! Journals in files: one JSON record a line.
//!
//! A record is on the disk before anything acts on it (`fdatasync` after each). A file has one writer, held by a lock; readers are free.
//!
//! Going on with a session, after a crash or another day:
//!
//! ```no_run
//! # use agent_runner::{Builder, journal::FileJournal};
//! # use std::{path::Path, sync::Arc};
//! # fn resume(provider: Arc<dyn agent_core::ports::LlmProvider>) -> Result<(), Box<dyn std::error::Error>> {
//! let (journal, recovered) = FileJournal::resume(Path::new("session.jsonl"))?;
//! let next_seq = recovered.records.len() as u64;
//! let (header, session) = agent_core::journal::replay(recovered.records)?;
//! let builder = Builder::new(header.config)
//!     .provider(provider)
//!     .journal(Box::new(journal))
//!     .resume(session, next_seq);
//! # Ok(())
//! # }
//! ```

mod file;
mod read;
mod store;

pub use file::{FileJournal, OpenError};
pub(crate) use file::{make_private_folder, private};
pub use read::{Damage, ReadError, Recovered, read};
pub use store::{SessionInfo, SessionStore, StoreError};
