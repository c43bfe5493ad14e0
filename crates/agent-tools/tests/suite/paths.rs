//! Hostile paths and hostile kinds of files. Every refusal has a neighbour that is allowed.

use crate::support::Bench;
use agent_tools::Workspace;
use serde_json::json;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;

#[tokio::test]
async fn hostile_paths_are_refused_by_every_tool() {
    let bench = Bench::new();
    bench.write("a/b", "inside\n");
    let evil = bench.outside.path().join("repo-evil");
    fs::create_dir(&evil).unwrap();
    fs::write(evil.join("x"), "evil\n").unwrap();
    let neighbour = evil.join("x").display().to_string();
    let long_name = "n".repeat(256);
    let long_path = "d/".repeat(2_049);
    let cases = [
        ("../secret.txt", "outside the workspace"),
        ("./a/../../secret.txt", "outside the workspace"),
        ("..", "outside the workspace"),
        ("/", "outside the workspace"),
        ("/etc/passwd", "outside the workspace"),
        ("/dev/zero", "outside the workspace"),
        ("/dev/tty", "outside the workspace"),
        ("/dev/stdin", "outside the workspace"),
        ("/proc/self/mem", "outside the workspace"),
        ("/proc/self/environ", "outside the workspace"),
        (&neighbour, "outside the workspace"),
        ("", "empty"),
        ("a\0b", "NUL"),
        (&long_path, "longer"),
        (&long_name, "too long"),
        ("~/x", "does not exist"),
        ("$HOME/x", "does not exist"),
        ("C:\\x", "does not exist"),
        ("\\\\?\\C:\\x", "does not exist"),
        ("file:///etc/passwd", "does not exist"),
        ("http://x", "does not exist"),
        ("a/b/c", "ot a directory"),
    ];
    for (path, expected) in cases {
        bench.fails("read_file", json!({"path": path}), expected).await;
        let edit = json!({"path": path, "old_string": "inside", "new_string": "x"});
        bench.fails("edit_file", edit, expected).await;
        for tool in ["list_files", "glob", "grep"] {
            bench.fails(tool, json!({"path": path, "pattern": "x"}), "").await;
        }
        if !expected.contains("not exist") {
            bench.fails("write_file", json!({"path": path, "content": "x"}), expected).await;
        }
        assert_eq!(bench.leftovers(), Vec::<String>::new());
    }
    assert_eq!(fs::read(evil.join("x")).unwrap(), b"evil\n");
    let absolute = bench.path("a/b").display().to_string();
    for path in ["a/b", "./a//b", "a/../a/b", "a/b/", &absolute] {
        let text = bench.ok("read_file", json!({"path": path})).await;
        assert_eq!(text, "1\tinside\n", "{path}");
    }
}

#[tokio::test]
async fn odd_names_are_names() {
    let bench = Bench::new();
    let nfc = "\u{e9}";
    let nfd = "e\u{301}";
    for name in ["a\nb", "\u{1b}[31mx", "x ", "x.", "CON", "~", "-m", ":(top)", nfc, nfd] {
        bench.ok("write_file", json!({"path": name, "content": format!("{name}!")})).await;
        assert_eq!(bench.content(name), format!("{name}!").as_bytes());
    }
    assert_eq!(fs::read_dir(&bench.root).unwrap().count(), 10);
    fs::write(bench.path(OsStr::from_bytes(b"\xff\xfe")), "x").unwrap();
    let listed = bench.ok("list_files", json!({})).await;
    assert_eq!(listed.lines().count(), 11);
    assert!(listed.contains("a\\nb\n"));
    bench.ok("grep", json!({"pattern": "x"})).await;
}

#[tokio::test]
async fn links_lead_nowhere_outside() {
    let bench = Bench::new();
    let secret = bench.outside.path().join("secret.txt");
    symlink(&secret, bench.path("absolute")).unwrap();
    symlink("../secret.txt", bench.path("relative")).unwrap();
    symlink(bench.outside.path(), bench.path("parent")).unwrap();
    symlink("nothing", bench.path("dangling")).unwrap();
    symlink("loop", bench.path("loop")).unwrap();
    let cases = [
        ("absolute", "outside"),
        ("relative", "outside"),
        ("parent/secret.txt", "outside"),
        ("dangling", "link to something that does not exist"),
        ("loop", ""),
    ];
    for (path, expected) in cases {
        bench.fails("read_file", json!({"path": path}), expected).await;
        let edit = json!({"path": path, "old_string": "secret", "new_string": "x"});
        bench.fails("edit_file", edit, expected).await;
        bench.fails("write_file", json!({"path": path, "content": "x"}), expected).await;
    }
    bench.fails("write_file", json!({"path": "parent/new", "content": "x"}), "outside").await;
    bench.fails("list_files", json!({"path": "parent"}), "outside").await;
    let found = bench.ok("grep", json!({"pattern": "secret"})).await;
    assert_eq!(found, "[no match]\n");
    assert_eq!(fs::read(&secret).unwrap(), b"secret\n");
    assert!(!bench.outside.path().join("new").exists());
    assert!(!bench.path("nothing").exists());

    bench.write("real/file", "old\n");
    symlink("real/file", bench.path("link")).unwrap();
    let edit = json!({"path": "link", "old_string": "old", "new_string": "new"});
    bench.ok("edit_file", edit.clone()).await;
    assert!(bench.path("link").is_symlink());
    assert_eq!(bench.content("real/file"), b"new\n");
    let subject = bench.inspect("edit_file", &edit).unwrap().subject;
    let both = vec!["link".to_string(), "real/file".to_string()];
    assert_eq!(subject.paths(), Some(&*both));
}

#[test]
fn a_link_swapped_in_while_writing_is_never_followed() {
    let bench = Bench { is_restless: true, ..Bench::new() };
    let secret = bench.outside.path().join("secret.txt");
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = crate::support::SetOnDrop(&stop);
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let _ = fs::remove_file(bench.path("f"));
                let _ = symlink(&secret, bench.path("f"));
                let _ = fs::remove_file(bench.path("f"));
                let _ = fs::write(bench.path("f"), "old");
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            for _ in 0..300 {
                bench.call("edit_file", json!({"path": "f", "old_string": "old", "new_string": "new"})).await;
                let read = bench.call("read_file", json!({"path": "f"})).await;
                assert!(!read.content.contains("secret\n"), "{read:?}");
            }
        });
    });
    assert_eq!(fs::read(secret).unwrap(), b"secret\n");
    assert_eq!(bench.leftovers(), Vec::<String>::new());
}

#[tokio::test]
async fn special_files_are_refused_without_waiting() {
    let bench = Bench::new();
    let fifo = std::process::Command::new("mkfifo").arg(bench.path("fifo")).status();
    assert!(fifo.unwrap().success());
    let _socket = UnixListener::bind(bench.path("socket")).unwrap();
    fs::create_dir(bench.path("directory")).unwrap();
    for (path, expected) in
        [("fifo", "named pipe"), ("socket", "socket"), ("directory", "is a directory"), (".", "is a directory")]
    {
        bench.fails("read_file", json!({"path": path}), expected).await;
        bench.fails("write_file", json!({"path": path, "content": ""}), expected).await;
        let edit = json!({"path": path, "old_string": "a", "new_string": "b"});
        bench.fails("edit_file", edit, expected).await;
    }
    assert_eq!(bench.ok("grep", json!({"pattern": "x"})).await, "[no match]\n");
}

#[tokio::test]
async fn gits_own_files_are_not_written() {
    let bench = Bench::new();
    bench.write(".git/config", "[core]\n");
    symlink(".git", bench.path("innocent")).unwrap();
    for path in [".git/config", ".git/hooks/x", "sub/.GIT/config", "innocent/config", "innocent/new"] {
        bench.fails("write_file", json!({"path": path, "content": "x"}), "git").await;
    }
    let edit = json!({"path": ".git/config", "old_string": "core", "new_string": "x"});
    bench.fails("edit_file", edit, "git").await;
    assert_eq!(bench.ok("read_file", json!({"path": ".git/config"})).await, "1\t[core]\n");
    bench.ok("write_file", json!({"path": ".gitignore", "content": "x"})).await;
}

/// A rule holds for a file, not for the copy of it that is kept for undo.
#[tokio::test]
async fn what_is_kept_for_undo_is_not_shown() {
    let outside = tempfile::tempdir().unwrap();
    let root = outside.path().join("repo");
    fs::create_dir_all(root.join("data/of-git/agent")).unwrap();
    let workspace = Workspace::open(&root).unwrap().closing([root.join("data/of-git/agent")]);
    let bench = Bench::of(outside, root, workspace);
    for folder in [".git/agent", "sub/.git/agent", ".git/modules/m/agent", "data/of-git/agent", ".git/other"] {
        bench.write(format!("{folder}/1-1"), "TOPSECRET\n");
    }
    symlink(".git/agent", bench.path("innocent")).unwrap();
    for folder in
        [".git/agent", "sub/.git/agent", ".git/modules/m/agent", "data/of-git/agent", "innocent", ".git/x/../agent"]
    {
        bench.fails("read_file", json!({"path": format!("{folder}/1-1")}), "copies of files").await;
        bench.fails("list_files", json!({"path": folder}), "copies of files").await;
        bench.fails("grep", json!({"pattern": "TOPSECRET", "path": folder}), "copies of files").await;
        bench.fails("glob", json!({"pattern": "*", "path": folder}), "copies of files").await;
    }
    assert_eq!(bench.ok("grep", json!({"pattern": "TOPSECRET"})).await, "[no match]\n");
    let found = bench.ok("grep", json!({"pattern": "TOPSECRET", "path": ".git"})).await;
    assert!(found.contains(".git/other/1-1") && !found.contains("agent"), "{found}");
    assert_eq!(
        bench.ok("list_files", json!({"path": ".git"})).await,
        ".git/modules/\n.git/modules/m/\n.git/other/\n.git/other/1-1\n"
    );
    assert_eq!(bench.ok("read_file", json!({"path": ".git/other/1-1"})).await, "1\tTOPSECRET\n");
}

/// What a host protects is meant by what it is: a link above it, made before or later, leads to it, and it need not be there yet.
#[tokio::test]
async fn a_protected_place_is_known_behind_links_above_it() {
    let outside = tempfile::tempdir().unwrap();
    let (root, home) = (outside.path().join("repo"), outside.path().join("home"));
    fs::create_dir_all(root.join("dot/agent")).unwrap();
    fs::create_dir(&home).unwrap();
    symlink("../repo/dot", home.join(".config")).unwrap();
    symlink(root.join("absent"), home.join(".local")).unwrap();
    let places =
        [".config/agent", ".local/state/agent", ".cache/agent", ".config/x/../agent2"].map(|name| home.join(name));
    let workspace = Workspace::open(&root).unwrap().protecting(places);
    let bench = Bench::of(outside, root, workspace);
    bench.write("dot/agent/config.toml", "old\n");
    bench.write("dot/other/config.toml", "old\n");
    symlink(bench.path("later"), home.join(".cache")).unwrap();
    symlink("dot/agent", bench.path("innocent")).unwrap();
    for path in ["dot/agent/new", "dot/agent/a/b", "absent/state/agent/x", "later/agent/x", "innocent/x"] {
        let add = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n");
        bench.fails("write_file", json!({"path": path, "content": "x"}), "no tool may change it").await;
        bench.fails("apply_patch", json!({"patch": add}), "no tool may change it").await;
        assert!(
            bench.inspect("write_file", &json!({"path": path, "content": "x"})).is_err(),
            "{path}: nobody is asked"
        );
    }
    assert!(!bench.path("absent").exists() && !bench.path("later").exists(), "directories are left");
    for tool_path in ["dot/agent/config.toml", "innocent/config.toml"] {
        bench.ok("read_file", json!({"path": tool_path})).await;
        let edit = json!({"path": tool_path, "old_string": "old", "new_string": "new"});
        bench.fails("edit_file", edit, "no tool may change it").await;
    }
    let delete = "*** Begin Patch\n*** Delete File: dot/agent/config.toml\n*** End Patch\n";
    bench.fails("apply_patch", json!({"patch": delete}), "no tool may change it").await;
    for path in ["dot/agents", "dot/x/agent", "absent/state/x", "later/other", "agent/x"] {
        bench.ok("write_file", json!({"path": path, "content": "x"})).await;
    }
    bench.ok("read_file", json!({"path": "dot/other/config.toml"})).await;
    bench.ok("edit_file", json!({"path": "dot/other/config.toml", "old_string": "old", "new_string": "new"})).await;
}

/// What lies above the workspace is a place in which all of it lies.
#[tokio::test]
async fn a_workspace_in_a_protected_place_is_not_written() {
    for (place, is_written) in [("home/own", false), ("home/own/repo", false), ("home/own/repo/x", true), ("ho", true)]
    {
        let outside = tempfile::tempdir().unwrap();
        let root = outside.path().join("home/own/repo");
        fs::create_dir_all(&root).unwrap();
        let workspace = Workspace::open(&root).unwrap().protecting([outside.path().join(place)]);
        let bench = Bench::of(outside, root, workspace);
        let outcome = bench.call("write_file", json!({"path": "a", "content": "x"})).await;
        assert_eq!(bench.path("a").exists(), is_written, "{place}: {outcome:?}");
    }
}

/// By a link above it, and by what a walk comes across.
#[tokio::test]
async fn a_closed_place_is_not_shown_behind_links_above_it() {
    let outside = tempfile::tempdir().unwrap();
    let (root, home) = (outside.path().join("repo"), outside.path().join("home"));
    fs::create_dir(&home).unwrap();
    fs::create_dir_all(root.join("st/agent/deep")).unwrap();
    symlink("../repo/st", home.join("state")).unwrap();
    let workspace = Workspace::open(&root).unwrap().closing([home.join("state/agent")]);
    let bench = Bench::of(outside, root, workspace);
    bench.write("st/agent/deep/key", "TOPSECRET\n");
    bench.write("st/other/deep/key", "TOPSECRET\n");
    bench.fails("read_file", json!({"path": "st/agent/deep/key"}), "no tool may read it").await;
    for folder in ["st/agent", "st/agent/deep"] {
        bench.fails("list_files", json!({"path": folder}), "no tool may read it").await;
        bench.fails("grep", json!({"pattern": "TOPSECRET", "path": folder}), "no tool may read it").await;
        bench.fails("glob", json!({"pattern": "*", "path": folder}), "no tool may read it").await;
    }
    for folder in [".", "st"] {
        let found = bench.ok("grep", json!({"pattern": "TOPSECRET", "path": folder})).await;
        assert!(found.contains("st/other/deep/key") && !found.contains("st/agent"), "{folder}: {found}");
    }
    bench.ok("read_file", json!({"path": "st/other/deep/key"})).await;
}

/// A repository below the root is one like the root's, and hooks are programs wherever they lie.
#[tokio::test]
async fn what_git_runs_is_not_written_wherever_it_is() {
    let outside = tempfile::tempdir().unwrap();
    let root = outside.path().join("repo");
    fs::create_dir_all(root.join("tools/hooks")).unwrap();
    let workspace = Workspace::open(&root).unwrap().protecting_hooks([root.join("tools/hooks"), root.join("later")]);
    let bench = Bench::of(outside, root, workspace);
    bench.write("free", "old\n");
    bench.write("a/sub/.git", "gitdir: ../../.git/modules/sub\n");
    bench.write("tools/hooks/pre-push", "old\n");
    symlink("tools/hooks", bench.path("innocent")).unwrap();
    let paths = [
        "tools/hooks/pre-commit",
        "tools/./x/../hooks/new/one",
        "innocent/new",
        "later",
        "later/post-checkout",
        "a/sub/.git",
        "a/b/.git/hooks/pre-commit",
    ];
    for path in paths {
        let add = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n");
        let to = format!("*** Begin Patch\n*** Update File: free\n*** Move to: {path}\n-old\n+new\n*** End Patch\n");
        bench.ok("read_file", json!({"path": "free"})).await;
        bench.fails("write_file", json!({"path": path, "content": "x"}), "git").await;
        bench.fails("apply_patch", json!({"patch": add}), "git").await;
        bench.fails("apply_patch", json!({"patch": to}), "git").await;
    }
    let edit = json!({"path": "innocent/pre-push", "old_string": "old", "new_string": "new"});
    bench.fails("edit_file", edit, "core.hooksPath").await;
    let delete = "*** Begin Patch\n*** Delete File: tools/hooks/pre-push\n*** End Patch\n";
    bench.fails("apply_patch", json!({"patch": delete}), "core.hooksPath").await;
    assert_eq!((bench.content("free"), bench.content("tools/hooks/pre-push")), (b"old\n".to_vec(), b"old\n".to_vec()));
    bench.ok("write_file", json!({"path": "tools/hook", "content": "x"})).await;
}

#[tokio::test]
async fn permissions_and_links_of_a_file_survive_as_they_should() {
    let bench = Bench::new();
    bench.write("script", "old\n");
    fs::set_permissions(bench.path("script"), fs::Permissions::from_mode(0o4755)).unwrap();
    fs::hard_link(bench.path("script"), bench.outside.path().join("other-name")).unwrap();
    let edit = json!({"path": "script", "old_string": "old", "new_string": "new"});
    let outcome = bench.call("edit_file", edit).await;
    assert_eq!(outcome.changed_paths, ["script"]);
    assert_eq!(bench.content("script"), b"new\n");
    let mode = fs::metadata(bench.path("script")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
    assert_eq!(fs::read(bench.outside.path().join("other-name")).unwrap(), b"old\n");
}

#[tokio::test]
async fn what_must_not_be_written_is_not() {
    let bench = Bench::new();
    bench.write("locked/file", "old\n");
    bench.write("mine", "old\n");
    fs::set_permissions(bench.path("mine"), fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(bench.path("locked"), fs::Permissions::from_mode(0o555)).unwrap();
    // Root may do everything: then there is nothing to see here.
    if fs::write(bench.path("locked/probe"), "").is_err() {
        let edit = |path: &str| json!({"path": path, "old_string": "old", "new_string": "new"});
        bench.fails("edit_file", edit("locked/file"), "directory").await;
        bench.fails("edit_file", edit("mine"), "ermission").await;
        assert_eq!(bench.content("locked/file"), b"old\n");
    }
    fs::set_permissions(bench.path("locked"), fs::Permissions::from_mode(0o755)).unwrap();
}
