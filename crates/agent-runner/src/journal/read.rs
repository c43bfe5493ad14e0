//! Reading a journal: everything that is whole, and the truth about what is not.

use agent_core::journal::{FORMAT_VERSION, Record};
use serde::Deserialize;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// What a journal holds.
#[derive(Debug)]
pub struct Recovered {
    /// The whole records, in order.
    pub records: Vec<Record>,
    /// Where the whole records end.
    pub good_bytes: u64,
    /// Bytes behind that, of a record that a crash cut.
    pub torn_bytes: u64,
}

/// Reads a journal. A last line that is cut is left out; damage before it is an error, never skipped.
///
/// # Errors
/// [`ReadError`] when the file cannot be read or is damaged in the middle.
pub fn read(path: &Path) -> Result<Recovered, ReadError> {
    let failed = |source| ReadError::Io { path: path.to_owned(), source };
    // Reading a pipe would wait for ever, and a device has no end.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(failed(io::Error::other("it is not a regular file")));
    }
    let mut file = BufReader::new(File::open(path).map_err(failed)?);
    let mut recovered = Recovered { records: Vec::new(), good_bytes: 0, torn_bytes: 0 };
    let mut damage: Option<Damage> = None;
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        let length = file.read_until(b'\n', &mut line).map_err(failed)?;
        if length == 0 {
            break;
        }
        number += 1;
        // Something whole follows what was taken for a torn end: it is damage in the middle.
        if let Some(damage) = damage {
            return Err(ReadError::Damaged { path: path.to_owned(), damage });
        }
        let is_whole = line.last() == Some(&b'\n');
        if number == 1 {
            check_format(path, &line)?;
        }
        match record(&line) {
            Ok(record) if is_whole => {
                recovered.records.push(record);
                recovered.good_bytes += length as u64;
            }
            Ok(_) => recovered.torn_bytes = length as u64,
            Err(error) => {
                recovered.torn_bytes = length as u64;
                damage = Some(Damage { line: number, byte: recovered.good_bytes, found: error.to_string() });
            }
        }
    }
    match damage {
        // A whole line that is no record was written so; only a line without its end can have been cut.
        Some(damage) if line_ended(path, &recovered).map_err(failed)? => {
            Err(ReadError::Damaged { path: path.to_owned(), damage })
        }
        Some(_) | None => Ok(recovered),
    }
}

/// A line's record. Its bytes are looked at once, as a whole, whether they are text.
fn record(line: &[u8]) -> Result<Record, serde_json::Error> {
    match str::from_utf8(line) {
        Ok(text) => Record::from_line(text),
        // The same again, for the words and the place of what is wrong.
        Err(_) => serde_json::from_slice(line),
    }
}

/// Another format may differ in anything, so it is recognised before the line is read in full: it is not damage.
fn check_format(path: &Path, line: &[u8]) -> Result<(), ReadError> {
    match serde_json::from_slice::<FirstLine>(line) {
        Ok(first) if first.entry.header.format_version != FORMAT_VERSION => {
            Err(ReadError::Format { path: path.to_owned(), found: first.entry.header.format_version })
        }
        // Whatever else is wrong with it is found where it is read in full.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// What the first line says in every format.
#[derive(Deserialize)]
struct FirstLine {
    entry: FirstEntry,
}

#[derive(Deserialize)]
struct FirstEntry {
    #[serde(rename = "Header")]
    header: FirstHeader,
}

#[derive(Deserialize)]
struct FirstHeader {
    format_version: u32,
}

/// Whether the bytes behind the whole records end a line.
fn line_ended(path: &Path, recovered: &Recovered) -> io::Result<bool> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(recovered.good_bytes + recovered.torn_bytes - 1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

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
    /// It was written by a version with another format.
    #[error("read the journal {path}: it has format {found}, this program reads format {FORMAT_VERSION}")]
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

/// Whether a file is a journal that was begun: its first line is whole. One that a crash cut before that has nothing to go on with.
pub(super) fn is_begun(path: &Path) -> bool {
    let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let first_line = || -> io::Result<bool> {
        let mut line = Vec::new();
        BufReader::new(File::open(path)?).read_until(b'\n', &mut line)?;
        Ok(line.ends_with(b"\n"))
    };
    is_file && first_line().unwrap_or(false)
}
