//! File systems that take several spellings of a name for one file, and keep an entry for each spelling: exFAT and NTFS by FUSE, shares of
//! Windows, 9p. A mount covers one entry, so what it protects or hides is reached by another spelling. In a file system of the kernel's own the
//! spellings are one entry, and a mount covers them all.

use crate::mount_table::MountTable;
use rustix::fs::statfs;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The first of these places, and of what is mounted in them, in such a file system.
pub(super) fn many_for_one(places: &[PathBuf], mounts: &MountTable) -> Option<PathBuf> {
    let mounted = places.iter().flat_map(|place| mounts.mounted_in(place));
    places.iter().map(PathBuf::as_path).chain(mounted).find(|place| has_many(place)).map(Path::to_path_buf)
}

#[expect(clippy::useless_conversion, reason = "the type of the number differs from system to system")]
fn has_many(directory: &Path) -> bool {
    let is_suspect = statfs(directory).is_ok_and(|system| SUSPECT.contains(&i64::from(system.f_type)));
    is_suspect && takes_another_spelling(directory)
}

/// Whether an entry is found by a spelling that no entry has.
fn takes_another_spelling(directory: &Path) -> bool {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().take(MOST_ENTRIES);
    let names: Vec<OsString> = entries.map(|entry| entry.file_name()).collect();
    let swapped = |name: &OsString| -> Option<OsString> {
        let name = name.to_str()?;
        let swap = |c: char| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
        let other: String = name.chars().map(swap).collect();
        (other != name).then(|| other.into())
    };
    let number = |name: &OsString| directory.join(name).symlink_metadata().ok().map(|found| (found.dev(), found.ino()));
    names.iter().any(|name| {
        swapped(name)
            .is_some_and(|other| !names.contains(&other) && number(&other).is_some() && number(&other) == number(name))
    })
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
        assert!(!takes_another_spelling(root.path()));
        assert_eq!(many_for_one(&[root.path().to_path_buf()], &MountTable::default()), None);
        // Another entry of the same file, as such a file system has it without listing it.
        fs::hard_link(root.path().join("Cargo.toml"), root.path().join("cARGO.TOML")).unwrap();
        assert!(!takes_another_spelling(root.path()), "both are listed: a hard link");
    }
}
