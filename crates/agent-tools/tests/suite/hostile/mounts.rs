//! File systems that are full, read-only, or in the way. These rows need mounts, which a test makes in a namespace of its own.

use super::{Row, World, hold, must};
use serde_json::json;
use std::fs;
use std::process::Command;

/// Runs the rows below in a mount namespace, where there may be one.
#[test]
fn file_systems_in_the_way_are_no_trouble() {
    let Some(namespace) = namespace() else {
        eprintln!("skipped: this system lets nobody mount anything here (`unshare -m` failed)");
        return;
    };
    let output = Command::new(namespace[0])
        .args(&namespace[1..])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "hostile::mounts::inside_a_namespace", "--ignored", "--nocapture"])
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
    hold(&[
        Row { name: "a full disk", check: full_disk },
        Row { name: "a full disk, in the middle of a patch", check: full_disk_in_a_patch },
        Row { name: "read-only", check: read_only },
        Row { name: "another file system than that of temporary files", check: another_device },
        Row { name: "a file that is a mount of its own", check: mounted_file },
        Row { name: "a directory that contains itself", check: contains_itself },
        Row { name: "the kernel's own files, mounted inside", check: mounted_proc },
        Row { name: "git's own data, mounted inside", check: mounted_git },
        Row { name: "copies for undo, mounted inside", check: mounted_copies },
        Row { name: "a volume at a protected name, mounted again", check: mounted_again },
        Row { name: "an ordinary directory, mounted at a protected name", check: mounted_at_a_protected_name },
    ]);
}

/// No file may be larger than this. The system would end the program that tries.
#[test]
fn a_limit_on_the_size_of_files_is_told() {
    for (row, expected) in [("limited_ours", true), ("limited_naive", false)] {
        let output = Command::new("prlimit")
            .arg("--fsize=4096")
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", &format!("hostile::mounts::{row}"), "--ignored", "--nocapture"])
            .output();
        let Ok(output) = output else {
            eprintln!("skipped: there is no `prlimit`");
            return;
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.success() && text.contains("1 passed"), expected, "{row}: {text}");
    }
}

#[test]
#[ignore = "another test runs it under a limit"]
fn limited_ours() {
    limited(&World::new(false)).unwrap();
}

#[test]
#[ignore = "another test runs it under a limit"]
fn limited_naive() {
    limited(&World::new(true)).unwrap();
}

fn limited(world: &World) -> Result<(), String> {
    world.write("f", "small\n").must_be_ok()?;
    world.read("f").must_be_ok()?;
    world.write("f", &"x".repeat(10_000)).must_fail("no file may have more than 4096 bytes")?;
    world.has("f", b"small\n")?;
    world.leaves_nothing()
}

fn mount(arguments: &[&str]) {
    assert!(Command::new("mount").args(arguments).status().unwrap().success(), "mount {arguments:?}");
}

/// A workspace on a file system of its own, in a world like any other.
fn on_tmpfs(world: &World, options: &str) -> World {
    let root = world.outside("repo-mounted");
    fs::create_dir(&root).unwrap();
    mount(&["-t", "tmpfs", "-o", options, "none", root.to_str().unwrap()]);
    let bench = crate::support::Bench::over(root);
    World { bench: std::sync::Arc::new(bench), is_naive: world.is_naive }
}

fn full_disk(world: &World) -> Result<(), String> {
    let small = on_tmpfs(world, "size=256k");
    small.bench.write("f", "old\n");
    small.read("f").must_be_ok()?;
    let large = "x".repeat(1_000_000);
    small.write("f", &large).must_fail("the disk is full")?;
    small.edit("f", "old", &large).must_fail("the disk is full")?;
    small.write("new/deep/g", &large).must_fail("the disk is full")?;
    must(!small.path("new").exists(), "directories are left")?;
    small.has("f", b"old\n")?;
    small.leaves_nothing()?;
    // The agent goes on.
    small.write("f", "new\n").must_be_ok()
}

fn full_disk_in_a_patch(world: &World) -> Result<(), String> {
    let small = on_tmpfs(world, "size=256k");
    small.bench.write("a", "old\n");
    small.bench.write("b", "old\n");
    let large = format!("+{}\n", "x".repeat(1_000_000));
    let patch = format!(
        "*** Begin Patch\n*** Update File: a\n-old\n+new\n*** Add File: c\n+c\n*** Delete File: b\n*** Add File: d\n{large}*** End Patch"
    );
    let answer = small.call("apply_patch", json!({"patch": patch}));
    must(answer.text().contains("the disk is full") && answer.text().contains("nothing was changed"), answer.text())?;
    small.has("a", b"old\n")?;
    small.has("b", b"old\n")?;
    must(!small.path("c").exists() && !small.path("d").exists(), "files are left")?;
    small.leaves_nothing()
}

fn read_only(world: &World) -> Result<(), String> {
    let fixed = on_tmpfs(world, "size=256k");
    fixed.bench.write("f", "old\n");
    // Of the mount, not of the file system: so may an ordinary user's namespace.
    mount(&["-o", "remount,ro,bind", fixed.bench.root.to_str().unwrap()]);
    fixed.read("f").must_be("1\told\n")?;
    fixed.edit("f", "old", "new").must_fail("on a read-only file system")?;
    fixed.write("g", "new").must_fail("on a read-only file system")?;
    fixed.has("f", b"old\n")
}

fn another_device(world: &World) -> Result<(), String> {
    let other = on_tmpfs(world, "size=256k");
    other.bench.write("f.moved", "old\n");
    other.edit("f.moved", "old", "new").must_be_ok()?;
    other.has("f.moved", b"new\n")
}

fn mounted_file(world: &World) -> Result<(), String> {
    world.bench.write("f.sh", "old\n");
    fs::write(world.outside("repo-other"), "other\n").unwrap();
    let (from, to) = (world.outside("repo-other"), world.path("f.sh"));
    mount(&["--bind", from.to_str().unwrap(), to.to_str().unwrap()]);
    world.read("f.sh").must_be("1\tother\n")?;
    world.edit("f.sh", "other", "new").must_fail("f.sh")?;
    world.has("f.sh", b"other\n")?;
    world.leaves_nothing()
}

fn contains_itself(world: &World) -> Result<(), String> {
    world.bench.write("f", "needle\n");
    fs::create_dir(world.path("loop")).unwrap();
    let root = world.bench.root.to_str().unwrap();
    mount(&["--bind", root, world.path("loop").to_str().unwrap()]);
    let found = world.call("glob", json!({"pattern": "f"}));
    must(found.text().starts_with("f\n["), &format!("{found:?}"))?;
    let found = world.call("grep", json!({"pattern": "needle"}));
    must(found.text().matches(":1:needle").count() == 1, &format!("{found:?}"))
}

fn mounted_proc(world: &World) -> Result<(), String> {
    fs::create_dir(world.path("p")).unwrap();
    mount(&["--rbind", "/proc", world.path("p").to_str().unwrap()]);
    world.read("p/self/environ").must_fail("the system's own")?;
    world.read("p/version").must_fail("the system's own")
}

fn bind(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir_all(to).unwrap();
    mount(&["--bind", from.to_str().unwrap(), to.to_str().unwrap()]);
}

fn mounted_git(world: &World) -> Result<(), String> {
    for folder in [".git/hooks", "free"] {
        fs::create_dir_all(world.path(folder)).unwrap();
    }
    bind(&world.path(".git/hooks"), &world.path("m"));
    bind(&world.path("free"), &world.path("f"));
    world.write("f/pre-commit", "x\n").must_be_ok()?;
    world.write("m/pre-commit", "x\n").must_fail("git's own data")?;
    world.write("m/new/pre-commit", "x\n").must_fail("git's own data")?;
    must(fs::read_dir(world.path(".git/hooks")).unwrap().count() == 0, "something is there")
}

fn mounted_copies(world: &World) -> Result<(), String> {
    for folder in [".git/agent/deep", ".git/other/deep"] {
        world.bench.write(format!("{folder}/copy"), "needle\n");
    }
    bind(&world.path(".git/agent/deep"), &world.path("m"));
    bind(&world.path(".git/other/deep"), &world.path("f"));
    world.read("f/copy").must_be("1\tneedle\n")?;
    world.read("m/copy").must_fail("no tool may read it")?;
    let found = world.call("grep", json!({"pattern": "needle"}));
    must(found.text().contains("f/copy") && !found.text().contains("m/copy"), &format!("{found:?}"))
}

/// In such a volume nothing has a protected name.
fn mounted_again(world: &World) -> Result<(), String> {
    for name in [".vscode", "free", "m", "f"] {
        fs::create_dir(world.path(name)).unwrap();
    }
    let outside = world.outside("repo-outside/.githooks");
    fs::create_dir_all(&outside).unwrap();
    for at in [world.path(".vscode"), world.path("free"), outside.clone()] {
        mount(&["-t", "tmpfs", "-o", "size=64k", "none", at.to_str().unwrap()]);
    }
    bind(&world.path(".vscode"), &world.path("m"));
    bind(&world.path("free"), &world.path("f"));
    bind(&outside, &world.path("o"));
    world.write("f/tasks.json", "x\n").must_be_ok()?;
    world.write("m/tasks.json", "x\n").must_fail("no tool may change it")?;
    world.write("m/new/tasks.json", "x\n").must_fail("no tool may change it")?;
    world.write("o/pre-commit", "x\n").must_fail("no tool may change it")?;
    must(fs::read_dir(world.path(".vscode")).unwrap().count() == 0, "something is there")?;
    must(fs::read_dir(outside).unwrap().count() == 0, "something is there")
}

fn mounted_at_a_protected_name(world: &World) -> Result<(), String> {
    for name in ["tasks/deep", "others"] {
        fs::create_dir_all(world.path(name)).unwrap();
    }
    bind(&world.path("tasks"), &world.path(".vscode"));
    bind(&world.path("others"), &world.path("free"));
    world.write("others/tasks.json", "x\n").must_be_ok()?;
    world.write("tasks/tasks.json", "x\n").must_fail("no tool may change it")?;
    world.write("tasks/deep/tasks.json", "x\n").must_fail("no tool may change it")
}
