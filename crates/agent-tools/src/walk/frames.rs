//! The directories that a walk is in, from its start down to where it stands.

use super::directory::{Kind, read_names};
use super::ignores::Ignores;
use super::{Entry, below};
use crate::file_tool::Watch;
use crate::workspace::{For, Judge, Workspace, descend, open_directory};
use agent_types::permission::Rule;
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::fstat;
use rustix::io::{Errno, Result};
use std::ffi::CString;
use std::path::Path;
use std::sync::Arc;

/// A directory and what is left to visit in it.
pub(super) struct Frame {
    /// Closed while the walk is far below, and then opened again.
    directory: Option<Arc<OwnedFd>>,
    /// Its name in the directory above it.
    name: CString,
    /// How much of the path of the walk is its own.
    path_bytes: usize,
    identity: (u64, u64),
    ignores: Ignores,
    rest: std::vec::IntoIter<(CString, Kind)>,
}

impl Frame {
    pub(super) fn new(
        directory: Arc<OwnedFd>,
        names: Vec<(CString, Kind)>,
        path: &str,
        above: &Ignores,
    ) -> Result<Self> {
        let status = fstat(&directory)?;
        let ignores = above.with(&directory, &names, path);
        Ok(Self {
            directory: Some(directory),
            name: CString::default(),
            path_bytes: path.len(),
            identity: (status.st_dev, status.st_ino),
            ignores,
            rest: names.into_iter(),
        })
    }
}

/// An entry with its place in the walk.
pub(super) struct Stepped {
    directory: Arc<OwnedFd>,
    name: CString,
    pub(super) path: String,
    pub(super) kind: Kind,
    /// 1 for what is in the start itself.
    pub(super) level: usize,
}

impl Stepped {
    pub(super) fn as_entry(&self) -> Entry<'_> {
        Entry { path: &self.path, kind: self.kind, name: &self.name, directory: &self.directory }
    }
}

/// All of them.
pub(super) struct Frames<'w> {
    workspace: &'w Workspace,
    start: &'w Path,
    /// The user's places while the walk is running.
    judge: Judge<'w>,
    frames: Vec<Frame>,
    /// Where the walk stands: every frame has a part of it.
    path: String,
}

impl<'w> Frames<'w> {
    pub(super) fn new(workspace: &'w Workspace, start: &'w Path, first: Frame, path: &str) -> Self {
        Self { workspace, start, judge: workspace.judge(), frames: vec![first], path: path.to_owned() }
    }

    /// The next entry that is not ignored; an error is a directory that cannot be read any more.
    pub(super) fn next(&mut self) -> Option<Result<Stepped>> {
        loop {
            let level = self.frames.len();
            let frame = self.frames.last_mut()?;
            let Some((name, kind)) = frame.rest.next() else {
                self.frames.pop();
                continue;
            };
            self.path.truncate(frame.path_bytes);
            let path = below(&self.path, &name.to_string_lossy());
            let is_left_out = name.as_bytes() == b".git" || self.workspace.is_closed_entry(&path, name.as_bytes());
            if is_left_out || frame.ignores.covers(&path, kind == Kind::Directory) {
                continue;
            }
            let directory = match &frame.directory {
                Some(directory) => Arc::clone(directory),
                None => match self.reopen() {
                    Ok(directory) => directory,
                    Err(error) => {
                        self.frames.pop();
                        return Some(Err(error));
                    }
                },
            };
            return Some(Ok(Stepped { directory, name, path, kind, level }));
        }
    }

    /// The rule by which an entry must not be shown, by its own path or by another that leads to it.
    pub(super) fn rule_over<'r>(&self, path: &str, watch: &'r Watch) -> Option<&'r Rule> {
        let by_other_name = || self.judge.names_for_rules(path).iter().find_map(|name| watch.excluded(name));
        watch.excluded(path).or_else(|| watch.excludes().then(by_other_name).flatten())
    }

    /// Goes down into a directory.
    pub(super) fn enter(&mut self, found: &Stepped, most: usize) -> Result<()> {
        let directory = Arc::new(open_directory(found.directory.as_fd(), found.name.as_c_str(), For::Listing)?);
        let names = read_names(&directory, most)?;
        let Some(above) = self.frames.last() else {
            return Err(Errno::NOENT);
        };
        let frame = Frame { name: found.name.clone(), ..Frame::new(directory, names, &found.path, &above.ignores)? };
        // As if it were not there.
        if self.judge.closes(Path::new(&found.path), frame.identity) {
            return Ok(());
        }
        if self.frames.iter().any(|above| above.identity == frame.identity) {
            return Err(Errno::LOOP);
        }
        self.frames.push(frame);
        self.path.clone_from(&found.path);
        // What is far above is opened again when the walk comes back, from the nearest directory that stays open.
        if let Some(far) = self.frames.len().checked_sub(NEAR + 1).filter(|far| far % ANCHOR != 0)
            && let Some(frame) = self.frames.get_mut(far)
        {
            frame.directory = None;
        }
        Ok(())
    }

    /// Opens the last directory again, name by name as it was first.
    fn reopen(&mut self) -> Result<Arc<OwnedFd>> {
        let open = self.frames.iter().rposition(|frame| frame.directory.is_some());
        let mut directory = match open.and_then(|open| self.frames.get(open)?.directory.clone()) {
            Some(directory) => directory,
            None => Arc::new(descend(self.workspace.descriptor(), self.start, For::Listing)?),
        };
        for frame in self.frames.iter().skip(open.map_or(1, |open| open + 1)) {
            directory = Arc::new(open_directory(directory.as_fd(), frame.name.as_c_str(), For::Listing)?);
        }
        if let Some(last) = self.frames.last_mut() {
            let status = fstat(&directory)?;
            if (status.st_dev, status.st_ino) != last.identity {
                return Err(Errno::NOENT);
            }
            last.directory = Some(Arc::clone(&directory));
        }
        Ok(directory)
    }
}

/// So many directories above the current one stay open, and of those further up every so manieth.
const NEAR: usize = 100;
const ANCHOR: usize = 64;
