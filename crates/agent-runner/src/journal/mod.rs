//! Journals in files: one JSON record per line, after its checksum; docs/journal.md describes the form.
//!
//! A record is on the disk before anything acts on it outside the program. A file has one writer, held by a lock; readers are free.
//!
//! Going on with a session, after a crash or another day:
//!
//! ```no_run
//! # use agent_runner::{Builder, journal::{FileJournal, Reopened}};
//! # use std::{path::Path, sync::Arc};
//! # fn resume(provider: Arc<dyn agent_core::ports::LlmProvider>) -> Result<(), Box<dyn std::error::Error>> {
//! let Reopened { journal, rebuilt: Some(rebuilt), .. } = FileJournal::rebuild(Path::new("session.jsonl"))? else {
//!     return Err("nothing is in it".into());
//! };
//! let builder = Builder::new(rebuilt.header.config)
//!     .provider(provider)
//!     .journal(Box::new(journal))
//!     .resume(rebuilt.agent, rebuilt.next_seq)
//!     .begun(rebuilt.begun);
//! # Ok(())
//! # }
//! ```
//!
//! With the feature `sqlite` there is a second kind of journal, a database of many sessions (`SqliteStore`).

mod beside;
mod branch;
mod descendants;
mod disk_wait;
mod file;
mod import;
mod index;
mod line;
mod own;
mod pictures;
mod read;
mod regular;
mod salvage;
mod siblings;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;

pub use descendants::{descendant_id, root_of};
pub use file::{FileJournal, OpenError, Reopened};
pub(crate) use file::{make_private_folder, private};
pub use index::Said;
pub use own::{NotOwn, check_own, check_own_opened, check_own_target};
pub use pictures::SessionPictures;
pub use read::{Damage, ReadError, Reader, Recovered, read};
pub use regular::{open_regular, read_regular};
pub use salvage::{Salvaged, salvage};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteError, SqliteJournal, SqliteSession, SqliteStore};
pub use store::{Newest, SessionInfo, SessionStore, StoreError};
