//! File systems that take several spellings of a name for one file, and keep an entry for each spelling: exFAT and NTFS by FUSE, shares of
//! Windows, 9p. A mount covers one entry, so what it protects or hides is reached by another spelling. In a file system of the kernel's own
//! the spellings are one entry, and a mount covers them all.
//!
//! Looked for before every command: a volume may be mounted, and a name made, at any time. Numbers of files are not compared, because some
//! of these file systems give each spelling its own.

use super::mounts::Made;
use crate::mount_table::MountTable;
use rustix::fs::statfs;
use std::collections::{BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What is known of file systems.
#[derive(Debug, Default)]
pub(super) struct Spellings {
    /// Devices that take one spelling, as far as was seen.
    one: Mutex<BTreeSet<u64>>,
}

impl Spellings {
    /// A place in such a file system: of what these mounts cover, or of what can be written.
    pub(super) fn many_for_one(&self, made: &[Made], mounts: &MountTable) -> Option<PathBuf> {
        let of_covered =
            made.iter().filter_map(covered).find(|path| is_suspect(parent(path)) && is_found_otherwise(path));
        if let Some(path) = of_covered {
            return Some(parent(path).to_path_buf());
        }
        let writable = made.iter().filter_map(|made| match made {
            Made::Writable(place) => Some(place.path.as_path()),
            Made::ReadOnly(_) | Made::Empty(_) | Made::File(..) => None,
        });
        let of_writable = writable.flat_map(|place| [place].into_iter().chain(mounts.mounted_in(place)));
        of_writable.into_iter().find(|place| is_suspect(place) && self.takes_several(place)).map(Path::to_path_buf)
    }

    /// Whether an entry in there is found by another spelling. What is known once is not looked at again.
    fn takes_several(&self, place: &Path) -> bool {
        let device = place.metadata().map_or(0, |found| found.dev());
        if self.one.lock().unwrap_or_else(PoisonError::into_inner).contains(&device) {
            return false;
        }
        let found = search(place);
        if found == Some(false) {
            self.one.lock().unwrap_or_else(PoisonError::into_inner).insert(device);
        }
        found == Some(true)
    }
}

/// What must not be reached by another spelling.
fn covered(made: &Made) -> Option<&Path> {
    match made {
        Made::ReadOnly(place) => Some(&place.path),
        Made::Empty(path) | Made::File(path, _) => Some(path),
        Made::Writable(_) => None,
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

#[expect(clippy::useless_conversion, reason = "the type of the number differs from system to system")]
fn is_suspect(directory: &Path) -> bool {
    statfs(directory).is_ok_and(|system| SUSPECT.contains(&i64::from(system.f_type)))
}

/// Whether a path is found by a spelling of its name that no entry has.
fn is_found_otherwise(path: &Path) -> bool {
    let other = path.file_name().and_then(swapped);
    other.is_some_and(|other| {
        parent(path).join(&other).symlink_metadata().is_ok()
            && names(parent(path)).is_some_and(|names| !names.contains(&other))
    })
}

/// Whether a name in this directory, or below it where this one has none with a letter, is found by a spelling that no entry has; nothing
/// where no name has a letter.
fn search(directory: &Path) -> Option<bool> {
    let (mut left, mut directories) = (MOST_ENTRIES, VecDeque::from([directory.to_path_buf()]));
    while let Some(directory) = directories.pop_front() {
        let names = names(&directory).unwrap_or_default();
        let pairs = names.iter().filter_map(|name| Some((name, swapped(name)?)));
        let mut letters = pairs.filter(|(_, other)| !names.contains(other)).peekable();
        if letters.peek().is_some() {
            return Some(letters.take(MOST_ENTRIES).any(|(_, other)| directory.join(other).symlink_metadata().is_ok()));
        }
        left = left.checked_sub(names.len())?;
        let below = names.iter().map(|name| directory.join(name));
        directories.extend(below.filter(|path| path.symlink_metadata().is_ok_and(|found| found.is_dir())));
    }
    None
}

fn names(directory: &Path) -> Option<BTreeSet<OsString>> {
    Some(fs::read_dir(directory).ok()?.flatten().map(|entry| entry.file_name()).collect())
}

/// The name with the other case of each letter, if it has one.
fn swapped(name: &OsStr) -> Option<OsString> {
    let name = name.to_str()?;
    let swap = |c: char| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
    let other: String = name.chars().map(swap).collect();
    (other != name).then(|| other.into())
}

/// Of FUSE, 9p, SMB and CIFS: statfs(2).
const SUSPECT: &[i64] = &[0x6573_5546, 0x0102_1997, 0x517B, 0xFF53_4D42, 0xFE53_4D42];
const MOST_ENTRIES: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_are_no_other_spellings() {
        let root = tempfile::tempdir().unwrap();
        for name in ["README", "readme", "12", "Cargo.toml"] {
            fs::write(root.path().join(name), name).unwrap();
        }
        assert_eq!(search(root.path()), Some(false));
        assert!(!is_found_otherwise(&root.path().join("README")), "both are listed");
        assert!(!is_found_otherwise(&root.path().join("Cargo.toml")));
        assert_eq!(
            Spellings::default().many_for_one(&[Made::Empty(root.path().join("README"))], &MountTable::default()),
            None
        );
    }

    #[test]
    fn names_without_letters_say_nothing_and_those_below_are_asked() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(search(root.path()), None);
        fs::create_dir_all(root.path().join("2025/11")).unwrap();
        assert_eq!(search(root.path()), None);
        fs::write(root.path().join("2025/11/photo"), "").unwrap();
        assert_eq!(search(root.path()), Some(false));
    }
}
