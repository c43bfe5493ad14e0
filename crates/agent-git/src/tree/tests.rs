//! What is done beneath a held directory, whatever becomes of its path meanwhile.

use super::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

fn tree() -> (tempfile::TempDir, Tree) {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("in/a")).unwrap();
    fs::create_dir(root.path().join("out")).unwrap();
    fs::write(root.path().join("out/secret"), "secret").unwrap();
    let tree = Tree::open(&root.path().join("in")).unwrap();
    (root, tree)
}

fn text(text: &str) -> Image {
    Image::File { bytes: text.as_bytes().into(), executable: false }
}

#[test]
fn nothing_beyond_a_link_is_read_made_or_removed() {
    let (root, tree) = tree();
    symlink("../out", root.path().join("in/link")).unwrap();
    symlink("../../out/secret", root.path().join("in/a/secret")).unwrap();
    let through = Path::new("link/secret");
    assert_eq!(tree.image(through), Image::Opaque("its path leads through a symbolic link"));
    assert!(tree.read(through, 100).is_err() && tree.read("a/secret", 100).is_err());
    assert!(tree.append(through, b"x", 0).is_err() && tree.append(Path::new("a/secret"), b"x", 0).is_err());
    assert!(tree.remove(through).is_err() && tree.rename(Path::new("a/secret"), through).is_err());
    assert!(tree.restore(None, through, &text("secret"), &text("mine"), None).is_err());
    assert!(tree.restore(None, Path::new("link/new/x"), &Image::Absent, &text("mine"), None).is_err());
    assert!(tree.make_directory(Path::new("link/new")).is_err());
    assert!(tree.image("../out/secret") != text("secret") && tree.read("../out/secret", 100).is_err());
    let out: Vec<_> = fs::read_dir(root.path().join("out")).unwrap().collect();
    assert_eq!((out.len(), fs::read_to_string(root.path().join("out/secret")).unwrap()), (1, "secret".into()));
    // The control: the same beneath it works.
    assert_eq!(tree.restore(None, Path::new("b/c/x"), &Image::Absent, &text("mine"), None).unwrap(), Replaced::Yes);
    assert_eq!(tree.image("b/c/x"), text("mine"));
    assert_eq!(tree.read("b/c/x", 4).unwrap().unwrap(), b"mine");
    assert!(tree.read("b/c/x", 3).is_err() && tree.read("b/c/y", 3).unwrap().is_none());
}

#[test]
fn what_somebody_changed_meanwhile_stays() {
    let (root, tree) = tree();
    let (path, file) = (Path::new("a/x"), root.path().join("in/a/x"));
    fs::write(&file, "theirs").unwrap();
    assert_eq!(tree.replace(path, &text("before"), b"mine").unwrap(), Replaced::No);
    assert_eq!(tree.restore(None, path, &text("before"), &Image::Absent, None).unwrap(), Replaced::No);
    assert_eq!(fs::read_to_string(&file).unwrap(), "theirs");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(tree.replace(path, &text("theirs"), b"mine").unwrap(), Replaced::Yes);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    let link = Image::Link(b"../elsewhere"[..].into());
    assert_eq!(tree.restore(None, path, &text("mine"), &link, None).unwrap(), Replaced::Yes);
    assert_eq!(tree.image(path), link);
    assert_eq!(tree.names(Path::new("a")).unwrap(), ["x"], "nothing temporary is left");
}

#[test]
fn pipes_are_not_waited_for_and_a_moved_directory_is_known() {
    let (root, tree) = tree();
    let pipe = root.path().join("in/pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(tree.image("pipe"), Image::Opaque("it is not a regular file"));
    assert!(tree.read("pipe", 100).is_err() && tree.append(Path::new("pipe"), b"x", 0).is_err());
    assert_eq!(read_path(&pipe, 100), None);
    assert!(tree.is_in_place());
    fs::rename(root.path().join("in"), root.path().join("moved")).unwrap();
    fs::create_dir(root.path().join("in")).unwrap();
    assert!(!tree.is_in_place());
}

/// What is made for a file is made where nobody looks, if a rename leads from there, and has the group of the place.
#[test]
fn nothing_lies_beside_a_file_while_it_is_restored() {
    let (root, tree) = tree();
    let staging = tree.make_directory(Path::new("staging")).unwrap();
    let before = fs::read_dir(root.path().join("in/a")).unwrap().count();
    let restored = tree.restore(Some(staging.as_fd()), Path::new("a/x"), &Image::Absent, &text("mine"), None);
    assert_eq!(restored.unwrap(), Replaced::Yes);
    assert_eq!(
        (tree.image("a/x"), fs::read_dir(root.path().join("in/a")).unwrap().count()),
        (text("mine"), before + 1)
    );
    let link = Image::Link(b"x"[..].into());
    tree.restore(Some(staging.as_fd()), Path::new("a/l"), &Image::Absent, &link, None).unwrap();
    assert_eq!(tree.image("a/l"), link);
    assert_eq!(fs::read_dir(root.path().join("in/staging")).unwrap().count(), 0);
    // Another file system: no rename leads from there.
    let Ok(elsewhere) = open("/dev/shm", DIRECTORY, Mode::empty()) else { return };
    tree.restore(Some(elsewhere.as_fd()), Path::new("a/x"), &text("mine"), &text("again"), None).unwrap();
    tree.restore(Some(elsewhere.as_fd()), Path::new("a/l"), &link, &Image::Link(b"y"[..].into()), None).unwrap();
    assert_eq!((tree.image("a/x"), tree.image("a/l")), (text("again"), Image::Link(b"y"[..].into())));
}
