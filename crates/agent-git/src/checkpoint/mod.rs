//! Keeps how files were before a turn, so that the turn can be taken back.
//!
//! ```text
//! a call runs      how its files are goes into a file beside the repository's own     (no process)
//! after a batch    how the agent left them is added, and all of it becomes a commit   (one process)
//! ```
//!
//! The commit is on a reference of this working tree that no branch, push or `git log` shows. The file of the first step is there so that
//! a crash between the two steps loses nothing: `undo` reads it too. The user's index and branches are not touched.
//!
//! Absent: what commands change. Their files are unknown before they run; `undo` names the commands instead.

mod seal;
mod stream;
mod turns;

pub(crate) use turns::{Change, delete, import_left_behind, list, load, unfinished, unlisted};

use crate::config::HooksConfig;
use crate::git::{Git, GitError};
use crate::image::Image;
use crate::repository::Repository;
use seal::{Contents, Key};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use stream::When;

/// Turns that are kept; older ones are forgotten.
const TURNS_KEPT: usize = 200;
/// And those that are older than this: git keeps the logs that hold what they name for 90 days, unless it is configured otherwise.
const DAYS_KEPT: u64 = 80;
/// Commands of one turn that are kept.
const COMMANDS_KEPT: usize = 50;

/// What is known of the turn under way.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// Its name, once something was kept.
    name: Option<String>,
    /// Whether its reference is there.
    is_stored: bool,
    /// Whether its record has room on the disk and nothing else.
    has_only_begun: bool,
    paths: BTreeMap<String, Seen>,
    /// Paths whose content could not be kept.
    unkept: BTreeMap<String, Unkept>,
    /// Which of them changed, and the record does not say so yet.
    unnoted: BTreeSet<String>,
    /// For how many of these the record has a number in place of names.
    unnamed: usize,
    /// Which of them changed: those still to be reported, and those already reported.
    lost: Vec<String>,
    told: BTreeSet<String>,
    /// Commands that are not kept yet: a turn of commands only has nothing to go back to.
    commands: Vec<String>,
    /// Those that are.
    commands_kept: usize,
    /// How often someone else changed what the agent had changed.
    between: usize,
    /// Where the key is with which records are sealed.
    key: Option<PathBuf>,
    /// All that is in the record, for the seal.
    contents: Contents,
    /// The seal that is there.
    seal: Option<String>,
    /// What stands first in its record, until that is begun.
    first: Vec<u8>,
}

/// What was last seen at a path, as a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// Kept as it was before; a call is to change it, or was killed while it did.
    Before(u64),
    /// As the agent left it.
    Left(u64),
    /// Someone else changed it after the agent had. How it was before the turn stays in the record.
    Mixed(u64),
}

/// Why nothing could be kept of a path.
#[derive(Clone, Debug)]
enum Unkept {
    /// It cannot be kept, and nothing is known of it.
    Unread(&'static str),
    /// It is known; the record could not hold it, on a full disk for example.
    Unwritten(String),
}

impl Unkept {
    fn why(&self) -> &str {
        match self {
            Self::Unread(why) => why,
            Self::Unwritten(why) => why,
        }
    }
}

impl Turn {
    /// A turn without a record yet.
    pub(crate) fn new(config: &HooksConfig) -> Self {
        Self { key: config.record_key.clone(), ..Self::default() }
    }

    /// The record of an undo, which says from the first that it has not ended.
    pub(crate) fn of_undo(config: &HooksConfig) -> Self {
        let mut turn = Self::new(config);
        stream::undo_begins(&mut turn.first);
        turn
    }

    /// The undo has ended. Returns the record, which is to be stored.
    pub(crate) fn undo_ended(&mut self, repository: &Repository) -> io::Result<String> {
        let mut entries = Vec::new();
        stream::undo_ended(&mut entries);
        self.append_or_use_reserve(repository, &entries)
    }

    /// Keeps how a path is: a call is about to change it.
    ///
    /// What the agent left is not kept again. What someone else wrote meanwhile is, beside how the path was before the turn.
    pub(crate) fn before(&mut self, repository: &Repository, path: &str, now: &Image) -> io::Result<()> {
        self.before_with(repository, path, now, unusual_mode(repository, path))
    }

    /// The same with these permissions, where they are not the usual ones.
    pub(crate) fn before_with(
        &mut self,
        repository: &Repository,
        path: &str,
        now: &Image,
        mode: Option<u32>,
    ) -> io::Result<()> {
        let digest = now.digest();
        match self.paths.get(path) {
            Some(Seen::Before(seen) | Seen::Left(seen) | Seen::Mixed(seen)) if *seen == digest => return Ok(()),
            Some(Seen::Left(_) | Seen::Mixed(_)) => return self.between(repository, path, now),
            Some(Seen::Before(_)) | None => {}
        }
        let mut entries = Vec::new();
        stream::file(&mut entries, When::Before, path, now);
        stream::mode(&mut entries, path, mode.filter(|_| matches!(now, Image::File { .. })));
        for (number, command) in self.commands.iter().enumerate() {
            stream::command(&mut entries, self.commands_kept + number, command);
        }
        let kept = self.append(repository, &entries, RESERVE_BYTES);
        self.paths.insert(path.to_owned(), Seen::Before(digest));
        match (&kept, now) {
            (Err(error), _) => {
                // The caller reports it.
                self.told.insert(path.to_owned());
                drop(self.unkept.insert(path.to_owned(), Unkept::Unwritten(error.to_string())));
            }
            (Ok(_), Image::Opaque(why)) => drop(self.unkept.insert(path.to_owned(), Unkept::Unread(why))),
            (Ok(_), _) => drop(self.unkept.remove(path)),
        }
        if kept.is_ok() {
            self.commands_kept += std::mem::take(&mut self.commands).len();
        }
        kept.map(drop)
    }

    /// Keeps what someone else made of a path that the agent had changed.
    fn between(&mut self, repository: &Repository, path: &str, now: &Image) -> io::Result<()> {
        let mut entries = Vec::new();
        stream::between(&mut entries, self.between, path, now);
        self.append(repository, &entries, RESERVE_BYTES)?;
        self.between += 1;
        self.paths.insert(path.to_owned(), Seen::Mixed(now.digest()));
        Ok(())
    }

    /// Notes a command, whose changes are not known. It is kept with the next file.
    pub(crate) fn command(&mut self, text: &str) {
        if self.commands.len() + self.commands_kept < COMMANDS_KEPT {
            self.commands.push(text.to_owned());
        }
    }

    /// Keeps how the agent left these paths. Returns the record if there is something in it to be stored.
    pub(crate) fn after<'a>(
        &mut self,
        repository: &Repository,
        changed: impl Iterator<Item = (&'a str, Image)>,
    ) -> io::Result<Option<String>> {
        let mut entries = Vec::new();
        for (path, now) in changed {
            let Some(seen) = self.paths.get_mut(path) else { continue };
            if let Seen::Mixed(left) = seen {
                *left = now.digest();
                continue;
            }
            *seen = Seen::Left(now.digest());
            match self.unkept.get(path) {
                Some(unkept) => {
                    self.unnoted.insert(path.to_owned());
                    if self.told.insert(path.to_owned()) {
                        let why = unkept.why();
                        self.lost.push(format!("undo cannot restore {path}: its old content is not kept: {why}"));
                    }
                }
                None => stream::file(&mut entries, When::After, path, &now),
            }
        }
        let noted = self.note_unkept(repository)?;
        if entries.is_empty() {
            return Ok(noted);
        }
        self.append_or_use_reserve(repository, &entries).map(Some)
    }

    /// Writes into the record which of the files that changed undo cannot restore. Room for that is reserved: if it is too small for
    /// all the names, the record says how many more there are.
    fn note_unkept(&mut self, repository: &Repository) -> io::Result<Option<String>> {
        if self.unnoted.is_empty() {
            return Ok(None);
        }
        let note = |path: &String| {
            let mut entry = Vec::new();
            stream::unkept(&mut entry, path, self.unkept.get(path).map_or("it is unknown", Unkept::why));
            entry
        };
        let mut notes: Vec<(String, Vec<u8>)> = self.unnoted.iter().map(|path| (path.clone(), note(path))).collect();
        let mut all: Vec<u8> = notes.iter().flat_map(|(_, entry)| entry).copied().collect();
        stream::unnamed(&mut all, 0);
        // With more room than there is reserved, and without touching that.
        match self.append(repository, &all, 1) {
            Ok(record) => {
                self.unnoted.clear();
                self.unnamed = 0;
                return Ok(Some(record));
            }
            Err(error) if !is_full(&error) => return Err(error),
            Err(_) if self.unnamed == self.unnoted.len() => return Ok(None),
            Err(_) => {}
        }
        // Most names fit if the short ones come first.
        notes.sort_by_key(|(_, entry)| entry.len());
        let (mut fitting, mut named) = (Vec::new(), BTreeSet::new());
        for (path, entry) in notes {
            if (fitting.len() + entry.len()) as u64 > RESERVE_BYTES - AROUND_NOTES_BYTES {
                break;
            }
            fitting.extend(entry);
            named.insert(path);
        }
        let unnamed = self.unnoted.len() - named.len();
        stream::unnamed(&mut fitting, unnamed);
        let record = self.append(repository, &fitting, 0)?;
        self.unnoted.retain(|path| !named.contains(path));
        self.unnamed = unnamed;
        Ok(Some(record))
    }

    /// The calls that were to change these paths ended. Of a path that is as it was, nothing stays in the record; of another, how it is
    /// now, which `image` knows. Returns the record if there is something in it to be stored.
    pub(crate) fn settle(
        &mut self,
        repository: &Repository,
        image: impl Fn(&str) -> Image,
    ) -> io::Result<Option<String>> {
        let (mut entries, mut settled, mut has_changes) = (Vec::new(), Vec::new(), false);
        for (path, seen) in &self.paths {
            let Seen::Before(before) = *seen else { continue };
            let now = image(path);
            // Of what was never read nothing can be compared: a call that changed it has said so.
            let unkept = self.unkept.get(path);
            if now.digest() == before || matches!(unkept, Some(Unkept::Unread(_))) {
                stream::forget(&mut entries, path);
                settled.push((path.clone(), None));
            } else if unkept.is_some() {
                self.unnoted.insert(path.clone());
                settled.push((path.clone(), Some(Seen::Left(now.digest()))));
            } else {
                stream::file(&mut entries, When::After, path, &now);
                settled.push((path.clone(), Some(Seen::Left(now.digest()))));
                has_changes = true;
            }
        }
        let noted = self.note_unkept(repository)?;
        has_changes |= noted.is_some();
        let record = if entries.is_empty() { noted } else { Some(self.append_or_use_reserve(repository, &entries)?) };
        for (path, seen) in settled {
            match seen {
                Some(seen) => drop(self.paths.insert(path, seen)),
                None => drop((self.unkept.remove(&path), self.paths.remove(&path))),
            }
        }
        Ok(record.filter(|_| has_changes))
    }

    /// What undo will not bring back, as sentences: each once.
    pub(crate) fn take_lost(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lost)
    }

    /// The record of this name was stored. The rest of the turn continues it in a record that is begun now: the disk may be
    /// full when the next call runs.
    pub(crate) fn stored(&mut self, repository: &Repository, record: &str) {
        if self.name.as_deref() == Some(record) {
            self.is_stored = true;
            let begin = stream::begin(record, true);
            self.has_only_begun = repository.own.append(&record_of(record), &begin, RESERVE_BYTES).is_ok();
        }
    }

    /// The turn is over: a record in which nothing stands goes.
    pub(crate) fn end(&mut self, repository: &Repository) {
        if let Some(name) = self.name.as_ref().filter(|_| std::mem::take(&mut self.has_only_begun)) {
            drop(repository.own.remove(&record_of(name)));
        }
    }

    /// How the agent left files, on a full disk in the room that is reserved: without it undo would restore nothing of what is kept.
    fn append_or_use_reserve(&mut self, repository: &Repository, entries: &[u8]) -> io::Result<String> {
        match self.append(repository, entries, RESERVE_BYTES) {
            Err(error) if is_full(&error) => self.append(repository, entries, 0),
            appended => appended,
        }
    }

    /// Adds to the file beside the repository, by one write, and reserves room on the disk after it. Returns its name.
    fn append(&mut self, repository: &Repository, entries: &[u8], reserve_bytes: u64) -> io::Result<String> {
        let name = self.name.get_or_insert_with(new_name);
        let path = record_of(name);
        let mut bytes = Vec::new();
        if repository.own.kind(&path)?.is_none() {
            repository.own.make_directory(Path::new(FOLDER))?;
            bytes = stream::begin(name, self.is_stored || turns::is_there(repository, name));
        }
        bytes.extend_from_slice(&self.first);
        bytes.extend_from_slice(entries);
        let sealed = match &self.key {
            Some(file) => {
                let mut contents = self.contents.clone();
                contents.add(&self.first);
                contents.add(entries);
                let seal = Key::load(file)?.seal(name, &contents);
                stream::seal(&mut bytes, self.seal.as_deref(), &seal);
                Some((contents, seal))
            }
            None => None,
        };
        // It contains files of the user: no other user may read it.
        repository.own.append(&path, &bytes, reserve_bytes)?;
        self.has_only_begun = false;
        self.first.clear();
        // What could not be written, on a full disk, is not part of what the next seal covers.
        if let Some((contents, seal)) = sealed {
            (self.contents, self.seal) = (contents, Some(seal));
        }
        Ok(name.clone())
    }
}

/// Why the record of a turn could not be stored.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImportError {
    /// By git.
    #[error(transparent)]
    Git(#[from] GitError),
    /// By the system.
    #[error("the record of the turn: {0}")]
    Io(#[from] io::Error),
    /// It says more than how files were, or what is in it is not what the agent wrote.
    #[error("the agent did not write it, or a command changed it")]
    Foreign,
}

/// A record as a part of what git imports at the date of "now", or `None` if it is not there, or not one of these.
pub(crate) fn dated_now(repository: &Repository, record: &str) -> Option<Vec<u8>> {
    let stream = repository.own.read(record_of(record), RECORD_LIMIT_BYTES).ok()??;
    stream::dated_now(stream::ours(record, &stream)?)
}

/// The record became a commit by other means.
pub(crate) fn imported(repository: &Repository, record: &str) {
    // Imported once more, it is the same.
    drop(repository.own.remove(&record_of(record)));
}

/// Makes a commit of a record.
pub(crate) async fn store(git: &Git<'_>, repository: &Repository, record: &str) -> Result<(), ImportError> {
    turns::import(git, repository, record).await
}

/// Forgets the turns that are too many or too old, and says which cannot be. Starts no process while there are none, but for the first time
/// where only git can list them.
pub(crate) async fn forget_oldest(git: &Git<'_>, repository: &Repository, is_first: bool) -> Option<String> {
    turns::forget_oldest(git, repository, TURNS_KEPT, DAYS_KEPT, is_first).await
}

/// With these arguments references get a log. `git gc` in another worktree of the repository does not look at this one's own references,
/// and would remove what they name; at logs it does look, for as long as they are kept (90 days, unless the user says otherwise).
pub(crate) const KEPT_EVERYWHERE: [&str; 2] = ["-c", "core.logAllRefUpdates=always"];

/// The permissions of a file that are not those of most.
pub(crate) fn unusual_mode(repository: &Repository, path: &str) -> Option<u32> {
    let mode = repository.files.stat(path).ok()?.st_mode & 0o777;
    (!matches!(mode, 0o644 | 0o755)).then_some(mode)
}

/// Where git finds how a file was before a turn.
pub(crate) fn kept_at(name: &str, path: &str) -> String {
    stream::kept_at(name, path)
}

/// Where git finds what someone else made of a file within a turn, the how many-th of their changes it was.
pub(crate) fn between_at(name: &str, number: usize, path: &str) -> String {
    stream::between_at(name, number, path)
}

/// Where a record waits to become a commit.
fn record_of(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// A name that sorts by time.
pub(crate) fn new_name() -> String {
    let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    format!("{now_ms:013}-{}", std::process::id())
}

/// When the turn of this name began to change files, in milliseconds since the Unix epoch.
pub(crate) fn began_ms(name: &str) -> Option<u64> {
    name.split_once('-')?.0.parse().ok()
}

/// Whether a name is one that [`new_name`] makes.
pub(crate) fn is_name(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    name.split_once('-').is_some_and(|(time, process)| is_number(time) && is_number(process))
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// The folder of the agent among git's own files.
pub(crate) const FOLDER: &str = "agent";
/// Kept free after a record: enough to note some hundred files when the disk is full, or one with the longest path.
const RESERVE_BYTES: u64 = 16 * 1024;
/// Of that, what the beginning of a record and its seals may need.
const AROUND_NOTES_BYTES: u64 = 1024;
/// A longer record is not read: what is remembered of a turn is bounded.
const RECORD_LIMIT_BYTES: u64 = 1024 * 1024 * 1024;
