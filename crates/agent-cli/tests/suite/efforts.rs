//! How much the model is to think and how long its answers may be: what is said, and what is sent.

use crate::pty::{at_rest_after, on_terminal};
use crate::support::{Model, Running, Scratch, Wire};
use agent_testkit::http::Step;
use serde_json::{Value, json};

/// What the only request of a run asks of the model.
fn sent(scratch: &Scratch, wire: Wire, arguments: &[&str]) -> Value {
    let model = Model::script([Step::text("a")]);
    let mut command = scratch.agent(&["run", "-p", "x", "--no-session", "--api-key-env", "-"]);
    Running::start(command.args(model.flags(wire)).args(arguments)).end().assert_code(0);
    model.assert_valid();
    model.last_body()
}

#[test]
fn each_wire_format_says_the_effort_in_its_own_way() {
    let scratch = Scratch::new();
    let body = sent(&scratch, Wire::OpenAi, &["--effort", "low"]);
    assert_eq!(body["reasoning_effort"], "low");
    let body = sent(&scratch, Wire::OpenAiResponses, &["--effort", "xhigh"]);
    assert_eq!(body["reasoning"], json!({"effort": "xhigh"}));
    let body = sent(&scratch, Wire::Anthropic, &["--effort", "medium"]);
    assert_eq!(body["thinking"], json!({"type": "enabled", "budget_tokens": 6_144}), "three quarters of 8,192");
    let body = sent(&scratch, Wire::Anthropic, &["--effort", "high", "-m", "claude-opus-4-8"]);
    assert_eq!(body["thinking"]["type"], "adaptive");
    assert_eq!(body["output_config"], json!({"effort": "high"}));
    // Unasked, the servers of others get none, whatever the model.
    for (wire, member) in [(Wire::OpenAi, "reasoning_effort"), (Wire::OpenAiResponses, "reasoning")] {
        assert!(sent(&scratch, wire, &["-m", "gpt-5.5"]).get(member).is_none(), "{member}");
    }
    let body = sent(&scratch, Wire::Anthropic, &["-m", "claude-opus-4-8"]);
    assert!(body.get("thinking").is_none() && body.get("output_config").is_none(), "{body}");
}

#[test]
fn the_configuration_says_it_of_all_models_and_of_each() {
    let scratch = Scratch::new();
    scratch.configure("effort = \"max\"\n[models.\"careful\"]\neffort = \"high\"\nmax_output_tokens = 20_000\n");
    let effort = |arguments: &[&str]| sent(&scratch, Wire::OpenAi, arguments)["reasoning_effort"].clone();
    assert_eq!(effort(&[]), "max");
    assert_eq!(effort(&["-m", "careful"]), "high");
    assert_eq!(effort(&["-m", "careful", "--effort", "low"]), "low");
    assert_eq!(effort(&["--effort", "default"]), Value::Null);
    assert_eq!(effort(&["-m", "gpt-5-mini"]), "high", "the nearest that it knows");
    assert_eq!(effort(&["-m", "gpt-4o"]), Value::Null, "it does not reason");
    let shown = scratch.ended(&["config", "show", "--json", "--base-url", "http://127.0.0.1:1", "-m", "careful"]);
    let shown: Value = serde_json::from_str(&shown.assert_code(0).out).unwrap();
    let told =
        |key: &str| shown["settings"].as_array().unwrap().iter().find(|told| told["key"] == key).cloned().unwrap();
    assert_eq!(told("effort"), json!({"key": "effort", "value": "high", "source": "the user's configuration"}));
    assert_eq!(told("max_output_tokens")["value"], 20_000);
    scratch.configure("effort = \"hard\"\n");
    scratch.ended(&["run", "-p", "x"]).assert_code(52).assert_says("unknown variant `hard`");
    scratch.configure("max_output_tokens = 0\n");
    scratch.ended(&["run", "-p", "x"]).assert_code(52).assert_says("config.toml");
}

#[test]
fn an_effort_that_the_model_does_not_know_is_an_error_that_says_what_it_knows() {
    let scratch = Scratch::new();
    let run = |provider: &str, model: &str, effort: &str| {
        let url = if provider == "anthropic" { "http://127.0.0.1:1" } else { "http://127.0.0.1:1/v1" };
        scratch.ended(&["run", "-p", "x", "--provider", provider, "--base-url", url, "-m", model, "--effort", effort])
    };
    run("openai", "gpt-5-mini", "xhigh").assert_code(52).assert_says("it knows minimal, low, medium, high");
    run("openai", "gpt-4o", "low").assert_code(52).assert_says("gpt-4o").assert_says("does not reason");
    run("anthropic", "claude-sonnet-4-5", "max").assert_code(52).assert_says("it knows none, low, medium, high");
    scratch.ended(&["run", "-p", "x", "--effort", "lots"]).assert_code(2).assert_says("possible values: default, none");
    // OpenAI's own Chat Completions refuse what the same model takes elsewhere.
    let own = ["run", "-p", "x", "--provider", "openai", "-m", "gpt-5.5", "--effort", "low"];
    let own = Running::start(scratch.agent(&own).env("OPENAI_API_KEY", "k")).end();
    own.assert_code(52).assert_says("--provider openai-responses");
    scratch.configure("max_output_tokens = 1_000\n");
    run("anthropic", "some-model", "low").assert_code(52).assert_says("raise `max_output_tokens`");
}

#[test]
fn answers_are_as_long_as_the_model_and_the_money_allow() {
    let scratch = Scratch::new();
    let limit = |arguments: &[&str]| sent(&scratch, Wire::Anthropic, arguments)["max_tokens"].clone();
    assert_eq!(limit(&[]), 8_192, "an unknown model");
    assert_eq!(limit(&["-m", "claude-opus-4-8"]), 64_000);
    assert_eq!(limit(&["-m", "claude-opus-4-8", "--max-budget-usd", "5"]), 20_000);
    scratch.configure("max_output_tokens = 30_000\n[models.m]\nmax_output_tokens = 5_000\n");
    assert_eq!([limit(&[]), limit(&["-m", "m"])], [30_000, 5_000]);
}

#[test]
fn the_effort_is_kept_with_the_session_and_told() {
    let scratch = Scratch::new();
    let model = Model::always(Step::text("Well."));
    let ended =
        scratch.run(&model, &["-p", "x", "--session-id", "one", "--effort", "low", "--output-format", "stream-json"]);
    assert_eq!(ended.assert_code(0).lines()[0]["effort"], "low");
    let bodies = || model.requests().into_iter().map(|request| request.body).collect::<Vec<_>>();
    let resume = |arguments: &[&str]| {
        let mut command = scratch.agent(&["resume", "one"]);
        let mut running = Running::start(command.args(arguments).env("ANTHROPIC_API_KEY", "k"));
        running.write("again\n");
        running.close_stdin();
        running.end()
    };
    resume(&[]).assert_code(0).assert_says("scripted-model, effort low\n");
    // The request asks as before, though a person sits in front now.
    let [first, second] = bodies().try_into().unwrap();
    for member in ["thinking", "max_tokens"] {
        assert_eq!(first[member], second[member], "{member}");
    }
    let ended = resume(&["--effort", "default"]);
    ended.assert_code(0).assert_says("effort default (before: low)");
    assert!(model.last_body().get("thinking").is_none());
    // As it was used: what the configuration says since is for new sessions.
    scratch.configure("effort = \"high\"\n");
    resume(&[]).assert_code(0);
    assert!(model.last_body().get("thinking").is_none());
}

#[test]
fn the_prompt_changes_the_effort_between_messages() {
    let scratch = Scratch::new();
    let model = Model::always(Step::text("Well."));
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("/effort hard\r");
    running.wait_for("the efforts are none, minimal, low, medium, high, xhigh, max, and default");
    running.write("\x15/effort high\r");
    running.wait_for("effort: high");
    running.write("one\r");
    at_rest_after(&running, "Well.");
    assert_eq!(model.last_body()["thinking"]["type"], "enabled");
    running.write("/effort\r");
    running.wait_for("Effort (default: the server decides)");
    running.write("defau\r");
    running.wait_for("effort: default");
    running.write("/model gpt-4o\r");
    running.wait_for("model: gpt-4o");
    running.write("/effort low\r");
    running.wait_for("does not reason");
    running.write("\x15two\r");
    model.wait_for_requests(2);
    assert!(model.last_body().get("thinking").is_none());
    running.wait_for("> ");
    running.write("/quit\r");
    running.end().assert_code(0);
}

#[test]
fn a_recording_is_asked_as_it_was() {
    let scratch = Scratch::repository();
    let model = Model::script([Step::text("a")]);
    let flags = ["-p", "x", "--record", "../run.jsonl", "--effort", "high", "-m", "claude-sonnet-4-5"];
    scratch.run(&model, &flags).assert_code(0);
    scratch.configure("effort = \"low\"\nmax_output_tokens = 9_000\n");
    scratch.ended(&["run", "-p", "x", "--replay", "../run.jsonl"]).assert_code(0);
    scratch
        .ended(&["run", "-p", "x", "--replay", "../run.jsonl", "--effort", "low"])
        .assert_code(62)
        .assert_says("thinking");
}
