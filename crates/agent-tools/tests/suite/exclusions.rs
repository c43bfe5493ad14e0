//! What deny rules keep from being read is not shown by tools that come across it either.

use crate::support::Bench;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("secrets/key", "password = swordfish\n");
    bench.write("secrets/deep/er", "password = swordfish\n");
    bench.write("src/main.rs", "// password = asked for\n");
    bench.write(".env", "password = swordfish\n");
    symlink("secrets/key", bench.path("link")).unwrap();
    symlink("secrets", bench.path("by")).unwrap();
    bench
}

/// Every way to come across the secrets.
fn searches() -> Vec<(&'static str, Value)> {
    let mut all = Vec::new();
    for path in [
        None,
        Some("."),
        Some("./"),
        Some("src/.."),
        Some("secrets"),
        Some("secrets/deep"),
        Some("by"),
        Some("./secrets//"),
    ] {
        let mut with = |tool, mut arguments: Value| {
            if let Some(path) = path {
                arguments["path"] = path.into();
            }
            all.push((tool, arguments));
        };
        with("grep", json!({"pattern": "password"}));
        with("grep", json!({"pattern": "password", "context": 3}));
        with("grep", json!({"pattern": "password", "files_only": true}));
        with("grep", json!({"pattern": "password", "glob": "**/*e*"}));
        with("glob", json!({"pattern": "*"}));
        with("glob", json!({"pattern": "**/*"}));
        with("list_files", json!({"depth": 9}));
    }
    all
}

#[tokio::test]
async fn no_search_shows_what_must_not_be_read() {
    let open = bench();
    let mut shown = 0;
    for (tool, arguments) in searches() {
        let text = open.ok(tool, arguments).await;
        shown += usize::from(text.contains("swordfish") || text.contains("key") || text.contains("er"));
    }
    assert!(shown > 40, "control: without a rule {shown} searches show them");
    let rules = [
        "read(secrets/**)",
        "search(secrets/**)",
        "read_file(secrets/**)",
        "grep(secrets/**)",
        "glob(secrets/**)",
        "list_files(secrets/**)",
        "read(secrets)",
        "read(**/secrets/)",
        "read(secr?ts/**)",
    ];
    for rule in rules {
        let mut bench = bench();
        bench.deny = vec![rule.parse().unwrap(), "read(.env)".parse().unwrap()];
        for (tool, arguments) in searches() {
            let outcome = bench.call(tool, arguments.clone()).await;
            let text = &outcome.content;
            // The name that was asked for may be repeated in a refusal.
            let is_refused = text.contains("denies it");
            let hits: String = text.lines().filter(|line| !line.starts_with('[') && !is_refused).collect();
            let is_shown = ["swordfish", "secrets/key", "secrets/deep", ".env"].iter().any(|word| hits.contains(word));
            assert!(!is_shown, "{rule}: {tool} {arguments} shows {text}");
            assert!(
                is_refused || text.contains("left out because of the rule `"),
                "{rule}: {tool} {arguments} says {text}"
            );
        }
        // What no rule is about is found as ever.
        let found = bench.ok("grep", json!({"pattern": "password"})).await;
        assert!(found.contains("src/main.rs:1:"), "{rule}: {found}");
    }
}

#[tokio::test]
async fn a_rule_about_something_else_leaves_nothing_out() {
    let mut bench = bench();
    bench.deny =
        ["edit(secrets/**)", "bash(secrets/**)", "read", "read(secret/**)"].map(|rule| rule.parse().unwrap()).to_vec();
    let found = bench.ok("grep", json!({"pattern": "swordfish"})).await;
    assert!(found.contains("secrets/key:1:") && !found.contains("left out"), "{found}");
}

/// A link may lead elsewhere when the call runs than when it was judged.
#[tokio::test]
async fn a_file_is_judged_by_where_it_really_is() {
    let mut bench = bench();
    assert!(bench.ok("read_file", json!({"path": "link"})).await.contains("swordfish"), "control");
    bench.deny = vec!["read(secrets/**)".parse().unwrap()];
    for path in ["link", "by/key", "secrets/key", "./secrets//key", "src/../secrets/key"] {
        bench.fails("read_file", json!({"path": path}), "the rule `read(secrets/**)` denies it").await;
        let edit = json!({"path": path, "old_string": "swordfish", "new_string": "x"});
        bench.fails("edit_file", edit, "the rule `read(secrets/**)` denies it").await;
    }
    let away = "*** Begin Patch\n*** Update File: secrets/key\n*** Move to: public\n-password = swordfish\n+x\n*** End Patch\n";
    bench.fails("apply_patch", json!({"patch": away}), "denies it").await;
    assert!(!bench.path("public").exists());
    assert!(bench.ok("read_file", json!({"path": "src/main.rs"})).await.contains("asked for"), "control");
}
