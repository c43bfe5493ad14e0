//! Files of the workspace that have another name elsewhere: who writes them writes those, too.
//!
//! Package managers such as pnpm and uv make them, to a store that all projects share. No sandbox can hold that, so it is told.

use crate::screen::terminal::{escaped, say, shown_path};
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Tells the user of them, where there are any among the files that were looked at.
pub(crate) fn tell(workspace: &Path) {
    let found = find(workspace, MOST_ENTRIES);
    let Some(example) = found.paths.first() else { return };
    let shown = shown_path(example.strip_prefix(workspace).unwrap_or(example));
    let many = match (found.paths.len(), found.is_all) {
        (1, true) => String::from("a file here is hard-linked to a file"),
        (count, true) => format!("{count} files here are hard-linked to files"),
        // Their other names may be among what was not looked at.
        (count, false) => format!("at least {count} files here are hard-linked, perhaps to files"),
    };
    say(&escaped(&format!(
        "agent: sandbox: {many} elsewhere, such as `{shown}`: a command that writes to it also changes the other file"
    )));
}

/// The files that have more names than were seen here.
#[derive(Debug)]
struct Found {
    paths: Vec<PathBuf>,
    is_all: bool,
}

fn find(workspace: &Path, most_entries: usize) -> Found {
    let mut waiting = VecDeque::from([workspace.to_path_buf()]);
    let mut linked: BTreeMap<(u64, u64), (u64, PathBuf)> = BTreeMap::new();
    let (mut left, mut is_all) = (most_entries, true);
    'all: while let Some(directory) = waiting.pop_front() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            if left == 0 {
                is_all = false;
                break 'all;
            }
            left -= 1;
            let Ok(kind) = entry.file_type() else { continue };
            // What git keeps can be read only, and it makes links by itself.
            if kind.is_dir() && entry.file_name() != ".git" {
                waiting.push_back(entry.path());
            } else if kind.is_file()
                && let Ok(status) = entry.metadata()
                && status.nlink() > 1
            {
                let (unseen, _) =
                    linked.entry((status.dev(), status.ino())).or_insert_with(|| (status.nlink(), entry.path()));
                *unseen = unseen.saturating_sub(1);
            }
        }
    }
    let mut paths: Vec<PathBuf> =
        linked.into_values().filter(|(unseen, _)| *unseen > 0).map(|(_, path)| path).collect();
    paths.sort();
    Found { paths, is_all }
}

/// As many as are looked at in a few hundredths of a second. A store of packages is met long before.
const MOST_ENTRIES: usize = 20_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_elsewhere_are_found_and_those_within_are_not() {
        let root = tempfile::tempdir().unwrap();
        let (work, store) = (root.path().join("work"), root.path().join("store"));
        for directory in [work.join("node_modules/x"), work.join("target/deps"), work.join(".git"), store.clone()] {
            fs::create_dir_all(directory).unwrap();
        }
        fs::write(store.join("one"), "").unwrap();
        fs::hard_link(store.join("one"), work.join("node_modules/x/one.js")).unwrap();
        fs::hard_link(store.join("one"), work.join(".git/object")).unwrap();
        fs::write(work.join("target/deps/program"), "").unwrap();
        fs::hard_link(work.join("target/deps/program"), work.join("target/program")).unwrap();
        let found = find(&work, MOST_ENTRIES);
        assert_eq!((found.paths.as_slice(), found.is_all), ([work.join("node_modules/x/one.js")].as_slice(), true));
        assert!(!find(&work, 1).is_all);
    }
}
