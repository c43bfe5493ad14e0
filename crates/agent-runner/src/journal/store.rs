//! Where sessions are kept: one folder a project, one file a session.

use super::beside::is_of_session;
use super::descendants;
use super::file::{FileJournal, OpenError, Reopened, is_locked, lock};
use super::index::{self, Index, Said, Stamp};
use super::own::check_own;
use super::read::Recovered;
use super::siblings::Siblings;
use agent_core::journal::ReplayError;
use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::BuildHasher;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The sessions of one working directory.
#[derive(Clone, Debug)]
pub struct SessionStore {
    folder: PathBuf,
    /// What the journals of agents below share.
    pub(super) siblings: Siblings,
}

/// A session that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its id.
    pub id: String,
    /// Its journal.
    pub path: PathBuf,
    /// When it was last written.
    pub modified: SystemTime,
    /// The size of its journal.
    pub bytes: u64,
    stamp: Stamp,
}

impl SessionInfo {
    /// The size of its journal, of the pictures beside it and of the journals of agents below it, in bytes.
    #[must_use]
    pub fn kept_bytes(&self) -> u64 {
        let beside = super::pictures::bytes_beside(&self.path).saturating_add(descendants::bytes_below(&self.path));
        self.bytes.saturating_add(beside)
    }
}

/// The sessions that were written last.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Newest {
    /// They, the newest first, and what was first said in each.
    pub sessions: Vec<(SessionInfo, Said)>,
    /// How many older ones were not looked at.
    pub others: usize,
    /// How many were passed over, because nothing was said in them.
    pub empty: usize,
}

impl SessionStore {
    /// The sessions of a working directory under a root such as `~/.local/state/agent/sessions`.
    #[must_use]
    pub fn new(root: &Path, working_directory: &Path) -> Self {
        Self { folder: root.join(project_name(working_directory)), siblings: Siblings::default() }
    }

    /// Where the journals are.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The sessions of every working directory under a root. A link there, and a file, is none.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the root cannot be read; one that is not there has no sessions.
    pub fn all(root: &Path) -> Result<Vec<Self>, StoreError> {
        let io = |source| StoreError::Io { path: root.to_owned(), source };
        let entries = match fs::read_dir(root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(io(error)),
        };
        let mut stores = Vec::new();
        for entry in entries {
            let entry = entry.map_err(io)?;
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                stores.push(Self { folder: entry.path(), siblings: Siblings::default() });
            }
        }
        stores.sort_by(|one, other| one.folder.cmp(&other.folder));
        Ok(stores)
    }

    /// An id that no session has: the time, so that ids sort by age, and chance.
    #[must_use]
    pub fn new_id() -> String {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let chance = RandomState::new().hash_one(std::process::id()) & 0xFFFF_FFFF;
        format!("{:011x}-{chance:08x}", since_epoch.as_millis())
    }

    /// The journal's path for an id, of a session or of an agent below one.
    ///
    /// # Errors
    /// [`StoreError::BadId`] when the id could name something outside the folder.
    pub fn path(&self, id: &str) -> Result<PathBuf, StoreError> {
        if let Some((root, place)) = descendants::parts(id) {
            return Ok(descendants::folder_of(&self.path(root)?).join(format!("{place}.jsonl")));
        }
        let is_plain =
            !id.is_empty() && id.len() <= 100 && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        if is_plain {
            Ok(self.folder.join(format!("{id}.jsonl")))
        } else {
            Err(StoreError::BadId { id: id.to_owned() })
        }
    }

    /// Makes the journal of a new session.
    ///
    /// # Errors
    /// [`StoreError`] when the id is bad or taken, or the file cannot be made.
    pub fn create(&self, id: &str) -> Result<FileJournal, StoreError> {
        Ok(FileJournal::create(&self.path(id)?)?)
    }

    /// Opens the journal of a session to continue it.
    ///
    /// # Errors
    /// [`StoreError`] when there is no such session, another process writes it, or it is damaged.
    pub fn resume(&self, id: &str) -> Result<(FileJournal, Recovered), StoreError> {
        Ok(FileJournal::resume(&self.existing(id)?)?)
    }

    /// Opens the journal of a session to resume it, and rebuilds the session while it is read.
    ///
    /// # Errors
    /// As [`resume`](Self::resume), and when the records make no session.
    pub fn rebuild(&self, id: &str) -> Result<Reopened, StoreError> {
        let siblings = descendants::parts(id).map(|_| &self.siblings);
        Ok(FileJournal::rebuild_as(&self.existing(id)?, siblings)?)
    }

    /// Takes a session away for good, with what was kept beside it.
    ///
    /// # Errors
    /// [`StoreError`] when there is no such session, a process writes it, or the system does not let us.
    pub fn remove(&self, id: &str) -> Result<(), StoreError> {
        self.check_is_session(id)?;
        let path = self.existing(id)?;
        let lock = lock(&path)?;
        self.remove_locked(id, &path)?;
        drop(lock);
        Ok(())
    }

    /// Takes a session away as [`remove`](Self::remove) does, but only if it is as it was when it was listed. Returns whether it was.
    ///
    /// # Errors
    /// As for [`remove`](Self::remove).
    pub fn remove_unchanged(&self, session: &SessionInfo) -> Result<bool, StoreError> {
        let path = self.existing(&session.id)?;
        let lock = lock(&path)?;
        let is_same = path.symlink_metadata().is_ok_and(|found| Stamp::of(&found) == session.stamp);
        if is_same {
            self.remove_locked(&session.id, &path)?;
        }
        drop(lock);
        Ok(is_same)
    }

    /// The journal goes first: what is left without it belongs to no session. The lock goes last.
    fn remove_locked(&self, id: &str, path: &Path) -> Result<(), StoreError> {
        let lock = path.with_extension("lock");
        let mut paths = self.beside_of(id)?;
        paths.retain(|beside| beside != path && *beside != lock);
        for path in std::iter::once(path.to_owned()).chain(paths).chain([lock]) {
            match fs::remove_file(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(StoreError::Remove { path, source }),
            }
        }
        let failed = |source| StoreError::Io { path: path.to_owned(), source };
        super::pictures::remove(path).map_err(failed)?;
        descendants::remove(path).map_err(failed)?;
        index::forget(&self.folder, id);
        Ok(())
    }

    /// Every file of a session: its journal, and what is kept beside it. A copy that the user made under another name is none.
    fn beside_of(&self, id: &str) -> Result<Vec<PathBuf>, StoreError> {
        let io = |source| StoreError::Io { path: self.folder.clone(), source };
        let start = format!("{id}.");
        let mut paths = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(io)? {
            let entry = entry.map_err(io)?;
            let is_its =
                entry.file_name().to_str().and_then(|name| name.strip_prefix(&start)).is_some_and(is_of_session);
            if is_its && entry.file_type().is_ok_and(|kind| !kind.is_dir()) {
                paths.push(entry.path());
            }
        }
        Ok(paths)
    }

    /// An agent below a session is no session of its own: it goes where its root goes.
    pub(super) fn check_is_session(&self, id: &str) -> Result<(), StoreError> {
        match descendants::root_of(id) {
            // What only looks like one, such as `../x`, is no id.
            Some(root) => Err(match self.path(id) {
                Ok(_) => StoreError::Below { id: id.to_owned(), root: root.to_owned() },
                Err(error) => error,
            }),
            None => Ok(()),
        }
    }

    /// Whether a process has the session open for writing.
    ///
    /// # Errors
    /// [`StoreError`] when there is no such session, or the system does not say.
    pub fn is_in_use(&self, id: &str) -> Result<bool, StoreError> {
        Ok(is_locked(&self.existing(id)?)?)
    }

    /// The id of the session that this one abbreviates: its own, or the only one that begins so.
    ///
    /// # Errors
    /// [`StoreError`] when the id is bad, no session begins so, or several do.
    pub fn id_of(&self, start: &str) -> Result<String, StoreError> {
        if self.path(start)?.symlink_metadata().is_ok() {
            return Ok(start.to_owned());
        }
        let mut ids: Vec<String> = self.list()?.into_iter().map(|session| session.id).collect();
        ids.retain(|id| id.starts_with(start));
        match ids.as_slice() {
            [] => Err(StoreError::NoSuchSession { id: start.to_owned(), folder: self.folder.clone() }),
            [id] => Ok(id.clone()),
            _ => Err(StoreError::Ambiguous { start: start.to_owned(), ids }),
        }
    }

    /// The journal of a session that is there.
    ///
    /// # Errors
    /// [`StoreError`] when the id is bad, or there is no such session.
    pub fn existing(&self, id: &str) -> Result<PathBuf, StoreError> {
        let path = self.path(id)?;
        // A link that leads nowhere is there, and refused.
        if path.symlink_metadata().is_ok() {
            let folders = [self.folder.as_path(), path.parent().unwrap_or(&self.folder), &path];
            folders.into_iter().try_for_each(check_own).map_err(OpenError::from)?;
            Ok(path)
        } else {
            Err(StoreError::NoSuchSession { id: id.to_owned(), folder: self.folder.clone() })
        }
    }

    /// The sessions, the one that was written last first.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the folder cannot be read; a folder that is not there has no sessions.
    pub fn list(&self) -> Result<Vec<SessionInfo>, StoreError> {
        let io = |source| StoreError::Io { path: self.folder.clone(), source };
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(io(error)),
        };
        let mut sessions = Vec::new();
        for entry in entries {
            let entry = entry.map_err(io)?;
            let path = entry.path();
            if path.extension().is_none_or(|extension| extension != "jsonl") {
                continue;
            }
            let Some(id) = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()) else { continue };
            // It was removed meanwhile.
            let Ok(metadata) = entry.metadata() else { continue };
            let modified = metadata.modified().map_err(io)?;
            let (bytes, stamp) = (metadata.len(), Stamp::of(&metadata));
            sessions.push(SessionInfo { id, path, modified, bytes, stamp });
        }
        sessions.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| b.id.cmp(&a.id)));
        Ok(sessions)
    }

    /// The sessions that were written last, so many of them, with what was first said in each. One in which nothing was said is passed
    /// over, as by [`newest`](Self::newest), unless `with_empty`.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub fn newest_said(&self, limit: usize, with_empty: bool) -> Result<Newest, StoreError> {
        let sessions = self.list()?;
        let mut index = Index::open(&self.folder);
        let mut told = |session: &SessionInfo| index.said(&session.id, &session.path, session.stamp);
        let mut newest = Newest { sessions: Vec::new(), others: sessions.len(), empty: 0 };
        for session in &sessions {
            if newest.sessions.len() == limit {
                break;
            }
            newest.others -= 1;
            match told(session) {
                // It was removed meanwhile.
                None => {}
                Some(Said::Nothing) if !with_empty => newest.empty += 1,
                Some(said) => newest.sessions.push((session.clone(), said)),
            }
        }
        self.keep(index, &sessions);
        Ok(newest)
    }

    /// The session that was written last and in which something was said, if there is one. One that was opened and left has nothing to go
    /// on with, nor has one that a crash cut before. A damaged one counts: opening it reports the damage.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub fn newest(&self) -> Result<Option<SessionInfo>, StoreError> {
        let sessions = self.list()?;
        let mut index = Index::open(&self.folder);
        let mut said = |session: &SessionInfo| index.said(&session.id, &session.path, session.stamp);
        let is_begun = |session: &&SessionInfo| said(session).is_some_and(|said| said != Said::Nothing);
        let newest = sessions.iter().find(is_begun).cloned();
        self.keep(index, &sessions);
        Ok(newest)
    }

    fn keep(&self, index: Index, sessions: &[SessionInfo]) {
        let there: HashSet<&str> = sessions.iter().map(|session| session.id.as_str()).collect();
        index.keep(|id| there.contains(id));
    }
}

/// A folder name that people recognise and that no two directories share: the last part of the path, and a fingerprint of all of it.
fn project_name(directory: &Path) -> String {
    let text = directory.to_string_lossy();
    let fingerprint = text
        .bytes()
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3));
    let last = directory.file_name().map_or_else(|| String::from("root"), |name| name.to_string_lossy().into_owned());
    let plain: String =
        last.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).take(40).collect();
    format!("{plain}-{fingerprint:016x}")
}

/// Why a kept session cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The id could name something outside the folder.
    #[error("use the session id `{id}`: letters, digits, `-` and `_` only")]
    BadId {
        /// The id.
        id: String,
    },
    /// It is the id of an agent below a session.
    #[error("use the session id `{id}`: it is an agent below the session {root}; use that one's id")]
    Below {
        /// The id.
        id: String,
        /// The session's id.
        root: String,
    },
    /// There is no session with this id here.
    #[error("find the session `{id}`: there is none in {folder}")]
    NoSuchSession {
        /// The id.
        id: String,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// More than one session has an id that begins so.
    #[error("find the session `{start}`: the ids of {} sessions begin with that: {}", ids.len(), first_of(ids))]
    Ambiguous {
        /// How the id begins.
        start: String,
        /// The ids, those written last first.
        ids: Vec<String>,
    },
    /// The session has no record with this number.
    #[error("branch off the session `{id}`: it has no such record")]
    NoSuchRecord {
        /// The id.
        id: String,
    },
    /// Its records make no session.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// The journal cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A file of a session stays.
    #[error("remove {path}: {source}")]
    Remove {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system does not let us.
    #[error("list the sessions in {path}: {source}")]
    Io {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
/// The first few of many.
fn first_of(ids: &[String]) -> String {
    let (shown, more) = ids.split_at(ids.len().min(MOST_NAMED));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    shown.join(", ") + &more
}

/// Of the sessions that an id may mean, these many are named.
const MOST_NAMED: usize = 5;
