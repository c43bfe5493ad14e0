//! What a text names, and what becomes of it.

use super::*;
use agent_core::permission::Permissions;
use std::fs;
use std::os::unix::fs::symlink;

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    file.extend(width.to_be_bytes());
    file.extend(height.to_be_bytes());
    file.extend([8, 2, 0, 0, 0, 1, 2, 3, 4]);
    file.extend(b"\0\0\0\0IEND\xae\x42\x60\x82");
    file
}

/// A workspace `repo` with pictures, in a directory that has one, too.
fn place() -> (tempfile::TempDir, Attaching) {
    let outside = tempfile::tempdir().unwrap();
    let root = outside.path().join("repo");
    fs::create_dir_all(root.join("secrets")).unwrap();
    for name in ["a.png", "with blank.png", "secrets/b.png", "key.png", "../out.png"] {
        fs::write(root.join(name), png(640, 480)).unwrap();
    }
    fs::write(root.join("bomb.png"), png(65_535, 65_535)).unwrap();
    fs::write(root.join("text.png"), "no picture").unwrap();
    symlink("../out.png", root.join("link.png")).unwrap();
    let permissions = Permissions { deny: vec!["read(secrets/**)".parse().unwrap()], ..Permissions::default() };
    let workspace = Some(Arc::new(Workspace::open(&root).unwrap().closing([root.join("key.png")])));
    let attaching = Attaching { directory: root, permissions, workspace, ..Attaching::default() };
    (outside, attaching)
}

fn to(attaching: &Attaching, text: &str, files: &[PathBuf], model: &str) -> Result<Pictured, NotAttached> {
    Attaching { model: model.to_owned(), ..attaching.clone() }.to(text, files)
}

fn names(attached: Result<Pictured, NotAttached>) -> Vec<String> {
    attached.unwrap().message.pictures.iter().map(|picture| picture.name.to_string()).collect()
}

#[test]
fn words_with_an_at_are_found_as_a_shell_reads_them() {
    for (text, expected) in [
        ("look at @a.png", &["a.png"][..]),
        ("@a.png, @b.png. And (@c.png)!", &["a.png", "b.png", "c.png"]),
        (r#"@"with blank.png" @'x y' @with\ blank.png"#, &["with blank.png", "x y"]),
        ("me@example.com @ @.", &[]),
        ("@a.png @a.png", &["a.png"]),
        ("@\"open", &["\"open"]),
        ("é@a ü @ö.png\\", &["ö.png"]),
    ] {
        assert_eq!(mentions(text), expected, "{text}");
    }
}

#[test]
fn a_picture_goes_with_the_text_that_names_it() {
    let (_outside, attaching) = place();
    let attached = to(&attaching, "what is @a.png and @text.png and @none.png", &[], "m").unwrap();
    assert_eq!(attached.told, ["a.png 640x480, about 414 tokens"]);
    assert_eq!(attached.message.text, "what is @a.png and @text.png and @none.png");
    let [picture] = &*attached.message.pictures else { panic!("{attached:?}") };
    assert_eq!(attaching.keeper.bytes_of(picture).unwrap(), png(640, 480));
    let named = to(&attaching, "see", &["with blank.png".into()], "m");
    assert_eq!(names(named), ["with blank.png"]);
    assert_eq!(to(&attaching, "no picture", &[], "o3-mini").unwrap().message, "no picture");
}

#[test]
fn a_text_names_readable_files_of_the_workspace_alone_and_what_was_dropped() {
    let (outside, mut attaching) = place();
    let out = outside.path().join("out.png");
    let text = format!("@a.png @secrets/b.png @key.png @link.png @../out.png @{}", out.display());
    assert_eq!(names(to(&attaching, &text, &[], "m")), ["a.png"]);
    let dropped = attaching.pasted(&out.display().to_string()).unwrap();
    assert_eq!(names(to(&attaching, &dropped, &[], "m")), [out.display().to_string()]);
    // A rule without a pattern is about every file.
    attaching.permissions.deny = vec!["read_file".parse().unwrap()];
    assert_eq!(to(&attaching, "@a.png", &[], "m").unwrap().message, "@a.png");
}

#[test]
fn a_picture_that_cannot_go_keeps_the_message_back_with_the_reason() {
    let (_outside, attaching) = place();
    let refused = |text: &str, files: &[&str], model: &str| {
        let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        to(&attaching, text, &files, model).unwrap_err().to_string()
    };
    assert!(
        refused("@a.png @bomb.png", &[], "m").starts_with("the picture `bomb.png` is a PNG picture of 65535x65535")
    );
    assert!(refused("x", &["none.png"], "m").starts_with("the picture `none.png` cannot be read: No such file"));
    assert!(refused("x", &["text.png"], "m").contains("is not a PNG, JPEG, GIF or WebP picture"));
    assert!(refused("x", &["/dev/zero"], "m").contains("it is not a regular file"));
    assert!(refused("@a.png", &[], "o3-mini").starts_with("the model o3-mini takes no pictures: leave them out"));
    let many: Vec<&str> = vec!["a.png"; 200];
    assert!(refused("x", &many, "m").starts_with("200 pictures are too many for one message, which takes 20"));
    let huge = File::create(attaching.directory.join("huge.png")).unwrap();
    io::Write::write_all(&mut &huge, &png(1, 1)).unwrap();
    huge.set_len(1 << 30).unwrap();
    assert!(refused("@huge.png", &[], "m").contains("is a picture of 1073741824 bytes, more than 3932160"));
}

#[test]
fn a_dropped_file_becomes_what_the_text_names_it_by() {
    let (outside, mut attaching) = place();
    let root = outside.path().join("repo").display().to_string();
    let blank = format!("{root}/with blank.png");
    for paste in [
        format!("{root}/a.png"),
        format!("'{blank}' "),
        format!("\"{blank}\""),
        blank.replace(' ', "\\ "),
        format!("file://{}\n", blank.replace(' ', "%20")),
    ] {
        let mention = attaching.pasted(&paste).unwrap();
        let text = format!("see {mention}please");
        assert_eq!(names(to(&attaching, &text, &[], "m")).len(), 1, "{paste}: {mention}");
    }
    for paste in ["a.png", &blank, &format!("{root}/text.png"), "/dev/zero", "file://host/a", "/", "file:///%f", ""] {
        assert_eq!(attaching.pasted(paste), None, "{paste}");
    }
}
