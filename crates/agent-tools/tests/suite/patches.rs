//! Patches: all of it or nothing.

use crate::support::Bench;
use agent_types::tool::Effect;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

fn patch(body: &str) -> Value {
    json!({"patch": format!("*** Begin Patch\n{body}\n*** End Patch\n")})
}

#[tokio::test]
async fn every_kind_of_change_is_made() {
    let bench = Bench::new();
    bench.write("old.txt", "one\ntwo\nthree\n");
    bench.write("moved.sh", "#!/bin/sh\r\necho a\r\n");
    fs::set_permissions(bench.path("moved.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    bench.write("gone.bin", b"\0\x01");
    let body = "*** Update File: old.txt\n one\n-two\n+2\n three\n*** Add File: new/dir/file\n+x\n*** Delete File: gone.bin\n\
        *** Update File: moved.sh\n*** Move to: bin/run.sh\n-echo a\n+echo b";
    let outcome = bench.call("apply_patch", patch(body)).await;
    let expected = "changed `old.txt` (+1 -1 lines, the first at line 2)\ncreated `new/dir/file` (1 line)\ndeleted `gone.bin`\n\
        moved `moved.sh` to `bin/run.sh` (+1 -1 lines, the first at line 2)";
    assert_eq!(outcome.content, expected);
    assert_eq!(outcome.changed_paths, ["old.txt", "new/dir/file", "gone.bin", "bin/run.sh", "moved.sh"]);
    assert_eq!(bench.content("old.txt"), b"one\n2\nthree\n");
    assert_eq!(bench.content("new/dir/file"), b"x\n");
    assert_eq!(bench.content("bin/run.sh"), b"#!/bin/sh\r\necho b\r\n");
    assert_eq!(fs::metadata(bench.path("bin/run.sh")).unwrap().permissions().mode() & 0o777, 0o755);
    assert!(!bench.path("gone.bin").exists() && !bench.path("moved.sh").exists());
    assert_eq!(bench.leftovers(), Vec::<String>::new());
    // What a patch wrote, the model knows.
    bench.ok("write_file", json!({"path": "new/dir/file", "content": "y\n"})).await;
}

#[tokio::test]
async fn one_part_that_does_not_fit_stops_all_of_it() {
    let bench = Bench::new();
    bench.write("a", "one\n");
    bench.write("b", "two\n");
    symlink("../secret.txt", bench.path("out")).unwrap();
    let cases = [
        ("*** Update File: b\n-zwei\n+x", "`b`: change 1 does not fit: no line at or after line 1 is `zwei`"),
        ("*** Update File: none\n-x\n+y", "does not exist"),
        ("*** Add File: b\n+x", "`b` exists: change it with"),
        ("*** Delete File: none", "does not exist"),
        ("*** Add File: ../x\n+x", "outside the workspace"),
        ("*** Update File: out\n-secret\n+x", "outside the workspace"),
        ("*** Add File: .git/hooks/x\n+x", "git's own data"),
        ("*** Update File: b\n*** Move to: .envrc\n-two\n+x", "run by a shell"),
        ("*** Update File: b\n*** Move to: a\n-two\n+x", "names `a` twice"),
        ("*** Add File: a/x\n+x", "ot a directory"),
        ("*** Frobnicate File: b", "line 5 of the patch"),
    ];
    for (bad, expected) in cases {
        bench.fails("apply_patch", patch(&format!("*** Update File: a\n-one\n+1\n{bad}")), expected).await;
        assert_eq!((bench.content("a"), bench.content("b")), (b"one\n".to_vec(), b"two\n".to_vec()), "{bad}");
        assert_eq!(bench.leftovers(), Vec::<String>::new());
    }
    assert_eq!(fs::read_dir(&bench.root).unwrap().count(), 3);
    bench.fails("apply_patch", json!({"patch": "diff --git a b"}), "the first line of the patch must be").await;
}

#[tokio::test]
async fn a_stale_file_is_not_patched() {
    let bench = Bench::new();
    bench.write("a", "one\n");
    bench.ok("read_file", json!({"path": "a"})).await;
    bench.write("a", "one\nmore\n");
    bench.fails("apply_patch", patch("*** Update File: a\n-one\n+1"), "changed since you last read it").await;
    bench.fails("apply_patch", patch("*** Delete File: a"), "changed since you last read it").await;
    assert_eq!(bench.content("a"), b"one\nmore\n");
}

/// The second file cannot be put in place at the very end, because its directory has lost its permission: the first one comes back.
#[tokio::test]
async fn what_fails_at_the_end_is_taken_back() {
    let bench = Bench::new();
    bench.write("a", "one\n");
    bench.write("gone", "here\n");
    // Two names for one file: each is fine by itself, and the second removal finds nothing.
    symlink("gone", bench.path("same")).unwrap();
    let body = "*** Update File: a\n-one\n+1\n*** Add File: new\n+x\n*** Delete File: gone\n*** Delete File: same";
    let outcome = bench.call("apply_patch", patch(body)).await;
    assert!(outcome.content.ends_with("[nothing was changed]"), "{outcome:?}");
    assert!(outcome.changed_paths.is_empty());
    assert_eq!((bench.content("a"), bench.content("gone")), (b"one\n".to_vec(), b"here\n".to_vec()));
    assert!(!bench.path("new").exists());
    assert_eq!(bench.leftovers(), Vec::<String>::new());
}

#[tokio::test]
async fn rules_see_every_path() {
    let bench = Bench::new();
    bench.write("real/a", "x\n");
    symlink("real", bench.path("link")).unwrap();
    let body = "*** Update File: link/a\n*** Move to: b\n-x\n+y\n*** Delete File: c";
    let seen = bench.inspect("apply_patch", &patch(body)).unwrap();
    assert_eq!(seen.effect, Effect::Changes);
    let paths = ["link/a", "real/a", "b", "c"].map(String::from).to_vec();
    assert_eq!(seen.subject.paths(), Some(&*paths));
}
