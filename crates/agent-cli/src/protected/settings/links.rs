//! Where a path leads, and the links on the way.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

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
