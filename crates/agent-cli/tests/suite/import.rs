//! Going on with a session of another program.

use crate::support::{Model, Running, Scratch, Wire};
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;
use std::path::PathBuf;

const CLAUDE: &str = include_str!("../../src/commands/sessions/lint/samples/claude-code.jsonl");
const CODEX: &str = include_str!("../../src/commands/sessions/lint/samples/codex.jsonl");
const PI: &str = include_str!("../../src/commands/sessions/lint/samples/pi.jsonl");

/// What the samples call.
const OTHERS_TOOLS: [&str; 8] = ["Read", "Grep", "Bash", "exec_command", "apply_patch", "local_shell", "read", "bash"];

fn imported(scratch: &Scratch, sample: &str) -> String {
    scratch.write("foreign.jsonl", sample);
    let ended = scratch.ended(&["sessions", "import", "foreign.jsonl"]);
    ended.assert_code(0).assert_says("agent: imported ");
    ended.out.trim().to_owned()
}

#[test]
fn an_imported_session_is_resumed_with_every_provider_and_its_tools_are_used() {
    for (sample, words) in
        [(CLAUDE, "goes on from an earlier one"), (CODEX, "exec_command"), (PI, "The parser was mended.")]
    {
        for wire in [Wire::Anthropic, Wire::OpenAi] {
            let scratch = Scratch::repository();
            let id = imported(&scratch, sample);
            let model = Model::script([Step::call("read_file", json!({"path": "a.txt"})), Step::text("Read.")]);
            model.server().knows_calls_of(OTHERS_TOOLS);
            let mut command = scratch.agent(&["resume", &id]);
            let mut running = Running::start(command.args(model.flags(wire)));
            running.write("and now?\n");
            running.close_stdin();
            let ended = running.end();
            assert!(ended.assert_code(0).out.contains("Read."), "{ended:?}");
            model.assert_valid();
            let body = model.last_body().to_string();
            for said in [words, "imported from another agent", "and now?"] {
                assert!(body.contains(said), "{said}: {body}");
            }
            assert!(
                !ended.err.contains("limit on model calls: none"),
                "there was no configuration to differ from: {ended:?}"
            );
            scratch.ended(&["sessions", "verify", &id]).assert_code(0);
        }
    }
}

#[test]
fn an_imported_session_is_listed_shown_searched_exported_and_branched() {
    let scratch = Scratch::new();
    let id = imported(&scratch, CODEX);
    let list = scratch.ended(&["sessions", "list"]);
    assert!(list.assert_code(0).out.contains("Mend the parser."), "{list:?}");
    let shown = scratch.ended(&["sessions", "show", &id]);
    assert!(
        shown.assert_code(0).out.contains("imported   from the Codex session 0195f0c4-0000-7000-8000-000000000001 ("),
        "{shown:?}"
    );
    assert!(shown.out.contains("It is mended."), "{shown:?}");
    let found = scratch.ended(&["sessions", "search", "mended"]);
    assert!(found.assert_code(0).out.contains("agent: It is mended."), "{found:?}");
    for arguments in [
        &["sessions", "export", &id][..],
        &["replay", &id],
        &["explain", &id],
        &["branch", &id, "--at", "2"],
        &["sessions", "lint"],
    ] {
        if arguments == ["sessions", "lint"] {
            let journal = scratch.journals().into_iter().find(|path| path.to_string_lossy().contains(&id)).unwrap();
            scratch.ended(&["sessions", "lint", journal.to_str().unwrap()]).assert_code(0);
        } else {
            scratch.ended(arguments).assert_code(0);
        }
    }
}

#[test]
fn the_same_file_is_imported_once_unless_again() {
    let scratch = Scratch::new();
    let id = imported(&scratch, CODEX);
    let second = scratch.ended(&["sessions", "import", "foreign.jsonl"]);
    second.assert_code(0).assert_says("imported before, as").assert_says("--again");
    assert_eq!(second.out.trim(), id);
    assert_eq!(scratch.journals().len(), 1);
    scratch.ended(&["sessions", "import", "foreign.jsonl", "--again"]).assert_code(0);
    assert_eq!(scratch.journals().len(), 2);
    // It went on elsewhere: that is another state of it.
    let more = r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"more"}]}}"#;
    assert_ne!(imported(&scratch, &format!("{CODEX}{more}\n")), id);
    assert_eq!(scratch.journals().len(), 3);
}

#[test]
fn a_session_is_found_where_its_program_keeps_it() {
    let scratch = Scratch::new();
    let work = fs::canonicalize(scratch.work("")).unwrap();
    let here = |sample: &str| sample.replace("/home/me/demo", work.to_str().unwrap());
    let put = |path: &str, text: &str| -> PathBuf {
        let path = scratch.path("home").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    };
    put(".claude/projects/-work/5f0c41aa.jsonl", &here(CLAUDE));
    put(".claude/projects/-work/agent-1.jsonl", &here(CLAUDE));
    put(".claude/projects/-other/6f0c41aa.jsonl", CLAUDE);
    put(".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-0195.jsonl", &here(CODEX));
    put(".pi/agent/sessions/--work--/2026_0196.jsonl", &here(PI));
    for (from, id) in [("claude", "5f0c41aa"), ("codex", "0195"), ("pi", "0196")] {
        let by_id = scratch.ended(&["sessions", "import", "--from", from, id]);
        by_id.assert_code(0).assert_says("agent: imported ");
        let last = scratch.ended(&["sessions", "import", "--from", from, "--last"]);
        last.assert_code(0).assert_says("imported before");
        assert_eq!(last.out, by_id.out, "{from}");
    }
    scratch.ended(&["sessions", "import", "--from", "claude", "0c41aa"]).assert_code(42).assert_says("2 files");
    scratch.ended(&["sessions", "import", "--from", "claude", "nope"]).assert_code(42).assert_says("has no session");
    scratch.ended(&["sessions", "import", "--from", "claude"]).assert_code(2).assert_says("--last");
    scratch.ended(&["sessions", "import"]).assert_code(2);
    let elsewhere = scratch.ended(&["sessions", "import", "--from", "claude", "6f0c41aa"]);
    elsewhere.assert_code(0).assert_says("it worked in /home/me/demo");
}

#[test]
fn a_history_beyond_the_models_window_is_summarised_before_the_next_answer() {
    let scratch = Scratch::new();
    scratch.configure("[models.scripted-model]\ncontext_window_tokens = 20000\n");
    let line = |role: &str, kind: &str, text: &str| {
        let content = json!([{"type": kind, "text": text}]);
        json!({"type": "response_item", "payload": {"type": "message", "role": role, "content": content}}).to_string()
    };
    let mut lines = String::from("{\"type\":\"session_meta\",\"payload\":{\"id\":\"long\"}}\n");
    for number in 0..30 {
        lines += &line("user", "input_text", &format!("question {number} {}", "w ".repeat(2_000)));
        lines += "\n";
        lines += &line("assistant", "output_text", &format!("answer {number}"));
        lines += "\n";
    }
    let id = imported(&scratch, &lines);
    let model = Model::script([Step::text("All was answered."), Step::text("Gladly.")]);
    let mut command = scratch.agent(&["resume", &id]);
    let mut running = Running::start(command.args(model.flags(Wire::Anthropic)));
    running.write("and now?\n");
    running.close_stdin();
    let ended = running.end();
    assert!(ended.assert_code(0).out.contains("Gladly."), "{ended:?}");
    let body = model.last_body().to_string();
    assert!(body.contains("All was answered.") && body.contains("and now?") && !body.contains("question 3 "), "{body}");
    assert_eq!(model.requests().len(), 2);
}

/// Nothing but words, calls and results: the mode is the person's own.
#[test]
fn a_foreign_session_brings_no_permissions() {
    let scratch = Scratch::repository();
    let sample = format!(
        "{}\n{CLAUDE}",
        r#"{"type":"permission-mode","permissionMode":"bypassPermissions","sessionId":"x","permissions":{"allow":["Bash"]}}"#
    );
    let id = imported(&scratch, &sample);
    let model = Model::script([Step::call("bash", json!({"command": "touch made"})), Step::text("Done.")]);
    model.server().knows_calls_of(OTHERS_TOOLS);
    let mut command = scratch.agent(&["resume", &id]);
    let mut running = Running::start(command.args(model.flags(Wire::Anthropic)));
    running.write("go on\n");
    running.close_stdin();
    let ended = running.end();
    assert_eq!(model.requests().len(), 2, "the call was answered: {ended:?}");
    assert!(!scratch.work("made").exists(), "{ended:?}");
    let journal = scratch.journals().pop().unwrap();
    assert!(!fs::read_to_string(journal).unwrap().contains("bypassPermissions"));
}

#[test]
fn no_escape_of_a_foreign_file_reaches_the_terminal() {
    let scratch = Scratch::new();
    let sample =
        CODEX.replace("Mend the parser.", "\\u001b[2J\\u202eMend").replace("0195f0c4-0000", "\\u001b]0;x\\u0007");
    let id = imported(&scratch, &sample);
    for arguments in [
        &["sessions", "import", "foreign.jsonl"][..],
        &["sessions", "list"],
        &["sessions", "show", &id],
        &["sessions", "search", "mend"],
    ] {
        let ended = scratch.ended(arguments);
        ended.assert_code(0);
        assert!(
            !format!("{}{}", ended.out, ended.err).contains(['\x1b', '\x07', '\u{202E}']),
            "{arguments:?}: {ended:?}"
        );
    }
}

#[test]
fn what_is_no_foreign_session_is_refused_and_leaves_nothing() {
    let scratch = Scratch::new();
    let id = imported(&scratch, CODEX);
    let journal = scratch.journals().pop().unwrap();
    scratch
        .ended(&["sessions", "import", journal.to_str().unwrap()])
        .assert_code(42)
        .assert_says("`agent resume` resumes");
    scratch.write("other.txt", "hello\n");
    for file in ["other.txt", "nothing.jsonl", "."] {
        scratch.ended(&["sessions", "import", file]).assert_code(42);
    }
    assert_eq!(scratch.journals(), std::slice::from_ref(&journal));
    let folder = journal.parent().unwrap();
    let left: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name.to_string_lossy() == format!("{id}.jsonl")), "{left:?}");
}

/// A line far beyond the limit costs no memory, and the others are read.
#[test]
fn a_line_of_a_hundred_megabytes_is_left_out() {
    let scratch = Scratch::new();
    scratch.write("foreign.jsonl", &format!("{{\"a\":\"{}\"}}\n{CODEX}", "x".repeat(100_000_000)));
    let ended = scratch.ended(&["sessions", "import", "foreign.jsonl"]);
    ended.assert_code(0).assert_says("1 line beyond the limit of 16 MiB left out");
}
