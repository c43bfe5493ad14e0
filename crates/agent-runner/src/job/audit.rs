//! Audit records in a file: one JSON record a line, appended, never rewritten.

use crate::journal::{check_own, make_private_folder, open_regular, private, read_regular};
use agent_core::job::AuditRecord;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file of audit records. Any number of processes may append to it.
#[derive(Clone, Debug)]
pub struct AuditLog {
    path: PathBuf,
}

/// What is in a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Audited {
    /// The records, oldest first.
    pub records: Vec<AuditRecord>,
    /// Numbers of the lines that are no record, counted from 1: cut by a crash, or written by another version.
    pub unreadable_lines: Vec<usize>,
}

impl AuditLog {
    /// The records in this file, which need not be there yet.
    #[must_use]
    pub const fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where the records are.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a record; it is on the disk when this returns. The file is readable by its owner only; missing folders are made.
    ///
    /// # Errors
    /// [`AuditError`] when the system does not let us.
    pub fn append(&self, record: &AuditRecord) -> Result<(), AuditError> {
        self.write(record).map_err(|source| self.failed("write", source))
    }

    /// Reads all records. A file that is not there has none.
    ///
    /// # Errors
    /// [`AuditError`] when the file cannot be read.
    pub fn read(&self) -> Result<Audited, AuditError> {
        let mut bytes = Vec::new();
        check_own(&self.path).map_err(|error| self.failed("read", io::Error::other(error)))?;
        match read_regular(&self.path).and_then(|mut file| file.read_to_end(&mut bytes)) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Audited::default()),
            Err(source) => return Err(self.failed("read", source)),
        };
        let mut audited = Audited::default();
        for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
            if line.is_empty() {
                continue;
            }
            match serde_json::from_slice::<AuditRecord>(line) {
                Ok(record) if record.format_version == AuditRecord::FORMAT_VERSION => audited.records.push(record),
                Ok(_) | Err(_) => audited.unreadable_lines.push(number),
            }
        }
        Ok(audited)
    }

    fn write(&self, record: &AuditRecord) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            make_private_folder(folder)?;
            check_own(folder).map_err(io::Error::other)?;
        }
        check_own(&self.path).map_err(io::Error::other)?;
        let mut options = OpenOptions::new();
        let mut file = open_regular(&self.path, private(options.read(true).append(true).create(true)))?;
        // One writer at a time; the system lets go of the lock when the file is closed.
        file.lock()?;
        let mut line = Vec::new();
        if ends_in_a_cut_line(&mut file)? {
            // The line before was cut by a crash: it must not take this one with it.
            line.push(b'\n');
        }
        serde_json::to_writer(&mut line, record)?;
        line.push(b'\n');
        file.write_all(&line)?;
        file.sync_data()
    }

    fn failed(&self, attempted: &'static str, source: io::Error) -> AuditError {
        AuditError { attempted, path: self.path.clone(), source }
    }
}

fn ends_in_a_cut_line(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// Why audit records cannot be had or kept.
#[derive(Debug, thiserror::Error)]
#[error("{attempted} the audit records in {path}: {source}")]
pub struct AuditError {
    attempted: &'static str,
    path: PathBuf,
    source: io::Error,
}
