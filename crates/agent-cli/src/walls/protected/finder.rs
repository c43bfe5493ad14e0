//! Walks a workspace for what other programs act on by themselves.
//!
//! It walks around every command, so what it has read it reads again only where a directory changed: a change of a directory's entries
//! changes the time of its last change, which no command can set. Directories that programs made for themselves come last.

use super::links::Linked;
use super::repositories::{self, CACHE_TAG, PARTS};
use agent_core::protected;
use agent_exec::Stamp;
use rustix::fs::{Mode, OFlags};
use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Something that other programs act on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Find {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// By its name.
    Named,
    /// A link whose name protects names in the directory that it leads to.
    Parent,
    /// A directory with git's own data that has another name.
    Repository,
}

impl Find {
    /// By what it is told, and set aside: a repository is one by its `HEAD`.
    pub(super) fn told(self) -> PathBuf {
        match self.kind {
            Kind::Repository => self.path.join("HEAD"),
            Kind::Named | Kind::Parent => self.path,
        }
    }

    /// What is to be kept from commands.
    pub(super) fn protected(&self, workspace: &Path) -> Vec<PathBuf> {
        match self.kind {
            Kind::Repository if self.path == workspace => PARTS.iter().map(|part| workspace.join(part)).collect(),
            Kind::Named | Kind::Repository => vec![self.path.clone()],
            // What is protected behind it is a find of its own.
            Kind::Parent => Vec::new(),
        }
    }
}

/// What a walk found, and where it did not come.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) finds: Vec<Find>,
    /// What links among the finds lead to.
    pub(super) linked: Linked,
    pub(super) unsearched: Vec<PathBuf>,
    /// Directories that keep everybody out, or the nearest one above that can be seen. What lies in them is protected by their staying
    /// closed.
    pub(super) closed: Vec<PathBuf>,
}

/// Finds, and remembers what is in directories.
#[derive(Debug)]
pub(super) struct Finder {
    workspace: PathBuf,
    limits: Limits,
    known: HashMap<PathBuf, Seen>,
}

/// How far a walk goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Directories of people.
    pub(super) directories: usize,
    /// Directories that programs made for themselves, and what lies below.
    pub(super) caches: usize,
    /// Entries of all directories that are read anew.
    pub(super) entries: usize,
}

/// What is in a directory.
#[derive(Debug, Clone)]
struct Seen {
    stamp: Stamp,
    /// It may have changed after it was read without another time.
    is_racy: bool,
    /// Whether all of it was read.
    is_whole: bool,
    folders: Vec<OsString>,
    named: Vec<OsString>,
    /// Links that make parents of protected names.
    parents: Vec<OsString>,
    is_repository: bool,
    is_cache: bool,
}

impl Finder {
    pub(super) fn new(workspace: &Path) -> Self {
        Self::within(workspace, LIMITS)
    }

    pub(super) fn within(workspace: &Path, limits: Limits) -> Self {
        Self { workspace: workspace.to_path_buf(), limits, known: HashMap::new() }
    }

    /// Walks. Finds near the root come first.
    pub(super) fn find(&mut self) -> Found {
        let mut found = Found::default();
        let mut left = self.limits;
        let mut known = HashMap::with_capacity(self.known.len());
        let (mut near, mut far) = (VecDeque::from([self.workspace.clone()]), VecDeque::new());
        loop {
            let (directory, is_far) = match (near.pop_front(), &mut far) {
                (Some(directory), _) => (directory, false),
                (None, far) => match far.pop_front() {
                    Some(directory) => (directory, true),
                    None => break,
                },
            };
            let budget = if is_far { &mut left.caches } else { &mut left.directories };
            if *budget == 0 || left.entries == 0 {
                found.unsearched.push(directory);
                continue;
            }
            *budget -= 1;
            let Some(seen) = self.look(&directory, &mut left.entries) else {
                found.add_unseen(directory);
                continue;
            };
            found.add(&directory, &seen);
            if !seen.is_whole {
                found.unsearched.push(directory.clone());
            }
            let is_far = is_far || seen.is_cache && directory != self.workspace;
            // Git's own parts of a repository are protected with it. What else lies in what calls itself one is searched.
            let folders = seen.folders.iter().filter(|name| !seen.is_repository || !is_part(name));
            for name in folders {
                let queue = if is_far || *name == "node_modules" { &mut far } else { &mut near };
                queue.push_back(directory.join(name));
            }
            known.insert(directory, seen);
        }
        self.known = known;
        found.linked = Linked::of(&self.workspace, &found.finds);
        found
    }

    /// What is in a directory, read anew where it changed.
    fn look(&mut self, directory: &Path, entries_left: &mut usize) -> Option<Seen> {
        let stamp = Stamp::of_itself(directory)?;
        if let Some(seen) = self.known.remove(directory).filter(|seen| seen.stamp == stamp && !seen.is_racy) {
            return Some(seen);
        }
        let read_at = SystemTime::now();
        let parent = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut seen = Seen {
            stamp,
            is_racy: stamp.may_stay(read_at),
            is_whole: true,
            folders: Vec::new(),
            named: Vec::new(),
            parents: Vec::new(),
            is_repository: false,
            is_cache: false,
        };
        let mut of_git = Vec::new();
        for entry in list(directory)?.flatten() {
            if *entries_left == 0 {
                // What was not read is read the next time.
                (seen.is_racy, seen.is_whole) = (true, false);
                break;
            }
            *entries_left -= 1;
            let name = entry.file_name();
            let text = name.to_string_lossy();
            if PARTS.contains(&&*text) {
                of_git.push(text.clone().into_owned());
            }
            if text == CACHE_TAG {
                seen.is_cache = repositories::is_cache(directory);
            }
            if is_protected(&parent, &text) {
                seen.named.push(name);
                continue;
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                seen.folders.push(name);
            } else if kind.is_symlink() && protected::names_in(&text).next().is_some() {
                seen.parents.push(name);
            }
        }
        seen.is_repository = protected::makes_repository(|name| of_git.iter().any(|found| found == name));
        Some(seen)
    }
}

impl Found {
    /// A directory that could not be read. What is gone meanwhile was not overlooked.
    fn add_unseen(&mut self, directory: PathBuf) {
        match directory.symlink_metadata() {
            Ok(found) if !found.is_dir() => return,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
            Ok(_) => self.closed.push(directory.clone()),
            Err(_) => {
                let visible = directory.ancestors().skip(1).find(|above| above.symlink_metadata().is_ok());
                self.closed.extend(visible.map(Path::to_path_buf));
            }
        }
        self.unsearched.push(directory);
    }

    fn add(&mut self, directory: &Path, seen: &Seen) {
        if seen.is_repository {
            self.finds.push(Find { path: directory.to_path_buf(), kind: Kind::Repository });
        }
        for name in &seen.named {
            let path = directory.join(name);
            if protected::is_same_name(&name.to_string_lossy(), ".git") {
                // What is in a `.git` is protected with it.
                let is_within = |path: &PathBuf| path.components().any(|part| part.as_os_str() == ".git");
                let led_to = repositories::led_to(&path).into_iter().filter(|path| !is_within(path));
                self.finds.extend(led_to.map(|path| Find { path, kind: Kind::Repository }));
            }
            self.finds.push(Find { path, kind: Kind::Named });
        }
        self.finds.extend(seen.parents.iter().map(|name| Find { path: directory.join(name), kind: Kind::Parent }));
    }
}

/// As for the tools, and instructions of agents, which tools may change when they are asked to. A `HEAD` alone is nothing that anybody acts
/// on.
pub(super) fn is_protected(parent: &str, name: &str) -> bool {
    let is_head = protected::is_same_name(name, super::HEAD);
    !is_head && protected::is_protected_in(parent, name) || protected::is_instructions(name)
}

fn is_part(name: &OsString) -> bool {
    name.to_str().is_some_and(|name| PARTS.contains(&name))
}

/// What is in a directory, also in one that was closed to keep others out: a command can do that.
fn list(directory: &Path) -> Option<fs::ReadDir> {
    match fs::read_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {}
        listed => return listed.ok(),
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let held = rustix::fs::open(directory, flags, Mode::empty()).ok()?;
    let mode = Mode::from_raw_mode(rustix::fs::fstat(&held).ok()?.st_mode);
    let itself = format!("/proc/self/fd/{}", held.as_raw_fd());
    rustix::fs::chmod(&itself, mode | Mode::RUSR | Mode::XUSR).ok()?;
    // Open, it can be read to its end.
    let listed = fs::read_dir(&itself);
    // It was its owner's will, and may be so for other reasons.
    let _ = rustix::fs::chmod(&itself, mode);
    listed.ok()
}

/// Enough for all but the largest projects; a first walk of all this takes some tenths of a second, a later one hundredths.
const LIMITS: Limits = Limits { directories: 10_000, caches: 10_000, entries: 500_000 };
