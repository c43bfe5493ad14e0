//! Where the provider is, and which wire format it speaks.

use crate::support::{Model, Running, Scratch, Wire};
use agent_core::llm::StopReason;
use agent_testkit::Reply;
use agent_testkit::http::Step;
use serde_json::json;

#[test]
fn where_the_provider_is() {
    // The flag, then the environment, then the configuration.
    let scratch = Scratch::new();
    scratch.configure("provider = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\n");
    let model = Model::script([Step::text("a"), Step::text("b")]);
    let mut command = scratch.agent(&["run", "-p", "x"]);
    Running::start(command.env("OPENAI_BASE_URL", model.server().openai_url())).end().assert_code(0);
    let mut command = scratch.agent(&["run", "-p", "x"]);
    command.args(model.flags(Wire::OpenAi)).env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    Running::start(&mut command).end().assert_code(0);
    // The only model that is listed was chosen.
    assert_eq!(model.requests()[0].path, "/v1/models");
    assert_eq!(model.requests()[1].body["model"], "scripted-model");
}

#[test]
fn every_wire_format_does_the_same_work() {
    for (wire, path) in [
        (Wire::Anthropic, "/v1/messages"),
        (Wire::OpenAi, "/v1/chat/completions"),
        (Wire::OpenAiResponses, "/v1/responses"),
    ] {
        let scratch = Scratch::repository();
        let both = Reply::new()
            .thinking("I write two.")
            .text("Two files.")
            .call("write_file", json!({"path": "b.txt", "content": "two\n"}))
            .call("read_file", json!({"path": "missing.txt"}));
        let model = Model::script([Step::answer(both), Step::text("Done.")]);
        let mut command = scratch.agent(&["run", "-p", "x", "--permission-mode", "accept-edits"]);
        let ended = Running::start(command.args(model.flags(wire))).end();
        assert_eq!(ended.assert_code(0).out, "Done.\n", "{wire:?}");
        assert_eq!(scratch.read("b.txt"), "two\n");
        model.assert_valid();
        assert!(model.requests().iter().all(|request| request.path == path), "{wire:?}");
        assert!(model.last_body().to_string().contains("missing.txt"));
    }
    // An answer that its limit cut is no success, and the call in it does not run.
    for wire in [Wire::Anthropic, Wire::OpenAi, Wire::OpenAiResponses] {
        let scratch = Scratch::repository();
        let cut =
            Reply::new().call("write_file", json!({"path": "b.txt", "content": "half"})).stop(StopReason::MaxTokens);
        let model = Model::always(Step::answer(cut));
        let mut command = scratch.agent(&["run", "-p", "x", "--permission-mode", "bypass"]);
        Running::start(command.args(model.flags(wire))).end().assert_code(62);
        assert!(!scratch.work("b.txt").exists(), "{wire:?}");
    }
}

#[test]
fn a_base_url_alone_means_openai() {
    let model = Model::script([Step::text("a")]);
    let ended = Scratch::new().ended(&["run", "-p", "x", "--base-url", &model.server().openai_url()]);
    assert_eq!(ended.assert_code(0).out, "a\n");
    assert_eq!(model.requests().last().unwrap().path, "/v1/chat/completions");
}

#[test]
fn a_server_on_this_machine_that_the_environment_names_needs_no_key() {
    for (variable, wire) in [("OPENAI_BASE_URL", Wire::OpenAi), ("ANTHROPIC_BASE_URL", Wire::Anthropic)] {
        let model = Model::script([Step::text("a")]);
        let url = model.flags(wire)[3].clone();
        let scratch = Scratch::new();
        let run = |url: &str| {
            Running::start(scratch.agent(&["run", "-p", "x", "-m", "scripted-model"]).env(variable, url)).end()
        };
        assert_eq!(run(&url).assert_code(0).out, "a\n", "{variable}");
        let doctor = Running::start(scratch.agent(&["doctor"]).env(variable, &url)).end();
        assert!(doctor.out.contains("it needs no key") && !doctor.out.contains("no key is set"), "{doctor:#?}");
        run("https://example.invalid/v1").assert_code(41).assert_says("_API_KEY is not set");
    }
    let scratch = Scratch::new();
    let mut command = scratch.agent(&["run", "-p", "x"]);
    command.env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1").env("ANTHROPIC_BASE_URL", "http://127.0.0.1:1");
    Running::start(&mut command).end().assert_code(41);
}

#[test]
fn a_base_url_that_is_none() {
    let scratch = Scratch::new();
    for url in ["notaurl", "127.0.0.1:11434/v1", "localhost:1", "ftp://127.0.0.1/", "http://"] {
        let ended = scratch.ended(&["run", "-p", "x", "--base-url", url]);
        ended.assert_code(52).assert_says("read the base URL").assert_says("it comes from `--base-url`");
        assert!(!ended.err.contains("KEY"), "{ended:#?}");
    }
    for (variable, provider) in [("ANTHROPIC_BASE_URL", "anthropic"), ("OPENAI_BASE_URL", "openai-responses")] {
        let mut command = scratch.agent(&["run", "-p", "x", "--provider", provider]);
        Running::start(command.env(variable, "notaurl")).end().assert_code(52).assert_says(variable);
    }
    scratch.configure("base_url = \"notaurl\"\n");
    scratch.ended(&["run", "-p", "x"]).assert_code(52).assert_says("it comes from the configuration");
}
