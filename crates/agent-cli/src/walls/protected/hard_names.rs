//! Other names of protected files: a hard link in the workspace is the same file, and who writes in it by that name writes the protected
//! one. Programs that remove duplicates and archives make them. Commands cannot make more of them where there are mounts.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::os::unix::fs::{DirEntryExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// The other names in a workspace of what is at these paths, and of what lies in it.
pub(crate) fn other_names<'a>(workspace: &Path, paths: impl IntoIterator<Item = &'a PathBuf>) -> Vec<PathBuf> {
    let mut left = MOST_ENTRIES;
    let tops: BTreeSet<&Path> = paths.into_iter().map(|path| &**path).filter(|path| *path != workspace).collect();
    let mut numbers = BTreeSet::new();
    for top in &tops {
        take_numbers(top, &mut left, &mut numbers);
    }
    if numbers.is_empty() {
        return Vec::new();
    }
    let (mut names, mut waiting) = (Vec::new(), VecDeque::from([workspace.to_path_buf()]));
    while let Some(directory) = waiting.pop_front() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            if left == 0 {
                return names;
            }
            left -= 1;
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            if tops.contains(&*path) {
                continue;
            }
            if kind.is_dir() {
                waiting.push_back(path);
            } else if kind.is_file() && numbers.contains(&entry.ino()) && has_other_names(&path) {
                names.push(path);
            }
        }
    }
    names
}

/// The numbers of files with several names at a path and below. What git names by its content it does not read by another name.
fn take_numbers(top: &Path, left: &mut usize, numbers: &mut BTreeSet<u64>) {
    let mut waiting = vec![top.to_path_buf()];
    while let Some(path) = waiting.pop() {
        let Ok(status) = path.symlink_metadata() else { continue };
        if status.is_file() && status.nlink() > 1 {
            numbers.insert(status.ino());
        }
        if !status.is_dir() || path.ends_with("objects") {
            continue;
        }
        for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
            if *left == 0 {
                return;
            }
            *left -= 1;
            waiting.push(entry.path());
        }
    }
}

fn has_other_names(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|status| status.nlink() > 1)
}

/// As many as are looked at in a few tenths of a second. What is left out is among the hard links that the agent says at the start.
const MOST_ENTRIES: usize = 100_000;
