//! Journals in files: one JSON record a line.
//!
//! A record is on the disk before anything acts on it (`fdatasync` after each). A file has one writer, held by a lock; readers are free.

mod file;
mod read;
mod store;

pub use file::{FileJournal, OpenError};
pub use read::{Damage, ReadError, Recovered, read};
pub use store::{SessionInfo, SessionStore, StoreError};
