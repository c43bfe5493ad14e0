//! `read_file` of pictures: shown by content, within the same walls as text, and refused by what their heads say.

use crate::support::Bench;
use agent_tools::Workspace;
use agent_types::picture::{Digest, Picture, PictureKind};
use agent_types::ports::{PictureError, PictureKeeper};
use agent_types::tool::{ToolOutcome, ToolStatus};
use serde_json::json;
use std::os::unix::fs::symlink;
use std::sync::{Arc, Mutex};

/// Keeps what it is given, or has no room.
#[derive(Debug, Default)]
struct Keeper {
    kept: Mutex<Vec<Vec<u8>>>,
    is_full: bool,
}

impl PictureKeeper for Keeper {
    fn keep(&self, bytes: &[u8]) -> Result<Digest, PictureError> {
        if self.is_full {
            return Err(PictureError { attempted: "keep the picture in /x".into(), found: "no space is left".into() });
        }
        self.kept.lock().unwrap().push(bytes.to_vec());
        Ok(Digest::new([7; 32]))
    }

    fn bytes_of(&self, _: &Picture) -> Result<Vec<u8>, PictureError> {
        Err(PictureError { attempted: "read the picture".into(), found: "no one asks".into() })
    }
}

fn bench_with(is_full: bool) -> (Bench, Arc<Keeper>) {
    let outside = tempfile::tempdir().unwrap();
    let root = outside.path().join("repo");
    std::fs::create_dir(&root).unwrap();
    let keeper = Arc::new(Keeper { is_full, ..Keeper::default() });
    let workspace = Workspace::open(&root).unwrap().keeping(keeper.clone());
    (Bench::of(outside, root, workspace), keeper)
}

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    file.extend(width.to_be_bytes());
    file.extend(height.to_be_bytes());
    file.extend([8, 2, 0, 0, 0, 1, 2, 3, 4]);
    file.extend(b"\0\0\0\0IEND\xae\x42\x60\x82");
    file
}

async fn read(bench: &Bench, path: &str) -> ToolOutcome {
    bench.call("read_file", json!({"path": path})).await
}

#[tokio::test]
async fn a_picture_is_shown_by_its_content_whatever_its_name() {
    let (bench, keeper) = bench_with(false);
    bench.write("notes.txt", png(640, 480));
    let outcome = read(&bench, "notes.txt").await;
    assert_eq!(outcome.status, ToolStatus::Ok);
    let size = png(640, 480).len();
    assert_eq!(outcome.content, format!("[PNG 640x480, {size} bytes: the picture follows]"));
    let [Picture { kind: PictureKind::Png, width: 640, height: 480, bytes, name, .. }] = &outcome.pictures[..] else {
        panic!("{outcome:?}");
    };
    assert_eq!((*bytes, &**name), (size as u64, "notes.txt"));
    assert_eq!(*keeper.kept.lock().unwrap(), [png(640, 480)]);
    for (name, text) in
        [("a.png", "no picture\n"), ("a.svg", "<svg/>\n"), ("a.gif", "GIF89a is the name of a format\n")]
    {
        bench.write(name, text);
        let outcome = read(&bench, name).await;
        assert_eq!((outcome.content, outcome.pictures.len()), (format!("1\t{text}"), 0));
    }
}

#[tokio::test]
async fn what_cannot_be_shown_is_refused_and_not_kept() {
    let (bench, keeper) = bench_with(false);
    bench.write("bomb.png", png(65_535, 65_535));
    bench.write("none.png", png(0, 0));
    bench.write("cut.png", &png(640, 480)[..20]);
    std::fs::File::create(bench.path("huge.png")).unwrap().set_len(1 << 30).unwrap();
    std::fs::write(bench.path("huge.png.head"), b"").unwrap();
    {
        use std::io::Write as _;
        let mut file = std::fs::OpenOptions::new().write(true).open(bench.path("huge.png")).unwrap();
        file.write_all(&png(640, 480)).unwrap();
    }
    for (path, expected) in [
        ("bomb.png", "`bomb.png` is a PNG picture of 65535x65535 pixels, more than 8000 on a side; make it smaller"),
        ("none.png", "which shows nothing"),
        ("cut.png", "is a damaged PNG picture"),
        ("huge.png", "is a picture of 1073741824 bytes, more than 3932160; make it smaller"),
    ] {
        let outcome = read(&bench, path).await;
        assert!(outcome.content.contains(expected), "{}", outcome.content);
        assert_eq!((outcome.status, outcome.pictures.len()), (ToolStatus::Failed, 0));
    }
    assert!(keeper.kept.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_picture_lies_behind_the_same_walls_as_a_text() {
    let (mut bench, keeper) = bench_with(false);
    bench.write("secrets/a.png", png(6, 4));
    bench.write(".git/a.png", png(6, 4));
    std::fs::write(bench.outside.path().join("a.png"), png(6, 4)).unwrap();
    symlink("../a.png", bench.path("out.png")).unwrap();
    symlink("secrets/a.png", bench.path("denied.png")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(bench.path("pipe.png")).status().unwrap().success());
    bench.deny = vec!["read(secrets/**)".parse().unwrap()];
    for path in ["out.png", "../a.png", "denied.png", "pipe.png", "/dev/zero"] {
        let outcome = read(&bench, path).await;
        assert_eq!((outcome.status, outcome.pictures.len()), (ToolStatus::Failed, 0), "{path}");
    }
    assert!(keeper.kept.lock().unwrap().is_empty());
}

#[tokio::test]
async fn without_room_or_a_keeper_the_model_is_told_what_it_is() {
    let (bench, _) = bench_with(true);
    bench.write("a.png", png(6, 4));
    bench
        .fails(
            "read_file",
            json!({"path": "a.png"}),
            "is a picture that cannot be shown: keep the picture in /x: no space",
        )
        .await;
    let bench = Bench::new();
    bench.write("a.png", png(6, 4));
    bench.fails("read_file", json!({"path": "a.png"}), "is a PNG picture of 6x4 pixels (45 bytes), not text").await;
}
