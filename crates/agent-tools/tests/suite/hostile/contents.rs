//! What is in a file.

use super::{Answer, Row, World, hold, must};
use serde_json::json;
use std::fs;
use std::io::{Seek as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn what_an_edit_does_not_mean_stays_to_the_byte() {
    hold(&[
        Row { name: "nothing", check: |world| shows(world, b"", "[the file is empty]") },
        Row { name: "one line end", check: |world| shows(world, b"\n", "1\t\n") },
        Row { name: "no line end at the end", check: |world| keeps(world, b"a\nx", b"a\ny") },
        Row { name: "CRLF", check: |world| keeps(world, b"a\r\nx\r\n", b"a\r\ny\r\n") },
        Row { name: "mixed line ends", check: |world| keeps(world, b"a\r\nx\nb\r\n", b"a\r\ny\nb\r\n") },
        Row { name: "lone CR", check: |world| keeps(world, b"a\rx\rb\n", b"a\ry\rb\n") },
        Row { name: "a byte order mark", check: |world| keeps(world, b"\xef\xbb\xbfx\n", b"\xef\xbb\xbfy\n") },
    ]);
}

#[test]
fn what_is_no_text_is_named_and_left_alone() {
    hold(&[
        Row { name: "UTF-16", check: |world| is_left(world, b"\xff\xfex\0\n\0", "UTF-16") },
        Row { name: "Latin-1", check: latin_1 },
        Row { name: "zero bytes in text", check: |world| is_left(world, b"x\0y\n", "binary data") },
        Row { name: "a program", check: |world| is_left(world, b"\x7fELF\x02x\0", "an ELF program") },
        Row { name: "an image", check: |world| is_left(world, b"\x89PNG\r\n\x1a\nx\0", "a damaged PNG picture") },
        Row { name: "an archive", check: |world| is_left(world, b"\x1f\x8b\x08x\0", "a gzip archive") },
    ]);
}

#[test]
fn size_and_change_are_no_trouble() {
    hold(&[
        Row { name: "one endless line", check: one_line },
        Row { name: "four gigabytes of nothing", check: sparse },
        Row { name: "a million lines", check: many_lines },
        Row { name: "a file that grows", check: growing },
        Row { name: "a file that shrinks", check: shrinking },
        Row { name: "a file that goes", check: vanishing },
        Row { name: "a file that was replaced since it was read", check: replaced },
    ]);
}

fn shows(world: &World, content: &[u8], expected: &str) -> Result<(), String> {
    world.bench.write("f", content);
    world.read("f").must_be(expected)
}

fn keeps(world: &World, before: &[u8], after: &[u8]) -> Result<(), String> {
    world.bench.write("f", before);
    world.read("f").must_be_ok()?;
    world.edit("f", "x", "y").must_be_ok()?;
    world.has("f", after)
}

fn is_left(world: &World, content: &[u8], named: &str) -> Result<(), String> {
    world.bench.write("f", content);
    world.read("f").must_fail(named)?;
    world.edit("f", "x", "y").must_fail("")?;
    world.has("f", content)
}

fn latin_1(world: &World) -> Result<(), String> {
    world.bench.write("f", b"caf\xe9 x\n");
    let read = world.read("f");
    must(read.text().contains("no tool here can edit it"), &format!("{read:?}"))?;
    world.edit("f", "x", "y").must_fail("not UTF-8")?;
    world.has("f", b"caf\xe9 x\n")
}

fn one_line(world: &World) -> Result<(), String> {
    world.bench.write("f", vec![b'x'; 20 * 1024 * 1024]);
    let read = world.read("f");
    must(read.text().len() < 3_000 && read.text().contains("were cut"), &format!("{} bytes", read.text().len()))
}

fn sparse(world: &World) -> Result<(), String> {
    fs::File::create(world.path("f")).unwrap().set_len(4 << 30).unwrap();
    world.read("f").must_fail("4294967296 bytes")?;
    // With enough text at the beginning it is a text, as far as it goes.
    world.bench.write("g", "first\nsecond\n".repeat(10_000));
    fs::OpenOptions::new().write(true).open(world.path("g")).unwrap().set_len(4 << 30).unwrap();
    let read = world.call("read_file", json!({"path": "g", "limit": 2}));
    must(read.text().starts_with("1\tfirst\n2\tsecond\n["), &format!("{read:?}"))?;
    world.edit("g", "first", "x").must_fail("4294967296 bytes")
}

fn many_lines(world: &World) -> Result<(), String> {
    world.bench.write("f", (1..=1_000_000).map(|n| format!("{n}\n")).collect::<String>());
    let read = world.call("read_file", json!({"path": "f", "offset": 999_999}));
    read.must_be("999999\t999999\n1000000\t1000000\n")
}

fn growing(world: &World) -> Result<(), String> {
    world.bench.write("f", "line\n".repeat(100_000));
    while_disturbed(
        || {
            let mut file = fs::OpenOptions::new().append(true).open(world.path("f")).unwrap();
            for _ in 0..1_000 {
                file.write_all(b"line\n").unwrap();
            }
        },
        || {
            let read = world.read("f");
            must(matches!(read, Answer::Ok(_)) && read.text().len() < 70_000, &format!("{} bytes", read.text().len()))
        },
    )
}

fn shrinking(world: &World) -> Result<(), String> {
    let path = world.path("f");
    world.bench.write("f", "line\n".repeat(1_000));
    while_disturbed(
        || {
            let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.set_len(0).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(3));
            file.rewind().unwrap();
            file.write_all("line\n".repeat(1_000).as_bytes()).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(3));
        },
        || {
            world.read("f").must_be_ok()?;
            world.call("grep", json!({"pattern": "line"})).must_be_ok()
        },
    )
}

fn vanishing(world: &World) -> Result<(), String> {
    while_disturbed(
        || {
            let _ = fs::write(world.path("f"), "line\n");
            std::thread::sleep(std::time::Duration::from_micros(500));
            let _ = fs::remove_file(world.path("f"));
        },
        || {
            let read = world.read("f");
            // Just made, it may still be empty.
            let is_there = matches!(&read, Answer::Ok(text) if text == "1\tline\n" || text == "[the file is empty]");
            must(is_there || read.must_fail("does not exist").is_ok(), &format!("{read:?}"))?;
            world.call("grep", json!({"pattern": "line"})).must_be_ok()
        },
    )
}

fn replaced(world: &World) -> Result<(), String> {
    world.bench.write("f", "one x\n");
    world.read("f").must_be_ok()?;
    world.bench.write("f", "two, longer x\n");
    world.edit("f", "x", "y").must_fail("has changed since you last read it")?;
    world.write("f", "three\n").must_fail("has changed since you last read it")?;
    world.has("f", b"two, longer x\n")?;
    world.read("f").must_be_ok()?;
    world.edit("f", "x", "y").must_be_ok()
}

fn while_disturbed(disturb: impl Fn() + Sync, check: impl Fn() -> Result<(), String>) -> Result<(), String> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = crate::support::SetOnDrop(&stop);
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                disturb();
            }
        });
        (0..150).try_for_each(|_| check())
    })
}
