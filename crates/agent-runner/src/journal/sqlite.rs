//! Journals in one SQLite database, for hosts that keep many sessions and want one file to back up.
//!
//! A record is a row with the same line, checksum included, that a journal in a file has; so a bit that flips is noticed here as there.
//! Each append is a transaction of its own (write-ahead log, `synchronous = FULL`): durable when it returns, and [`Journal::sync`] has
//! nothing to do. That is one wait for the disk a record, where a file waits once for several.
//!
//! A session has one writer, held by a lock on a file in the folder `<database>.locks` that the system drops however the process ends;
//! the database's own rule that no number occurs twice in a session backs that up. Readers are free.

use super::file::{OpenError, lock, make_private_folder, private};
use super::line;
use super::read::Recovered;
use crate::runtime::start_blocking;
use agent_core::journal::{Format, FormatError, Record};
use agent_core::ports::{Journal, JournalError};
use async_trait::async_trait;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A database of sessions.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    path: PathBuf,
}

/// A session in a database, as [`list`](SqliteStore::list) returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SqliteSession {
    /// Its id.
    pub id: String,
    /// How many records it has.
    pub records: u64,
    /// When the last of them happened, in milliseconds since the Unix epoch.
    pub at_ms: u64,
}

impl SqliteStore {
    /// Opens a database, or makes one that its owner alone reads. Missing folders are made.
    ///
    /// # Errors
    /// [`SqliteError`] when it cannot be opened, is something else, or was made by a newer program.
    pub fn open(path: &Path) -> Result<Self, SqliteError> {
        let store = Self { path: path.to_owned() };
        let failed = |source| SqliteError::Open(OpenError::io(path, source));
        match std::fs::metadata(path) {
            Ok(found) if !found.is_file() => return Err(failed(io::Error::other("it is not a regular file"))),
            Ok(_) => {}
            Err(_) => {
                path.parent().map_or(Ok(()), make_private_folder).map_err(failed)?;
                // The database's own files beside it get its permissions.
                private(OpenOptions::new().append(true).create(true)).open(path).map_err(failed)?;
            }
        }
        let connection = store.connect(false)?;
        let version: i64 = store.told(connection.query_row("PRAGMA user_version", [], |row| row.get(0)))?;
        match version {
            0 => store.told(connection.execute_batch(SCHEMA))?,
            VERSION => {}
            found => return Err(SqliteError::Version { path: path.to_owned(), found }),
        }
        Ok(store)
    }

    /// Makes the journal of a new session.
    ///
    /// # Errors
    /// [`SqliteError`] when the id is bad or taken, or the database does not let us.
    pub fn create(&self, id: &str) -> Result<SqliteJournal, SqliteError> {
        let lock = self.lock(id)?;
        let connection = self.connect(false)?;
        let made = self.told(connection.execute("INSERT OR IGNORE INTO session (id) VALUES (?1)", [id]))?;
        if made == 0 {
            return Err(SqliteError::Taken { id: id.to_owned() });
        }
        Ok(self.journal(id, connection, lock))
    }

    /// Opens the journal of a session to continue it.
    ///
    /// # Errors
    /// [`SqliteError`] when there is no such session, another process writes it, or it is damaged.
    pub fn resume(&self, id: &str) -> Result<(SqliteJournal, Recovered), SqliteError> {
        let lock = self.lock(id)?;
        let recovered = self.read(id)?;
        Ok((self.journal(id, self.connect(false)?, lock), recovered))
    }

    /// Reads a session, which may be in use.
    ///
    /// # Errors
    /// [`SqliteError`] when there is no such session, or it is damaged.
    pub fn read(&self, id: &str) -> Result<Recovered, SqliteError> {
        let connection = self.connect(true)?;
        let query = "SELECT 1 FROM session WHERE id = ?1";
        let found: Option<i64> = self.told(connection.query_row(query, [id], |row| row.get(0)).optional())?;
        if found.is_none() {
            return Err(SqliteError::NoSuchSession { id: id.to_owned() });
        }
        let mut statement =
            self.told(connection.prepare("SELECT seq, line FROM record WHERE session = ?1 ORDER BY seq"))?;
        let mut rows = self.told(statement.query([id]))?;
        let mut recovered = Recovered { records: Vec::new(), format: None, good_bytes: 0, torn_bytes: 0 };
        while let Some(row) = self.told(rows.next())? {
            let (seq, mut line): (i64, Vec<u8>) = (self.told(row.get(0))?, self.told(row.get(1))?);
            recovered.good_bytes += line.len() as u64;
            let record = record(seq, &mut line, &mut recovered).map_err(|error| match error {
                FormatError::Unknown { found } => SqliteError::Format { id: id.to_owned(), found },
                error => SqliteError::Damaged { id: id.to_owned(), seq, found: error.to_string() },
            })?;
            recovered.records.push(record);
        }
        Ok(recovered)
    }

    /// The sessions, the one in which something happened last first.
    ///
    /// # Errors
    /// [`SqliteError`] when the database does not let us.
    pub fn list(&self) -> Result<Vec<SqliteSession>, SqliteError> {
        let connection = self.connect(true)?;
        let mut statement = self.told(connection.prepare(LIST))?;
        let session = |row: &rusqlite::Row<'_>| {
            let (id, records, at_ms): (String, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(SqliteSession { id, records: records.unsigned_abs(), at_ms: at_ms.unsigned_abs() })
        };
        self.told(statement.query_map([], session).and_then(Iterator::collect))
    }

    fn connect(&self, is_reader: bool) -> Result<Connection, SqliteError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = self.told(Connection::open_with_flags(&self.path, flags))?;
        self.told(connection.busy_timeout(PATIENCE))?;
        self.told(connection.pragma_update(None, "journal_mode", "WAL"))?;
        self.told(connection.pragma_update(None, "synchronous", "FULL"))?;
        // Reading changes nothing, whatever a damaged schema asks for.
        self.told(connection.pragma_update(None, "query_only", is_reader))?;
        Ok(connection)
    }

    fn lock(&self, id: &str) -> Result<File, SqliteError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if id.is_empty() || id.len() > 100 || !id.chars().all(is_plain) {
            return Err(SqliteError::BadId { id: id.to_owned() });
        }
        let mut folder = self.path.clone().into_os_string();
        folder.push(".locks");
        let folder = PathBuf::from(folder);
        make_private_folder(&folder).map_err(|source| SqliteError::Open(OpenError::io(&folder, source)))?;
        lock(&folder.join(id)).map_err(SqliteError::Open)
    }

    fn journal(&self, id: &str, connection: Connection, lock: File) -> SqliteJournal {
        let place = format!("{} ({id})", self.path.display());
        SqliteJournal { id: id.to_owned(), place, open: Some(Open { connection, _lock: lock }) }
    }

    fn told<T>(&self, result: rusqlite::Result<T>) -> Result<T, SqliteError> {
        result.map_err(|error| SqliteError::Database { path: self.path.clone(), found: error.to_string() })
    }
}

/// A row's record; the first one says how to read the others.
fn record(seq: i64, line: &mut [u8], before: &mut Recovered) -> Result<Record, FormatError> {
    let text = line::check(line).map_err(|found| FormatError::Form { found })?;
    let format = match before.format {
        Some(format) => format,
        None => Format::of(text)?,
    };
    before.format = Some(format);
    let record = format.read(text)?;
    let next = before.records.len() as u64;
    if record.seq != next || u64::try_from(seq) != Ok(next) {
        return Err(FormatError::Form { found: format!("it has the number {}, expected {next}", record.seq) });
    }
    Ok(record)
}

/// A journal in a database that this process alone writes.
#[derive(Debug)]
pub struct SqliteJournal {
    id: String,
    place: String,
    /// Nothing while it is written, and after an error: then the content of the database is unknown, and nothing may follow.
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    connection: Connection,
    /// Held as long as the journal is open.
    _lock: File,
}

impl Open {
    fn insert(self, id: &str, (seq, at_ms): (u64, u64), line: &[u8]) -> Result<Self, String> {
        let number = |number: u64| i64::try_from(number).map_err(|error| error.to_string());
        let (seq, at_ms) = (number(seq)?, number(at_ms)?);
        let insert = "INSERT INTO record (session, seq, at_ms, line) VALUES (?1, ?2, ?3, ?4)";
        let insert = self.connection.prepare(insert);
        let inserted = insert.and_then(|mut insert| insert.execute(params![id, seq, at_ms, line]));
        inserted.map_err(|error| error.to_string())?;
        Ok(self)
    }
}

#[async_trait]
impl Journal for SqliteJournal {
    async fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        let failed = |found: String| JournalError { place: self.place.clone(), found };
        let mut line = Vec::new();
        line::write(record, &mut line).map_err(|error| failed(error.to_string()))?;
        line.pop();
        // Put back only when the record is known to be there: not after an error, nor when this future is dropped halfway.
        let Some(open) = self.open.take() else {
            return Err(failed(String::from("an earlier record could not be written")));
        };
        let (id, when) = (self.id.clone(), (record.seq, record.at_ms));
        let insert = start_blocking(move || open.insert(&id, when, &line));
        let written = insert.map_err(|error| failed(error.to_string()))?.await;
        self.open = Some(written.map_err(|error| failed(error.to_string()))?.map_err(failed)?);
        Ok(())
    }

    /// Every record is on the disk already.
    async fn sync(&mut self) -> Result<(), JournalError> {
        if self.open.is_some() {
            return Ok(());
        }
        Err(JournalError { place: self.place.clone(), found: String::from("a record could not be written") })
    }
}

/// Why a database does not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SqliteError {
    /// The id is not valid.
    #[error("use the session id `{id}`: letters, digits, `-` and `_` only")]
    BadId {
        /// The id.
        id: String,
    },
    /// There is a session with this id.
    #[error("create the session `{id}`: it exists already")]
    Taken {
        /// The id.
        id: String,
    },
    /// There is no session with this id.
    #[error("find the session `{id}`: there is none")]
    NoSuchSession {
        /// The id.
        id: String,
    },
    /// A record is not what was written.
    #[error("read the session `{id}`: record {seq} is damaged: {found}")]
    Damaged {
        /// The session.
        id: String,
        /// The record's number in the database.
        seq: i64,
        /// What is wrong with it.
        found: String,
    },
    /// A session has a format that this program does not know.
    #[error("read the session `{id}`: {}", FormatError::Unknown { found: *found })]
    Format {
        /// The session.
        id: String,
        /// The format's number.
        found: u32,
    },
    /// The database was made by a program that this one does not know.
    #[error("open the database {path}: it has version {found}, this program knows {VERSION}; use a newer program")]
    Version {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// Another process writes the session, or the system does not let us.
    #[error(transparent)]
    Open(OpenError),
    /// The database does not let us.
    #[error("use the database {path}: {found}")]
    Database {
        /// The database.
        path: PathBuf,
        /// What it said.
        found: String,
    },
}

const SCHEMA: &str = "BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS record (
        session TEXT NOT NULL REFERENCES session (id), seq INTEGER NOT NULL, at_ms INTEGER NOT NULL,
        line BLOB NOT NULL, UNIQUE (session, seq)
    ) STRICT;
    PRAGMA user_version = 1;
    COMMIT;";
/// Of the database; raised when its tables change.
const VERSION: i64 = 1;
/// The last record of each session is found by its number, which has no gaps.
const LIST: &str = "SELECT id, last + 1, COALESCE(at_ms, 0) FROM (
        SELECT id, (SELECT COALESCE(MAX(seq), -1) FROM record WHERE session = id) AS last FROM session
    ) LEFT JOIN record ON session = id AND seq = last ORDER BY at_ms DESC, id DESC";
/// How long a transaction waits for those of other sessions.
const PATIENCE: Duration = Duration::from_secs(30);
