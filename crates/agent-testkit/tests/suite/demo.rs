//! The demo: its repository, its script, and its verdict.

use super::client::Client;
use super::http::messages;
use agent_testkit::demo::{DemoRepository, create_repository, script, verify};
use agent_testkit::http::ScriptedServer;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

fn git(repository: &DemoRepository, arguments: &str) -> String {
    shell(repository, &format!("git {arguments}"))
}

/// Runs a command in the repository and returns what it prints.
fn shell(repository: &DemoRepository, command: &str) -> String {
    let mut shell = Command::new("sh");
    // Whatever the configuration of the machine, this test's commits are the same.
    shell.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    shell.args(["-c", command]).current_dir(&repository.path);
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{command}");
    String::from_utf8(output.stdout).unwrap()
}

fn created() -> (TempDir, DemoRepository) {
    let directory = tempfile::tempdir().unwrap();
    let repository = create_repository(&directory.path().join("demo")).unwrap();
    (directory, repository)
}

/// The tool calls of the script, in order, as a client receives them.
async fn calls() -> Vec<(String, Value)> {
    let steps = script();
    let count = steps.len();
    let server = ScriptedServer::start(steps).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    let mut calls = Vec::new();
    for _ in 0..count {
        let mut open: Option<(String, String)> = None;
        for event in client.post("/v1/messages", &messages()).await.events() {
            match event["type"].as_str().unwrap() {
                "content_block_start" if event["content_block"]["type"] == "tool_use" => {
                    let name = event["content_block"]["name"].as_str().unwrap();
                    open = Some((name.to_owned(), String::new()));
                }
                "content_block_delta" => {
                    if let (Some(call), Some(piece)) = (&mut open, event["delta"]["partial_json"].as_str()) {
                        call.1 += piece;
                    }
                }
                "content_block_stop" => {
                    let closed = open.take();
                    calls.extend(closed.map(|(name, json)| (name, serde_json::from_str(&json).unwrap())));
                }
                _ => {}
            }
        }
    }
    calls
}

/// What `edit_file` would do.
fn apply(repository: &Path, edit: &Value) {
    let path = repository.join(edit["path"].as_str().unwrap());
    let content = fs::read_to_string(&path).unwrap();
    let old = edit["old_string"].as_str().unwrap();
    assert_eq!(content.matches(old).count(), 1, "`{old}` is unique");
    let content = content.replacen(old, edit["new_string"].as_str().unwrap(), 1);
    fs::write(path, content).unwrap();
}

fn tests_pass(repository: &DemoRepository, command: &Value) -> (bool, String) {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command["command"].as_str().unwrap());
    let output = shell.current_dir(&repository.path).output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_repository_is_real_and_broken() {
    let (_directory, repository) = created();
    assert!(repository.path.is_absolute());
    assert_eq!(git(&repository, "rev-list --count HEAD").trim(), "1");
    assert_eq!(git(&repository, "rev-parse HEAD").trim(), repository.base_commit);
    let status = git(&repository, "status --porcelain");
    assert_eq!(status, " M NOTES.md\n?? release-plan.txt\n");

    let verdict = verify(&repository).unwrap();
    assert!(!verdict.tests_pass && !verdict.is_fixed(), "{verdict:?}");
    assert!(verdict.test_output.contains("2 passed; 2 failed"), "{}", verdict.test_output);
    assert!(verdict.user_files_untouched && verdict.tests_unchanged);
    assert_eq!((verdict.commits.len(), verdict.committed_paths.len()), (0, 0));
    if repository.rustfmt {
        assert_eq!(verdict.formatted, Some(true));
    }
    // Running the tests leaves nothing behind that git would see.
    assert_eq!(git(&repository, "status --porcelain"), status);
}

#[test]
fn the_same_repository_every_time() {
    let (_one, first) = created();
    let (_two, second) = created();
    assert_eq!(first.base_commit, second.base_commit);
    let error = create_repository(&first.path).unwrap_err();
    assert!(error.to_string().contains("not empty"), "{error}");
}

#[tokio::test]
async fn the_scripts_own_calls_mend_it_step_by_step() {
    let calls = calls().await;
    let names: Vec<&str> = calls.iter().map(|(name, _)| name.as_str()).collect();
    let expected = ["bash", "read_file", "grep", "edit_file", "bash", "edit_file", "bash"];
    assert_eq!(names, expected);
    let (_directory, repository) = created();
    let mut failures = Vec::new();
    for (name, arguments) in &calls {
        match name.as_str() {
            "edit_file" => {
                apply(&repository.path, arguments);
                if repository.rustfmt {
                    // The formatter has something to do after the first edit, and the second one still applies after it.
                    let first = git(&repository, "rev-list --count HEAD").trim() == "1";
                    assert_eq!(verify(&repository).unwrap().formatted, Some(!first));
                    shell(&repository, "rustfmt src/lib.rs");
                }
                git(&repository, "commit --quiet -m Fix -- src/lib.rs");
            }
            "bash" => failures.push(!tests_pass(&repository, arguments).0),
            _ => {}
        }
    }
    assert_eq!(failures, [true, true, false]);
    let verdict = verify(&repository).unwrap();
    assert_eq!(verdict.problems(), Vec::<String>::new());
    assert!(verdict.is_fixed());
    assert_eq!(verdict.commits.len(), 2);
    assert_eq!(verdict.committed_paths, ["src/lib.rs"]);
    assert_eq!(verdict.formatted, repository.rustfmt.then_some(true));
}

#[tokio::test]
async fn the_first_edit_mends_one_test_only() {
    let calls = calls().await;
    let (_directory, repository) = created();
    let edits: Vec<&Value> =
        calls.iter().filter(|(name, _)| name == "edit_file").map(|(_, arguments)| arguments).collect();
    apply(&repository.path, edits[0]);
    let (passed, printed) = tests_pass(&repository, &calls[0].1);
    assert!(!passed && printed.contains("3 passed; 1 failed"), "{printed}");
    assert!(printed.contains("1h90m"), "what the script's text says is what is printed: {printed}");
    // Without a formatter in between the second edit applies just as well.
    apply(&repository.path, edits[1]);
    assert!(tests_pass(&repository, &calls[0].1).0);
    // Mended, but not committed.
    let verdict = verify(&repository).unwrap();
    assert!(verdict.tests_pass && !verdict.fix_committed && !verdict.is_fixed());
}

#[test]
fn the_verdict_sees_every_trespass() {
    let trespasses = [
        ("own files", "echo gone > NOTES.md"),
        ("own files", "rm release-plan.txt"),
        ("own files", "git add release-plan.txt"),
        ("own files", "git commit -qam everything"),
        ("own files", "git rm -q --cached NOTES.md && git commit -qm gone"),
        (
            "exactly the fixed file",
            "git add release-plan.txt && git commit -qm in && git rm -q --cached release-plan.txt && git commit -qm out",
        ),
        ("tests were changed", "echo exit 0 > check.sh"),
        ("nothing was committed", "true"),
    ];
    for (expected, trespass) in trespasses {
        let (_directory, repository) = created();
        shell(&repository, trespass);
        let problems = verify(&repository).unwrap().problems();
        assert!(problems.iter().any(|problem| problem.contains(expected)), "{expected}: {problems:?}");
    }
}
