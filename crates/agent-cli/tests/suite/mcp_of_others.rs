//! Servers that others wrote, through the program. `cargo xtask mcp-servers` installs them; where they are not, this is skipped.

use crate::support::{Model, Scratch, has_any_sandbox, of_others};
use agent_testkit::http::Step;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;

/// Where they are, if they can be tried.
#[expect(clippy::print_stderr, reason = "a test that does nothing has to say so")]
fn servers() -> Option<PathBuf> {
    let place = of_others()?;
    let is_there = place.join("python/bin/mcp-server-fetch").exists() && place.join("node_modules/.bin").exists();
    let has_node = std::process::Command::new("node").arg("--version").output().is_ok_and(|run| run.status.success());
    if !is_there || !has_node || !has_any_sandbox() {
        eprintln!(
            "SKIPPED: the servers of others are not installed (`cargo xtask mcp-servers`), or there is no sandbox"
        );
        return None;
    }
    Some(place)
}

struct Place {
    scratch: Scratch,
    servers: PathBuf,
}

impl Place {
    fn new() -> Option<Self> {
        let servers = servers()?;
        let scratch = Scratch::repository_in("/var/tmp");
        std::fs::create_dir(scratch.path("data")).unwrap();
        Some(Self { scratch, servers })
    }

    fn add(&self, name: &str, program: &str, flags: &[&str], arguments: &[&str]) -> String {
        let program = self.servers.join(program);
        let words = [&["mcp", "add", name], flags, &["--", program.to_str().unwrap()], arguments].concat();
        let ended = self.scratch.ended(&words);
        ended.assert_code(0).out.clone()
    }

    /// What the model reads of each call, which come one after the other.
    fn calls(&self, server: &str, calls: &[(&str, Value)]) -> Vec<String> {
        let steps =
            calls.iter().map(|(tool, arguments)| Step::call(format!("mcp__{server}__{tool}"), arguments.clone()));
        let model = Model::script(steps.chain([Step::text("Done.")]));
        let ended = self.scratch.run(&model, &["-p", "x", "--allow", &format!("mcp__{server}")]);
        ended.assert_code(0);
        model.assert_valid();
        let messages = model.last_body()["messages"].clone();
        let results = messages.as_array().unwrap().iter().filter_map(|message| message["content"].as_array());
        let is_result = |block: &&Value| block["type"] == "tool_result";
        let read: Vec<String> = results.flatten().filter(is_result).map(|block| block["content"].to_string()).collect();
        assert_eq!(read.len(), calls.len(), "{messages}");
        read
    }

    fn assert_calls(&self, server: &str, expected: &[(&str, Value, &str)]) {
        let calls: Vec<(&str, Value)> =
            expected.iter().map(|(tool, arguments, _)| (*tool, arguments.clone())).collect();
        for (read, (tool, _, said)) in self.calls(server, &calls).iter().zip(expected) {
            assert!(read.contains(said), "{tool}: {read}");
        }
    }
}

#[test]
fn everything() {
    let Some(place) = Place::new() else { return };
    let shown = place.add("all", "node_modules/.bin/mcp-server-everything", &[], &[]);
    assert!(shown.contains("protocol 2025-11-25") && shown.contains("mcp__all__echo: "), "{shown}");
    place.assert_calls(
        "all",
        &[
            ("echo", json!({"message": "hällo"}), "Echo: hällo"),
            ("get-sum", json!({"a": 2, "b": 3}), "is 5"),
            ("get-sum", json!({"a": "x"}), "expected number"),
            ("get-structured-content", json!({"location": "Chicago"}), "temperature"),
            ("get-tiny-image", json!({}), "image/png"),
            ("get-resource-links", json!({"count": 2}), "[link to "),
            ("trigger-long-running-operation", json!({"duration": 1, "steps": 3}), "completed"),
        ],
    );
    let read = place.calls("all", &[("get-env", json!({}))]).remove(0);
    assert!(read.contains("PATH") && !read.contains("AGENT_STATE_HOME"), "{read}");
}

#[test]
fn files() {
    let Some(place) = Place::new() else { return };
    place.add("files", "node_modules/.bin/mcp-server-filesystem", &[], &["."]);
    place.scratch.write("a.txt", "what is in it");
    place.assert_calls(
        "files",
        &[
            ("read_text_file", json!({"path": "a.txt"}), "what is in it"),
            ("read_text_file", json!({"path": "/etc/passwd"}), "Access denied"),
            ("list_directory", json!({"path": "."}), "a.txt"),
            ("create_directory", json!({"path": "new"}), "mkdir"),
        ],
    );
    assert!(!place.scratch.work("new").exists());
}

#[test]
fn memory_and_thinking() {
    let Some(place) = Place::new() else { return };
    let data = place.scratch.path("data");
    let file = format!("MEMORY_FILE_PATH={}/memory.jsonl", data.to_str().unwrap());
    let flags = ["-e", &file, "--write", data.to_str().unwrap()];
    place.add("memory", "node_modules/.bin/mcp-server-memory", &flags, &[]);
    let entity = json!({"entities": [{"name": "Ada", "entityType": "person", "observations": ["counts"]}]});
    place.assert_calls("memory", &[("create_entities", entity, "Ada")]);
    place.assert_calls("memory", &[("search_nodes", json!({"query": "counts"}), "Ada")]);
    place.add("thinking", "node_modules/.bin/mcp-server-sequential-thinking", &[], &[]);
    let thought = json!({"thought": "One.", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1});
    place.assert_calls("thinking", &[("sequentialthinking", thought, "thoughtHistoryLength")]);
}

#[test]
fn git_and_time() {
    let Some(place) = Place::new() else { return };
    let shown = place.add("git", "python/bin/mcp-server-git", &[], &[]);
    assert!(shown.contains("protocol 2026-07-28"), "{shown}");
    place.scratch.write("b.txt", "new");
    let repository = place.scratch.work("").to_str().unwrap().to_owned();
    place.assert_calls(
        "git",
        &[
            ("git_status", json!({"repo_path": repository}), "b.txt"),
            ("git_log", json!({"repo_path": repository}), "ommit"),
            ("git_add", json!({"repo_path": repository, "files": ["b.txt"]}), "ead-only"),
        ],
    );
    place.add("time", "python/bin/mcp-server-time", &[], &[]);
    let noon = json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Kolkata"});
    place.assert_calls("time", &[("convert_time", noon, "17:30")]);
}

#[test]
fn fetch_reaches_the_network_only_where_it_may() {
    let Some(place) = Place::new() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/page", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            // A request is shorter than this, and whoever is slower asks again.
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 10\r\nconnection: close\r\n\r\nit is here",
            );
        }
    });
    let fetch = |server: &str, said: &str| place.assert_calls(server, &[("fetch", json!({"url": url}), said)]);
    place.add("held", "python/bin/mcp-server-fetch", &[], &["--ignore-robots-txt", "--allow-private-ips"]);
    fetch("held", "Failed to fetch");
    place.add("open", "python/bin/mcp-server-fetch", &["--network"], &["--ignore-robots-txt", "--allow-private-ips"]);
    fetch("open", "it is here");
}
