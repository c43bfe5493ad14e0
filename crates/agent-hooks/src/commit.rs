//! Commits exactly what the agent changed: with plumbing, and in as few processes as can be.
//!
//! ```text
//! read       what the index, the attributes and the working tree have at the paths      (files)
//! decide     path by path (see `decide`), taking HEAD to have what the index has
//! write      objects and the commit, and what HEAD really has                          (one process; see `draft`)
//! publish    the branch, only if it is still where it was                               (one process)
//!            and with it the user's index, in which only the decided paths differ       (a rename)
//! ```
//!
//! When HEAD turns out to have something else, or a path is not to be committed, HEAD is asked and it is decided anew. What is not
//! understood (see `index`, `attributes`, `ignored`) git is asked for, which costs a process each.
//!
//! The working tree is only read. The user's index moves with the branch, so that the committed paths are clean afterwards; every
//! other entry stays as it is.

use crate::attributes;
use crate::config::Identity;
use crate::decide::{Decision, Facts, Version, converts, decide};
use crate::draft::{self, DRAFT, Draft};
use crate::git::{Git, GitError};
use crate::ignored;
use crate::image::Image;
use crate::index::Index;
use crate::index_lock::{self, IndexLock, LockError};
use crate::message;
use crate::objects::ObjectFormat;
use crate::query::{self, Conversion, Entry, Settings, SettingsError, Staged};
use crate::repository::Repository;
use crate::watch;
use agent_core::hook::{CommitInfo, HookError};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// A path that the agent changed.
#[derive(Debug)]
pub(crate) struct Candidate {
    /// Relative to the workspace, for notes and the message.
    pub(crate) path: String,
    /// Relative to the root of the working tree, for git.
    pub(crate) git_path: String,
    /// What was there before the agent's changes.
    pub(crate) before: Vec<Image>,
    /// What is there.
    pub(crate) now: Image,
}

/// What is to be committed, and with what.
pub(crate) struct Work<'a> {
    pub(crate) candidates: &'a [Candidate],
    /// What the model said.
    pub(crate) intent: &'a str,
    /// The record of the turn, if it is not stored yet.
    pub(crate) record: Option<&'a Path>,
    pub(crate) settings: &'a Settings,
}

/// What committing came to.
#[derive(Debug, Default)]
pub(crate) struct Committed {
    /// The commit, with its parent.
    pub(crate) commit: Option<(CommitInfo, Option<String>)>,
    /// What was left out and why.
    pub(crate) notes: Vec<String>,
    /// Whether the record was stored.
    pub(crate) is_recorded: bool,
}

/// Why nothing was committed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommitError {
    /// By git.
    #[error("{0}")]
    Git(#[from] GitError),
    /// By the configuration.
    #[error("{0}")]
    Settings(#[from] SettingsError),
    /// By the lock of the index.
    #[error("{0}")]
    Lock(#[from] LockError),
    /// By a temporary file or the index.
    #[error("prepare the commit: {0}")]
    Io(#[from] io::Error),
    /// `HEAD` is not a commit and not the branch of a new repository.
    #[error("HEAD leads to something that git does not take for a commit")]
    Damaged,
    /// Somebody staged something while the commit was made.
    #[error("the index of the repository changed meanwhile")]
    Staged,
}

impl From<CommitError> for HookError {
    fn from(error: CommitError) -> Self {
        Self::Failed { message: format!("commit the agent's changes: {error}") }
    }
}

/// Commits those of the candidates that the agent alone changed.
pub(crate) async fn commit(git: &Git<'_>, repository: &Repository, work: &Work<'_>) -> Result<Committed, CommitError> {
    IndexLock::check_free(&repository.git_dir)?;
    let head = head_of(git, repository).await?;
    let found = Found::look(git, repository, work).await?;
    let mut decisions = found.decide_all(work, &found.taken_for_head());
    let is_clear = decisions.iter().all(|decision| matches!(decision, Decision::Commit(_)));
    let mut done = Committed::default();
    let mut draft = None;
    if is_clear {
        let mut written = write(git, head.as_deref(), work, &decisions, &found.asked(work)).await?;
        done.is_recorded = written.is_recorded;
        let real = found.decide_all(work, &std::mem::take(&mut written.in_head));
        if real == decisions {
            draft = Some(written);
        }
        decisions = real;
    } else if let Some(head) = &head {
        let paths: Vec<&str> = found.asked(work);
        decisions = found.decide_all(work, &query::in_commit(git, head, &paths).await?);
    } else {
        decisions = found.decide_all(work, &BTreeMap::new());
    }

    for (candidate, decision) in work.candidates.iter().zip(&decisions) {
        if let Decision::LeaveOut(reason) = decision {
            done.notes.push(format!("{} was not committed: {reason}", candidate.path));
        }
    }
    if !decisions.iter().any(|decision| matches!(decision, Decision::Commit(_))) {
        if is_clear {
            discard(git).await;
        }
        return Ok(done);
    }
    let written = match draft {
        Some(written) => written,
        None => {
            let record = work.record.filter(|_| !done.is_recorded);
            let written = write(git, head.as_deref(), &Work { record, ..*work }, &decisions, &[]).await?;
            done.is_recorded |= written.is_recorded;
            written
        }
    };
    let message = message_of(git, work, &decisions);
    let subject = message.lines().next().unwrap_or_default().to_owned();
    let commit = CommitInfo { id: written.id, subject, stat: None };
    if let Err(error) = publish(git, repository, &found, head.as_deref(), &commit, &entries(work, &decisions)).await {
        discard(git).await;
        return Err(error);
    }
    done.commit = Some((commit, head));
    Ok(done)
}

/// The commit at `HEAD`. Where no file says it, git is asked.
async fn head_of(git: &Git<'_>, repository: &Repository) -> Result<Option<String>, CommitError> {
    let mark = repository.head_mark();
    if let Some(head) = repository.head_commit(&mark) {
        return Ok(Some(head));
    }
    if !mark.leads_somewhere() && !mark.needs_git() {
        return Ok(None);
    }
    let head = watch::head_commit(git).await?;
    if head.is_none() && mark.leads_somewhere() { Err(CommitError::Damaged) } else { Ok(head) }
}

/// What is known of the candidates, but for what `HEAD` has.
struct Found {
    /// The bytes of the index that it was read from.
    index: Option<Vec<u8>>,
    staged: BTreeMap<String, Staged>,
    conversions: BTreeMap<String, Conversion>,
    ignored: BTreeSet<String>,
}

impl Found {
    async fn look(git: &Git<'_>, repository: &Repository, work: &Work<'_>) -> Result<Self, CommitError> {
        let paths: Vec<&str> = work.candidates.iter().map(|candidate| candidate.git_path.as_str()).collect();
        let attribute_files = attributes::names(&paths);
        let mut wanted: BTreeSet<&str> = with_parents(&paths).into_iter().collect();
        wanted.extend(attribute_files.iter().map(String::as_str));
        let index = index_lock::read(&repository.git_dir)?;
        let staged = match &index {
            None => BTreeMap::new(),
            Some(bytes) => match Index::read(bytes, work.settings.format) {
                Some(index) => index.at(&wanted),
                None => query::in_index(git, &wanted.into_iter().collect::<Vec<_>>()).await?,
            },
        };
        let has_carriage_returns =
            work.candidates.iter().any(|candidate| candidate.now.bytes().is_some_and(|bytes| bytes.contains(&b'\r')));
        let is_staged = |path: &str| staged.contains_key(path);
        let conversions = if attributes::may_convert(repository, work.settings, &paths, is_staged, has_carriage_returns)
        {
            query::conversions(git, &paths).await?
        } else {
            BTreeMap::new()
        };
        let new: Vec<&str> = paths.iter().copied().filter(|path| !staged.contains_key(*path)).collect();
        let ignored = match ignored::ignored(repository, work.settings, &new) {
            Some(ignored) => ignored,
            None => query::ignored(git, &new).await?,
        };
        Ok(Self { index, staged, conversions, ignored })
    }

    /// What `HEAD` has if nothing is staged.
    fn taken_for_head(&self) -> BTreeMap<String, Entry> {
        let entries = self.staged.iter().filter_map(|(path, staged)| match staged {
            Staged::Entry(entry) => Some((path.clone(), entry.clone())),
            Staged::Special => None,
        });
        entries.collect()
    }

    /// The paths of which has to be known what `HEAD` has.
    fn asked<'a>(&self, work: &Work<'a>) -> Vec<&'a str> {
        with_parents(&work.candidates.iter().map(|candidate| candidate.git_path.as_str()).collect::<Vec<_>>())
    }

    fn decide_all(&self, work: &Work<'_>, in_head: &BTreeMap<String, Entry>) -> Vec<Decision> {
        work.candidates.iter().map(|candidate| self.decide_one(work.settings, in_head, candidate)).collect()
    }

    fn decide_one(&self, settings: &Settings, in_head: &BTreeMap<String, Entry>, candidate: &Candidate) -> Decision {
        let path = candidate.git_path.as_str();
        let head = in_head.get(path);
        let conversion = self.conversions.get(path).copied().unwrap_or_default();
        let below_entry = parents(path).any(|parent| in_head.get(parent).is_some_and(|entry| entry.mode != DIRECTORY));
        decide(&Facts {
            head: head.cloned(),
            staged: self.staged.get(path).cloned(),
            before: candidate.before.iter().map(|image| version_of(image, head, settings)).collect(),
            now: version_of(&candidate.now, head, settings),
            below_entry,
            ignored: self.ignored.contains(path),
            converted: candidate.now.bytes().is_some_and(|bytes| converts(bytes, conversion, settings)),
        })
    }

    /// Whether the index, read anew, still has at these paths what was found.
    fn still_holds(&self, index: Option<&Index<'_>>, bytes: Option<&Vec<u8>>, paths: &BTreeSet<&str>) -> bool {
        match index {
            _ if bytes == self.index.as_ref() => true,
            Some(index) => {
                let now = index.at(paths);
                paths.iter().all(|path| now.get(*path) == self.staged.get(*path))
            }
            None => false,
        }
    }
}

/// What git would keep of an image. Where the executable bit does not count, it stays as in `HEAD`.
fn version_of(image: &Image, head: Option<&Entry>, settings: &Settings) -> Version {
    let kept_mode = head.map_or(Entry::FILE, |head| head.mode);
    let mode = match image {
        Image::Absent => return Version::Absent,
        Image::Opaque(reason) => return Version::Opaque(reason),
        Image::Link(_) => Entry::LINK,
        Image::File { .. } if !settings.executable_bit && kept_mode != Entry::LINK => kept_mode,
        Image::File { executable: true, .. } => Entry::EXECUTABLE,
        Image::File { executable: false, .. } => Entry::FILE,
    };
    let id = image.bytes().map(|bytes| settings.format.blob(bytes));
    id.map_or(Version::Absent, |id| Version::Entry(Entry { mode, id }))
}

/// The paths that are committed, and how they are kept; nothing for a deletion.
fn entries<'a>(work: &Work<'a>, decisions: &'a [Decision]) -> BTreeMap<&'a str, Option<&'a Entry>> {
    let chosen = work.candidates.iter().zip(decisions).filter_map(|(candidate, decision)| match decision {
        Decision::Commit(entry) => Some((candidate.git_path.as_str(), entry.as_ref())),
        Decision::Nothing | Decision::LeaveOut(_) => None,
    });
    chosen.collect()
}

fn message_of(git: &Git<'_>, work: &Work<'_>, decisions: &[Decision]) -> String {
    let chosen = work.candidates.iter().zip(decisions).filter(|(_, decision)| matches!(decision, Decision::Commit(_)));
    let paths: Vec<&str> = chosen.map(|(candidate, _)| candidate.path.as_str()).collect();
    message::message(work.intent, &paths, git.config.trailer.as_deref())
}

/// Writes the objects and the commit. Nothing of the user's refers to them yet.
async fn write(
    git: &Git<'_>,
    head: Option<&str>,
    work: &Work<'_>,
    decisions: &[Decision],
    asked: &[&str],
) -> Result<draft::Written, CommitError> {
    let message = message_of(git, work, decisions);
    let author = git.config.identity.clone().or_else(|| work.settings.identity.clone()).unwrap_or_else(Identity::agent);
    let files = work.candidates.iter().zip(decisions).filter_map(|(candidate, decision)| match decision {
        Decision::Commit(entry) => {
            Some((candidate.git_path.as_str(), entry.as_ref().map(|entry| (entry.mode, &candidate.now))))
        }
        Decision::Nothing | Decision::LeaveOut(_) => None,
    });
    let draft = Draft {
        head,
        message: &message,
        author: &author,
        files: files.collect(),
        asked: asked.to_vec(),
        record: work.record,
    };
    match draft::write(git, &draft).await {
        // A record that cannot be used is no reason not to commit.
        Err(GitError::Failed { .. }) if draft.record.is_some() => {
            Ok(draft::write(git, &Draft { record: None, ..draft }).await?)
        }
        written => Ok(written?),
    }
}

/// Moves the branch and the user's index. From here on it is not interrupted: it takes milliseconds, and half of it would show the user
/// the agent's commit as undone in the index.
async fn publish(
    git: &Git<'_>,
    repository: &Repository,
    found: &Found,
    head: Option<&str>,
    commit: &CommitInfo,
    entries: &BTreeMap<&str, Option<&Entry>>,
) -> Result<(), CommitError> {
    let git = git.uninterrupted();
    let lock = IndexLock::take(&repository.git_dir, &commit.id)?;
    let bytes = index_lock::read(&repository.git_dir)?;
    let format = if commit.id.len() == 64 { ObjectFormat::Sha256 } else { ObjectFormat::Sha1 };
    let empty = Index::empty(format);
    let index = Index::read(bytes.as_ref().unwrap_or(&empty), format);
    let paths = entries.keys().copied().collect();
    if !found.still_holds(index.as_ref(), bytes.as_ref(), &paths) {
        return Err(CommitError::Staged);
    }
    let content = match index.and_then(|index| index.with(entries)) {
        Some(content) => content,
        None => changed_by_git(&git, bytes.as_deref(), entries, &format.none()).await?,
    };
    lock.prepare(&content)?;
    let none = format.none();
    let (id, expected) = (&commit.id, head.unwrap_or(&none));
    let lines = format!("update HEAD {id} {expected}\ndelete {DRAFT} {id}\n");
    let reason = format!("commit: {}", commit.subject);
    git.run(&["update-ref", "--create-reflog", "-m", &reason, "--stdin"], lines.into_bytes()).await?;
    lock.publish()?;
    Ok(())
}

/// Forgets a commit that is not published. Where that fails, the next one takes its place.
async fn discard(git: &Git<'_>) {
    drop(git.uninterrupted().run(&["update-ref", "-d", DRAFT], Vec::new()).await);
}

/// An index that is only understood by git, changed on a copy.
async fn changed_by_git(
    git: &Git<'_>,
    bytes: Option<&[u8]>,
    entries: &BTreeMap<&str, Option<&Entry>>,
    none: &str,
) -> Result<Vec<u8>, CommitError> {
    let scratch = tempfile::Builder::new().prefix("agent-hooks-").tempdir()?;
    let copy = scratch.path().join("index");
    if let Some(bytes) = bytes {
        std::fs::write(&copy, bytes)?;
    }
    let mut lines = String::new();
    for (path, entry) in entries {
        // Mode 0 removes an entry.
        let (mode, id) = entry.map_or((0, none), |entry| (entry.mode, &entry.id));
        lines.push_str(&format!("{mode:o} {id}\t{path}\0"));
    }
    let index = git.with_variable("GIT_INDEX_FILE", &copy.to_string_lossy());
    index.run(&["update-index", "-z", "--index-info"], lines.into_bytes()).await?;
    Ok(std::fs::read(&copy)?)
}

/// A directory in `HEAD`.
const DIRECTORY: u32 = 0o040_000;

fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

fn with_parents<'a>(paths: &[&'a str]) -> Vec<&'a str> {
    let mut all: Vec<&str> = paths.iter().flat_map(|path| parents(path).chain([*path])).collect();
    all.sort_unstable();
    all.dedup();
    all
}
