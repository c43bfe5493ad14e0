//! A disk that is full in the middle of a turn: undo brings back what it kept and names the rest. This needs a small file system, which a
//! test mounts in a namespace of its own.

use super::support::{Agent, Repo, Signal, TestRunner, wait};
use agent_git::{HooksConfig, undo};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn undo_names_what_a_full_disk_did_not_keep() {
    let Some(namespace) = namespace() else {
        println!("SKIPPED: this system lets nobody mount anything here (`unshare -m` failed)");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let output = Command::new(namespace[0])
        .args(&namespace[1..])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "full_disk::inside_a_namespace", "--ignored", "--nocapture"])
        .env("TMPDIR", directory.path())
        .output()
        .unwrap();
    let text = format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

fn namespace() -> Option<Vec<&'static str>> {
    [vec!["unshare", "-m"], vec!["unshare", "-rm"]].into_iter().find(|namespace| {
        let mount = "mount -t tmpfs -o size=64k none /mnt";
        let tried = Command::new(namespace[0]).args(&namespace[1..]).args(["sh", "-c", mount]).output();
        tried.is_ok_and(|output| output.status.success())
    })
}

#[test]
#[ignore = "another test runs it in a mount namespace"]
fn inside_a_namespace() {
    let place = PathBuf::from(std::env::var_os("TMPDIR").unwrap());
    for is_one_batch in [true, false] {
        for free_kib in [0, 40] {
            let mount = ["-t", "tmpfs", "-o", "size=2m", "none"];
            assert!(Command::new("mount").args(mount).arg(&place).status().unwrap().success());
            turn_on_a_full_disk(&place, free_kib, is_one_batch);
            assert!(Command::new("umount").arg(&place).status().unwrap().success());
        }
    }
    for (files, path_bytes) in [(1, 3_000), (5, 3_000), (40, 900), (600, 60), (3, 60)] {
        let mount = ["-t", "tmpfs", "-o", "size=16m", "none"];
        assert!(Command::new("mount").args(mount).arg(&place).status().unwrap().success());
        many_files_on_a_full_disk(&place, files, path_bytes);
        assert!(Command::new("umount").arg(&place).status().unwrap().success());
    }
}

/// Every file that undo does not take back is named or counted, whatever room is left for names.
fn many_files_on_a_full_disk(place: &Path, files: usize, path_bytes: usize) {
    let repo = Repo::new().unwrap();
    let folder = vec!["\u{e9}".repeat(100); path_bytes / 200].join("/");
    let paths: Vec<String> =
        (0..files).map(|number| format!("{folder}/f{number}.txt").trim_start_matches('/').to_owned()).collect();
    for path in &paths {
        fs::create_dir_all(repo.project.join(path).parent().unwrap()).unwrap();
        repo.write(path, &"the user's\n".repeat(800));
    }
    let config = HooksConfig { auto_commit: false, ..repo.config() };
    let agent = Agent::new(config.clone());
    agent.hooks.turn_started();
    agent.change("a.rs", Some("a2\n"));
    let filler = place.join("filler");
    fill(&filler);
    for path in &paths {
        agent.announce(path);
        agent.begin();
        let file = fs::OpenOptions::new().write(true).open(repo.project.join(path)).unwrap();
        (&file).write_all(b"the agent's").unwrap();
    }
    let changed: Vec<&str> = ["a.rs"].into_iter().chain(paths.iter().map(String::as_str)).collect();
    agent.check(&changed);
    drop(agent);
    fs::remove_file(filler).unwrap();
    let undone = wait(undo(&config, &TestRunner::default(), 1, &Signal(false))).unwrap();
    let named = undone.left.iter().filter(|(path, _)| paths.contains(path)).count();
    let counted: usize = undone
        .left
        .iter()
        .filter(|(path, _)| !paths.contains(path))
        .map(|(text, _)| match text.split_once(' ').unwrap() {
            ("one", "more file") => 1,
            (count, "more files") => count.parse().unwrap(),
            _ => panic!("{text}"),
        })
        .sum();
    let case = format!("{files} files of {path_bytes} bytes: {named} named, {counted} counted");
    assert_eq!(named + counted, files, "{case}");
    // All that fits in the room is named: of a few there is no number.
    assert_eq!(counted > 0, files * path_bytes > 14_000, "{case}");
    assert!(named > 0, "{case}");
    assert_eq!(undone.restored, ["a.rs"], "{case}");
}

fn turn_on_a_full_disk(place: &Path, free_kib: usize, is_one_batch: bool) {
    let repo = Repo::new().unwrap();
    repo.write("big.txt", &"the user's\n".repeat(10_000));
    let config = HooksConfig { auto_commit: false, ..repo.config() };
    let agent = Agent::new(config.clone());
    agent.hooks.turn_started();
    agent.change("a.rs", Some("a2\n"));
    if !is_one_batch {
        agent.check(&["a.rs"]);
    }
    let filler = place.join("filler");
    let room = vec![0; free_kib * 1024];
    fs::write(place.join("room"), room).unwrap();
    fill(&filler);
    fs::remove_file(place.join("room")).unwrap();
    agent.announce("big.txt");
    agent.begin();
    // In its place: that needs no room.
    let big = fs::OpenOptions::new().write(true).open(repo.project.join("big.txt")).unwrap();
    (&big).write_all(b"the agent's").unwrap();
    let report = agent.check(if is_one_batch { &["a.rs", "big.txt"] } else { &["big.txt"] });
    assert!(report.notes.iter().any(|note| note.contains("undo cannot restore big.txt")), "{:?}", report.notes);
    drop(agent);
    fs::remove_file(filler).unwrap();
    let undone = wait(undo(&config, &TestRunner::default(), 1, &Signal(false))).unwrap();
    let case = format!("{free_kib} KiB, one batch: {is_one_batch}: {undone:?}");
    assert_eq!(undone.left.len(), 1, "{case}");
    assert!(undone.left[0].0 == "big.txt" && undone.left[0].1.contains("not kept"), "{case}");
    assert_eq!(undone.restored, ["a.rs"], "{case}");
    assert!(repo.read("big.txt").starts_with("the agent's"), "{case}");
}

fn fill(file: &Path) {
    let mut filler = fs::File::create(file).unwrap();
    while filler.write_all(&[0; 4096]).is_ok() {}
}
