//! `--record` and `--replay`: a run in a file, and the same run again without a model.

use crate::support::{Ended, Model, Running, Scratch, Wire};
use agent_core::llm::Usage;
use agent_testkit::Reply;
use agent_testkit::http::Step;
use serde_json::json;
use std::path::PathBuf;

const KEY: &str = "sk-very-secret-0123456789";

fn steps() -> Vec<Step> {
    let usage = Usage { input_tokens: 100, output_tokens: 20, cache_read_tokens: 50, cache_write_tokens: 0 };
    let write =
        Reply::new().thinking("Hm.").text("I write.").call("write_file", json!({"path": "b.txt", "content": "two\n"}));
    vec![
        Step::answer(write.usage(usage)),
        Step::status(529).header("retry-after", "0").with_body(format!("{{\"error\":{{\"message\":\"busy {KEY}\"}}}}")),
        Step::answer(Reply::new().text("Done.").usage(usage)),
    ]
}

/// Records a run in this repository.
fn record(scratch: &Scratch, wire: Wire, cassette: &str) -> Ended {
    let model = Model::script(steps());
    let mut command = scratch.agent(&["run", "-p", "x", "--permission-mode", "accept-edits", "--record", cassette]);
    command.args(model.flags(wire)).args(["--output-format", "json"]);
    command.env("ANTHROPIC_API_KEY", KEY).env("OPENAI_API_KEY", "sk-the-other-secret-one");
    let ended = Running::start(&mut command).end();
    model.assert_valid();
    ended
}

fn replay(scratch: &Scratch, cassette: &str, arguments: &[&str]) -> Ended {
    let mut command = scratch.agent(&["run", "-p", "x", "--permission-mode", "accept-edits", "--replay", cassette]);
    Running::start(command.args(["--output-format", "json"]).args(arguments)).end()
}

#[test]
fn a_run_is_played_again_without_key_and_network() {
    for wire in [Wire::Anthropic, Wire::OpenAi, Wire::OpenAiResponses] {
        let scratch = Scratch::repository();
        let recorded = record(&scratch, wire, "../run.jsonl");
        let path = scratch.path("run.jsonl");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains(KEY) && !text.contains("sk-the-other") && text.contains("busy [redacted]"), "{text}");

        // The same directory as before: the prompt names it.
        std::fs::remove_file(scratch.work("b.txt")).unwrap();
        let played = replay(&scratch, "../run.jsonl", &[]);
        assert_eq!(scratch.read("b.txt"), "two\n");
        let (recorded, played) = (recorded.assert_code(0).result(), played.assert_code(0).result());
        for member in ["result", "usage", "num_turns", "subtype", "terminal_state"] {
            assert_eq!(played[member], recorded[member], "{wire:?} {member}");
        }
        // Elsewhere only what was said is the same.
        let elsewhere = Scratch::repository();
        let cassette = path.display().to_string();
        let ended = replay(&elsewhere, &cassette, &[]);
        ended
            .assert_code(62)
            .assert_says("the request differs from call 1 of the recording")
            .assert_says("lenient matching");
        assert!(!ended.err.contains("retrying in"), "{ended:#?}");
        replay(&elsewhere, &cassette, &["--replay-match", "lenient", "--provider", "replay"]).assert_code(0);
        assert_eq!(elsewhere.read("b.txt"), "two\n");
    }
}

#[test]
fn recordings_that_cannot_be_used() {
    let scratch = Scratch::repository();
    record(&scratch, Wire::OpenAi, "../run.jsonl").assert_code(0);
    let whole = std::fs::read_to_string(scratch.path("run.jsonl")).unwrap();
    let lines = whole.lines().count();
    let middle: Vec<&str> = whole.lines().enumerate().map(|(n, line)| if n == 3 { "{" } else { line }).collect();
    for (content, says) in [
        (String::new(), "expected a recording"),
        ("nonsense\n".to_owned(), "expected a recording"),
        (whole.replacen("\"version\":1", "\"version\":9", 1), "its version is 9"),
        (format!("{}\n", middle.join("\n")), "line 4"),
        (whole.lines().take(1).map(|line| format!("{line}\n")).collect(), "it has no calls"),
    ] {
        scratch.write("broken.jsonl", &content);
        replay(&scratch, "broken.jsonl", &[]).assert_code(42).assert_says(says);
    }
    replay(&scratch, "missing.jsonl", &[]).assert_code(42).assert_says("missing.jsonl");
    replay(&scratch, ".", &[]).assert_code(42).assert_says("it is not a file");

    // What a crash left is played up to there.
    scratch.write("cut.jsonl", &format!("{whole}{{\"request\":{{\"call\":4"));
    std::fs::remove_file(scratch.work("b.txt")).unwrap();
    replay(&scratch, "cut.jsonl", &[]).assert_code(0);
    let calls: Vec<&str> = whole.lines().take(lines / 2).collect();
    scratch.write("half.jsonl", &calls.join("\n"));
    replay(&scratch, "half.jsonl", &[]).assert_code(62);

    // A recording replaces nothing, and leaves nothing when there was nothing to record.
    record(&scratch, Wire::OpenAi, "../run.jsonl").assert_code(42).assert_says("never replaces one");
    assert_eq!(std::fs::read_to_string(scratch.path("run.jsonl")).unwrap(), whole);
    record(&scratch, Wire::OpenAi, "no/such/folder/run.jsonl").assert_code(42);
    scratch.ended(&["run", "-p", "x", "--provider", "anthropic", "--record", "none.jsonl"]).assert_code(41);
    assert!(!scratch.work("none.jsonl").exists());
}

#[test]
fn options_that_do_not_go_together() {
    let scratch = Scratch::new();
    for arguments in [
        &["--record", "a", "--replay", "b"][..],
        &["--provider", "replay"],
        &["--replay-match", "lenient"],
        &["--replay", "a", "--base-url", "http://127.0.0.1:1"],
    ] {
        scratch.ended(&[&["run", "-p", "x"], arguments].concat()).assert_code(2);
    }
    let ended = scratch.ended(&["run", "-p", "x", "--replay", "a", "--provider", "openai"]);
    ended.assert_code(52).assert_says("cannot use `--provider` with `--replay`");
}

#[test]
fn an_interrupted_run_leaves_a_recording_of_what_there_was() {
    for signal in ["INT", "TERM", "KILL"] {
        let scratch = Scratch::repository();
        let half = Step::stall(Reply::new().text("Half of it").pieces_of(2), 6);
        let model = Model::script([Step::call("read_file", json!({"path": "a.txt"})), half]);
        let mut running = Running::start(&mut scratch.run_command(&model, &["-p", "x", "--record", "../run.jsonl"]));
        running.close_stdin();
        let recorded = || std::fs::read_to_string(scratch.path("run.jsonl")).unwrap_or_default();
        crate::support::eventually("the second answer", || recorded().contains("Ha"));
        running.signal(signal);
        running.end();
        let ended = Running::start(&mut scratch.agent(&["run", "-p", "x", "--replay", "../run.jsonl"])).end();
        ended.assert_code(62).assert_says("the recording of call 2 ends here");
    }
}

#[test]
fn a_session_that_goes_on_and_a_job_record_too() {
    let scratch = Scratch::repository();
    let model = Model::script([Step::text("One."), Step::text("Two."), Step::text("Three.")]);
    scratch.run(&model, &["-p", "a", "--record", "../one.jsonl"]).assert_code(0);
    scratch.run(&model, &["-p", "b", "--continue", "--record", "../two.jsonl"]).assert_code(0);
    let text = std::fs::read_to_string(scratch.path("two.jsonl")).unwrap();
    assert!(text.contains("One.") && text.lines().count() >= 4);
    let mut job = scratch.agent(&["job", "run", "--record", "../job.jsonl", "do it"]);
    Running::start(job.args(model.flags(Wire::Anthropic))).end().assert_code(0);
    let ended = scratch.ended(&["job", "run", "--replay", "../job.jsonl", "--replay-match", "lenient", "do it"]);
    assert_eq!(ended.assert_code(0).out.trim(), "Three.");
}

/// What a real server said to this program, recorded once: a small model on a `llama-server` that works in all three formats.
#[test]
fn runs_against_a_real_server_are_played() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cassettes");
    let mut played = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let cassette = entry.unwrap().path().display().to_string();
        let scratch = Scratch::repository();
        let arguments = ["run", "-p", "Say hello.", "--output-format", "json", "--replay-match", "lenient", "--replay"];
        let ended = Running::start(scratch.agent(&arguments).arg(&cassette)).end();
        let result = ended.assert_code(0).result();
        assert!(!result["result"].as_str().unwrap().trim().is_empty(), "{cassette}: {result}");
        assert!(result["usage"]["input_tokens"].as_u64().unwrap() > 0, "{cassette}: {result}");
        played += 1;
    }
    assert_eq!(played, 3);
}

#[test]
fn the_prompt_records_and_plays_too_and_so_does_resuming() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text("One."), Step::text("Two.")]);
    let session = |arguments: &[&str], flags: &[String], line: &str| {
        let mut running = Running::start(scratch.agent(arguments).args(flags));
        running.write(line);
        running.close_stdin();
        running.end()
    };
    let flags = model.flags(Wire::OpenAi);
    session(&["--record", "../one.jsonl"], &flags, "a\n").assert_code(0);
    session(&["resume", "--record", "../two.jsonl"], &flags, "b\n").assert_code(0);
    let recorded = |name: &str| std::fs::read_to_string(scratch.path(name)).unwrap();
    assert!(recorded("one.jsonl").contains("One.") && !recorded("one.jsonl").contains("Two."));
    assert!(recorded("two.jsonl").contains("Two."));

    let played = session(&["--replay", "../one.jsonl"], &[], "a\n");
    played.assert_code(0).assert_says("to resume: agent resume ").assert_says("--replay ../one.jsonl");
    assert!(played.out.contains("One."), "{played:#?}");
    let played = session(&["resume", "--replay", "../two.jsonl"], &[], "b\n");
    assert!(played.assert_code(0).out.contains("Two."), "{played:#?}");
    // The next call is in no recording; the advice names the one that was played, and how.
    let ended = session(&["resume", "--replay", "../one.jsonl", "--replay-match", "lenient"], &[], "c\n");
    ended.assert_code(62).assert_says("--replay ../one.jsonl --replay-match lenient");
    assert_eq!(model.requests().len(), 2);
}
