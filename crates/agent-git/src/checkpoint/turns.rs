//! The kept turns of a repository: makes commits of the records, lists them, reads them.

use super::seal::{Contents, Key};
use super::stream::{self, Place, TURNS, When};
use super::{FOLDER, ImportError, KEPT_EVERYWHERE, RECORD_LIMIT_BYTES, began_ms, is_name, record_of};
use crate::git::{Git, GitError};
use crate::image::Image;
use crate::repository::Repository;
use crate::tree::modified;
use rustix::io::Errno;
use rustix::process::Pid;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Bytes of files asked for in one call of git.
const CALL_LIMIT_BYTES: u64 = 16 * 1024 * 1024;
/// Turns beyond the limit before any is forgotten, so that not every turn costs a process.
const SLACK: usize = 20;

/// What one turn kept, by path relative to the root of the working tree.
#[derive(Debug, Default)]
pub(crate) struct Change {
    /// How files were before.
    pub(crate) before: BTreeMap<String, Image>,
    /// How the agent left them; missing where it was killed before that.
    pub(crate) after: BTreeMap<String, Image>,
    /// Permissions that files had before, where they were not the usual ones.
    pub(crate) modes: BTreeMap<String, u32>,
    /// Files that others changed between two of the agent's changes: the number of each such change, and whether it left the file there.
    pub(crate) mixed: BTreeMap<String, BTreeMap<usize, bool>>,
    /// Files that changed and whose content was not kept, and why.
    pub(crate) unkept: BTreeMap<String, String>,
    /// How many more of these there are, whose names were not kept either.
    pub(crate) unnamed: usize,
    /// Whether it is an undo.
    pub(crate) is_undo: bool,
    /// Whether it is an undo that was stopped before it ended: each of its files may be as before it or as after it.
    pub(crate) is_unfinished: bool,
    /// Commands that ran; what they changed is not known.
    pub(crate) commands: Vec<String>,
}

/// Makes a commit of a record and removes the record. Without a record there is nothing to do.
pub(super) async fn import(git: &Git<'_>, repository: &Repository, record: &str) -> Result<(), ImportError> {
    let path = record_of(record);
    let Some(stream) = repository.own.read(&path, RECORD_LIMIT_BYTES)? else { return Ok(()) };
    // What else `fast-import` takes could move branches.
    let ours = match is_gone(record) {
        // It may have been killed while it wrote.
        true => stream::ours_as_far_as_written(record, &stream, git.config.record_key.is_some()),
        false => stream::ours(record, &stream),
    };
    let stream = ours.ok_or(ImportError::Foreign)?.to_vec();
    if stream.is_empty() {
        return Ok(repository.own.remove(&path)?);
    }
    remove_dead_lock(git, repository, record);
    git.run(&[&KEPT_EVERYWHERE[..], &["fast-import", "--quiet"]].concat(), stream).await?;
    Ok(repository.own.remove(&path)?)
}

/// Whether the process is gone that began a record.
fn is_gone(record: &str) -> bool {
    let process = record.split_once('-').and_then(|(_, process)| Pid::from_raw(process.parse().ok()?));
    process.is_some_and(|process| rustix::process::test_kill_process(process) == Err(Errno::SRCH))
}

/// The reference of a turn is locked by git for the agent that has the turn, or by an undo, which makes the same commit of it. Where that
/// agent is gone, or no call of git lasts that long, a killed git left the lock: it would keep everybody out for ever.
fn remove_dead_lock(git: &Git<'_>, repository: &Repository, record: &str) {
    let lock = Path::new(TURNS).join(format!("{record}.lock"));
    let Ok(found) = repository.own.stat(&lock) else { return };
    let age = SystemTime::now().duration_since(modified(&found)).unwrap_or_default();
    if is_gone(record) || age > Duration::from_millis(git.config.git_timeout_ms.saturating_mul(2)) {
        // If it cannot be removed, git says why.
        let _ = repository.own.remove(&lock);
    }
}

/// Makes commits of the records that a crash, or an agent still at work, left; says which cannot be read.
pub(crate) async fn import_left_behind(git: &Git<'_>, repository: &Repository) -> Vec<String> {
    let names = repository.own.names(Path::new(FOLDER)).unwrap_or_default();
    let mut notes = Vec::new();
    for name in names.iter().filter_map(|name| name.to_str()).filter(|name| is_name(name)) {
        if let Err(error) = import(git, repository, name).await {
            let path = repository.git_dir.join(record_of(name));
            notes
                .push(format!("{} cannot be used: {error}; it stays, delete it if you do not need it", path.display()));
        }
    }
    notes
}

/// The names of the kept turns, newest first.
pub(crate) async fn list(git: &Git<'_>, limit: usize) -> Result<Vec<String>, GitError> {
    let count = format!("--count={limit}");
    let output =
        git.line(&["for-each-ref", "--sort=-refname", &count, "--format=%(refname)", TURNS], Vec::new()).await?;
    let names = output.lines().filter_map(|line| line.strip_prefix(TURNS)).filter(|name| is_name(name));
    Ok(names.map(str::to_owned).collect())
}

/// Which of these turns are undos that have not ended.
pub(crate) async fn unfinished(git: &Git<'_>, names: &[String]) -> Result<BTreeSet<String>, GitError> {
    if names.is_empty() {
        return Ok(BTreeSet::new());
    }
    let asked: String = names.iter().map(|name| format!("{TURNS}{name}:{}\n", stream::UNFINISHED)).collect();
    let output = git.run(&["cat-file", "--batch-check=%(objecttype)"], asked.into_bytes()).await?;
    // One line for each, in this order.
    let found = output.split(|byte| *byte == b'\n').map(|line| line == b"blob");
    Ok(names.iter().zip(found).filter(|(_, is_there)| *is_there).map(|(name, _)| name.clone()).collect())
}

/// Reads what a turn kept. With a key, only what was sealed with it.
pub(crate) async fn load(git: &Git<'_>, turn: &str) -> Result<Change, ImportError> {
    let reference = format!("{TURNS}{turn}");
    let listing = git.run(&["ls-tree", "-r", "-l", "-z", "--full-tree", &reference], Vec::new()).await?;
    let mut loaded = Loaded::default();
    let mut wanted = Vec::new();
    let mut wanted_bytes = 0;
    // <mode> SP <type> SP <id> SP+ <size> TAB <name>
    for line in listing.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
        let parts = str::from_utf8(line).ok().and_then(|line| line.split_once('\t'));
        let fields: Vec<&str> = parts.map_or("", |(fields, _)| fields).split_ascii_whitespace().collect();
        let name = parts.map_or("", |(_, name)| name);
        let (&[mode, _, id, size], Some(place)) = (&fields[..], Place::parse(name)) else {
            loaded.has_more = true;
            continue;
        };
        loaded.has_more |= size != "0" && matches!(place, Place::Absent(..) | Place::Seal(_));
        match place {
            Place::Absent(when, path) => {
                loaded.contents.put(name, mode, b"");
                loaded.change.put(when, path, Image::Absent);
                continue;
            }
            Place::Seal(seal) => {
                loaded.seals.push(seal);
                continue;
            }
            Place::Present(..)
            | Place::Mode(_)
            | Place::Unkept(_)
            | Place::Unnamed
            | Place::Between(..)
            | Place::Undo { .. }
            | Place::Command => {}
        }
        wanted_bytes += size.parse::<u64>().unwrap_or(0);
        wanted.push(Wanted { mode: mode.to_owned(), id: id.to_owned(), name: name.to_owned(), place });
        if wanted_bytes > CALL_LIMIT_BYTES {
            loaded.read(git, std::mem::take(&mut wanted)).await?;
            wanted_bytes = 0;
        }
    }
    loaded.read(git, wanted).await?;
    let Some(file) = &git.config.record_key else { return Ok(loaded.change) };
    if loaded.has_more || loaded.seals != [Key::load(file)?.seal(turn, &loaded.contents)] {
        return Err(ImportError::Foreign);
    }
    Ok(loaded.change)
}

/// What was read of a record.
#[derive(Default)]
struct Loaded {
    change: Change,
    contents: Contents,
    seals: Vec<String>,
    /// Whether something in it is not understood.
    has_more: bool,
}

/// An entry of a record that git is asked for.
struct Wanted {
    mode: String,
    id: String,
    name: String,
    place: Place,
}

impl Loaded {
    async fn read(&mut self, git: &Git<'_>, wanted: Vec<Wanted>) -> Result<(), GitError> {
        if wanted.is_empty() {
            return Ok(());
        }
        let ids: String = wanted.iter().map(|wanted| format!("{}\n", wanted.id)).collect();
        let output = git.run(&["cat-file", "--batch"], ids.into_bytes()).await?;
        let mut rest = &output[..];
        for Wanted { mode, name, place, .. } in wanted {
            let bytes = next_object(&mut rest).ok_or_else(missing)?;
            self.contents.put(&name, &mode, bytes);
            self.change.note(place, &mode, bytes);
        }
        Ok(())
    }
}

impl Change {
    fn put(&mut self, when: When, path: String, image: Image) {
        match when {
            When::Before => self.before.insert(path, image),
            When::After => self.after.insert(path, image),
        };
    }

    fn note(&mut self, place: Place, mode: &str, bytes: &[u8]) {
        let text = || String::from_utf8_lossy(bytes).into_owned();
        match place {
            Place::Present(when, path) => {
                let image = match mode {
                    "120000" => Image::Link(bytes.into()),
                    mode => Image::File { bytes: bytes.into(), executable: mode == "100755" },
                };
                self.put(when, path, image);
            }
            Place::Mode(path) => {
                let mode = str::from_utf8(bytes).ok().and_then(|text| u32::from_str_radix(text, 8).ok());
                self.modes.extend(mode.map(|mode| (path, mode & 0o777)));
            }
            Place::Unkept(path) => drop(self.unkept.insert(path, text())),
            // There is at least one, whatever stands there.
            Place::Unnamed => self.unnamed = text().parse().unwrap_or(1),
            Place::Between(number, path, is_there) => {
                self.mixed.entry(path).or_default().insert(number, is_there);
            }
            Place::Command => self.commands.push(text()),
            Place::Undo { has_ended } => (self.is_undo, self.is_unfinished) = (has_ended, !has_ended),
            Place::Absent(..) | Place::Seal(_) => {}
        }
    }
}

/// `<id> SP <type> SP <size> LF <bytes> LF`
fn next_object<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let size: usize = str::from_utf8(&rest[..end]).ok()?.rsplit(' ').next()?.parse().ok()?;
    let bytes = rest.get(end + 1..end + 1 + size)?;
    *rest = rest.get(end + 2 + size..)?;
    Some(bytes)
}

/// Whether a turn's reference is there, where references are files.
pub(super) fn is_there(repository: &Repository, turn: &str) -> bool {
    repository.own.stat(Path::new(TURNS).join(turn)).is_ok()
}

/// The turns among the newest whose references are there and which git does not list, because it cannot read them.
pub(crate) fn unlisted(repository: &Repository, listed: &[String], limit: usize) -> Vec<String> {
    let oldest = listed.last().filter(|_| listed.len() >= limit);
    let is_looked_at = |name: &String| oldest.is_none_or(|oldest| name >= oldest);
    let names = on_disk(repository).unwrap_or_default().into_iter();
    names.filter(|name| is_looked_at(name) && !listed.contains(name)).collect()
}

/// Forgets the oldest turns when there are more than `kept`, and those that are older than `days`.
pub(super) async fn forget_oldest(
    git: &Git<'_>,
    repository: &Repository,
    kept: usize,
    days: u64,
    is_first: bool,
) -> Option<String> {
    let names = match on_disk(repository) {
        Some(names) => names,
        None if is_first && repository.common_dir.join("reftable").is_dir() => list(git, MOST_LISTED).await.ok()?,
        None => return None,
    };
    let old = too_old(names, kept, days);
    let failed = delete(git, &old).await.err()?;
    if !is_first {
        return None;
    }
    // One that cannot be read keeps all of them.
    let mut left = 0;
    for name in &old {
        left += usize::from(delete(git, std::slice::from_ref(name)).await.is_err());
    }
    (left > 0).then(|| format!("{left} old records of turns cannot be removed: {failed}"))
}

/// What is to be forgotten of the turns, once that is worth a process.
fn too_old(mut names: Vec<String>, kept: usize, days: u64) -> Vec<String> {
    let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
    let is_older =
        |name: &String, days: u64| began_ms(name).is_some_and(|began| began.saturating_add(days * MS_PER_DAY) < now_ms);
    names.sort_unstable();
    let too_many = if names.len() > kept + SLACK { names.len() - kept } else { 0 };
    let aged = if names.first().is_some_and(|name| is_older(name, days + SLACK_DAYS)) {
        names.iter().take_while(|name| is_older(name, days)).count()
    } else {
        0
    };
    names.truncate(too_many.max(aged));
    names
}

pub(crate) async fn delete(git: &Git<'_>, names: &[String]) -> Result<(), GitError> {
    if names.is_empty() {
        return Ok(());
    }
    let lines: String = names.iter().map(|name| format!("delete {TURNS}{name}\n")).collect();
    git.run(&["update-ref", "--stdin"], lines.into_bytes()).await.map(drop)
}

/// The names of all turns, where references are files.
fn on_disk(repository: &Repository) -> Option<Vec<String>> {
    repository.own.kind(TURNS).ok()??;
    let names = repository.own.names(Path::new(TURNS)).ok()?;
    // Where a git that was killed left its lock, that is no turn.
    Some(names.into_iter().filter_map(|name| name.into_string().ok()).filter(|name| is_name(name)).collect())
}

fn missing() -> GitError {
    GitError::Failed { subcommand: String::from("cat-file"), found: String::from("one of its files is missing") }
}

const MS_PER_DAY: u64 = 24 * 60 * 60 * 1000;
/// Names of turns that git is asked for at once.
const MOST_LISTED: usize = 10_000;
/// Days beyond the limit before any turn is forgotten.
const SLACK_DAYS: u64 = 5;
