//! Reading a journal: everything that is whole, and the truth about what is not.

use super::line::{self, MAX_LINE_BYTES};
use super::regular::read_regular;
use agent_core::journal::{Begun, Format, FormatError, Rebuilt, Record, ReplayError, Replayer};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// What a journal holds.
#[derive(Debug)]
pub struct Recovered {
    /// The whole records, in order, in today's form.
    pub records: Vec<Record>,
    /// The format of the file; `None` if not even the first record is whole.
    pub format: Option<Format>,
    /// Where the whole records end.
    pub good_bytes: u64,
    /// Bytes after that, of a record that a crash cut.
    pub torn_bytes: u64,
}

impl Recovered {
    /// The session that the records make, and what a runner needs to resume it.
    ///
    /// # Errors
    /// [`ReplayError`] when they make none.
    pub fn rebuild(self) -> Result<Rebuilt, ReplayError> {
        let mut records = self.records.into_iter();
        let mut replayer = Replayer::new(records.next().ok_or(ReplayError::NoHeader)?)?;
        for record in records {
            replayer.advance(record)?;
        }
        Ok(with_begun(replayer.finish(), self.format))
    }
}

/// An earlier format has no notes of what began, so everything may have.
pub(super) fn with_begun(rebuilt: Rebuilt, format: Option<Format>) -> Rebuilt {
    let has_notes = format.is_some_and(|format| format.version() >= 2);
    if has_notes { rebuilt } else { rebuilt.with_begun(Begun::unknown()) }
}

/// Reads a journal. A last line that is cut is left out; damage before it is an error, never skipped.
///
/// # Errors
/// [`ReadError`] when the file cannot be read or is damaged in the middle.
pub fn read(path: &Path) -> Result<Recovered, ReadError> {
    let mut reader = Reader::open(path)?;
    let records = reader.by_ref().collect::<Result<_, _>>()?;
    let Reader { format, good_bytes, torn_bytes, .. } = reader;
    Ok(Recovered { records, format, good_bytes, torn_bytes })
}

/// Reads a journal record by record, in the memory of one. Ends after the last whole record, or with the first error.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    file: BufReader<File>,
    format: Option<Format>,
    lines: u64,
    /// Where the last record begins.
    record_byte: u64,
    good_bytes: u64,
    torn_bytes: u64,
    /// Of the line that is damaged, when the last one is.
    damaged_bytes: u64,
    buffer: Vec<u8>,
    is_done: bool,
}

impl Reader {
    /// Opens a journal.
    ///
    /// # Errors
    /// [`ReadError::Io`] when it cannot be opened, or is not a file at all.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let failed = |source| ReadError::Io { path: path.to_owned(), source };
        Ok(Self {
            path: path.to_owned(),
            file: BufReader::with_capacity(BUFFER_BYTES, read_regular(path).map_err(failed)?),
            format: None,
            lines: 0,
            record_byte: 0,
            good_bytes: 0,
            torn_bytes: 0,
            damaged_bytes: 0,
            buffer: Vec::new(),
            is_done: false,
        })
    }

    /// The format of the file, when the first record was read.
    #[must_use]
    pub const fn format(&self) -> Option<Format> {
        self.format
    }

    /// Where the whole records end that were read so far.
    #[must_use]
    pub const fn good_bytes(&self) -> u64 {
        self.good_bytes
    }

    /// When everything is read: the bytes after the last whole record, of one that a crash cut.
    #[must_use]
    pub const fn torn_bytes(&self) -> u64 {
        self.torn_bytes
    }

    /// The place of the last record, for reporting that it does not fit: whole lines can be missing or occur twice.
    pub fn misplaced(&self, found: &ReplayError) -> ReadError {
        let damage = Damage { line: self.lines, byte: self.record_byte, found: found.to_string() };
        ReadError::Damaged { path: self.path.clone(), damage }
    }

    /// Continues after a damaged line, to see what else is damaged. What follows is not a continuation of what came before. False when
    /// there is nothing to continue: no damage, a line without an end, or the first line, which says how to read the others.
    pub const fn pass_over(&mut self) -> bool {
        let is_passed = self.damaged_bytes > 0 && self.format.is_some();
        if is_passed {
            self.good_bytes += self.damaged_bytes;
            (self.damaged_bytes, self.is_done) = (0, false);
        }
        is_passed
    }

    /// Continues behind the last whole record, after the end: whoever writes the journal may have written more since.
    ///
    /// # Errors
    /// [`ReadError::Io`] when the system does not let us.
    pub fn read_on(&mut self) -> Result<(), ReadError> {
        self.lines -= u64::from(self.torn_bytes > 0);
        (self.torn_bytes, self.is_done) = (0, false);
        let sought = self.file.seek(SeekFrom::Start(self.good_bytes));
        sought.map(drop).map_err(|source| ReadError::Io { path: self.path.clone(), source })
    }

    fn read(&mut self) -> Result<Option<Record>, ReadError> {
        self.buffer.clear();
        let mut some = (&mut self.file).take(MAX_LINE_BYTES as u64 + 1);
        let length = some.read_until(b'\n', &mut self.buffer);
        let length = length.map_err(|source| ReadError::Io { path: self.path.clone(), source })?;
        if length == 0 {
            return Ok(None);
        }
        self.lines += 1;
        if self.buffer.last() != Some(&b'\n') {
            if length > MAX_LINE_BYTES {
                return Err(self.damaged(format!("it has more than {MAX_LINE_BYTES} bytes")));
            }
            // A whole line that is not a record was written so; only one without its end can have been cut.
            self.torn_bytes = length as u64;
            return Ok(None);
        }
        self.buffer.pop();
        let record = match self.format {
            Some(format) => parse(format, &mut self.buffer),
            None => self.first(),
        };
        match record {
            Ok(record) => {
                self.record_byte = self.good_bytes;
                self.good_bytes += length as u64;
                Ok(Some(record))
            }
            Err(FormatError::Unknown { found }) => Err(ReadError::Format { path: self.path.clone(), found }),
            Err(error) => {
                self.damaged_bytes = length as u64;
                Err(self.damaged(error.to_string()))
            }
        }
    }

    /// The first line says how to read the others. In every format that has checksums they are the same, so that a number that nobody
    /// wrote is not taken for a format of tomorrow.
    fn first(&mut self) -> Result<Record, FormatError> {
        let has_sum = line::has_sum(&self.buffer);
        let text = if has_sum { line::check(&mut self.buffer) } else { utf8(&self.buffer) };
        let text = text.map_err(form)?;
        let format = Format::of(text)?;
        if has_sums(format) != has_sum {
            return Err(form(String::from(if has_sum { "it has a checksum" } else { "its checksum is missing" })));
        }
        let record = format.read(text)?;
        self.format = Some(format);
        Ok(record)
    }

    fn damaged(&self, found: String) -> ReadError {
        let damage = Damage { line: self.lines, byte: self.good_bytes, found };
        ReadError::Damaged { path: self.path.clone(), damage }
    }
}

impl Iterator for Reader {
    type Item = Result<Record, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let read = self.read().transpose();
        self.is_done = !matches!(read, Some(Ok(_)));
        read
    }
}

fn parse(format: Format, line: &mut [u8]) -> Result<Record, FormatError> {
    let text = if has_sums(format) { line::check(line) } else { utf8(line) };
    format.read(text.map_err(form)?)
}

const fn has_sums(format: Format) -> bool {
    format.version() >= 2
}

fn utf8(line: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(line).map_err(|error| error.to_string())
}

const fn form(found: String) -> FormatError {
    FormatError::Form { found }
}

const BUFFER_BYTES: usize = 64 * 1024;

/// Where a journal is damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The line, counted from 1.
    pub line: u64,
    /// Where it begins, in bytes.
    pub byte: u64,
    /// What is wrong with it.
    pub found: String,
}

/// Why a journal cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The system does not let us.
    #[error("read the journal {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It was written by a program with a format that this one does not know.
    #[error("read the journal {path}: {}", FormatError::Unknown { found: *found })]
    Format {
        /// The file.
        path: PathBuf,
        /// The format's number.
        found: u32,
    },
    /// A line in the middle is not a record.
    #[error("read the journal {path}: line {} (byte {}) is damaged: {}", damage.line, damage.byte, damage.found)]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where and how.
        damage: Damage,
    },
}
