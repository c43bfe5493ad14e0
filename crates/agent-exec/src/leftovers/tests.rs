//! Notes on real files: what goes, and what stays.

use super::*;
use std::os::unix::ffi::OsStrExt as _;

fn directory(path: &Path) -> OwnedFd {
    open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).unwrap()
}

fn write_note(notes: &mut Notes, directory_path: &Path, name: &OsStr, kept: Kept) {
    let found = fstat(directory(directory_path)).unwrap();
    let path = directory_path.to_path_buf();
    notes.write(&Note { path, directory: Identity::of(&found), name: name.to_os_string(), kept });
}

fn status(path: &Path) -> Stat {
    rustix::fs::lstat(path).unwrap()
}

/// Looks until it is so. A thread of another test may be between `fork` and `exec`, where its child holds every lock for a moment.
fn until<T>(look: impl Fn() -> T, is_so: impl Fn(&T) -> bool) -> T {
    for _ in 0..500 {
        let found = look();
        if is_so(&found) {
            return found;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    look()
}

#[test]
fn what_was_noted_is_removed_and_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    let (notes, work) = (root.path().join("notes"), root.path().canonicalize().unwrap().join("work"));
    fs::create_dir(&work).unwrap();
    let mut dead = Notes::begin(&notes).unwrap();
    let at = |name: &str| work.join(name);
    let mut noted = |name: &OsStr, kept: Kept| write_note(&mut dead, &work, name, kept);

    // Made, with a name that is no text and one with a line end.
    for name in [OsStr::from_bytes(b"a\xff.tmp"), OsStr::new("b\nc.tmp")] {
        noted(name, Kept::New);
        fs::write(work.join(name), "content").unwrap();
        noted(name, Kept::Made(Identity::of(&status(&work.join(name)))));
    }
    // Begun and empty; begun, and somebody's with something in it; begun, and a link.
    for name in ["empty.tmp", "full.tmp", "link.tmp"] {
        noted(OsStr::new(name), Kept::New);
    }
    fs::write(at("empty.tmp"), "").unwrap();
    fs::write(at("full.tmp"), "mine").unwrap();
    std::os::unix::fs::symlink("full.tmp", at("link.tmp")).unwrap();
    // Exchanged: as it was seen, and changed since.
    for name in ["old.tmp", "newer.tmp"] {
        fs::write(at(name), "old").unwrap();
        noted(OsStr::new(name), Kept::of(Leftover::Old(&status(&at(name)))));
    }
    fs::write(at("newer.tmp"), "a person's").unwrap();
    // Made, and by now another file of that name.
    fs::write(at("other.tmp"), "x").unwrap();
    noted(OsStr::new("other.tmp"), Kept::Made(Identity::of(&status(&at("other.tmp")))));
    fs::write(at("others"), "theirs").unwrap();
    fs::rename(at("others"), at("other.tmp")).unwrap();
    // A directory.
    fs::create_dir_all(at("copies/in")).unwrap();
    noted(OsStr::new("copies"), Kept::Made(Identity::of(&status(&at("copies")))));
    // Never noted.
    fs::write(at(".agent-1-2.tmp"), "").unwrap();

    assert_eq!(clear(&notes), Cleared::default(), "it lives");
    drop(dead);
    let cleared = until(|| clear(&notes), |cleared| *cleared != Cleared::default());
    let left = |cleared: &Cleared| {
        let names = cleared.left.iter().map(|(path, _)| path.file_name().unwrap().to_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(left(&cleared), ["full.tmp", "newer.tmp", "other.tmp"]);
    assert_eq!(cleared.removed.len(), 6, "{cleared:?}");
    let mut there: Vec<_> = fs::read_dir(&work).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    there.sort();
    assert_eq!(there, [".agent-1-2.tmp", "full.tmp", "newer.tmp", "other.tmp"]);
    // It is said as long as it is there.
    assert_eq!(until(|| left(&clear(&notes)).len(), |left| *left == 3), 3);
    for name in ["full.tmp", "newer.tmp", "other.tmp"] {
        fs::remove_file(at(name)).unwrap();
    }
    let after = until(|| (clear(&notes), fs::read_dir(&notes).unwrap().count()), |(_, files)| *files == 0);
    assert_eq!(after, (Cleared::default(), 0));
}

#[test]
fn notes_lead_nowhere_else_and_damage_is_passed_over() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let (notes, work, moved) = (root.join("notes"), root.join("work"), root.join("moved"));
    fs::create_dir(&work).unwrap();
    let mut dead = Notes::begin(&notes).unwrap();
    fs::write(work.join("x"), "").unwrap();
    write_note(&mut dead, &work, OsStr::new("x"), Kept::New);
    let path = fs::read_dir(&notes).unwrap().next().unwrap().unwrap().path();
    drop(dead);
    let whole = fs::read(&path).unwrap();
    // The directory is another one by now, or a link.
    fs::rename(&work, &moved).unwrap();
    fs::create_dir(&work).unwrap();
    fs::write(work.join("x"), "").unwrap();
    assert_eq!(clear(&notes), Cleared::default());
    assert!(moved.join("x").exists() && work.join("x").exists());
    for cut in 0..whole.len() {
        let end = [&whole[..cut], b"garbage\0\xff\0../x\0".as_slice()].concat();
        fs::write(&path, end).unwrap();
        assert!(clear(&notes).removed.is_empty(), "{cut}");
    }
    assert!(moved.join("x").exists() && work.join("x").exists());
}
