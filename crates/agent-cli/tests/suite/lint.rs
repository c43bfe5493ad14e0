//! `agent sessions lint`: journals and others' sessions, what is found, what a copy mends, and that nothing else is touched.

use crate::support::{Model, Running, Scratch};
use agent_core::journal::FORMAT_VERSION;
use agent_testkit::http::Step;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const CLAUDE_CODE: &str = include_str!("../../src/commands/sessions/lint/samples/claude-code.jsonl");

fn journal(scratch: &Scratch) -> PathBuf {
    let model = Model::script([Step::call("bash", json!({"command": "true"})), Step::text("Done.")]);
    scratch.run(&model, &["-p", "go", "--session-id", "one", "--permission-mode", "bypass"]).assert_code(0);
    scratch.journals().remove(0)
}

fn lint(scratch: &Scratch, file: &Path, more: &[&str]) -> crate::support::Ended {
    let arguments = [&["sessions", "lint", file.to_str().unwrap()], more].concat();
    scratch.ended(&arguments)
}

/// Line and kind of what is found, as JSON.
fn found(report: &Value) -> Vec<(u64, &str)> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings.map(|finding| (finding["line"].as_u64().unwrap(), finding["kind"].as_str().unwrap())).collect()
}

#[test]
fn a_journal_is_looked_at_line_by_line_and_its_whole_beginning_kept() {
    let scratch = Scratch::new();
    let path = journal(&scratch);
    let whole = fs::read_to_string(&path).unwrap();
    let ended = lint(&scratch, &path, &[]);
    assert_eq!(ended.assert_code(0).assert_says("lines of agent: 0 errors, 0 notes").out, "");

    // Two lines damaged, and the last one cut.
    let mut lines: Vec<String> = whole.lines().map(str::to_owned).collect();
    let damaged = [lines.len() - 3, lines.len() - 2].map(|at| {
        lines[at] = lines[at].replace("\"seq\"", "\"s\0q\"");
        at as u64 + 1
    });
    let text = lines.join("\n");
    let text = &text[..text.len() - 9];
    fs::write(&path, text).unwrap();
    let out = scratch.path("copy.jsonl");
    let report = lint(&scratch, &path, &["--json", "--repair", out.to_str().unwrap()]).assert_code(0).result();
    assert_eq!(report["format"], "agent");
    assert_eq!(found(&report), [(damaged[0], "damaged"), (damaged[1], "damaged"), (lines.len() as u64, "torn")]);
    assert!(report["repaired"]["findings"].as_array().unwrap().iter().all(|found| found["severity"] == "note"));
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "the original was changed");
    let copy = fs::read_to_string(&out).unwrap();
    let kept: usize = whole.split_inclusive('\n').take(lines.len() - 3).map(str::len).sum();
    assert_eq!(copy[..kept], whole[..kept]);
    // What may have begun in what was lost is noted, and the copy is a session like another.
    fs::copy(&out, &path).unwrap();
    scratch.ended(&["sessions", "verify", "one"]).assert_code(0);
    let model = Model::script([Step::text("On."), Step::text("And on.")]);
    scratch.run(&model, &["-p", "and?", "--continue"]).assert_code(0);
    model.assert_valid();
    lint(&scratch, &path, &["--repair", out.to_str().unwrap()]).assert_code(42).assert_says("File exists");
}

#[test]
fn a_session_of_another_program_is_found_and_mended() {
    let scratch = Scratch::new();
    let (path, out) = (scratch.work("theirs.jsonl"), scratch.work("mended.jsonl"));
    let result = CLAUDE_CODE.lines().position(|line| line.contains("\"tool_use_id\":\"toolu_4\"")).unwrap();
    let lines = CLAUDE_CODE.lines().enumerate().filter(|(at, _)| *at != result).map(|(_, line)| format!("{line}\n"));
    let text: String = lines.collect::<String>().replace("I look at it.", "\\u001b]0;owned\\u0007");
    fs::write(&path, &text).unwrap();
    let ended = lint(&scratch, &path, &[]);
    let lines: Vec<_> = ended.assert_code(1).out.lines().collect();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert!(lines[0].contains(&format!("theirs.jsonl:{result}: unanswered: the call toolu_4 of Read")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("missing-message: its parent c13")), "{lines:#?}");
    let report = lint(&scratch, &path, &["--json", "--repair", out.to_str().unwrap()]).assert_code(0).result();
    assert_eq!(report["format"], "claude-code");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert!(fs::read_to_string(&out).unwrap().contains("interrupted, outcome unknown"));
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&out).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_is_no_session_or_no_file_is_refused_at_once() {
    let scratch = Scratch::new();
    scratch.write("prose.txt", "hello\n");
    let pipe = scratch.work("pipe");
    assert!(scratch.command("mkfifo").arg(&pipe).status().unwrap().success());
    for (file, words) in [
        (scratch.work("prose.txt"), "no line belongs"),
        (pipe, "not a regular file"),
        (scratch.work("."), "not a regular file"),
        (PathBuf::from("/dev/zero"), "not a regular file"),
        (scratch.work("nothing"), "No such file"),
    ] {
        lint(&scratch, &file, &[]).assert_code(42).assert_says(words);
        lint(&scratch, &file, &["--repair", "copy"]).assert_code(42);
        assert!(!scratch.work("copy").exists());
    }
    // A newer program's journal, whatever else it is.
    let path = journal(&scratch);
    let text = fs::read_to_string(&path).unwrap();
    let first = text.lines().next().unwrap().split_once(',').unwrap().1;
    let [today, tomorrow] = [FORMAT_VERSION, FORMAT_VERSION + 1].map(|version| format!("\"format_version\":{version}"));
    let newer = first.replace(&today, &tomorrow);
    fs::write(&path, format!("{{\"sum\":\"{:08x}\",{newer}\n", super::journals::crc32(newer.as_bytes()))).unwrap();
    lint(&scratch, &path, &[]).assert_code(42).assert_says(&format!("it has format {}", FORMAT_VERSION + 1));
    let mut running = Running::start(&mut scratch.agent(&["sessions", "lint"]));
    running.close_stdin();
    running.end().assert_code(2);
}

#[test]
fn a_line_that_is_lost_or_stands_twice_is_told_with_its_place() {
    let scratch = Scratch::new();
    let path = journal(&scratch);
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let byte: usize = lines[..4].iter().map(|line| line.len()).sum();
    let doubled = [&lines[..4], &lines[3..]].concat();
    fs::write(&path, doubled.concat()).unwrap();
    lint(&scratch, &path, &[]).assert_code(1);
    let told = lint(&scratch, &path, &["--repair", "doubled"]).assert_code(0).out.clone();
    assert!(told.contains(":5: duplicate-message: the record 3 is there already"), "{told}");
    assert_eq!(scratch.read("doubled"), text, "nothing is lost");
    let place = format!("line 5 (byte {byte}) is damaged: replay the journal: record 4 expected, 3 found");
    let id = path.file_stem().unwrap().to_str().unwrap();
    scratch.ended(&["sessions", "verify", id]).assert_code(42).assert_says(&place);
    scratch.ended(&["explain", id]).assert_code(42).assert_says(&place);

    let lost = [&lines[..4], &lines[5..]].concat();
    fs::write(&path, lost.concat()).unwrap();
    let told = lint(&scratch, &path, &[]).assert_code(1).out.clone();
    assert!(told.contains(":5: missing-message: replay the journal: record 4 expected, 5 found"), "{told}");
    let place = format!("line 5 (byte {byte}) is damaged: replay the journal: record 4 expected, 5 found");
    scratch.ended(&["sessions", "verify", id]).assert_code(42).assert_says(&place);
    let model = Model::script([]);
    scratch.run(&model, &["-p", "and?", "--session-id", id]).assert_code(42).assert_says(&place);
}
