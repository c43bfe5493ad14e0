//! Hostile contents: sizes, line ends, encodings, stale states.

use crate::support::Bench;
use agent_types::conversation::Arguments;
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::time::{Duration, Instant};

fn edit(old: &str, new: &str) -> Value {
    json!({"path": "f", "old_string": old, "new_string": new})
}

#[tokio::test]
async fn small_files_read_as_they_are() {
    let bench = Bench::new();
    let cases: [(&[u8], &str); 8] = [
        (b"", "[the file is empty]"),
        (b"\n", "1\t\n"),
        (b"a\nb", "1\ta\n2\tb\n"),
        (b"a\r\nb\r\n", "1\ta\n2\tb\n"),
        (b"a\rb", "1\ta\rb\n"),
        (b"\xef\xbb\xbfa\n", "1\ta\n"),
        ("é\n".as_bytes(), "1\té\n"),
        (b"\x1b]52;c;x\x07\n", "1\t\x1b]52;c;x\x07\n"),
    ];
    for (content, expected) in cases {
        bench.write("f", content);
        assert_eq!(bench.ok("read_file", json!({"path": "f"})).await, expected);
    }
    bench.write("f", b"caf\xe9\n");
    let text = bench.ok("read_file", json!({"path": "f"})).await;
    assert!(text.starts_with("1\tcaf\u{fffd}\n") && text.contains("not UTF-8"));
}

#[tokio::test]
async fn binary_files_are_named_not_shown() {
    let bench = Bench::new();
    for (content, expected) in [
        (&b"\x7fELF\x02\0\0"[..], "ELF program (7 bytes)"),
        (b"\x89PNG\r\n\x1a\n\0", "is a damaged PNG picture"),
        (b"\x1f\x8b\x08\0", "gzip"),
        (b"text\0text", "binary data"),
        (b"\xff\xfea\0b\0", "UTF-16"),
    ] {
        bench.write("f", content);
        bench.fails("read_file", json!({"path": "f"}), expected).await;
        bench.fails("edit_file", edit("t", "u"), "").await;
        assert_eq!(bench.content("f"), content);
    }
    bench.write("f", b"caf\xe9 x\n");
    bench.fails("edit_file", edit("x", "y"), "not UTF-8").await;
    assert_eq!(bench.content("f"), b"caf\xe9 x\n");
}

#[tokio::test]
async fn huge_files_are_read_in_bounded_time_and_memory() {
    let bench = Bench::new();
    let mut file = fs::File::create(bench.path("line")).unwrap();
    for _ in 0..200 {
        file.write_all(&vec![b'x'; 1024 * 1024]).unwrap();
    }
    fs::File::create(bench.path("sparse")).unwrap().set_len(4 << 30).unwrap();
    let lines: String = (1..=1_000_000).map(|n| format!("{n}\n")).collect();
    bench.write("lines", lines);
    // How busy the machine is.
    let begun = Instant::now();
    let counted = fs::read(bench.path("line")).unwrap().iter().filter(|byte| **byte == b'\n').count();
    let (once, begun) = (begun.elapsed(), Instant::now());
    assert_eq!(counted, 0);
    let text = bench.ok("read_file", json!({"path": "line"})).await;
    assert!(text.len() < 3_000 && text.contains("were cut"), "{}", text.len());
    bench.fails("read_file", json!({"path": "sparse"}), "4294967296 bytes").await;
    bench.fails("edit_file", json!({"path": "sparse", "old_string": "a", "new_string": "b"}), "4294967296").await;
    bench.fails("edit_file", json!({"path": "line", "old_string": "a", "new_string": "b"}), "bytes").await;

    let text = bench.ok("read_file", json!({"path": "lines"})).await;
    assert!(text.contains("\n2000\t2000\n[lines 1 to 2000 shown") && text.ends_with("offset 2001]"));
    let text = bench.ok("read_file", json!({"path": "lines", "offset": 999_999})).await;
    assert_eq!(text, "999999\t999999\n1000000\t1000000\n");
    let text = bench.ok("read_file", json!({"path": "lines", "offset": 5, "limit": 1})).await;
    assert!(text.starts_with("5\t5\n["));
    for offset in [1_000_001, u64::MAX] {
        bench.fails("read_file", json!({"path": "lines", "offset": offset}), "has 1000000 lines").await;
    }
    bench.fails("read_file", json!({"path": "lines", "offset": -1}), "an integer that is not negative").await;
    bench.fails("read_file", json!({"path": "lines", "limit": 0}), "at least 1").await;
    assert!(begun.elapsed() < 6 * once, "{:?}, reading once takes {once:?}", begun.elapsed());
}

#[test]
fn a_file_that_changes_while_it_is_read_is_no_trouble() {
    let bench = Bench::new();
    let stop = std::sync::atomic::AtomicBool::new(false);
    bench.write("f", "start\n");
    std::thread::scope(|scope| {
        let _stop = crate::support::SetOnDrop(&stop);
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let mut file = fs::OpenOptions::new().append(true).create(true).open(bench.path("f")).unwrap();
                for _ in 0..100 {
                    file.write_all(b"growing\n").unwrap();
                }
                let _ = fs::write(bench.path("f"), "");
                let _ = fs::remove_file(bench.path("f"));
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            for _ in 0..200 {
                let outcome = bench.call("read_file", json!({"path": "f"})).await;
                assert!(outcome.content.len() < 70_000);
                bench.call("grep", json!({"pattern": "growing"})).await;
            }
        });
    });
}

#[tokio::test]
async fn edits_keep_what_they_do_not_mean() {
    let bench = Bench::new();
    for (before, old, new, after) in [
        ("a\nb", "b", "c", "a\nc"),
        ("a\r\nb\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\n"),
        ("a\r\nb\nc\r\n", "b", "x", "a\r\nx\nc\r\n"),
        ("a\rb\r", "b", "x", "a\rx\r"),
        ("\u{feff}a\n", "a", "b", "\u{feff}b\n"),
        ("a", "a", "$1 \\1 ${x}", "$1 \\1 ${x}"),
    ] {
        bench.write("f", before);
        bench.ok("read_file", json!({"path": "f"})).await;
        let said = bench.ok("edit_file", edit(old, new)).await;
        assert!(said.starts_with("changed `f` in 1 place:\n1\t"), "{said}");
        assert_eq!(String::from_utf8(bench.content("f")).unwrap(), after);
    }
    bench.write("f", "a\na\n");
    bench.ok("read_file", json!({"path": "f"})).await;
    for (old, new, expected) in [
        ("", "x", "empty"),
        ("a", "a", "equal"),
        ("b", "x", "not in the file"),
        ("a", "x", "more than once, in lines 1, 2"),
    ] {
        bench.fails("edit_file", edit(old, new), expected).await;
    }
    bench.fails("edit_file", edit(&"x".repeat(10_000_000), "y"), "not in the file").await;
    bench.fails("edit_file", json!({"path": "f", "old": "a"}), "no parameter `old`").await;
    bench.write("f", "aaa");
    bench.ok("read_file", json!({"path": "f"})).await;
    bench.fails("edit_file", edit("aa", "b"), "more than once").await;
    bench.ok("edit_file", json!({"path": "f", "old_string": "aa", "new_string": "b", "replace_all": true})).await;
    assert_eq!(bench.content("f"), b"ba");
    assert_eq!(bench.leftovers(), Vec::<String>::new());
}

#[tokio::test]
async fn what_changed_behind_the_models_back_is_not_overwritten() {
    let bench = Bench::new();
    bench.write("f", "one\n");
    bench.fails("write_file", json!({"path": "f", "content": "x"}), "have not read it").await;
    bench.ok("read_file", json!({"path": "f"})).await;
    bench.write("f", "two, longer\n");
    bench.fails("write_file", json!({"path": "f", "content": "x"}), "changed since").await;
    bench.fails("edit_file", edit("two", "x"), "changed since").await;
    assert_eq!(bench.content("f"), b"two, longer\n");
    bench.ok("read_file", json!({"path": "f"})).await;
    bench.ok("edit_file", edit("two", "three")).await;
    bench.ok("edit_file", edit("three", "four")).await;
    bench.write("f", "four, formatted\n");
    bench.workspace.note_changed("f");
    bench.ok("edit_file", edit("formatted", "fine")).await;
    bench.ok("write_file", json!({"path": "f", "content": "all new"})).await;
    assert_eq!(bench.content("f"), b"all new");

    bench.write("unseen", "x");
    bench.workspace.note_changed("unseen");
    bench.fails("write_file", json!({"path": "unseen", "content": "y"}), "have not read it").await;
    let made = bench.call("write_file", json!({"path": "new/deep/file", "content": "y\n"})).await;
    assert_eq!(made.changed_paths, ["new/deep/file"]);
    bench.ok("write_file", json!({"path": "new/deep/file", "content": "z\n"})).await;
}

/// A person is not asked about an edit that cannot succeed: the tool knows that before, without changing anything.
#[tokio::test]
async fn an_edit_that_cannot_succeed_is_foreseen() {
    let bench = Bench::new();
    bench.write("a.txt", "one\ntwo\ntwo\n");
    let foreseen =
        |tool: &str, arguments: Value| bench.tool(tool).foresee(&Arguments::parse(&arguments.to_string()).unwrap());
    let edit = |old: &str| json!({"path": "a.txt", "old_string": old, "new_string": "x"});
    let patch = |sections: &str| json!({"patch": format!("*** Begin Patch\n{sections}\n*** End Patch")});
    let unseen = json!({"path": "a.txt", "content": "x"});
    for (tool, arguments, expected) in [
        ("edit_file", edit("absent"), Some("not in the file")),
        ("edit_file", edit("two"), Some("2")),
        ("edit_file", edit("one"), None),
        ("edit_file", json!({"path": "nowhere.txt", "old_string": "a", "new_string": "b"}), Some("nowhere.txt")),
        ("write_file", unseen.clone(), Some("a.txt")),
        ("write_file", json!({"path": "new.txt", "content": "x"}), None),
        ("apply_patch", patch("*** Update File: a.txt\n one\n-three"), Some("nothing was changed")),
        ("apply_patch", patch("*** Add File: a.txt\n+x"), Some("exists")),
        ("apply_patch", patch("*** Delete File: nowhere.txt"), Some("nowhere.txt")),
        ("apply_patch", patch("*** Update File: a.txt\n-one\n+1"), None),
        ("bash", json!({"command": "false"}), None),
        ("read_file", json!({"path": "nowhere.txt"}), None),
    ] {
        let found = foreseen(tool, arguments.clone());
        let fits = match (&found, expected) {
            (Some(found), Some(expected)) => found.contains(expected),
            (found, expected) => found.is_none() && expected.is_none(),
        };
        assert!(fits, "{tool} {arguments}: {found:?}");
    }
    assert_eq!(bench.content("a.txt"), b"one\ntwo\ntwo\n");
    bench.ok("read_file", json!({"path": "a.txt"})).await;
    assert_eq!(foreseen("write_file", unseen), None);
    std::thread::sleep(Duration::from_millis(20));
    bench.write("a.txt", "changed meanwhile\n");
    assert!(foreseen("edit_file", edit("changed")).unwrap().contains("changed since"), "another has changed it");
}
