//! Sessions that continue another program's: made with a history, whole or not at all.

use super::file::{OpenError, make_private_folder, private, sync_folder_of};
use super::line;
use super::own::check_own;
use super::read::Reader;
use super::store::{SessionStore, StoreError};
use agent_core::conversation::Item;
use agent_core::journal::{Entry, Header, Imported, Record, Replayer};
use agent_core::session::Event;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;

impl SessionStore {
    /// Makes a session with what was said before it, which waits for its first message. Its id is the header's. The journal gets its name
    /// when it is on the disk, so that no half of it is ever a session.
    ///
    /// # Errors
    /// [`StoreError`] when the id is bad or taken, the history is not valid, or the journal cannot be written.
    pub fn import(
        &self,
        at_ms: u64,
        header: Header,
        history: impl IntoIterator<Item = Arc<Item>>,
    ) -> Result<(), StoreError> {
        let path = self.path(&header.session_id)?;
        let failed = |source| StoreError::Open(OpenError::io(&path, source));
        let folder = path.parent().unwrap_or(Path::new("."));
        make_private_folder(folder).map_err(failed)?;
        check_own(folder).map_err(OpenError::from)?;
        let new = path.with_extension("new");
        let file = private(OpenOptions::new().write(true).create_new(true)).open(&new).map_err(failed)?;
        let header = Entry::Header(Box::new(header));
        let written = fill(file, at_ms, header, history.into_iter(), &failed).and_then(|()| {
            // A name that is there already is not taken over.
            fs::hard_link(&new, &path).and_then(|()| fs::remove_file(&new)).map_err(failed)
        });
        written.inspect_err(|_| drop(fs::remove_file(&new)))?;
        sync_folder_of(&path).map_err(failed)
    }

    /// The newest session that was imported from this content, by its id. A branch of one is another session.
    ///
    /// # Errors
    /// As for [`list`](Self::list).
    pub fn find_imported(&self, imported: &Imported) -> Result<Option<String>, StoreError> {
        let is_of = |path: &Path| {
            let first = check_own(path).ok().and_then(|()| Reader::open(path).ok()?.next()?.ok());
            let Some(Record { entry: Entry::Header(header), .. }) = first else { return false };
            header.parent.is_none() && header.imported.is_some_and(|of| of.fingerprint == imported.fingerprint)
        };
        Ok(self.list()?.into_iter().find(|session| is_of(&session.path)).map(|session| session.id))
    }
}

/// Writes the records, each of which is replayed before.
fn fill(
    file: File,
    at_ms: u64,
    header: Entry,
    history: impl Iterator<Item = Arc<Item>>,
    failed: &impl Fn(io::Error) -> StoreError,
) -> Result<(), StoreError> {
    let mut file = BufWriter::new(file);
    let mut replayer: Option<Replayer> = None;
    let entries = std::iter::once(header).chain(history.map(Entry::History));
    for (seq, entry) in (0..).zip(entries.chain([Entry::Event(Event::Started.into())])) {
        let record = Record { seq, at_ms, entry };
        let mut lines = Vec::new();
        line::write(&record, &mut lines).and_then(|()| file.write_all(&lines)).map_err(failed)?;
        match &mut replayer {
            Some(replayer) => replayer.advance(record)?,
            None => replayer = Some(Replayer::new(record)?),
        }
    }
    file.flush().and_then(|()| file.get_ref().sync_all()).map_err(failed)
}
