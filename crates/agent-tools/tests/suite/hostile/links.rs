//! Links, and files that change places.

use super::{Answer, Row, World, hold, must};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[test]
fn links_lead_nowhere_outside() {
    hold(&[
        Row { name: "a link to a file outside", check: to_file },
        Row { name: "a link to a directory outside", check: to_directory },
        Row { name: "a link to nothing", check: dangling },
        Row { name: "links in a circle", check: circle },
        Row { name: "a hard link to a file outside", check: hard_link },
    ]);
}

#[test]
fn what_is_swapped_in_the_middle_is_never_followed() {
    hold(&[
        Row { name: "a file and a link take turns", check: swapped_file },
        Row { name: "a directory and a link take turns", check: swapped_directory },
        Row { name: "a directory and a link to git's own take turns", check: swapped_for_git },
    ]);
}

fn to_file(world: &World) -> Result<(), String> {
    symlink(world.outside("secret.txt"), world.path("absolute")).unwrap();
    symlink("../secret.txt", world.path("relative")).unwrap();
    world.refuses("absolute", "outside the workspace")?;
    world.refuses("relative", "outside the workspace")?;
    world.call("grep", json!({"pattern": "secret"})).must_be("[no match]\n")
}

fn to_directory(world: &World) -> Result<(), String> {
    symlink(world.bench.outside.path(), world.path("parent")).unwrap();
    world.refuses("parent/secret.txt", "outside the workspace")?;
    world.write("parent/new", "x").must_fail("outside the workspace")?;
    world.call("list_files", json!({"path": "parent"})).must_fail("outside the workspace")?;
    world.call("glob", json!({"pattern": "*"})).must_be("parent\n")?;
    world.is_unharmed()
}

fn dangling(world: &World) -> Result<(), String> {
    symlink("../stolen", world.path("outwards")).unwrap();
    symlink("nothing", world.path("inwards")).unwrap();
    world.write("inwards", "x").must_fail("link to something that does not exist")?;
    world.write("outwards", "x").must_fail("")?;
    must(!world.path("nothing").exists(), "it was made through the link")?;
    world.is_unharmed()
}

fn circle(world: &World) -> Result<(), String> {
    symlink("loop", world.path("loop")).unwrap();
    fs::create_dir(world.path("d")).unwrap();
    fs::write(world.path("d/f"), "x\n").unwrap();
    symlink("..", world.path("d/up")).unwrap();
    world.read("loop").must_fail("")?;
    world.call("glob", json!({"pattern": "f"})).must_be("d/f\n")
}

fn hard_link(world: &World) -> Result<(), String> {
    fs::hard_link(world.outside("secret.txt"), world.path("f")).unwrap();
    world.edit("f", "secret", "mine").must_be_ok()?;
    world.has("f", b"mine\n")?;
    world.is_unharmed()
}

fn swapped_file(world: &World) -> Result<(), String> {
    let (file, secret) = (world.path("f"), world.outside("secret.txt"));
    race(
        world,
        || {
            let _ = fs::remove_file(&file);
            let _ = symlink(&secret, &file);
            pause();
            let _ = fs::remove_file(&file);
            let _ = fs::write(&file, "old");
            pause();
        },
        || {
            world.edit("f", "old", "new");
            world.write("f", "stolen\n");
            must(!world.read("f").text().contains("\tsecret"), "it was read through the link")
        },
    )
}

fn swapped_directory(world: &World) -> Result<(), String> {
    fs::create_dir(world.path("real")).unwrap();
    fs::create_dir(world.outside("repo-away")).unwrap();
    fs::write(world.outside("repo-away/secret.txt"), "secret\n").unwrap();
    let (name, away) = (world.path("d"), world.outside("repo-away"));
    race(
        world,
        || {
            // Whoever finds nothing may make a directory here.
            let _ = fs::remove_dir_all(&name);
            let _ = symlink("real", &name);
            pause();
            let _ = fs::remove_file(&name);
            let _ = symlink(&away, &name);
            pause();
            let _ = fs::remove_file(&name);
        },
        || {
            world.write("d/new", "x");
            must(!world.outside("repo-away/new").exists(), "it was made outside")?;
            must(!world.read("d/secret.txt").text().contains("\tsecret"), "it was read outside")?;
            let found = world.call("grep", json!({"pattern": "secret"}));
            must(!found.text().contains("secret.txt"), "it was searched outside")
        },
    )
}

fn swapped_for_git(world: &World) -> Result<(), String> {
    fs::create_dir(world.path("real")).unwrap();
    fs::create_dir_all(world.path(".git/hooks")).unwrap();
    let name = world.path("d");
    race(
        world,
        || {
            // Whoever finds nothing may make a directory here.
            let _ = fs::remove_dir_all(&name);
            let _ = symlink("real", &name);
            pause();
            let _ = fs::remove_file(&name);
            let _ = symlink(".git/hooks", &name);
            pause();
            let _ = fs::remove_file(&name);
        },
        || {
            world.write("d/pre-commit", "x");
            must(!world.path(".git/hooks/pre-commit").exists(), "git's own directory was written to")
        },
    )
}

fn pause() {
    std::thread::sleep(Duration::from_micros(300));
}

/// Does one thing over and over while the other is checked many times. Naive tools fail soon, ours may not fail at all.
fn race(world: &World, disturb: impl Fn() + Sync, check: impl Fn() -> Result<(), String>) -> Result<(), String> {
    let stop = AtomicBool::new(false);
    let limit = Duration::from_millis(if world.is_naive { 10_000 } else { 1_500 });
    std::thread::scope(|scope| {
        let _stop = crate::support::SetOnDrop(&stop);
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                disturb();
            }
        });
        let begun = Instant::now();
        while begun.elapsed() < limit {
            check()?;
            let secret = fs::read(world.outside("secret.txt")).unwrap();
            must(secret == b"secret\n", "the file outside was written through the link")?;
        }
        must(!matches!(world.read("f"), Answer::Hung), "it hangs")
    })?;
    world.is_unharmed_in_the_end()
}

impl World {
    fn is_unharmed_in_the_end(&self) -> Result<(), String> {
        must(fs::read(self.outside("secret.txt")).unwrap() == b"secret\n", "the file outside has changed")?;
        for entry in fs::read_dir(&self.bench.root).unwrap().flatten() {
            // What somebody else wrote in the moment of an exchange, and what cannot be put back, is kept under an odd name.
            let is_theirs =
                entry.file_type().unwrap().is_symlink() || fs::read(entry.path()).is_ok_and(|text| text == b"old");
            if entry.file_name().to_string_lossy().ends_with(".tmp") && is_theirs {
                fs::remove_file(entry.path()).unwrap();
            }
        }
        self.leaves_nothing()
    }
}
