//! Kinds of files, and their permissions.

use super::{Row, World, hold, is_root, must};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::process::Command;

#[test]
fn special_files_are_refused_at_once() {
    hold(&[
        Row { name: "a pipe", check: pipe },
        Row { name: "a socket", check: socket },
        Row { name: "a directory as a file and a file as a directory", check: mixed_up },
    ]);
}

#[test]
fn permissions_are_kept_and_never_won() {
    hold(&[
        Row { name: "a script stays one", check: script },
        Row { name: "set-user-id is not given again", check: set_user_id },
    ]);
    if is_root() {
        eprintln!("skipped here: root may do everything; another test runs this as an ordinary user");
        return;
    }
    hold(&[
        Row { name: "no permission at all", check: no_permission },
        Row { name: "a directory that takes no file", check: closed_directory },
    ]);
}

#[test]
fn an_immutable_file_stays() {
    fn check(world: &World) -> Result<(), String> {
        world.bench.write("f", "old\n");
        let locked = Command::new("chattr").arg("+i").arg(world.path("f")).output();
        if !locked.is_ok_and(|output| output.status.success()) {
            return Err("cannot".into());
        }
        let edited = world.edit("f", "old", "new");
        let after = (world.has("f", b"old\n"), world.leaves_nothing());
        let unlocked = Command::new("chattr").arg("-i").arg(world.path("f")).status().unwrap();
        must(unlocked.success(), "chattr -i")?;
        edited.must_fail("f").and(after.0).and(after.1)
    }
    if check(&World::new(false)).is_err_and(|why| why == "cannot") {
        eprintln!("skipped: files cannot be made immutable here");
        return;
    }
    hold(&[Row { name: "immutable", check }]);
}

fn pipe(world: &World) -> Result<(), String> {
    must(Command::new("mkfifo").arg(world.path("f")).status().unwrap().success(), "mkfifo")?;
    world.read("f").must_fail("a named pipe")?;
    world.write("f", "x").must_fail("a named pipe")?;
    world.edit("f", "x", "y").must_fail("a named pipe")?;
    world.call("grep", json!({"pattern": "x"})).must_be("[no match]\n")?;
    world.call("grep", json!({"pattern": "x", "path": "f"})).must_fail("a named pipe")
}

fn socket(world: &World) -> Result<(), String> {
    let _socket = UnixListener::bind(world.path("f")).unwrap();
    world.read("f").must_fail("a socket")?;
    world.write("f", "x").must_fail("a socket")
}

fn mixed_up(world: &World) -> Result<(), String> {
    fs::create_dir(world.path("d")).unwrap();
    world.bench.write("f", "x\n");
    world.read("d").must_fail("is a directory")?;
    world.write("d", "x").must_fail("is a directory")?;
    world.read("f/x").must_fail("ot a directory")?;
    world.write("f/x", "x").must_fail("ot a directory")?;
    world.call("list_files", json!({"path": "f"})).must_be("f\n")?;
    world.leaves_nothing()
}

fn script(world: &World) -> Result<(), String> {
    world.bench.write("run.sh", "old\n");
    fs::set_permissions(world.path("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    world.edit("run.sh", "old", "new").must_be_ok()?;
    let mode = fs::metadata(world.path("run.sh")).unwrap().permissions().mode() & 0o7777;
    must(mode == 0o755, &format!("{mode:o}"))
}

fn set_user_id(world: &World) -> Result<(), String> {
    world.bench.write("f", "old\n");
    fs::set_permissions(world.path("f"), fs::Permissions::from_mode(0o6755)).unwrap();
    world.edit("f", "old", "new").must_be_ok()?;
    let mode = fs::metadata(world.path("f")).unwrap().permissions().mode() & 0o7777;
    must(mode == 0o755, &format!("{mode:o}"))
}

fn no_permission(world: &World) -> Result<(), String> {
    world.bench.write("f", "old\n");
    fs::set_permissions(world.path("f"), fs::Permissions::from_mode(0o000)).unwrap();
    let answers = [world.read("f"), world.edit("f", "old", "new"), world.write("f", "new")];
    fs::set_permissions(world.path("f"), fs::Permissions::from_mode(0o600)).unwrap();
    answers.iter().try_for_each(|answer| answer.must_fail("`f`: Permission denied"))?;
    world.has("f", b"old\n")
}

fn closed_directory(world: &World) -> Result<(), String> {
    world.bench.write("d/f", "old\n");
    fs::set_permissions(world.path("d"), fs::Permissions::from_mode(0o555)).unwrap();
    let answers = [world.edit("d/f", "old", "new"), world.write("d/new", "new")];
    fs::set_permissions(world.path("d"), fs::Permissions::from_mode(0o755)).unwrap();
    answers.iter().try_for_each(|answer| answer.must_fail("the directory of"))?;
    world.has("d/f", b"old\n")
}
