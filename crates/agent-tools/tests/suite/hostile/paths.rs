//! Paths.

use super::{Row, World, hold, must};
use serde_json::json;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

#[test]
fn ways_out_are_closed() {
    hold(&[
        Row { name: "one up", check: |world| world.refuses("../secret.txt", "outside the workspace") },
        Row { name: "absolute", check: |world| world.refuses("/etc/passwd", "outside the workspace") },
        Row { name: "a neighbour that begins like the root", check: neighbour },
        Row { name: "up in the middle", check: |world| world.refuses("./a/../../secret.txt", "outside the workspace") },
        Row { name: "the home directory", check: |world| world.refuses_or_names("~/secret.txt") },
        Row { name: "a variable", check: |world| world.refuses_or_names("$HOME/secret.txt") },
        Row { name: "a file URL", check: file_url },
        Row { name: "directories", check: directories },
        Row { name: "the kernel's own files", check: kernels_own },
        Row { name: "terminals", check: terminals },
        Row { name: "an endless device", check: |world| world.read("/dev/zero").must_fail("outside the workspace") },
    ]);
}

#[test]
fn odd_names_are_names_and_nothing_else() {
    hold(&[
        Row { name: "empty parts", check: empty_parts },
        Row { name: "no path", check: |world| world.refuses("", "the path is empty") },
        Row { name: "a zero byte", check: zero_byte },
        Row { name: "a name too long", check: |world| too_long(world, &"n".repeat(256)) },
        Row { name: "a path too long", check: |world| too_long(world, &"d/".repeat(2_049)) },
        Row { name: "a line break", check: line_break },
        Row { name: "an escape", check: |world| is_its_own_file(world, &["\u{1b}[31mx", "[31mx"]) },
        Row { name: "not Unicode", check: not_unicode },
        Row {
            name: "names of another system",
            check: |world| is_its_own_file(world, &["C:\\x", "\\\\?\\C:\\x", "CON", "x"]),
        },
        Row { name: "blanks and dots at the end", check: |world| is_its_own_file(world, &["x", "x ", "x."]) },
        Row { name: "two ways to write a letter", check: |world| is_its_own_file(world, &["\u{e9}", "e\u{301}"]) },
    ]);
}

impl World {
    /// A name that means nothing special: no such file, and nothing outside is touched.
    fn refuses_or_names(&self, path: &str) -> Result<(), String> {
        self.read(path).must_fail("does not exist")?;
        self.write(path, "mine\n").must_be_ok()?;
        self.has(path, b"mine\n")?;
        self.is_unharmed()
    }
}

fn neighbour(world: &World) -> Result<(), String> {
    fs::create_dir(world.outside("repo-evil")).unwrap();
    fs::write(world.outside("repo-evil/x"), "evil\n").unwrap();
    let path = world.outside("repo-evil/x").display().to_string();
    world.read(&path).must_fail("outside the workspace")?;
    world.edit(&path, "evil", "good").must_fail("outside the workspace")
}

fn file_url(world: &World) -> Result<(), String> {
    let url = format!("file://{}", world.outside("secret.txt").display());
    world.read(&url).must_fail("does not exist")?;
    world.is_unharmed()
}

fn directories(world: &World) -> Result<(), String> {
    for path in ["..", "/"] {
        world.call("list_files", json!({"path": path})).must_fail("outside the workspace")?;
        world.call("glob", json!({"path": path, "pattern": "*"})).must_fail("outside the workspace")?;
        world.call("grep", json!({"path": path, "pattern": "secret"})).must_fail("outside the workspace")?;
    }
    world.read(".").must_fail("is a directory")
}

fn kernels_own(world: &World) -> Result<(), String> {
    world.read("/proc/self/environ").must_fail("outside the workspace")?;
    world.read("/proc/self/mem").must_fail("outside the workspace")
}

fn terminals(world: &World) -> Result<(), String> {
    world.read("/dev/tty").must_fail("outside the workspace")?;
    world.read("/dev/stdin").must_fail("outside the workspace")
}

fn empty_parts(world: &World) -> Result<(), String> {
    world.bench.write("a/b/c", "text\n");
    world.read("a/b/c").must_be("1\ttext\n")?;
    world.write("a//b/./c", "new\n").must_be_ok()?;
    world.has("a/b/c", b"new\n")
}

fn zero_byte(world: &World) -> Result<(), String> {
    world.bench.write("a", "text\n");
    world.read("a\0b").must_fail("NUL byte")
}

fn too_long(world: &World, path: &str) -> Result<(), String> {
    world.write(path, "x").must_fail("too long").or_else(|_| world.write(path, "x").must_fail("longer than"))?;
    must(fs::read_dir(&world.bench.root).unwrap().count() == 0, "something was made")?;
    // One byte less is a name.
    let name = "n".repeat(255);
    world.write(&name, "x").must_be_ok()
}

fn line_break(world: &World) -> Result<(), String> {
    world.write("a\nb", "x\n").must_be_ok()?;
    world.call("list_files", json!({})).must_be("a\\nb\n")
}

fn not_unicode(world: &World) -> Result<(), String> {
    fs::write(world.path("good"), "text\n").unwrap();
    fs::write(world.bench.path(OsStr::from_bytes(b"\xff\xfe")), "text\n").unwrap();
    let listed = world.call("list_files", json!({}));
    must(listed.text().lines().count() == 2, &format!("{listed:?}"))?;
    let found = world.call("grep", json!({"pattern": "text"}));
    must(found.text().matches(":1:text").count() == 2, &format!("{found:?}"))
}

fn is_its_own_file(world: &World, names: &[&str]) -> Result<(), String> {
    for name in names {
        world.write(name, name).must_be_ok()?;
    }
    for name in names {
        world.has(name, name.as_bytes())?;
        world.read(name).must_be(&format!("1\t{name}\n"))?;
    }
    must(fs::read_dir(&world.bench.root).unwrap().count() == names.len(), "there are other files")
}

/// A workspace that is the whole system has `/proc` inside.
#[test]
fn the_kernels_own_files_are_refused_inside_a_workspace_too() {
    let bench = crate::support::Bench::over("/");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let read = |path: &str| runtime.block_on(bench.call("read_file", json!({"path": path}))).content;
    assert!(read("proc/self/environ").contains("the system's own"), "{}", read("proc/self/environ"));
    assert!(read("/proc/self/mem").contains("the system's own"), "{}", read("/proc/self/mem"));
    assert!(read("dev/zero").contains("a device"), "{}", read("dev/zero"));
    // An ordinary file beside them is read.
    let secret = bench.outside.path().join("secret.txt");
    assert_eq!(read(&secret.display().to_string()), "1\tsecret\n");
}
