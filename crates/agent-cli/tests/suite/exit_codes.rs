//! Every exit code that a headless run can have, in every output format: the object and the process say the same.

use crate::support::{Ended, Model, Running, Scratch, Wire};
use agent_core::llm::{StopReason, Usage};
use agent_testkit::Reply;
use agent_testkit::http::Step;
use serde_json::json;
use std::time::Duration;

/// Runs it in every format, each time from the beginning.
#[track_caller]
fn in_every_format(code: i32, subtype: &str, run: impl Fn(&[&str]) -> Ended) -> Vec<Ended> {
    let mut all = Vec::new();
    for format in ["text", "json", "stream-json"] {
        let ended = run(&["--output-format", format]);
        ended.assert_code(code);
        if format != "text" {
            let lines = ended.lines();
            let results: Vec<_> = lines.iter().filter(|line| line["type"] == "result").collect();
            assert_eq!(results.len(), 1, "{ended:#?}");
            let result = lines.last().unwrap();
            assert_eq!(result["type"], "result", "{ended:#?}");
            assert_eq!(result["exit_code"], code, "{ended:#?}");
            assert_eq!(result["subtype"], subtype, "{ended:#?}");
            assert_eq!(result["is_error"], code != 0, "{ended:#?}");
            assert_eq!(lines.len() == 1, format == "json", "{ended:#?}");
            assert_eq!(lines[0]["type"] == "system", format == "stream-json", "{ended:#?}");
        }
        if code != 0 {
            assert!(!ended.err.trim().is_empty(), "it fails without a word: {ended:#?}");
        }
        all.push(ended);
    }
    all
}

/// A script in every format.
#[track_caller]
fn scripted(code: i32, subtype: &str, steps: &[Step], arguments: &[&str]) -> Vec<Ended> {
    in_every_format(code, subtype, |format| {
        let model = Model::script(steps.iter().cloned());
        let ended = Scratch::repository().run(&model, &[&["-p", "do it"], arguments, format].concat());
        model.assert_valid();
        ended
    })
}

/// No model at all.
#[track_caller]
fn unasked(code: i32, subtype: &str, arguments: &[&str], prepare: impl Fn(&Scratch)) -> Vec<Ended> {
    in_every_format(code, subtype, |format| {
        let model = Model::script([]);
        let scratch = Scratch::new();
        prepare(&scratch);
        let ended = scratch.run(&model, &[arguments, format].concat());
        assert_eq!(model.requests().len(), 0, "{ended:#?}");
        ended
    })
}

fn edit() -> Step {
    Step::call("write_file", json!({"path": "b.txt", "content": "two\n"}))
}

#[test]
fn success() {
    let all = scripted(0, "success", &[Step::text("Done.")], &[]);
    assert_eq!(all[0].out, "Done.\n");
    assert_eq!(all[1].result()["result"], "Done.");
}

#[test]
fn a_journal_that_cannot_be_written() {
    let all = unasked(1, "error_during_execution", &["-p", "hi"], |scratch| {
        std::fs::remove_dir(scratch.path("state")).unwrap();
        std::fs::write(scratch.path("state"), "a file").unwrap();
    });
    all[0].assert_says("state").assert_says("set AGENT_STATE_HOME").assert_says("--no-session");
}

#[test]
fn a_disk_that_is_full_in_the_middle() {
    // A limit on the size of files stands for the disk; its signal is ignored, so that writing fails.
    let model = Model::script([Step::text("long ".repeat(20_000))]);
    let scratch = Scratch::new();
    let mut command = scratch.command("sh");
    command.args([
        "-c",
        "trap '' XFSZ; ulimit -f 40; exec \"$@\"",
        "sh",
        env!("CARGO_BIN_EXE_agent"),
        "run",
        "-p",
        "x",
    ]);
    let ended = Running::start(command.args(model.flags(Wire::Anthropic)).args(["--output-format", "json"])).end();
    let result = ended.assert_code(1).result();
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["exit_code"], 1);
    ended.assert_says("journal");
}

#[test]
fn wrong_usage_has_no_result() {
    let scratch = Scratch::new();
    for arguments in [
        &["run", "--no-such-flag"][..],
        &["run", "-p", "x", "--max-turns", "many"],
        &["run", "-p", "x", "--max-budget-usd", "-1"],
        &["run", "-p", "x", "--max-wall-time", "soon"],
        &["run", "-p", "x", "--allow", "bash("],
        &["run", "-p", "x", "--no-session", "--continue"],
        &["run", "-p", "x", "and", "more"],
        &["run", "-p", "x", "--include-partial-messages"],
        &["no-such-command"],
        &["diagram", "no-such-machine"],
    ] {
        let ended = scratch
            .ended(&[arguments, &["--output-format", "json"][..usize::from(arguments[0] == "run") * 2]].concat());
        ended.assert_code(2);
        assert_eq!(ended.out, "", "{ended:#?}");
        assert!(!ended.err.is_empty());
    }
}

#[test]
fn no_key_names_three_ways_on() {
    let all = in_every_format(41, "error_authentication", |format| {
        Scratch::new().ended(&[&["run", "-p", "hi"], format].concat())
    });
    for words in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "--base-url", "agent demo"] {
        all[0].assert_says(words);
    }
}

#[test]
fn a_refused_key() {
    let all = scripted(41, "error_authentication", &[Step::status(401)], &[]);
    all[0].assert_says("401");
}

#[test]
fn unusable_input() {
    unasked(42, "error_input", &["-p", "  "], |_| {})[0].assert_says("empty");
    unasked(42, "error_input", &["-p", "x", "-C", "no-such-folder"], |_| {})[0].assert_says("no-such-folder");
    unasked(42, "error_input", &["-p", "x", "-C", "file"], |scratch| scratch.write("file", ""))[0]
        .assert_says("directory");
    unasked(42, "error_input", &["-p", "x", "--continue"], |_| {})[0].assert_says("there is none");
    unasked(42, "error_input", &["-p", "x", "--session-id", "../x"], |_| {})[0].assert_says("../x");
}

#[test]
fn wrong_configuration() {
    unasked(52, "error_config", &["-p", "x", "--format-on-edit"], |scratch| {
        scratch.configure("[[formatters]]\nextensions = [\"rs\"]\nprogram = \"rustfmt\"\n");
    })[0]
        .assert_says("absolute");
    unasked(52, "error_config", &["-p", "x"], |scratch| scratch.configure("provider = ["))[0]
        .assert_says("config.toml");
    unasked(52, "error_config", &["-p", "x"], |scratch| scratch.configure("no_such_key = 1"))[0]
        .assert_says("no_such_key");
    let elsewhere = ["-p", "x", "--max-budget-usd", "1", "--base-url", "http://0.0.0.0:9", "--api-key-env", "-"];
    unasked(52, "error_config", &elsewhere, |_| {})[0].assert_says("price");
    unasked(52, "error_config", &["-p", "x", "--provider", "nobody"], |_| {})[0].assert_says("nobody");
    unasked(52, "error_config", &["-p", "x"], |scratch| scratch.configure("sandbox = \"sometimes\""))[0]
        .assert_says("sometimes");
    unasked(52, "error_config", &["-p", "x"], |scratch| scratch.configure("sandbox_writable = [\"cache\"]"))[0]
        .assert_says("absolute");
    unasked(52, "error_config", &["-p", "x", "--deny", "bsh(rm:*)"], |_| {})[0].assert_says("names no tool");
}

#[test]
fn two_keys_and_no_choice() {
    let all = in_every_format(52, "error_config", |format| {
        let mut command = Scratch::new().agent(&[&["run", "-p", "x"], format].concat());
        let scratch = Scratch::new();
        command.current_dir(scratch.path("work"));
        Running::start(command.env("ANTHROPIC_API_KEY", "sk-one-secret").env("OPENAI_API_KEY", "sk-two-secret")).end()
    });
    all[0].assert_says("--provider");
    assert!(all.iter().all(|ended| !format!("{ended:?}").contains("secret")));
}

#[test]
fn limits_on_calls() {
    let call = || Step::call("read_file", json!({"path": "a.txt"}));
    scripted(53, "error_max_turns", &[call()], &["--max-turns", "1"]);
    let two = Reply::new().call("read_file", json!({"path": "a.txt"})).call("list_files", json!({}));
    scripted(53, "error_max_turns", &[Step::answer(two)], &["--max-tool-calls", "1"]);
}

/// Asking the same for long is what waiting for something looks like, and ends nothing by itself.
#[test]
fn the_same_call_again_and_again_is_ended_where_a_limit_says_so() {
    let call = || Step::call("list_files", json!({}));
    let waits = || Model::script((0..60).map(|_| call()).chain([Step::text("Done.")]));
    Scratch::new().run(&waits(), &["-p", "wait"]).assert_code(0);
    let scratch = Scratch::new();
    scratch.configure("[limits]\nmax_repetitions = 20\n");
    scratch.run(&waits(), &["-p", "wait"]).assert_code(53).assert_says("same result");
}

#[test]
fn budgets() {
    let usage = Usage { input_tokens: 5_000, output_tokens: 5_000, ..Usage::default() };
    let dear = Step::answer(Reply::new().call("list_files", json!({})).usage(usage));
    scripted(60, "error_max_budget", std::slice::from_ref(&dear), &["--max-total-tokens", "1000"]);
    scripted(60, "error_max_budget", &[Step::hang()], &["--max-wall-time", "300ms"]);
    in_every_format(60, "error_max_budget", |format| {
        let model = Model::script([dear.clone()]);
        let scratch = Scratch::new();
        scratch.configure("[models.scripted-model]\ninput_usd = 1\noutput_usd = 100\nmax_output_tokens = 1000\n");
        let ended = scratch.run(&model, &[&["-p", "x", "--max-budget-usd", "0.55"], format].concat());
        assert_eq!(model.requests().len(), 1);
        ended
    });
}

#[test]
fn a_call_that_nobody_could_be_asked_about() {
    let all = scripted(61, "error_permission", &[edit(), Step::text("I could not.")], &[]);
    assert_eq!(all[0].out, "I could not.\n");
    all[0].assert_says("--allow");
    let denials = all[1].result()["permission_denials"].clone();
    assert_eq!(denials[0]["tool_name"], "write_file");
    assert_eq!(denials[0]["tool_input"]["path"], "b.txt");
}

#[test]
fn a_denial_by_rule_is_no_failure() {
    let deny = ["--permission-mode", "bypass", "--deny", "write_file"];
    let all = scripted(0, "success", &[edit(), Step::text("Well.")], &deny);
    all[0].assert_says("• write_file b.txt");
    assert_eq!(all[1].result()["permission_denials"][0]["tool_name"], "write_file");
}

#[test]
fn a_provider_that_gives_up() {
    scripted(62, "error_during_execution", &[Step::status(400)], &[])[0].assert_says("400");
    let soon = Step::status(500).header("retry-after", "0");
    scripted(62, "error_during_execution", &vec![soon; 4], &[])[0].assert_says("500");
    let late = Step::status(429).header("retry-after", "100000");
    scripted(62, "error_during_execution", &[late], &[])[0].assert_says("429");
}

#[test]
fn an_answer_that_cannot_be_used() {
    let cut = Reply::new().text("half of it").stop(StopReason::MaxTokens);
    let all = scripted(62, "error_during_execution", &[Step::answer(cut)], &[]);
    assert!(all[1].result()["result"].as_str().unwrap().starts_with("half of it"));
    let empty = Scratch::new().run(&Model::always(Step::answer(Reply::new())), &["-p", "x"]);
    assert_eq!(empty.assert_code(62).out, "");
    let refused = Reply::new().text("I will not.").stop(StopReason::Refusal);
    scripted(62, "error_during_execution", &[Step::answer(refused)], &[]);
}

#[test]
fn interrupted_and_terminated() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let all = in_every_format(code, "cancelled", |format| {
            let model = Model::script([Step::hang()]);
            let scratch = Scratch::new();
            let running = Running::start(&mut scratch.run_command(&model, &[&["-p", "x"], format].concat()));
            model.wait_for_requests(1);
            std::thread::sleep(Duration::from_millis(20));
            running.signal(signal);
            running.end()
        });
        assert!(!all[1].result()["session_id"].as_str().unwrap().is_empty());
    }
}
