//! Places of the user's that no tool writes or reads, by what they are. Their paths do not tell it: `~/.config` may be a link into the
//! workspace, and any directory can be mounted there.
//!
//! 1. Each path is followed link by link. At every step device and number of the directory are noted, with what of the path is left: so a
//!    place is known that is not there yet, and one that is reached from any directory above it.
//! 2. The same is done again at every look, because a link can be made during a session; the directories that were found at first
//!    stay. A look that sees at every step what the last one saw finds what that one found.
//! 3. What a tool passes is compared, directory by directory as they were entered.
//! 4. A workspace that is in a place is a part of it.
//! 5. A part of a place can be mounted, and nothing that is passed tells. The table of mounts does, and says which names it has elsewhere.

use super::closed;
use super::descend::Identity;
use super::spellings;
use agent_exec::{Location, MountTable};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a host named, and what was found of it.
#[derive(Debug, Default)]
pub(super) struct Places {
    named: Vec<Named>,
    at_first: Found,
    last: Mutex<Arc<Look>>,
}

/// What was found at one look, and what was seen on the ways.
#[derive(Debug, Default)]
struct Look {
    found: Found,
    steps: Vec<(PathBuf, Option<Node>)>,
}

/// A path that a host named.
#[derive(Debug)]
struct Named {
    path: PathBuf,
    what: What,
    /// Whether it is looked at again. What is named in the workspace is judged by its name, too.
    is_again: bool,
}

/// What holds for a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// No tool writes it, for this reason.
    Protected(&'static str),
    /// No tool reads it.
    Closed,
}

/// Of what device and number are noted. Those of a file that is replaced are given to another one soon, so they hold for one look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Directories,
    All,
}

/// What is known of all places.
#[derive(Debug, Default)]
struct Found {
    /// For a directory, what in it is a place: nothing where it is one itself.
    within: BTreeMap<Identity, Vec<(PathBuf, What)>>,
    /// Without links, whether something is there or not.
    real: Vec<(PathBuf, What)>,
}

impl Places {
    pub(super) fn add(&mut self, path: &Path, what: What, is_again: bool) {
        if path.is_absolute() {
            self.at_first.add(path, what, Of::Directories, &mut Seen::default());
            self.named.push(Named { path: path.to_path_buf(), what, is_again });
            self.last = Mutex::default();
        }
    }

    /// Looks once more, for one judgement.
    pub(super) fn now(&self, root: &Path) -> Judge<'_> {
        let last = Arc::clone(&self.last());
        let now = if last.is_seen_again() { last } else { self.looked() };
        let mounts = MountTable::now().ok().filter(|mounts| mounts.has_mount_in(root));
        Judge { at_first: &self.at_first, now, mounts, root: root.to_path_buf() }
    }

    /// Follows every path that is looked at again.
    fn looked(&self) -> Arc<Look> {
        let (mut found, mut seen) = (Found::default(), Seen::default());
        for named in self.named.iter().filter(|named| named.is_again) {
            found.add(&named.path, named.what, Of::All, &mut seen);
        }
        let look = Arc::new(Look { found, steps: seen.0.into_iter().collect() });
        self.last().clone_from(&look);
        look
    }

    fn last(&self) -> MutexGuard<'_, Arc<Look>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Look {
    /// Whether every step is as it was. What is found follows from that alone.
    fn is_seen_again(&self) -> bool {
        !self.steps.is_empty() && self.steps.iter().all(|(path, node)| Node::at(path) == *node)
    }
}

/// Judges paths by the places as they are now.
pub(crate) struct Judge<'a> {
    at_first: &'a Found,
    now: Arc<Look>,
    /// Nothing where all of the workspace is in one mount.
    mounts: Option<MountTable>,
    root: PathBuf,
}

impl Judge<'_> {
    /// What holds for a path without links below the root, of which these directories were passed: the root first, perhaps the file itself
    /// last.
    pub(super) fn of(&self, real: &Path, passed: &[Identity]) -> Vec<What> {
        let names: Vec<&std::ffi::OsStr> = real.iter().filter(|name| *name != ".").collect();
        let mut found = Vec::new();
        let places = self.at_first.real.iter().chain(&self.now.found.real);
        found.extend(places.filter(|(place, _)| self.root.starts_with(place)).map(|(_, what)| *what));
        for (at, identity) in passed.iter().enumerate() {
            let rest: PathBuf = names.iter().skip(at).collect();
            for known in [self.at_first, &self.now.found] {
                let within = known.within.get(identity).into_iter().flatten();
                found.extend(within.filter(|(place, _)| rest.starts_with(place)).map(|(_, what)| *what));
            }
        }
        found.extend(self.by_mount(real));
        found
    }

    /// Whether a directory that a walk is about to enter is closed.
    pub(crate) fn closes(&self, real: &Path, directory: Identity) -> bool {
        let is_closed = |(place, what): &(PathBuf, What)| place.as_os_str().is_empty() && *what == What::Closed;
        let known =
            [self.at_first, &self.now.found].into_iter().filter_map(|known| known.within.get(&directory)).flatten();
        known.into_iter().any(is_closed)
            || self.by_mount(real).contains(&What::Closed)
            || self.other_names(real).iter().any(|name| closed::is_closed(name, &[]))
    }

    /// The other names that something has in the workspace, and the one where it was mounted from: there, or else in its file system.
    pub(crate) fn other_names(&self, real: &Path) -> Vec<PathBuf> {
        self.mounts.as_ref().map_or_else(Vec::new, |mounts| mounts.names(&self.root, &self.root.join(real)))
    }

    /// The other names by which rules hold for something: those of [`other_names`](Self::other_names), and other spellings.
    pub(crate) fn names_for_rules(&self, path: &str) -> Vec<String> {
        let names =
            self.other_names(Path::new(path)).into_iter().filter_map(|name| name.into_os_string().into_string().ok());
        names.chain(spellings::of(&self.root, path)).collect()
    }

    /// The other names of what is mounted in the workspace, outside of it.
    pub(crate) fn names_outside(&self, real: &Path) -> Vec<PathBuf> {
        self.mounts.as_ref().map_or_else(Vec::new, |mounts| mounts.names_outside(&self.root, &self.root.join(real)))
    }

    fn by_mount(&self, real: &Path) -> Vec<What> {
        let Some(((there, _), mounts)) = self.mounted(real).zip(self.mounts.as_ref()) else { return Vec::new() };
        let places = self.at_first.real.iter().chain(&self.now.found.real);
        let is_in = |place: &Path| mounts.location(place).is_some_and(|place| there.is_within(&place));
        places.filter(|(place, _)| is_in(place)).map(|(_, what)| *what).collect()
    }

    /// Where it and the root lie, if it is reached by another mount than the root.
    fn mounted(&self, real: &Path) -> Option<(Location<'_>, Location<'_>)> {
        let mounts = self.mounts.as_ref()?;
        let (there, root) = (mounts.location(&self.root.join(real))?, mounts.location(&self.root)?);
        (!there.is_by_mount_of(&root)).then_some((there, root))
    }
}

impl Found {
    /// Follows a path as the system does.
    fn add(&mut self, path: &Path, what: What, of: Of, seen: &mut Seen) {
        let mut left: VecDeque<OsString> = parts(path).collect();
        let (mut at, mut links) = (PathBuf::from("/"), 0);
        loop {
            // Each link on the way is a place itself: replacing it decides what is there.
            if let Some(node) = seen.at(&at)
                && (of == Of::All || node.is_directory)
            {
                let rest: PathBuf = left.iter().collect();
                let within = self.within.entry(node.identity).or_default();
                if !left.iter().any(|part| part == "..") && !within.contains(&(rest.clone(), what)) {
                    within.push((rest, what));
                }
            }
            let Some(part) = left.pop_front() else { break };
            if part == ".." {
                at.pop();
                continue;
            }
            let next = at.join(&part);
            match seen.at(&next).and_then(|node| node.target.as_ref()) {
                Some(target) if links < MOST_LINKS => {
                    links += 1;
                    if target.is_absolute() {
                        at = PathBuf::from("/");
                    }
                    parts(target).collect::<Vec<_>>().into_iter().rev().for_each(|part| left.push_front(part));
                }
                _ => at = next,
            }
        }
        self.real.push((at, what));
    }
}

/// What was seen on the ways of one look: most of them begin alike, and each step is looked at once.
#[derive(Default)]
struct Seen(HashMap<PathBuf, Option<Node>>);

/// A step of a way that is there.
#[derive(Debug, PartialEq, Eq)]
struct Node {
    identity: Identity,
    is_directory: bool,
    /// Where it leads, if it is a link.
    target: Option<PathBuf>,
}

impl Seen {
    fn at(&mut self, path: &Path) -> Option<&Node> {
        if !self.0.contains_key(path) {
            self.0.insert(path.to_path_buf(), Node::at(path));
        }
        self.0.get(path)?.as_ref()
    }
}

impl Node {
    fn at(path: &Path) -> Option<Self> {
        let status = path.symlink_metadata().ok()?;
        Some(Self {
            identity: (status.dev(), status.ino()),
            is_directory: status.is_dir(),
            target: status.is_symlink().then(|| fs::read_link(path).ok()).flatten(),
        })
    }
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    })
}

/// As many as Linux follows.
const MOST_LINKS: u32 = 40;
