//! Takes back what the agent changed in its last turns, and destroys nothing.
//!
//! Every path goes back to how it was before, if it is still as the agent left it. A path that others changed since stays as it is, and is
//! said. Before anything is touched, how it is now is kept as a turn of its own: undoing again takes the undo back. Only files are
//! written: commits stay, and so does the index.
//!
//! The record of an undo says that it has not ended until all files are done. One that was stopped before is no turn: the next undo goes
//! back through it, whichever of its files it had done, and takes its place.

mod plan;

use crate::checkpoint::{self, Change, FOLDER, ImportError, Turn};
use crate::config::HooksConfig;
use crate::git::{Git, GitError};
use crate::image::Image;
use crate::repository::{Discovery, Repository};
use crate::tree::Replaced;
use agent_types::ports::{CancelSignal, CommandRunner};
use plan::{Due, Plan};
use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::Arc;

/// Turns that are looked at and passed over because they changed nothing.
const TURNS_WITHOUT_EFFECT: usize = 100;
/// More than are ever kept.
const ALL_TURNS: usize = 10_000;

/// The result of an undo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Undone {
    /// Turns that were taken back; fewer than asked for when no more are kept.
    pub turns: usize,
    /// How many of these were undos themselves, which are reversed.
    pub undos: usize,
    /// Files that are as before again, relative to the root of the working tree.
    pub restored: Vec<String>,
    /// Files that the agent had made and that are gone again.
    pub removed: Vec<String>,
    /// Files that were left as they are, and why. A full disk may have kept the number of some only (`3 more files`).
    pub left: Vec<(String, String)>,
    /// Commands of those turns. What they changed is not known and stays.
    pub commands: Vec<String>,
    /// Further messages for the user.
    pub notes: Vec<String>,
    /// Where it was only looked: each file that would change, with what would be in it and what is in it now; nothing where there is no
    /// file, or none with content.
    pub contents: Vec<Contents>,
}

/// A path, what would be in its file, and what is in it.
pub type Contents = (String, Option<Arc<[u8]>>, Option<Arc<[u8]>>);

/// Why nothing was taken back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UndoError {
    /// Turns are kept in git repositories only.
    #[error("undo: {0} is not in a git repository with a working tree, which undo needs")]
    NoRepository(String),
    /// Nothing exists there.
    #[error("undo: there is no turn of the agent to undo here")]
    NoTurn,
    /// There are some, and none that can be used.
    #[error("undo: none of the agent's turns here can be undone: {0}")]
    NoUsableTurn(String),
    /// The system or git did not do its part.
    #[error("undo: {0}")]
    Failed(String),
}

impl From<GitError> for UndoError {
    fn from(error: GitError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<ImportError> for UndoError {
    fn from(error: ImportError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Takes the last `turns` turns of the working tree at `config.workspace` back, the newest first. An undo is a turn itself.
///
/// # Errors
/// [`UndoError`]; then no file was touched, except for `Failed` with the name of a file, before which others may have been restored: their
/// former content is kept, and undoing again restores them all.
pub async fn undo(
    config: &HooksConfig,
    runner: &dyn CommandRunner,
    turns: usize,
    cancel: &dyn CancelSignal,
) -> Result<Undone, UndoError> {
    take_back(config, runner, Which::Last(turns), false, cancel).await
}

/// Takes back the turns that began to change files at a time that is meant, in milliseconds since the Unix epoch: those of one session, for
/// example. Others between them stay, and so do files that they changed. With `only_look` nothing is touched: what would become of each
/// file.
///
/// # Errors
/// As [`undo`].
pub async fn undo_begun(
    config: &HooksConfig,
    runner: &dyn CommandRunner,
    is_meant: &(dyn Fn(u64) -> bool + Sync),
    only_look: bool,
    cancel: &dyn CancelSignal,
) -> Result<Undone, UndoError> {
    take_back(config, runner, Which::Begun(is_meant), only_look, cancel).await
}

/// The turns that are meant.
#[derive(Clone, Copy)]
enum Which<'a> {
    Last(usize),
    Begun(&'a (dyn Fn(u64) -> bool + Sync)),
}

impl Which<'_> {
    /// How many names of turns are looked at.
    const fn names(self) -> usize {
        match self {
            Self::Last(turns) => turns.saturating_add(TURNS_WITHOUT_EFFECT),
            Self::Begun(_) => ALL_TURNS,
        }
    }

    /// Whether nothing more is meant.
    const fn has_enough(self, turns: usize) -> bool {
        matches!(self, Self::Last(most) if most == turns)
    }

    fn is_meant(self, name: &str) -> bool {
        match self {
            Self::Last(_) => true,
            Self::Begun(is_meant) => checkpoint::began_ms(name).is_some_and(is_meant),
        }
    }
}

async fn take_back(
    config: &HooksConfig,
    runner: &dyn CommandRunner,
    which: Which<'_>,
    only_look: bool,
    cancel: &dyn CancelSignal,
) -> Result<Undone, UndoError> {
    let workspace = config.workspace.canonicalize().unwrap_or_else(|_| config.workspace.clone());
    let Discovery::Found(repository) = Discovery::look(&workspace) else {
        return Err(UndoError::NoRepository(config.workspace.display().to_string()));
    };
    if let Some(why) = repository.refusal() {
        return Err(UndoError::Failed(why));
    }
    let git = Git { config, runner, directory: &repository.top, cancel, environment: Vec::new() };
    let mut undone = Undone { notes: checkpoint::import_left_behind(&git, &repository).await, ..Undone::default() };
    let (plan, passed) = planned(&git, &repository, which, &mut undone).await?;
    if undone.turns == 0 {
        return Err(if undone.notes.is_empty() {
            UndoError::NoTurn
        } else {
            UndoError::NoUsableTurn(undone.notes.join("; "))
        });
    }
    if !passed.is_empty() && !only_look {
        undone.notes.push(STOPPED.to_owned());
    }
    let due = plan.due(&repository, config, &mut undone);
    if only_look {
        look_only(due, &mut undone);
        return Ok(undone);
    }
    let mut turn = Turn::of_undo(config);
    keep(&mut turn, &git, &repository, &due).await?;
    let has_record = !due.is_empty();
    restore(&repository, due, &mut undone)?;
    if let Err(error) = end(&mut turn, has_record, &git, &repository, &passed).await {
        undone.notes.push(format!("{NOT_ENDED}: {error}"));
    }
    Ok(undone)
}

/// Looks how far back each path goes, and through which undos that were stopped.
async fn planned(
    git: &Git<'_>,
    repository: &Repository,
    which: Which<'_>,
    undone: &mut Undone,
) -> Result<(Plan, Vec<String>), UndoError> {
    let mut plan = Plan::default();
    // Undos that were stopped: those before which nothing that is meant has come yet, and those that the plan goes back through.
    let (mut stopped, mut passed) = (Vec::new(), Vec::new());
    let names = checkpoint::list(git, which.names()).await?;
    for name in checkpoint::unlisted(repository, &names, which.names()) {
        undone.notes.push(passed_over(&name, "git does not list it"));
    }
    let unfinished = checkpoint::unfinished(git, &names).await?;
    for name in names {
        if which.has_enough(undone.turns) {
            break;
        }
        if !which.is_meant(&name) && !unfinished.contains(&name) {
            continue;
        }
        let change = match checkpoint::load(git, &name).await {
            Ok(change) => change,
            Err(error @ (ImportError::Git(GitError::Failed { .. }) | ImportError::Foreign)) => {
                undone.notes.push(passed_over(&name, &error.to_string()));
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        if change.is_unfinished {
            stopped.push((name, change));
        } else if has_effect(&change, repository) {
            undone.turns += 1;
            undone.undos += usize::from(change.is_undo);
            for (name, change) in stopped.drain(..) {
                plan.pass_through(change);
                passed.push(name);
            }
            plan.go_back(&name, change, undone);
        }
    }
    Ok((plan, passed))
}

fn restore(repository: &Repository, due: Vec<Due>, undone: &mut Undone) -> Result<(), UndoError> {
    let staging = repository.own.make_directory(Path::new(FOLDER));
    let staging = staging.map_err(|error| UndoError::Failed(format!("open the agent's folder in `.git`: {error}")))?;
    for Due { path, now, target, mode, .. } in due {
        if now != target {
            let restored = repository.files.restore(Some(staging.as_fd()), Path::new(&path), &now, &target, mode);
            if restored.map_err(|error| UndoError::Failed(format!("restore {path}: {error}")))? == Replaced::No {
                undone.left.push((path, "it is just being changed".to_owned()));
                continue;
            }
        }
        match target {
            Image::Absent => undone.removed.push(path),
            _ => undone.restored.push(path),
        }
    }
    Ok(())
}

/// What would become of each file.
fn look_only(due: Vec<Due>, undone: &mut Undone) {
    for Due { path, now, target, .. } in due.into_iter().filter(|due| due.now != due.target) {
        undone.contents.push((path.clone(), target.bytes().cloned(), now.bytes().cloned()));
        match target {
            Image::Absent => undone.removed.push(path),
            _ => undone.restored.push(path),
        }
    }
}

fn passed_over(turn: &str, why: &str) -> String {
    format!("skipped the turn {turn}, which cannot be read: {why}")
}

/// Whether the turn changed a file: calls that were denied or failed keep something too.
fn has_effect(change: &Change, repository: &Repository) -> bool {
    !change.unkept.is_empty()
        || change.unnamed > 0
        || !change.mixed.is_empty()
        || change.before.iter().any(|(path, before)| match change.after.get(path) {
            Some(after) => after != before,
            None => repository.files.image(path) != *before,
        })
}

/// Keeps how the files are now and how they will be, as a turn of its own that has not ended.
async fn keep(turn: &mut Turn, git: &Git<'_>, repository: &Repository, due: &[Due]) -> Result<(), UndoError> {
    let failed = |error: io::Error| UndoError::Failed(format!("record the files as they are now: {error}"));
    for Due { path, was, was_mode, .. } in due {
        turn.before_with(repository, path, was, *was_mode).map_err(failed)?;
    }
    let targets = due.iter().map(|due| (due.path.as_str(), due.target.clone()));
    if let Some(record) = turn.after(repository, targets).map_err(failed)? {
        checkpoint::store(git, repository, &record).await?;
        // What it takes to say that it has ended has its room on the disk now.
        turn.stored(repository, &record);
    }
    Ok(())
}

/// The undo has ended: it is a turn from here on, in place of those that were stopped.
async fn end(
    turn: &mut Turn,
    has_record: bool,
    git: &Git<'_>,
    repository: &Repository,
    passed: &[String],
) -> Result<(), UndoError> {
    // It is not stopped in between: what it began it ends.
    let git = git.uninterrupted();
    if has_record {
        let failed = |error: io::Error| UndoError::Failed(format!("record that the undo has ended: {error}"));
        let record = turn.undo_ended(repository).map_err(failed)?;
        checkpoint::store(&git, repository, &record).await?;
    }
    Ok(checkpoint::delete(&git, passed).await?)
}

const STOPPED: &str =
    "an undo before was stopped before it ended: it does not count as a turn, and this undo takes its place";
const NOT_ENDED: &str = "the files are restored, but the next undo will not reverse this, for it cannot be recorded";
