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

use crate::checkpoint;
use crate::config::Identity;
use crate::decide::Decision;
use crate::draft::{self, Draft};
use crate::gather::Found;
use crate::git::{Git, GitError};
use crate::image::Image;
use crate::index::{Index, NewEntries, NewEntry};
use crate::index_lock::{self, IndexLock, LockError};
use crate::message;
use crate::objects::ObjectFormat;
use crate::query::{self, Settings, SettingsError};
use crate::repository::Repository;
use crate::stat::FileStat;
use crate::tree::Tree;
use crate::watch;
use agent_types::hook::{CommitInfo, HookError};
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

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
    /// What the system said of it before it was read.
    pub(crate) stat: Option<FileStat>,
}

impl Candidate {
    /// How it is, and how it was.
    pub(crate) fn images(&self) -> impl Iterator<Item = &Image> {
        std::iter::once(&self.now).chain(&self.before)
    }
}

/// What will be committed, and with what.
pub(crate) struct Work<'a> {
    pub(crate) candidates: &'a [Candidate],
    /// What the model said.
    pub(crate) intent: &'a str,
    /// The record of the turn as git imports it, if it is not stored yet.
    pub(crate) record: Option<&'a [u8]>,
    pub(crate) settings: &'a Settings,
}

/// The result of committing.
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
    #[error("git does not accept HEAD as a commit")]
    Damaged,
    /// A file that git reads for the commit is a pipe, say.
    #[error("`{0}` is neither a file nor a directory")]
    Odd(String),
    /// Something was staged while the commit was made.
    #[error("the repository's index changed meanwhile")]
    Staged,
}

impl From<CommitError> for HookError {
    fn from(error: CommitError) -> Self {
        Self::Failed { message: format!("commit the agent's changes: {error}") }
    }
}

/// Commits those of the candidates that the agent alone changed.
pub(crate) async fn commit(git: &Git<'_>, repository: &Repository, work: &Work<'_>) -> Result<Committed, CommitError> {
    if IndexLock::check_free(repository).is_err() {
        // An agent may have been killed since this one began.
        index_lock::recover(repository);
        IndexLock::check_free(repository)?;
    }
    let head = head_of(git, repository).await?;
    let found = Found::look(git, repository, work).await?;
    let mut decisions = found.decide_all(work, &found.taken_for_head());
    let is_clear = decisions.iter().all(|decision| matches!(decision, Decision::Commit(_)));
    let mut done = Committed::default();
    let (mut draft, mut abandoned) = (None, None);
    if is_clear {
        let mut written = write(git, head.as_deref(), work, &decisions, &found.asked(work)).await?;
        done.is_recorded = written.is_recorded;
        let real = found.decide_all(work, &std::mem::take(&mut written.in_head));
        if real == decisions {
            draft = Some(written);
        } else {
            abandoned = Some(written.draft);
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
    if let Some(name) = abandoned {
        discard(git, &name).await;
    }
    if !decisions.iter().any(|decision| matches!(decision, Decision::Commit(_))) {
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
    let commit = CommitInfo { id: written.id.clone(), subject, stat: None };
    let published = Published { head: head.as_deref(), commit: &commit, draft: &written.draft };
    if let Err(error) = publish(git, repository, &found, &published, &entries(work, &decisions)).await {
        discard(git, &written.draft).await;
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

/// The paths that are committed, and how they are kept; nothing for a deletion.
fn entries<'a>(work: &Work<'a>, decisions: &'a [Decision]) -> NewEntries<'a> {
    let chosen = work.candidates.iter().zip(decisions).filter_map(|(candidate, decision)| match decision {
        Decision::Commit(entry) => {
            let new = entry.as_ref().map(|entry| NewEntry { entry, stat: candidate.stat });
            Some((candidate.git_path.as_str(), new))
        }
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

/// What is published, on top of what.
struct Published<'a> {
    head: Option<&'a str>,
    commit: &'a CommitInfo,
    draft: &'a str,
}

/// Moves the branch and the user's index. From here on it is not interrupted: it takes milliseconds, and half of it would show the user
/// the agent's commit as undone in the index.
async fn publish(
    git: &Git<'_>,
    repository: &Repository,
    found: &Found,
    published: &Published<'_>,
    entries: &NewEntries<'_>,
) -> Result<(), CommitError> {
    let Published { head, commit, draft } = published;
    let git = git.uninterrupted();
    let lock = IndexLock::take(repository, &commit.id)?;
    let bytes = index_lock::read(repository)?;
    let format = if commit.id.len() == 64 { ObjectFormat::Sha256 } else { ObjectFormat::Sha1 };
    let empty = Index::empty(format);
    let index = Index::read(bytes.as_ref().unwrap_or(&empty), format);
    let paths = entries.keys().copied().collect();
    if !found.still_holds(index.as_ref(), bytes.as_ref(), &paths) {
        return Err(CommitError::Staged);
    }
    let content = match index.and_then(|index| index.with(entries)) {
        Some(content) => content,
        None => changed_by_git(&git, repository, bytes.as_deref(), entries, &format.none()).await?,
    };
    let oldest = entries.values().flatten().filter_map(|new| new.stat).map(|stat| stat.modified()).min();
    lock.prepare(&content, oldest)?;
    let none = format.none();
    let (id, expected) = (&commit.id, head.unwrap_or(&none));
    let lines = format!("update HEAD {id} {expected}\ndelete {draft} {id}\n");
    let reason = format!("commit: {}", commit.subject);
    git.run(&["update-ref", "--create-reflog", "-m", &reason, "--stdin"], lines.into_bytes()).await?;
    lock.publish()?;
    Ok(())
}

/// Forgets a commit that is not published. Where that fails, it goes after a while.
async fn discard(git: &Git<'_>, draft: &str) {
    drop(git.uninterrupted().run(&["update-ref", "-d", draft], Vec::new()).await);
}

/// An index that is only understood by git, changed on a copy.
async fn changed_by_git(
    git: &Git<'_>,
    repository: &Repository,
    bytes: Option<&[u8]>,
    entries: &NewEntries<'_>,
    none: &str,
) -> Result<Vec<u8>, CommitError> {
    let copy = Scratch::make(&repository.own, bytes)?;
    let mut lines = String::new();
    for (path, entry) in entries {
        // Mode 0 removes an entry.
        let (mode, id) = entry.map_or((0, none), |new| (new.entry.mode, &new.entry.id));
        lines.push_str(&format!("{mode:o} {id}\t{path}\0"));
    }
    let index = git.with_variable("GIT_INDEX_FILE", &copy.absolute().to_string_lossy());
    index.run(&["update-index", "-z", "--index-info"], lines.into_bytes()).await?;
    Ok(copy.read()?)
}

/// A copy of the index in the repository's own directory, the only one that git may write. It goes when this goes.
struct Scratch<'a> {
    own: &'a Tree,
    path: PathBuf,
}

impl<'a> Scratch<'a> {
    /// Without an index there is no copy either: git begins one.
    fn make(own: &'a Tree, bytes: Option<&[u8]>) -> io::Result<Self> {
        own.make_directory(Path::new("agent"))?;
        let made = Self { own, path: Path::new("agent").join(format!("{}.index", checkpoint::new_name())) };
        if let Some(bytes) = bytes {
            let mut file = own.make_private(&made.path)?;
            file.write_all(bytes)?;
            // By the index's time git knows which entries it has to mark as uncertain.
            file.set_modified(index_lock::modified(own)?)?;
        }
        Ok(made)
    }

    fn absolute(&self) -> PathBuf {
        self.own.path().join(&self.path)
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        self.own.read(&self.path, index_lock::LIMIT_BYTES)?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        drop(self.own.remove(&self.path));
    }
}
