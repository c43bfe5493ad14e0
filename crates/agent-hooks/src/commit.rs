//! Commits exactly what the agent changed, with plumbing and an index of its own.
//!
//! ```text
//! lock the user's index
//! gather     what HEAD, the index, the attributes and the working tree have at the paths
//! decide     path by path (see `decide`)
//! write      objects, then a tree from HEAD and the decided paths, then the commit
//! publish    the branch, only if it is still where it was; then the user's index, in which only the decided paths differ
//! ```
//!
//! The working tree is only read. The user's index moves with the branch, so that the committed paths are clean afterwards; every
//! other entry stays as it is.

use crate::config::Identity;
use crate::decide::{Decision, Facts, Version, converts, decide};
use crate::git::{Git, GitError};
use crate::image::Image;
use crate::index_lock::{IndexLock, LockError};
use crate::message;
use crate::query::{self, Entry, Settings};
use crate::repository::Repository;
use crate::watch;
use agent_core::hook::{CommitInfo, HookError};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use tempfile::TempDir;

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

/// What committing came to.
#[derive(Debug, Default)]
pub(crate) struct Committed {
    /// The commit, with its parent.
    pub(crate) commit: Option<(CommitInfo, Option<String>)>,
    /// What was left out and why.
    pub(crate) notes: Vec<String>,
}

/// Why nothing was committed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommitError {
    /// By git.
    #[error("{0}")]
    Git(#[from] GitError),
    /// By the lock of the index.
    #[error("{0}")]
    Lock(#[from] LockError),
    /// By a temporary file or the index.
    #[error("prepare the commit: {0}")]
    Io(#[from] io::Error),
    /// `HEAD` is not a commit and not the branch of a new repository.
    #[error("HEAD leads to something that git does not take for a commit")]
    Damaged,
    /// Git would work in another repository than the files say.
    #[error("git takes {found} for the repository of this directory")]
    OtherRepository {
        /// What git named.
        found: String,
    },
}

impl From<CommitError> for HookError {
    fn from(error: CommitError) -> Self {
        Self::Failed { message: format!("commit the agent's changes: {error}") }
    }
}

/// Commits those of the candidates that the agent alone changed.
pub(crate) async fn commit(
    git: &Git<'_>,
    repository: &Repository,
    candidates: &[Candidate],
    intent: &str,
) -> Result<Committed, CommitError> {
    check_same_repository(git, repository).await?;
    let lock = IndexLock::take(&repository.git_dir)?;
    let scratch = Scratch::new()?;
    let head = watch::head_commit(git).await?;
    if head.is_none() && repository.head_mark().leads_somewhere() {
        return Err(CommitError::Damaged);
    }
    let settings = query::settings(git).await?;
    let decisions = gather_and_decide(git, &scratch, head.as_deref(), &settings, candidates).await?;

    let mut done = Committed::default();
    let mut chosen = Vec::new();
    for (candidate, decision) in candidates.iter().zip(decisions) {
        match decision {
            Decision::Nothing => {}
            Decision::LeaveOut(reason) => done.notes.push(format!("{} was not committed: {reason}", candidate.path)),
            Decision::Commit(entry) => chosen.push((candidate, entry)),
        }
    }
    if chosen.is_empty() {
        return Ok(done);
    }
    let commit = write_commit(git, &scratch, head.as_deref(), &settings, &chosen, intent).await?;
    publish(git, &scratch, lock, head.as_deref(), &commit, &chosen).await?;
    done.commit = Some((commit, head));
    Ok(done)
}

/// A path that is committed, and how it is kept; nothing for a deletion.
type Chosen<'a> = (&'a Candidate, Option<Entry>);

/// The configuration of a repository can name another working tree (`core.worktree`); nothing is committed then.
async fn check_same_repository(git: &Git<'_>, repository: &Repository) -> Result<(), CommitError> {
    let found = git.line(&["rev-parse", "--absolute-git-dir", "--show-toplevel"], Vec::new()).await?;
    let same = |line: Option<&str>, expected: &Path| {
        line.is_some_and(|line| Path::new(line).canonicalize().is_ok_and(|found| found == expected))
    };
    let mut lines = found.lines();
    let expected = repository.top.canonicalize()?;
    if same(lines.next(), &repository.git_dir) && same(lines.next(), &expected) {
        return Ok(());
    }
    Err(CommitError::OtherRepository { found: found.replace('\n', " with ") })
}

async fn gather_and_decide(
    git: &Git<'_>,
    scratch: &Scratch,
    head: Option<&str>,
    settings: &Settings,
    candidates: &[Candidate],
) -> Result<Vec<Decision>, CommitError> {
    let paths: Vec<&str> = candidates.iter().map(|candidate| candidate.git_path.as_str()).collect();
    let in_head = match head {
        Some(head) => query::in_commit(git, head, &with_parents(&paths)).await?,
        None => BTreeMap::new(),
    };
    let in_index = query::in_index(git, &paths).await?;
    let conversions = query::conversions(git, &paths).await?;
    let below_entry =
        |path: &str| parents(path).any(|parent| in_head.get(parent).is_some_and(|entry| entry.mode != DIRECTORY));
    let new: Vec<&str> = paths
        .iter()
        .copied()
        .filter(|path| !in_head.contains_key(*path) && !in_index.contains_key(*path) && !below_entry(path))
        .collect();
    let ignored = query::ignored(git, &new).await?;

    let images: Vec<&Image> =
        candidates.iter().flat_map(|candidate| candidate.before.iter().chain([&candidate.now])).collect();
    let mut ids = scratch.object_ids(git, &images, false).await?.into_iter();
    let mut decisions = Vec::new();
    for candidate in candidates {
        let path = candidate.git_path.as_str();
        let head = in_head.get(path);
        let mut version = |image: &Image| version_of(image, ids.next().flatten(), head, settings);
        let before = candidate.before.iter().map(&mut version).collect();
        let now = version(&candidate.now);
        let conversion = conversions.get(path).copied().unwrap_or_default();
        let converted = candidate.now.bytes().is_some_and(|bytes| converts(bytes, conversion, settings));
        decisions.push(decide(&Facts {
            head: head.cloned(),
            staged: in_index.get(path).cloned(),
            before,
            now,
            below_entry: below_entry(path),
            ignored: ignored.contains(path),
            converted,
        }));
    }
    Ok(decisions)
}

/// What git would keep of an image. Where the executable bit does not count, it stays as in `HEAD`.
fn version_of(image: &Image, id: Option<String>, head: Option<&Entry>, settings: &Settings) -> Version {
    let kept_mode = head.map_or(Entry::FILE, |head| head.mode);
    let mode = match image {
        Image::Absent => return Version::Absent,
        Image::Opaque(reason) => return Version::Opaque(reason),
        Image::Link(_) => Entry::LINK,
        Image::File { .. } if !settings.executable_bit && kept_mode != Entry::LINK => kept_mode,
        Image::File { executable: true, .. } => Entry::EXECUTABLE,
        Image::File { executable: false, .. } => Entry::FILE,
    };
    id.map_or(Version::Opaque("git gave it no object id"), |id| Version::Entry(Entry { mode, id }))
}

/// Writes the objects: contents, tree, commit. Nothing refers to them yet.
async fn write_commit(
    git: &Git<'_>,
    scratch: &Scratch,
    head: Option<&str>,
    settings: &Settings,
    chosen: &[Chosen<'_>],
    intent: &str,
) -> Result<CommitInfo, CommitError> {
    let contents: Vec<&Image> = chosen.iter().map(|(candidate, _)| &candidate.now).collect();
    scratch.object_ids(git, &contents, true).await?;

    let index = git.with_variable("GIT_INDEX_FILE", &scratch.path("tree-index"));
    if let Some(head) = head {
        index.run(&["read-tree", head], Vec::new()).await?;
    }
    index.run(&["update-index", "-z", "--index-info"], index_info(chosen, head)).await?;
    let tree = index.line(&["write-tree"], Vec::new()).await?;

    let paths: Vec<&str> = chosen.iter().map(|(candidate, _)| candidate.path.as_str()).collect();
    let message = message::message(intent, &paths, git.config.trailer.as_deref());
    let mut arguments = vec!["commit-tree", &tree, "-F", "-"];
    arguments.extend(head.iter().flat_map(|head| ["-p", head]));
    let id = with_identity(git, settings).line(&arguments, message.clone().into_bytes()).await?;
    let subject = message.lines().next().unwrap_or_default().to_owned();
    Ok(CommitInfo { id, subject })
}

/// Moves the branch and the user's index. From here on it is not interrupted: it takes milliseconds, and half of it would show the user
/// the agent's commit as undone in the index.
async fn publish(
    git: &Git<'_>,
    scratch: &Scratch,
    lock: IndexLock,
    head: Option<&str>,
    commit: &CommitInfo,
    chosen: &[Chosen<'_>],
) -> Result<(), CommitError> {
    let git = git.uninterrupted();
    let copy = scratch.path("user-index");
    if let Some(content) = lock.read()? {
        std::fs::write(&copy, content)?;
    }
    let index = git.with_variable("GIT_INDEX_FILE", &copy);
    index.run(&["update-index", "-z", "--index-info"], index_info(chosen, head)).await?;
    lock.prepare(&std::fs::read(&copy)?)?;

    let reason = format!("commit: {}", commit.subject);
    let none = "0".repeat(commit.id.len());
    let expected = head.unwrap_or(&none);
    git.run(&["update-ref", "--create-reflog", "-m", &reason, "HEAD", &commit.id, expected], Vec::new()).await?;
    lock.publish()?;
    Ok(())
}

/// Lines for `update-index --index-info`; mode 0 removes an entry.
fn index_info(chosen: &[Chosen<'_>], head: Option<&str>) -> Vec<u8> {
    let none = "0".repeat(head.map_or(40, str::len));
    let mut lines = String::new();
    for (candidate, entry) in chosen {
        let (mode, id) = entry.as_ref().map_or((0, &none), |entry| (entry.mode, &entry.id));
        lines.push_str(&format!("{mode:o} {id}\t{}\0", candidate.git_path));
    }
    lines.into_bytes()
}

fn with_identity<'a>(git: &Git<'a>, settings: &Settings) -> Git<'a> {
    let identity = match &git.config.identity {
        Some(identity) => identity.clone(),
        None if settings.has_identity => return git.clone(),
        None => Identity::agent(),
    };
    git.with_variable("GIT_AUTHOR_NAME", &identity.name)
        .with_variable("GIT_AUTHOR_EMAIL", &identity.email)
        .with_variable("GIT_COMMITTER_NAME", &identity.name)
        .with_variable("GIT_COMMITTER_EMAIL", &identity.email)
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

/// A directory for temporary indexes and contents, removed at the end.
struct Scratch(TempDir);

impl Scratch {
    fn new() -> io::Result<Self> {
        tempfile::Builder::new().prefix("agent-hooks-").tempdir().map(Self)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_string_lossy().into_owned()
    }

    /// The object ids of the images, in order, by one call of git; the objects are written if asked.
    ///
    /// The images are what was read once; the files of the user could have changed since.
    async fn object_ids(
        &self,
        git: &Git<'_>,
        images: &[&Image],
        write: bool,
    ) -> Result<Vec<Option<String>>, CommitError> {
        let mut names = String::new();
        let mut positions = Vec::new();
        for image in images {
            let Some(bytes) = image.bytes() else {
                positions.push(false);
                continue;
            };
            let name = self.path(&format!("content-{}", positions.len()));
            std::fs::write(&name, bytes)?;
            names.push_str(&name);
            names.push('\n');
            positions.push(true);
        }
        let mut arguments = vec!["hash-object", "--no-filters", "--stdin-paths"];
        arguments.extend(write.then_some("-w"));
        let output = git.line(&arguments, names.into_bytes()).await?;
        let mut ids = output.lines().map(str::to_owned);
        Ok(positions.into_iter().map(|has_bytes| if has_bytes { ids.next() } else { None }).collect())
    }
}
