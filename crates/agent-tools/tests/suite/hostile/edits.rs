//! Arguments of edits, and ranges.

use super::{Row, World, hold};
use serde_json::json;

#[test]
fn an_edit_is_made_exactly_or_not_at_all() {
    hold(&[
        Row { name: "nothing to find", check: |world| refuses(world, "a\n", "", "x", "is empty") },
        Row { name: "nothing to change", check: |world| refuses(world, "a\n", "a", "a", "are equal") },
        Row { name: "twice", check: |world| refuses(world, "a\na\n", "a", "x", "more than once, in lines 1, 2") },
        Row { name: "twice, overlapping", check: |world| refuses(world, "aaa\n", "aa", "x", "more than once") },
        Row { name: "ten megabytes to find", check: huge },
        Row { name: "signs of a replacement language", check: literal },
        Row { name: "ranges beyond the end", check: ranges },
    ]);
}

fn refuses(world: &World, text: &str, old: &str, new: &str, words: &str) -> Result<(), String> {
    world.bench.write("f", text);
    world.read("f").must_be_ok()?;
    world.edit("f", old, new).must_fail(words)?;
    world.has("f", text.as_bytes())
}

fn huge(world: &World) -> Result<(), String> {
    let old = "a".repeat(5_000_000) + "b";
    world.bench.write("f", "a".repeat(10_000_000));
    world.edit("f", &old, "x").must_fail("not in the file")
}

fn literal(world: &World) -> Result<(), String> {
    world.bench.write("f", "x\n");
    world.edit("f", "x", "$1 \\1 ${x} $& \\n").must_be_ok()?;
    world.has("f", b"$1 \\1 ${x} $& \\n\n")
}

fn ranges(world: &World) -> Result<(), String> {
    world.bench.write("f", "a\nb\n");
    let read = |offset: serde_json::Value| world.call("read_file", json!({"path": "f", "offset": offset}));
    read(json!(3)).must_fail("has 2 lines: offset 3 is past its end")?;
    read(json!(u64::MAX)).must_fail("has 2 lines")?;
    read(json!(-1)).must_fail("an integer that is not negative")?;
    read(json!(1.5)).must_fail("an integer")
}
