//! Listing and searching: ignored files, bounds, hostile patterns and trees.

use crate::support::Bench;
use agent_types::tool::{Effect, ToolStatus};
use serde_json::json;
use std::fs;
use std::time::{Duration, Instant};

fn forest() -> Bench {
    let bench = Bench::new();
    bench.write(".gitignore", "target/\n*.log\n");
    bench.write(".git/config", "fn hidden\n");
    bench.write("src/main.rs", "fn main() {}\n// Ünïcode FN\n");
    bench.write("src/deep/er/lib.rs", "one\nfn lib() {}\nthree\n");
    bench.write("target/out.rs", "fn ignored\n");
    bench.write("a.log", "fn ignored\n");
    bench.write("image", b"fn \0 binary\n");
    bench
}

#[tokio::test]
async fn ignored_files_are_left_out_unless_named() {
    let bench = forest();
    let listed = bench.ok("list_files", json!({})).await;
    assert_eq!(listed, ".gitignore\nimage\nsrc/\nsrc/deep/\nsrc/main.rs\n");
    let deep = bench.ok("list_files", json!({"path": "src", "depth": 9})).await;
    assert_eq!(deep, "src/deep/\nsrc/deep/er/\nsrc/deep/er/lib.rs\nsrc/main.rs\n");
    assert_eq!(bench.ok("list_files", json!({"path": "target"})).await, "target/out.rs\n");
    let found = bench.ok("glob", json!({"pattern": "*.rs"})).await;
    assert_eq!(found, "src/deep/er/lib.rs\nsrc/main.rs\n");
    assert_eq!(bench.ok("glob", json!({"pattern": "src/*.rs"})).await, "src/main.rs\n");
    assert_eq!(bench.ok("glob", json!({"pattern": "**/er/*", "path": "src"})).await, "src/deep/er/lib.rs\n");
    assert_eq!(bench.ok("glob", json!({"pattern": "*.py"})).await, "[no file matches]\n");
}

#[tokio::test]
async fn grep_shows_where() {
    let bench = forest();
    let found = bench.ok("grep", json!({"pattern": "^fn"})).await;
    let expected =
        "src/deep/er/lib.rs:2:fn lib() {}\nsrc/main.rs:1:fn main() {}\n[1 binary files not searched to the end]\n";
    assert_eq!(found, expected);
    let found = bench.ok("grep", json!({"pattern": "lib", "context": 1, "glob": "*.rs"})).await;
    assert_eq!(found, "src/deep/er/lib.rs-1-one\nsrc/deep/er/lib.rs:2:fn lib() {}\nsrc/deep/er/lib.rs-3-three\n");
    let found = bench
        .ok("grep", json!({"pattern": "ünïcode fn", "ignore_case": true, "files_only": true, "path": "src"}))
        .await;
    assert_eq!(found, "src/main.rs\n");
    let found = bench.ok("grep", json!({"pattern": "fn", "path": "src/main.rs"})).await;
    assert_eq!(found, "src/main.rs:1:fn main() {}\n");
}

#[tokio::test]
async fn hostile_patterns_end_soon() {
    let bench = Bench::new();
    bench.write("f", format!("{}b\n{}\n", "a".repeat(100_000), "é".repeat(10_000)));
    let begun = Instant::now();
    bench.ok("grep", json!({"pattern": "(a+)+$"})).await;
    bench.fails("grep", json!({"pattern": "["}), "regular expression").await;
    bench.fails("grep", json!({"pattern": "(.{0,1000}){0,1000}"}), "regular expression").await;
    bench.fails("grep", json!({"pattern": "a\nb"}), "regular expression").await;
    bench.fails("grep", json!({"pattern": "(?=x)"}), "regular expression").await;
    bench.fails("glob", json!({"pattern": "["}), "glob").await;
    let nested = "{a,".repeat(200) + &"}".repeat(200);
    bench.fails("glob", json!({"pattern": &nested}), "too large or nested too deeply").await;
    bench.fails("grep", json!({"pattern": "a", "glob": &nested}), "too large or nested too deeply").await;
    bench.ok("glob", json!({"pattern": "{a,{b,c}}/**/*.{x,y}"})).await;
    bench.ok("glob", json!({"pattern": "**/**/**/**/**/**/**/**/**/x"})).await;
    let cut = bench.ok("grep", json!({"pattern": "é"})).await;
    assert!(cut.len() < 2_000 && cut.ends_with("é…\n"));
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[tokio::test]
async fn output_is_bounded_and_says_so() {
    let bench = Bench::new();
    for name in 0..3_000 {
        bench.write(format!("many/{name:05}"), "x\n");
    }
    bench.write("one", "x\n".repeat(1_000));
    let listed = bench.ok("list_files", json!({"path": "many"})).await;
    assert!(
        listed
            .ends_with("many/00999\n[1000 of 3000 shown: name a directory or a narrower pattern to see the others]\n")
    );
    let found = bench.ok("grep", json!({"pattern": "x"})).await;
    let hidden = "[200 matches shown; 3800 more in 2801 files are not: narrow the search with";
    assert!(found.contains(hidden), "{found}");
    let found = bench.ok("grep", json!({"pattern": "x", "path": "one"})).await;
    assert!(found.contains("one:50:x\n[50 matches shown; 950 more in 1 files"), "{found}");
}

#[tokio::test]
async fn a_very_deep_tree_is_no_trouble() {
    let bench = Bench::new();
    let mut directory = cap_std::fs::Dir::open_ambient_dir(&bench.root, cap_std::ambient_authority()).unwrap();
    for _ in 0..2_000 {
        directory.create_dir("ddd").unwrap();
        directory = directory.open_dir("ddd").unwrap();
    }
    directory.write("leaf", "needle\n").unwrap();
    bench.write("near", "needle\n");
    let found = bench.ok("grep", json!({"pattern": "needle"})).await;
    assert!(found.contains("ddd/leaf:1:needle\nnear:1:needle\n"), "{}", found.len());
    assert!(!found.contains('['), "something was left out");
    let listed = bench.ok("list_files", json!({"depth": 4_000_000_000_u64})).await;
    assert!(listed.contains("shown: name a directory"), "{}", listed.len());
    let leaf = bench.ok("glob", json!({"pattern": "leaf"})).await;
    assert_eq!(leaf, format!("{}leaf\n", "ddd/".repeat(2_000)));
    let removed = std::process::Command::new("rm").arg("-rf").arg(bench.path("ddd")).status();
    assert!(removed.unwrap().success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_search_can_be_cancelled() {
    let bench = Bench::new();
    for name in 0..2_000 {
        bench.write(format!("{name}"), "some text\n".repeat(500));
    }
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        bench.switch.fire();
    };
    let (outcome, ()) = tokio::join!(bench.call("grep", json!({"pattern": "nothing like this"})), cancel);
    assert_eq!(outcome.status, ToolStatus::Interrupted);
    assert_eq!(bench.call("glob", json!({"pattern": "*"})).await.status, ToolStatus::Interrupted);
}

#[tokio::test]
async fn the_tools_are_what_models_know_in_a_stable_order() {
    let bench = Bench::new();
    let names: Vec<String> = bench.tools.iter().map(|tool| tool.spec().name.to_string()).collect();
    assert_eq!(
        names,
        [
            "read_file",
            "write_file",
            "edit_file",
            "apply_patch",
            "list_files",
            "glob",
            "grep",
            "bash",
            "bash_output",
            "bash_kill",
            "todo_write"
        ]
    );
    for tool in &bench.tools {
        let schema = &tool.spec().input_schema;
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false);
        assert!(schema.get("$schema").is_none() && schema.get("title").is_none());
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["type"].is_string(), "{name}: {property}");
            assert!(property["description"].as_str().unwrap().len() > 5, "{name}");
        }
    }
    let read = bench.inspect("read_file", &json!({"path": "./x"})).unwrap();
    assert_eq!(read.effect, Effect::Reads);
    let write = bench.inspect("write_file", &json!({"path": "x", "content": ""})).unwrap();
    assert_eq!(write.effect, Effect::Changes);
    assert!(!bench.path("x").exists());
    assert!(bench.inspect("read_file", &json!({"path": "../x"})).is_err());
    assert!(bench.inspect("read_file", &json!({})).unwrap_err().contains("path"));
    fs::remove_dir(&bench.root).unwrap();
}
