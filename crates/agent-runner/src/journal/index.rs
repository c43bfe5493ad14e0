//! What was first said in each session of a folder, so that listing thousands does not open thousands of journals.
//!
//! A cache and nothing more. An entry counts only as long as its journal has the same length and times as when it was read; whatever is
//! damaged, missing, or from another version is read again from the journals. Deleting the file is harmless. Writers replace it whole, by
//! renaming, so that two of them lose at most the work of one.
//!
//! A plain file, not a database: it is read and written in one piece, is a few dozen bytes a session, and needs no engine in the program.

use super::file::private;
use super::own::check_own;
use super::read::{ReadError, Reader};
use super::regular::read_regular;
use agent_core::agent::Event;
use agent_core::conversation::Item;
use agent_core::journal::Entry;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What a session's journal says about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Said {
    /// The user's first words, cut.
    Words(String),
    /// There is no message: the session was opened and left, or a crash cut it before the first one.
    Nothing,
    /// The journal cannot be read up to there. Opening it reports why.
    Unreadable,
}

impl Said {
    /// Reads it from the journal: up to the first words, in the memory of one record. `None` if there is no journal any more.
    fn read(path: &Path) -> Option<Self> {
        if check_own(path).is_err() {
            return Some(Self::Unreadable);
        }
        let records = match Reader::open(path) {
            Ok(records) => records,
            Err(ReadError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return None,
            Err(_) => return Some(Self::Unreadable),
        };
        for record in records {
            match record.map(|record| record.entry) {
                Ok(Entry::Event(Event::Session(event))) => {
                    if let Some(text) = event.message() {
                        return Some(Self::words(text));
                    }
                }
                Ok(Entry::History(item)) => {
                    if let Item::Input(input) = item.as_ref()
                        && let Some(text) = input.texts().first()
                    {
                        return Some(Self::words(text));
                    }
                }
                Ok(_) => {}
                Err(_) => return Some(Self::Unreadable),
            }
        }
        Some(Self::Nothing)
    }

    fn words(text: &str) -> Self {
        Self::Words(text.trim_start().chars().take(WORDS_CHARS).collect())
    }
}

/// By which a journal is known to be as it was when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    length: u64,
    modified_ns: u64,
    /// When the file itself was last touched in any way, where the system reports it.
    changed_ns: u64,
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        let modified_ns = metadata.modified().map_or(0, since_epoch_ns);
        // The target of a link changes without the link, so a link never counts as settled.
        let changed_ns = if metadata.is_file() { changed_ns(metadata).unwrap_or(modified_ns) } else { u64::MAX };
        Self { length: metadata.len(), modified_ns, changed_ns }
    }

    /// Whether it is so old that a later change must show. Clocks of file systems tick slowly: what was written in the same tick would
    /// not.
    fn is_settled(self, now_ns: u64) -> bool {
        self.changed_ns.max(self.modified_ns).saturating_add(SETTLED_NS) < now_ns
    }
}

/// The index of a folder.
pub(super) struct Index {
    path: PathBuf,
    known: HashMap<String, (Stamp, Said)>,
    /// Sessions whose journals had to be read.
    read: Vec<String>,
}

impl Index {
    /// Reads it; an empty one if no usable index exists.
    pub(super) fn open(folder: &Path) -> Self {
        let path = folder.join(NAME);
        let known = load(&path).unwrap_or_default();
        Self { path, known, read: Vec::new() }
    }

    /// What was said in a session; `None` if it was removed meanwhile.
    pub(super) fn said(&mut self, id: &str, journal: &Path, stamp: Stamp) -> Option<Said> {
        if let Some((known, said)) = self.known.get(id)
            && *known == stamp
        {
            return Some(said.clone());
        }
        let said = Said::read(journal)?;
        self.read.push(id.to_owned());
        self.known.insert(id.to_owned(), (stamp, said.clone()));
        Some(said)
    }

    /// Keeps it for the next time, if that is worth it. What is not in the folder any more is dropped.
    pub(super) fn keep(mut self, is_there: impl Fn(&str) -> bool) {
        if self.read.len() < WORTH_WRITING {
            return;
        }
        let now_ns = since_epoch_ns(SystemTime::now());
        self.known.retain(|id, (stamp, _)| stamp.is_settled(now_ns) && is_there(id));
        if self.read.iter().filter(|id| self.known.contains_key(*id)).count() >= WORTH_WRITING {
            // Without it the next list takes longer.
            let _ = self.write();
        }
    }

    fn write(&self) -> io::Result<()> {
        let known = serde_json::to_vec(&self.known)?;
        remove_abandoned(&self.path);
        let new = self.path.with_extension(format!("{}.tmp", std::process::id()));
        let written = private(OpenOptions::new().write(true).create_new(true)).open(&new).and_then(|mut file| {
            writeln!(file, "{VERSION} {:08x}", crc32fast::hash(&known))?;
            file.write_all(&known)
        });
        let done = written.and_then(|()| fs::rename(&new, &self.path));
        if done.is_err() {
            let _ = fs::remove_file(&new);
        }
        done
    }
}

/// Removes files that killed writers left beside the index: no write takes that long.
fn remove_abandoned(index: &Path) {
    let is_abandoned = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("index.")?.strip_suffix(".tmp"));
        let is_named_so = number.is_some_and(|number| number.parse::<u32>().is_ok());
        let found = entry.metadata().ok().filter(|found| is_named_so && found.is_file());
        let age = found.and_then(|found| found.modified().ok()?.elapsed().ok());
        age.is_some_and(|age| age > ABANDONED)
    };
    let entries = index.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    entries.filter(is_abandoned).for_each(|entry| drop(fs::remove_file(entry.path())));
}

/// Takes a session out, for good: what was said in it stays nowhere.
pub(super) fn forget(folder: &Path, id: &str) {
    let mut index = Index::open(folder);
    if index.known.remove(id).is_some() && index.write().is_err() {
        let _ = fs::remove_file(&index.path);
    }
}

fn load(path: &Path) -> Option<HashMap<String, (Stamp, Said)>> {
    let metadata = fs::symlink_metadata(path).ok()?;
    if check_own(path).is_err() || !metadata.is_file() || metadata.len() > MAX_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    read_regular(path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (head, known) = (&bytes[..end], &bytes[end + 1..]);
    let expected = format!("{VERSION} {:08x}", crc32fast::hash(known));
    if head != expected.as_bytes() {
        return None;
    }
    serde_json::from_slice(known).ok()
}

fn since_epoch_ns(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(unix)]
fn changed_ns(metadata: &Metadata) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    let (seconds, ns) = (u64::try_from(metadata.ctime()).ok()?, u64::try_from(metadata.ctime_nsec()).ok()?);
    seconds.checked_mul(1_000_000_000)?.checked_add(ns)
}

#[cfg(not(unix))]
fn changed_ns(_metadata: &Metadata) -> Option<u64> {
    None
}

/// No session has this name: journals end otherwise.
pub(super) const NAME: &str = "index";
/// Raised when entries mean something else.
const VERSION: &str = "agent-sessions 1";
/// Characters of the first words: as many as any list shows.
const WORDS_CHARS: usize = 200;
/// Entries read anew that make writing it worth while.
const WORTH_WRITING: usize = 32;
/// An index is written within a moment.
const ABANDONED: Duration = Duration::from_secs(3_600);
const SETTLED_NS: u64 = 2_000_000_000;
/// No index is nearly as long.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_writer_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["index.77.tmp", "index.78.tmp", "index.mine.tmp", "index"] {
            fs::write(at(name), "x").unwrap();
        }
        let long_ago = SystemTime::now() - 2 * ABANDONED;
        for name in ["index.77.tmp", "index.mine.tmp", "index"] {
            fs::File::options().write(true).open(at(name)).unwrap().set_modified(long_ago).unwrap();
        }
        remove_abandoned(&at("index"));
        let left = ["index.77.tmp", "index.78.tmp", "index.mine.tmp", "index"].map(|name| at(name).exists());
        assert_eq!(left, [false, true, true, true]);
    }
}
