//! File systems on which a letter with an accent is one name whether it is written as one code point or as two (é): case-insensitive
//! directories of ext4, f2fs and tmpfs, HFS+, ZFS, and those of other systems (FUSE, 9p, shares of Windows and macOS). There a rule holds
//! for both spellings. Elsewhere these are two files, and a rule holds for the one that it names.
//!
//! Absent: whether such a file system really takes both. What is not known counts as one name, which can only deny more.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use rustix::fs::{Mode, OFlags, fstatfs, ioctl_getflags, open};
use std::path::Path;

/// The other spellings of a path below a root, as far as one of its directories takes them for the same. The path has no links.
pub(super) fn of(root: &Path, path: &str) -> Vec<String> {
    others(path, |above| takes_several(&root.join(above)))
}

fn others(path: &str, takes_several: impl Fn(&str) -> bool) -> Vec<String> {
    if path.is_ascii() {
        return Vec::new();
    }
    let spellings = [
        ComposingNormalizerBorrowed::new_nfc().normalize(path),
        DecomposingNormalizerBorrowed::new_nfd().normalize(path),
    ];
    let others: Vec<String> = spellings.into_iter().filter(|other| *other != path).map(|other| other.into()).collect();
    // A name is looked up in the directory above it; one that is not there yet will be.
    let aboves = || path.match_indices('/').map(|(at, _)| path.get(..at).unwrap_or_default());
    let is_one_name = || takes_several("") || aboves().any(&takes_several);
    if others.is_empty() || !is_one_name() { Vec::new() } else { others }
}

#[expect(clippy::useless_conversion, reason = "the type of the number differs from system to system")]
fn takes_several(directory: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(directory) = open(directory, flags, Mode::empty()) else { return false };
    let is_folded = ioctl_getflags(&directory).is_ok_and(|flags| flags.bits() & CASEFOLD != 0);
    is_folded || fstatfs(&directory).is_ok_and(|system| SUSPECT.contains(&i64::from(system.f_type)))
}

/// `FS_CASEFOLD_FL` of linux/fs.h.
const CASEFOLD: u32 = 0x4000_0000;
/// Of FUSE, 9p, SMB, CIFS, HFS+, ZFS, VirtualBox: statfs(2).
const SUSPECT: &[i64] = &[0x6573_5546, 0x0102_1997, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x482B, 0x2FC1_2FC1, 0x786F_4256];

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn a_path_has_both_spellings_where_a_directory_of_it_takes_them_for_one() {
        let (composed, decomposed) = ("caf\u{e9}/a/\u{fc}.txt", "cafe\u{301}/a/u\u{308}.txt");
        for (path, other) in [(composed, decomposed), (decomposed, composed)] {
            for folded in ["", "cafe\u{301}", "caf\u{e9}", "cafe\u{301}/a", "caf\u{e9}/a"] {
                let asked = RefCell::new(Vec::new());
                let found = others(path, |above| {
                    asked.borrow_mut().push(above.to_owned());
                    above == folded
                });
                let is_on_the_way = folded.is_empty() || path.starts_with(folded);
                assert_eq!(found, if is_on_the_way { vec![other.to_owned()] } else { Vec::new() }, "{path} {folded}");
                assert!(!asked.borrow().contains(&path.to_owned()), "nothing is looked up in the file itself");
            }
            assert_eq!(others(path, |_| false), [""; 0]);
        }
        let mixed = "caf\u{e9}/cafe\u{301}";
        assert_eq!(others(mixed, |_| true), ["caf\u{e9}/caf\u{e9}", "cafe\u{301}/cafe\u{301}"]);
        assert_eq!(others("src/main.rs", |_| panic!("ASCII has one spelling")), [""; 0]);
        assert_eq!(others("\u{4e2d}", |_| panic!("nothing else is spelt so")), [""; 0]);
    }

    /// The control: on a file system like most they are two files.
    #[test]
    fn on_an_ordinary_file_system_there_is_no_other_spelling() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("caf\u{e9}"), "").unwrap();
        if root.path().join("cafe\u{301}").exists() {
            eprintln!("skipped: this file system takes both");
            return;
        }
        assert_eq!(of(root.path(), "caf\u{e9}"), [""; 0]);
    }
}
