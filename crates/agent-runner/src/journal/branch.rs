//! A new session that begins with the records of another one.

use super::file::OpenError;
use super::read::Reader;
use super::salvage::may_have_begun;
use super::store::{SessionStore, StoreError};
use agent_core::agent::Event;
use agent_core::journal::{Entry, Parent, Record, replay};
use agent_core::session;
use std::path::Path;

impl SessionStore {
    /// Makes a new session of the records of another one up to a record, with the notes of what that one began. The other one stays as
    /// it is, and may be in use. Without a record: all of them, or those before the session was ended for good.
    ///
    /// # Errors
    /// [`StoreError`] when there is no such session or no such record, it is damaged before there, or the new one cannot be made.
    pub fn branch(&self, id: &str, at: Option<u64>, new_id: &str) -> Result<Parent, StoreError> {
        self.check_is_session(id)?;
        let path = self.existing(id)?;
        let Some(Shared { seq, is_blind }) = Shared::find(&path, at)? else {
            return Err(StoreError::NoSuchRecord { id: id.to_owned() });
        };
        let parent = Parent { session_id: id.to_owned(), seq };
        let failed = |source| OpenError::io(&path, source);
        let (mut branch, mut copied) = (self.create(new_id)?, Vec::new());
        let count = usize::try_from(seq).unwrap_or(usize::MAX).saturating_add(1);
        for record in Reader::open(&path).map_err(OpenError::Read)?.take(count) {
            let mut record = record.map_err(OpenError::Read)?;
            if let Entry::Header(header) = &mut record.entry {
                header.parent = Some(parent.clone());
                new_id.clone_into(&mut header.session_id);
            }
            branch.write(&record).map_err(failed)?;
            if is_blind {
                copied.push(record);
            }
        }
        if let Some(Record { at_ms, .. }) = copied.last() {
            let (at_ms, next_seq) = (*at_ms, copied.len() as u64);
            let (_, session) = replay(copied)?;
            for note in may_have_begun(&session, next_seq, at_ms) {
                branch.write(&note).map_err(failed)?;
            }
        }
        super::pictures::copy(&path, &self.path(new_id)?).map_err(failed)?;
        branch.sync_now().map_err(failed)?;
        Ok(parent)
    }
}

/// What a branch has with its parent.
struct Shared {
    /// The last record: the one that was asked for, and the notes of what it began. What began after the cut must not be taken for
    /// something that never did.
    seq: u64,
    /// Whether damage after it may contain such notes.
    is_blind: bool,
}

impl Shared {
    fn find(path: &Path, at: Option<u64>) -> Result<Option<Self>, OpenError> {
        let mut last = None;
        let has_reached = |last: Option<u64>| matches!((at, last), (Some(at), Some(last)) if last >= at);
        for record in Reader::open(path).map_err(OpenError::Read)? {
            match record {
                Ok(Record { entry: Entry::Event(Event::Session(session::Event::ShutdownRequested)), .. })
                    if at.is_none() =>
                {
                    break;
                }
                Ok(Record { entry: Entry::ActionStarted(_), seq, .. }) => last = Some(seq),
                Ok(_) if has_reached(last) => break,
                Ok(Record { seq, .. }) => last = Some(seq),
                Err(_) if has_reached(last) => return Ok(last.map(|seq| Self { seq, is_blind: true })),
                Err(error) => return Err(OpenError::Read(error)),
            }
        }
        let is_there = at.is_none() || has_reached(last);
        Ok(last.filter(|_| is_there).map(|seq| Self { seq, is_blind: false }))
    }
}
