//! Patterns and trees.

use super::{Row, World, hold, must};
use serde_json::json;

#[test]
fn patterns_end_soon_or_are_refused() {
    hold(&[
        Row { name: "a pattern that makes others try everything", check: backtracking },
        Row {
            name: "no pattern at all",
            check: |world| world.call("grep", json!({"pattern": "["})).must_fail("regular expression"),
        },
        Row { name: "a pattern that is a giant when compiled", check: giant },
        Row { name: "stars upon stars", check: stars },
    ]);
}

#[test]
fn trees_of_any_shape_are_walked() {
    hold(&[
        Row { name: "very many entries", check: |world| crowd(world, 3_000) },
        Row { name: "very deep", check: deep },
    ]);
}

/// Many more than in the test above.
#[test]
#[ignore = "takes long; `cargo xtask big-trees` runs it"]
fn big_trees() {
    hold(&[Row { name: "two hundred thousand entries", check: |world| crowd(world, 200_000) }]);
}

fn backtracking(world: &World) -> Result<(), String> {
    world.bench.write("f", format!("{}b\n", "a".repeat(100_000)));
    world.call("grep", json!({"pattern": "(a+)+$"})).must_be("[no match]\n")
}

fn giant(world: &World) -> Result<(), String> {
    world.call("grep", json!({"pattern": "(.{0,1000}){0,1000}"})).must_fail("cannot be used as a regular expression")
}

fn stars(world: &World) -> Result<(), String> {
    world.bench.write(["a"; 40].join("/") + "/f", "x");
    world.call("glob", json!({"pattern": "**/**/**/**/**/**/**/**/**/**/**/x"})).must_be("[no file matches]\n")
}

fn crowd(world: &World, count: usize) -> Result<(), String> {
    for number in 0..count {
        std::fs::File::create(world.path(&format!("{number:06}"))).unwrap();
    }
    std::fs::write(world.path("zzz"), "needle\n").unwrap();
    let listed = world.call("list_files", json!({}));
    let shown = format!("[1000 of {} shown", count + 1);
    must(listed.text().len() < 70_000 && listed.text().contains(&shown), &format!("{} bytes", listed.text().len()))?;
    world.call("glob", json!({"pattern": "zz*"})).must_be("zzz\n")?;
    world.call("grep", json!({"pattern": "needle"})).must_be("zzz:1:needle\n")
}

fn deep(world: &World) -> Result<(), String> {
    use std::fs;
    let mut directory = rustix::fs::open(&world.bench.root, flags(), rustix::fs::Mode::empty()).unwrap();
    for _ in 0..2_000 {
        rustix::fs::mkdirat(&directory, "ddd", rustix::fs::Mode::from_raw_mode(0o755)).unwrap();
        directory = rustix::fs::openat(&directory, "ddd", flags(), rustix::fs::Mode::empty()).unwrap();
    }
    let create = rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY;
    let leaf = rustix::fs::openat(&directory, "leaf", create, rustix::fs::Mode::from_raw_mode(0o644)).unwrap();
    std::io::Write::write_all(&mut fs::File::from(leaf), b"needle\n").unwrap();
    let path = "ddd/".repeat(2_000) + "leaf";
    let answers = [
        world.call("glob", json!({"pattern": "leaf"})).must_be(&format!("{path}\n")),
        world.call("grep", json!({"pattern": "needle"})).must_be(&format!("{path}:1:needle\n")),
        world.call("list_files", json!({"depth": 9_999})).must_be_ok(),
    ];
    let removed = std::process::Command::new("rm").arg("-rf").arg(world.path("ddd")).status();
    must(removed.unwrap().success(), "rm")?;
    answers.into_iter().collect()
}

fn flags() -> rustix::fs::OFlags {
    rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY
}
