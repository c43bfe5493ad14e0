//! How far back each path goes, and what changes by that.

use super::Undone;
use crate::checkpoint::{self, Change};
use crate::config::HooksConfig;
use crate::image::Image;
use crate::paths;
use crate::repository::Repository;
use std::collections::{BTreeMap, BTreeSet};

/// How far back each path goes.
#[derive(Default)]
pub(super) struct Plan {
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
    /// How it was before an undo that was stopped, with its unusual permissions: as long as it is as that undo may have left it, it counts
    /// as being so.
    was: Option<(Image, Option<u32>)>,
    /// Others changed it between two of the turns: it cannot be taken further back.
    is_broken: bool,
}

/// How the agent left a file.
enum Left {
    So(Image),
    /// In one of these ways: an undo was stopped before it ended.
    OneOf(Vec<Image>),
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

/// A path whose file changes, or was changed already by an undo that was stopped.
pub(super) struct Due {
    pub(super) path: String,
    /// How it counts as being, with its unusual permissions: this is what undoing again brings back.
    pub(super) was: Image,
    pub(super) was_mode: Option<u32>,
    pub(super) now: Image,
    pub(super) target: Image,
    pub(super) mode: Option<u32>,
}

impl Plan {
    /// Goes one turn further back.
    pub(super) fn go_back(&mut self, turn: &str, mut change: Change, undone: &mut Undone) {
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
                    let way = Way { expected, target: before, mode, was: None, is_broken: false };
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

    /// Goes back through an undo that was stopped: of its files some are as after it, and some as before.
    pub(super) fn pass_through(&mut self, mut change: Change) {
        for (path, before) in change.before.into_iter().filter(|(path, _)| !self.unkept.contains(path)) {
            let (after, mode) = (change.after.remove(&path), change.modes.remove(&path));
            match self.paths.get_mut(&path) {
                None => {
                    let expected = Left::OneOf(after.into_iter().chain([before.clone()]).collect());
                    let was = Some((before.clone(), mode));
                    drop(self.paths.insert(path, Way { expected, target: before, mode, was, is_broken: false }));
                }
                Some(way) if way.is_broken => {}
                Some(way) => match (&mut way.expected, after) {
                    // One undo after the other was stopped.
                    (Left::OneOf(ways), Some(after)) if way.target == before => ways.push(after),
                    (_, Some(after)) if way.target == after => (way.target, way.mode) = (before, mode),
                    // It had not come to this file.
                    _ => {}
                },
            }
        }
    }

    pub(super) fn due(self, repository: &Repository, config: &HooksConfig, undone: &mut Undone) -> Vec<Due> {
        let mut due = Vec::new();
        for (path, way) in self.paths {
            if let Err(reason) = writable(repository, config, &path) {
                undone.left.push((path, reason.to_owned()));
                continue;
            }
            let now = repository.files.image(&path);
            let was = way.was.as_ref().filter(|_| matches!(&way.expected, Left::OneOf(ways) if ways.contains(&now)));
            let (was, was_mode) =
                was.cloned().unwrap_or_else(|| (now.clone(), checkpoint::unusual_mode(repository, &path)));
            if now == way.target && was == way.target {
                continue;
            }
            match obstacle(repository, &path, &way, &now).filter(|_| now != way.target) {
                Some(reason) => undone.left.push((path, reason)),
                None => due.push(Due { path, was, was_mode, now, target: way.target, mode: way.mode }),
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
        (Left::So(expected), _) => (expected != now).then(|| CHANGED.to_owned()),
        (Left::OneOf(expected), _) => (!expected.contains(now)).then(|| CHANGED.to_owned()),
        (Left::Unknown(_), Image::Absent) => Some(format!("{UNKNOWN}; before, it did not exist")),
        (Left::Unknown(turn), _) => {
            Some(format!("{UNKNOWN}; `git show {}` shows its old content", checkpoint::kept_at(turn, path)))
        }
    }
}

const CHANGED: &str = "it has changed since";
/// About files of which a turn kept the number only.
const UNNAMED: &str = "the disk was full in this turn: neither the old content nor the name is kept";
/// About a file that a killed agent may have changed, and others since.
const UNKNOWN: &str = "the agent was stopped before it noted how it left it, so this may be your change";
