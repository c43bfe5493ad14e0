//! Takes back what the agent changed in its last turns, and destroys nothing.
//!
//! Every path goes back to how it was before, if it is still as the agent left it. A path that others changed since stays as it is, and is
//! said. Before anything is touched, how it is now is kept as a turn of its own: undoing again takes the undo back. Only files are
//! written: commits stay, and so does the index.

use crate::checkpoint::{self, Change, ImportError, Turn};
use crate::config::HooksConfig;
use crate::git::{Git, GitError};
use crate::image::Image;
use crate::paths;
use crate::repository::{Discovery, Repository};
use crate::tree::Replaced;
use agent_types::ports::{CancelSignal, CommandRunner};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
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
/// former content is kept, and undoing again brings it back.
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
    let mut plan = Plan::default();
    let names = checkpoint::list(&git, which.names()).await?;
    for name in checkpoint::unlisted(&repository, &names, which.names()) {
        undone.notes.push(passed_over(&name, "git does not list it"));
    }
    for name in names {
        if which.has_enough(undone.turns) {
            break;
        }
        if !which.is_meant(&name) {
            continue;
        }
        let change = match checkpoint::load(&git, &name).await {
            Ok(change) => change,
            Err(error @ (ImportError::Git(GitError::Failed { .. }) | ImportError::Foreign)) => {
                undone.notes.push(passed_over(&name, &error.to_string()));
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        if has_effect(&change, &repository) {
            undone.turns += 1;
            plan.go_back(&name, change, &mut undone);
        }
    }
    if undone.turns == 0 {
        return Err(if undone.notes.is_empty() {
            UndoError::NoTurn
        } else {
            UndoError::NoUsableTurn(undone.notes.join("; "))
        });
    }
    let due = plan.due(&repository, config, &mut undone);
    if !only_look {
        keep(&git, &repository, config, &due).await?;
    }
    for Due { path, now, target, mode } in due {
        if !only_look {
            let restored = repository.files.restore(Path::new(&path), &now, &target, mode);
            if restored.map_err(|error| UndoError::Failed(format!("restore {path}: {error}")))? == Replaced::No {
                undone.left.push((path, "it is just being changed".to_owned()));
                continue;
            }
        }
        if only_look {
            undone.contents.push((path.clone(), target.bytes().cloned(), now.bytes().cloned()));
        }
        match target {
            Image::Absent => undone.removed.push(path),
            _ => undone.restored.push(path),
        }
    }
    Ok(undone)
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

/// How far back each path goes.
#[derive(Default)]
struct Plan {
    paths: BTreeMap<String, Way>,
    /// Paths whose state before the newest turn that changed them is unknown.
    unkept: BTreeSet<String>,
}

struct Way {
    /// How the agent left it in the newest of the turns.
    expected: Left,
    /// How it is to be.
    target: Image,
    /// With these permissions, where they are not the usual ones.
    mode: Option<u32>,
    /// Others changed it between two of the turns: it cannot be taken further back.
    is_broken: bool,
}

/// How the agent left a file.
enum Left {
    So(Image),
    /// It was killed before it noted that, in the turn of this name.
    Unknown(String),
}

/// Where every version is of a file that someone else changed between two of the agent's changes.
fn kept_versions(turn: &str, path: &str, before: Option<&Image>, versions: &BTreeMap<usize, bool>) -> String {
    let before = match before {
        Some(Image::Absent) => "it was not there before".to_owned(),
        _ => format!("`git show {}` shows how it was before", checkpoint::kept_at(turn, path)),
    };
    let theirs: Vec<String> = versions
        .iter()
        .map(|(number, is_there)| match is_there {
            true => format!("`git show {}`", checkpoint::between_at(turn, *number, path)),
            false => "they removed it".to_owned(),
        })
        .collect();
    format!(
        "it was changed by someone else within the turn; {before}; what they made of it: {}",
        theirs.join(", then ")
    )
}

/// A path whose file changes.
struct Due {
    path: String,
    now: Image,
    target: Image,
    mode: Option<u32>,
}

impl Plan {
    /// Goes one turn further back.
    fn go_back(&mut self, turn: &str, mut change: Change, undone: &mut Undone) {
        undone.commands.append(&mut change.commands);
        match change.unnamed {
            0 => {}
            1 => undone.left.push(("one more file".to_owned(), UNNAMED.to_owned())),
            count => undone.left.push((format!("{count} more files"), UNNAMED.to_owned())),
        }
        let unkept = change.unkept.into_iter().map(|(path, why)| (path, format!("its old content is not kept: {why}")));
        let mixed: Vec<_> = std::mem::take(&mut change.mixed)
            .into_iter()
            .map(|(path, versions)| {
                let why = kept_versions(turn, &path, change.before.get(&path), &versions);
                (path, why)
            })
            .collect();
        for (path, why) in unkept.chain(mixed) {
            match self.paths.get_mut(&path) {
                Some(way) if !way.is_broken => {
                    way.is_broken = true;
                    undone.notes.push(format!("{path} is restored only to a later turn: {why}"));
                }
                None if self.unkept.insert(path.clone()) => undone.left.push((path, why)),
                Some(_) | None => {}
            }
        }
        for (path, before) in change.before.into_iter().filter(|(path, _)| !self.unkept.contains(path)) {
            let (after, mode) = (change.after.remove(&path), change.modes.remove(&path));
            match self.paths.get_mut(&path) {
                None => {
                    let expected = after.map_or_else(|| Left::Unknown(turn.to_owned()), Left::So);
                    let way = Way { expected, target: before, mode, is_broken: false };
                    drop(self.paths.insert(path, way));
                }
                Some(way) if way.is_broken => {}
                // If the state in which the agent left it is unknown, it was unchanged or others may have changed it.
                Some(way) if *after.as_ref().unwrap_or(&before) == way.target => {
                    (way.target, way.mode) = (before, mode);
                }
                Some(way) => {
                    way.is_broken = true;
                    let why = match after {
                        Some(_) => "was changed by someone else between the turns",
                        None => "may have been changed by someone else between the turns",
                    };
                    undone.notes.push(format!("{path} {why}: restored to that change"));
                }
            }
        }
    }

    fn due(self, repository: &Repository, config: &HooksConfig, undone: &mut Undone) -> Vec<Due> {
        let mut due = Vec::new();
        for (path, way) in self.paths {
            if let Err(reason) = writable(repository, config, &path) {
                undone.left.push((path, reason.to_owned()));
                continue;
            }
            let now = repository.files.image(&path);
            if now == way.target {
                continue;
            }
            match obstacle(repository, &path, &way, &now) {
                Some(reason) => undone.left.push((path, reason)),
                None => due.push(Due { path, now, target: way.target, mode: way.mode }),
            }
        }
        due
    }
}

/// Whether a kept path names a file that the agent may write. A record that came with the repository names what it likes.
fn writable(repository: &Repository, config: &HooksConfig, path: &str) -> Result<(), &'static str> {
    if paths::normalize(&repository.top, path)? != path {
        return Err("its path does not have the form that the agent writes");
    }
    match config.protected(&repository.top, path) {
        Some(_) => Err("it is protected: no tool may write it, so the agent did not change it"),
        None => Ok(()),
    }
}

/// Why a file is better left alone.
fn obstacle(repository: &Repository, path: &str, way: &Way, now: &Image) -> Option<String> {
    if let Err(reason) = paths::check_parents(&repository.top, path) {
        return Some(reason.to_owned());
    }
    if let Image::Opaque(reason) = now {
        return Some((*reason).to_owned());
    }
    match (&way.expected, &way.target) {
        (Left::So(expected), _) => (expected != now).then(|| "it has changed since".to_owned()),
        (Left::Unknown(_), Image::Absent) => Some(format!("{UNKNOWN}; before, it did not exist")),
        (Left::Unknown(turn), _) => {
            Some(format!("{UNKNOWN}; `git show {}` shows its old content", checkpoint::kept_at(turn, path)))
        }
    }
}

/// About files of which a turn kept the number only.
const UNNAMED: &str = "the disk was full in this turn: neither the old content nor the name is kept";
/// About a file that a killed agent may have changed, and others since.
const UNKNOWN: &str = "the agent was stopped before it noted how it left it, so this may be your change";

/// Keeps how the files are now and how they will be, as a turn of its own.
async fn keep(git: &Git<'_>, repository: &Repository, config: &HooksConfig, due: &[Due]) -> Result<(), UndoError> {
    let failed = |error: io::Error| UndoError::Failed(format!("record the files as they are now: {error}"));
    let mut turn = Turn::new(config);
    for Due { path, now, .. } in due {
        turn.before(repository, path, now).map_err(failed)?;
    }
    let targets = due.iter().map(|due| (due.path.as_str(), due.target.clone()));
    match turn.after(repository, targets).map_err(failed)? {
        Some(record) => Ok(checkpoint::store(git, repository, &record).await?),
        None => Ok(()),
    }
}
