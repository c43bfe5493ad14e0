//! A copy of what is whole in a damaged journal.

use super::file::{OpenError, private, sync_folder_of};
use super::line;
use super::read::{ReadError, Reader};
use agent_core::journal::{ActionStarted, Entry, Record, Replayer};
use agent_core::session::Session;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// What a copy holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Salvaged {
    /// Records that were copied.
    pub records: u64,
    /// Bytes of the journal after them that were not copied.
    pub left_bytes: u64,
}

/// Copies the whole records before the first damage into a new file, in today's format. What follows damage is left out, whole or not: what
/// was lost decides what it means. What may have begun there is noted as begun, so that it is not run again.
///
/// # Errors
/// [`OpenError`] when the journal cannot be read or its first record is not whole, or the new file is there already or cannot be written.
pub fn salvage(path: &Path, out: &Path) -> Result<Salvaged, OpenError> {
    let mut reader = Reader::open(path).map_err(OpenError::Read)?;
    let first = reader.next().unwrap_or_else(|| Err(ReadError::Io { path: path.to_owned(), source: empty() }));
    let first = first.map_err(OpenError::Read)?;
    let failed = |source| OpenError::io(out, source);
    let mut copy = Copy::create(out).map_err(failed)?;
    copy.put(&first).map_err(failed)?;
    let no_session = |error| OpenError::io(path, io::Error::other(error));
    let mut replayer = Replayer::new(first).map_err(no_session)?;
    let (mut good_bytes, mut at_ms, mut is_blind) = (reader.good_bytes(), 0, false);
    let mut last = None;
    while let Some(record) = reader.next() {
        match record {
            // A repeated record adds nothing.
            Ok(record) if last.as_ref() == Some(&record) => good_bytes = reader.good_bytes(),
            Ok(record) if record.seq == replayer.next_seq() => {
                at_ms = record.at_ms;
                copy.put(&record).map_err(failed)?;
                last = Some(record.clone());
                replayer.advance(record).map_err(no_session)?;
                good_bytes = reader.good_bytes();
            }
            Ok(_) | Err(ReadError::Damaged { .. }) => {
                is_blind = true;
                break;
            }
            Err(error) => return Err(OpenError::Read(error)),
        }
    }
    if is_blind {
        let notes = may_have_begun(replayer.session(), replayer.next_seq(), at_ms);
        notes.iter().try_for_each(|note| copy.put(note)).map_err(failed)?;
    }
    super::pictures::copy(path, out).map_err(failed)?;
    copy.finish().map_err(failed)?;
    let length = std::fs::metadata(path).map_err(|source| OpenError::io(path, source))?.len();
    Ok(Salvaged { records: replayer.next_seq(), left_bytes: length.saturating_sub(good_bytes) })
}

fn empty() -> io::Error {
    io::Error::other("it has no complete record")
}

/// A file that goes again unless it is finished: half a copy is not a journal.
struct Copy<'a> {
    file: BufWriter<File>,
    buffer: Vec<u8>,
    out: &'a Path,
    is_finished: bool,
}

impl Drop for Copy<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            // What could not be written may be impossible to remove, too.
            let _ = std::fs::remove_file(self.out);
        }
    }
}

impl<'a> Copy<'a> {
    fn create(out: &'a Path) -> io::Result<Self> {
        let file = private(OpenOptions::new().write(true).create_new(true)).open(out)?;
        Ok(Self { file: BufWriter::new(file), buffer: Vec::new(), out, is_finished: false })
    }

    fn put(&mut self, record: &Record) -> io::Result<()> {
        self.buffer.clear();
        line::write(record, &mut self.buffer)?;
        self.file.write_all(&self.buffer)
    }

    fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_data()?;
        sync_folder_of(self.out)?;
        self.is_finished = true;
        Ok(())
    }
}

/// Notes for everything that a session has asked for and that may have begun in records that cannot be read.
pub(super) fn may_have_begun(session: &Session, next_seq: u64, at_ms: u64) -> Vec<Record> {
    let open = session.outstanding();
    let started = open.iter().filter(|open| !open.is_cancelled).filter_map(|open| ActionStarted::of(&open.action));
    let notes = (next_seq..).zip(started);
    notes.map(|(seq, started)| Record { seq, at_ms, entry: Entry::ActionStarted(started) }).collect()
}
