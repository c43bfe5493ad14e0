//! Where a path leads, and the links on the way; and what is protected because a link with a protected name leads there.

use super::finder::{Find, Kind, is_protected};
use agent_core::protected::{is_instructions, names_in};
use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// What links among the finds lead to, and what must not be replaced for that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Linked {
    /// What they lead to that is there: as protected as what has the name itself.
    pub(super) finds: Vec<Find>,
    /// Every link on the way, and where one leads that has nothing at its end. No mount holds these.
    pub(super) kept: BTreeSet<PathBuf>,
    /// Where tools do not write: the ends of the links, and protected names in a directory that has its name by a link.
    pub(super) ends: BTreeSet<PathBuf>,
}

impl Linked {
    /// Follows the links among what was found in a workspace.
    pub(super) fn of(workspace: &Path, finds: &[Find]) -> Self {
        let mut linked = Self::default();
        for find in finds.iter().filter(|find| find.kind != Kind::Repository) {
            linked.add(workspace, &find.path, find.kind);
        }
        let mut seen: BTreeSet<PathBuf> = finds.iter().map(|find| find.path.clone()).collect();
        linked.finds.retain(|find| seen.insert(find.path.clone()));
        linked
    }

    fn add(&mut self, workspace: &Path, path: &Path, kind: Kind) {
        let way = follow(path);
        if way.links.is_empty() {
            return;
        }
        let Way { real, links } = way;
        self.kept.extend(links.into_iter().filter(|link| link.starts_with(workspace)));
        let is_inside = real.starts_with(workspace) && real != workspace;
        let is_there = real.symlink_metadata().is_ok();
        if kind == Kind::Parent {
            self.add_children(workspace, path, &real);
            return;
        }
        if is_inside && !is_there {
            self.kept.insert(real.clone());
        }
        // Tools may write instructions by either name when they are allowed to.
        let is_of_instructions = |path: &Path| is_instructions(&path.file_name().unwrap_or_default().to_string_lossy());
        if is_inside && !(is_of_instructions(path) && is_of_instructions(&real)) {
            self.ends.insert(real.clone());
        }
        if is_there {
            self.finds.push(Find { path: real, kind: Kind::Named });
        }
    }

    /// What has a protected name in a directory only because a link gives another name to that.
    fn add_children(&mut self, workspace: &Path, link: &Path, real: &Path) {
        let parent = link.file_name().unwrap_or_default().to_string_lossy();
        if real.starts_with(workspace) {
            self.ends.extend(names_in(&parent).map(|name| real.join(name)));
        }
        for entry in fs::read_dir(real).into_iter().flatten().flatten().take(MOST_CHILDREN) {
            if !is_protected(&parent, &entry.file_name().to_string_lossy()) {
                continue;
            }
            let path = entry.path();
            self.add(workspace, &path, Kind::Named);
            self.finds.push(Find { path, kind: Kind::Named });
        }
    }
}

/// A path as the system follows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Way {
    /// Without links, also where its end is not there.
    pub(super) real: PathBuf,
    /// Each link that was followed, by its own path without links. Whoever replaces one of them leads the path elsewhere.
    pub(super) links: Vec<PathBuf>,
}

/// Follows an absolute path link by link. `..` goes up from where a link leads, as it does for the system.
pub(super) fn follow(path: &Path) -> Way {
    let mut way = Way { real: PathBuf::from("/"), links: Vec::new() };
    let mut left: VecDeque<OsString> = parts(path).collect();
    while let Some(part) = left.pop_front() {
        if part == ".." {
            way.real.pop();
            continue;
        }
        let next = way.real.join(&part);
        match fs::read_link(&next) {
            Ok(target) if way.links.len() < MOST_LINKS => {
                if target.is_absolute() {
                    way.real = PathBuf::from("/");
                }
                parts(&target).collect::<Vec<_>>().into_iter().rev().for_each(|part| left.push_front(part));
                way.links.push(next);
            }
            _ => way.real = next,
        }
    }
    way
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    })
}

/// The directory that a link leads to may lie anywhere, and hold anything.
const MOST_CHILDREN: usize = 10_000;
/// As many as Linux follows.
const MOST_LINKS: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn every_link_of_a_chain_is_on_the_way() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("real/hk")).unwrap();
        symlink("real", root.join("one")).unwrap();
        symlink(root.join("one/hk"), root.join("two")).unwrap();
        symlink("nowhere/x", root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let of = |path: &str| {
            let way = follow(&root.join(path));
            let own = |path: &PathBuf| path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
            (own(&way.real), way.links.iter().map(own).collect::<Vec<_>>().join(" "))
        };
        let is = |real: &str, links: &str| (real.to_owned(), links.to_owned());
        assert_eq!(of("two/pc"), is("real/hk/pc", "two one"));
        assert_eq!(of("two/../x"), is("real/x", "two one"));
        assert_eq!(of("dangling"), is("nowhere/x", "dangling"));
        assert_eq!(of("real/./absent/y"), is("real/absent/y", ""));
        assert!(of("loop/x").1.starts_with("loop loop"));
    }
}
