//! The journal: what happened in a session, in order, enough to rebuild it.
//!
//! The first record is the [`Header`]; every other is an event with its time. Replaying the events through a session made from the header
//! gives the same session, because the machine reads nothing else. Refused events are recorded too, and refused again.

mod line;

use crate::session::{Event, Session, SessionConfig};
use alloc::boxed::Box;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// One line of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Position, counted from 0 for the header.
    pub seq: u64,
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// What.
    pub entry: Entry,
}

impl Record {
    /// Reads a record from its line, with or without the end of the line. `serde` reads the same from any JSON; this is quicker where the line
    /// is as `serde_json` writes it.
    ///
    /// # Errors
    /// What `serde_json` found wrong.
    pub fn from_line(line: &str) -> Result<Self, serde_json::Error> {
        match line::read(line) {
            Some(record) => Ok(record),
            None => serde_json::from_str(line),
        }
    }
}

/// What a record says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Entry {
    /// How the session was made. Only the first record.
    Header(Box<Header>),
    /// Something happened.
    Event(Event),
}

/// How a session was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the journal's format, [`FORMAT_VERSION`] when written by this program.
    pub format_version: u32,
    /// The session's id.
    pub session_id: String,
    /// Program and version that wrote it.
    pub program: String,
    /// Directory the session works in.
    pub directory: String,
    /// What the session was told.
    pub config: SessionConfig,
}

/// The format that this version writes and reads.
pub const FORMAT_VERSION: u32 = 1;

/// Rebuilds a session from its records.
///
/// # Errors
/// [`ReplayError`] when the records do not make a session: no header, another format, a gap in the numbers.
pub fn replay<I: IntoIterator<Item = Record>>(records: I) -> Result<(Header, Session), ReplayError> {
    let mut records = records.into_iter();
    let header = match records.next() {
        Some(Record { seq: 0, entry: Entry::Header(header), .. }) => *header,
        Some(_) | None => return Err(ReplayError::NoHeader),
    };
    if header.format_version != FORMAT_VERSION {
        return Err(ReplayError::Version { found: header.format_version });
    }
    let mut session = Session::new(header.config.clone());
    for (expected, record) in (1_u64..).zip(records) {
        if record.seq != expected {
            return Err(ReplayError::Gap { expected, found: record.seq });
        }
        match record.entry {
            Entry::Header(_) => return Err(ReplayError::SecondHeader { seq: record.seq }),
            // A refusal was a refusal then, too.
            Entry::Event(event) => drop(session.step(record.at_ms, event)),
        }
    }
    Ok((header, session))
}

/// Why records do not make a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The first record is not a header.
    #[error("replay the journal: the first record is not a header")]
    NoHeader,
    /// It was written by a version with another format.
    #[error("replay the journal: it has format {found}, this program reads format {FORMAT_VERSION}")]
    Version {
        /// The format's number.
        found: u32,
    },
    /// A record is missing or stands twice.
    #[error("replay the journal: record {expected} expected, {found} found")]
    Gap {
        /// The number that should come.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// There is a second header.
    #[error("replay the journal: record {seq} is a second header")]
    SecondHeader {
        /// Its number.
        seq: u64,
    },
}
