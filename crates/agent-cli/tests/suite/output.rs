//! What stands on standard output, and that nothing else does.

use crate::support::{Model, Running, Scratch, Wire};
use agent_core::llm::Usage;
use agent_testkit::Reply;
use agent_testkit::http::Step;
use serde_json::{Value, json};

fn types(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["type"].as_str().unwrap()).filter(|kind| *kind != "transition").collect()
}

#[test]
fn the_answer_and_nothing_else() {
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let model = Model::script([Step::call("read_file", json!({"path": "a.txt"})), Step::text("It says one.")]);
        let scratch = Scratch::repository();
        let ended = Running::start(scratch.agent(&["run", "-p", "look", "-v"]).args(model.flags(wire))).end();
        ended.assert_code(0);
        assert_eq!(ended.out, "It says one.\n", "{wire:?}");
        ended.assert_says("read_file a.txt");
        model.assert_valid();
    }
}

#[test]
fn quiet_says_nothing_but_errors() {
    let model =
        Model::script([Step::call("read_file", json!({"path": "a.txt"})), Step::text("Yes."), Step::status(400)]);
    let scratch = Scratch::repository();
    assert_eq!(scratch.run(&model, &["-q", "-p", "look"]).assert_code(0).err, "");
    scratch.run(&model, &["-q", "-p", "look"]).assert_code(62).assert_says("400");
}

#[test]
fn verbose_shows_the_machine() {
    let model = Model::script([Step::text("Yes."), Step::text("Yes.")]);
    let scratch = Scratch::new();
    scratch.run(&model, &["-v", "-p", "x"]).assert_says("CallingLlm + LlmCompleted => ProcessingLlmResponse");
    assert!(!scratch.run(&model, &["-p", "x"]).err.contains("CallingLlm"));
}

#[test]
fn one_object_with_every_field() {
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let model = Model::script([Step::call("read_file", json!({"path": "a.txt"})), Step::text("It says one.")]);
        let scratch = Scratch::repository();
        let arguments = ["run", "-p", "look", "--output-format", "json"];
        let ended = Running::start(scratch.agent(&arguments).args(model.elsewhere(wire))).end();
        ended.assert_code(0);
        let lines = ended.lines();
        assert_eq!(lines.len(), 1);
        let result = &lines[0];
        assert_eq!(result["type"], "result");
        assert_eq!(result["subtype"], "success");
        assert_eq!(result["is_error"], false);
        assert_eq!(result["exit_code"], 0);
        assert_eq!(result["result"], "It says one.");
        assert!(!result["session_id"].as_str().unwrap().is_empty());
        assert_eq!(result["num_turns"], 2);
        assert!(result["duration_ms"].is_u64());
        assert!(result.get("total_cost_usd").unwrap().is_null(), "the price of this model is not known");
        assert_eq!(result["usage"]["input_tokens"], 200);
        assert_eq!(result["usage"]["output_tokens"], 40);
        assert_eq!(result["permission_denials"], json!([]));
        assert_eq!(result["terminal_state"], "WaitingForUserInput");
    }
}

#[test]
fn a_line_for_everything() {
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let model = Model::script([Step::call("read_file", json!({"path": "a.txt"})), Step::text("It says one.")]);
        let scratch = Scratch::repository();
        let arguments = ["run", "-p", "look", "--output-format", "stream-json"];
        let ended = Running::start(scratch.agent(&arguments).args(model.flags(wire))).end();
        let lines = ended.assert_code(0).lines();
        assert_eq!(types(&lines), ["system", "assistant", "user", "assistant", "result"], "{wire:?}");
        assert_eq!(lines[0]["subtype"], "init");
        assert_eq!(lines[0]["model"], "scripted-model");
        assert_eq!(lines[0]["permission_mode"], "default");
        assert!(lines[0]["tools"].as_array().unwrap().contains(&json!("read_file")));
        let call = lines.iter().find(|line| line["type"] == "assistant").unwrap();
        assert_eq!(call["message"]["content"][0]["type"], "tool_use");
        assert_eq!(call["message"]["content"][0]["input"], json!({"path": "a.txt"}));
        let results = lines.iter().find(|line| line["type"] == "user").unwrap();
        assert_eq!(results["message"]["content"][0]["tool_use_id"], call["message"]["content"][0]["id"]);
        assert!(results["message"]["content"][0]["content"].as_str().unwrap().contains("one"));
        let steps: Vec<_> = lines.iter().filter(|line| line["type"] == "transition").collect();
        let states = steps.iter().any(|step| step["from"] == "CallingLlm" && step["to"] == "ProcessingLlmResponse");
        assert!(states && steps.iter().all(|step| step["trigger"].is_string() && step["at_ms"].is_u64()));
        let sessions: Vec<_> = lines.iter().filter_map(|line| line.get("session_id")).collect();
        assert!(sessions.windows(2).all(|pair| pair[0] == pair[1]));
    }
}

#[test]
fn pieces_only_when_asked_for() {
    let steps = || {
        let cut =
            Step::error_after(Reply::new().text("This does not count.").pieces_of(4), 6, "overloaded_error", "busy");
        [cut, Step::answer(Reply::new().text("This does.").pieces_of(4))]
    };
    let scratch = Scratch::new();
    let model = Model::script(steps());
    let ended = scratch.run(&model, &["-p", "x", "--output-format", "stream-json", "--include-partial-messages"]);
    let lines = ended.assert_code(0).lines();
    let discarded = lines.iter().position(|line| line["type"] == "discard").unwrap();
    let text = |lines: &[Value]| -> String {
        lines.iter().filter_map(|line| line["event"]["text"].as_str()).collect::<Vec<_>>().join("")
    };
    assert!(!text(&lines[..discarded]).is_empty());
    assert_eq!(text(&lines[discarded..]), "This does.");

    let model = Model::script(steps());
    let ended = scratch.run(&model, &["-p", "x", "--output-format", "stream-json"]);
    let lines = ended.assert_code(0).lines();
    assert!(!types(&lines).contains(&"stream_event"));
}

/// The models that were asked, in order.
fn asked(model: &Model) -> Vec<String> {
    model.requests().iter().map(|request| request.body["model"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_fallback_model_takes_over_from_one_that_is_overloaded() {
    let usage = Usage { input_tokens: 1000, output_tokens: 10, ..Usage::default() };
    let second = || Step::answer(Reply::new().text("From the second.").usage(usage));
    // What had come of an answer that broke off is paid for, too.
    for (format, first, expected) in [
        ("text", Step::status(529), 0.0101),
        ("stream-json", Step::status(503).header("retry-after", "30"), 0.0101),
        ("stream-json", Step::error_after(Reply::new().text("Half."), 5, "overloaded_error", "busy"), 0.010_201),
    ] {
        let model = Model::script([first, second(), Step::text("Still from the second.")]);
        let scratch = Scratch::new();
        scratch.configure(
            "[models.scripted-model]\ninput_usd = 1\noutput_usd = 1\n[models.second-model]\ninput_usd = 10\noutput_usd = 10\n",
        );
        let flags = ["-p", "x", "--fallback-model", "second-model", "--output-format", format, "-v"];
        let ended = scratch.run(&model, &flags);
        ended.assert_code(0).assert_says("second-model").assert_says("LlmFailedFallback");
        assert!(!ended.err.contains("retrying in"), "{ended:#?}");
        assert_eq!(asked(&model), ["scripted-model", "second-model"]);
        assert!(ended.out.contains("From the second."), "{ended:#?}");
        if format == "stream-json" {
            let lines = ended.lines();
            assert!(lines.iter().any(|line| line["trigger"] == "LlmFailedFallback"), "{lines:#?}");
            // Each at the price of the model that answered.
            let cost = ended.result()["total_cost_usd"].as_f64().unwrap();
            assert!((cost - expected).abs() < 1e-9, "{cost}");
        }
        // The one that took over stays.
        scratch.run(&model, &["-p", "y", "--continue", "--fallback-model", "second-model"]).assert_code(0);
        model.assert_valid();
    }
}

#[test]
fn a_fallback_model_takes_over_from_one_that_is_exhausted() {
    // Tried again as often as it may be, then the next; and so on, until there is none.
    let busy = Step::status(500).header("retry-after", "0");
    let model = Model::script([vec![busy; 4], vec![Step::text("From the second.")]].concat());
    let scratch = Scratch::new();
    let ended = scratch.run(&model, &["-p", "x", "--fallback-model", "second-model"]);
    assert_eq!(ended.assert_code(0).out, "From the second.\n");
    ended.assert_says("second-model");
    assert_eq!(asked(&model), ["scripted-model", "scripted-model", "scripted-model", "scripted-model", "second-model"]);

    let late = Step::status(429).header("retry-after", "100000");
    let model = Model::script([late.clone(), late.clone(), late]);
    let ended = Scratch::new().run(&model, &["-p", "x", "--fallback-model", "second", "--fallback-model", "third"]);
    ended.assert_code(62).assert_says("429");
    assert_eq!(asked(&model), ["scripted-model", "second", "third"]);
    // What no other model cures is not tried with one.
    for step in [Step::status(400), Step::status(401)] {
        let model = Model::script([step]);
        Scratch::new().run(&model, &["-p", "x", "--fallback-model", "second"]);
        assert_eq!(asked(&model), ["scripted-model"]);
    }
}

#[test]
fn the_system_prompt_can_be_replaced_and_added_to() {
    let model = Model::script([Step::text("a"), Step::text("b")]);
    let scratch = Scratch::new();
    scratch.run(&model, &["-p", "x", "--append-system-prompt", "Speak softly."]).assert_code(0);
    let system = model.last_body()["system"].to_string();
    assert!(system.contains("coding agent") && system.contains("Speak softly."), "{system}");
    scratch.run(&model, &["-p", "x", "--system-prompt", "You are a parrot."]).assert_code(0);
    let system = model.last_body()["system"].to_string();
    assert!(system.contains("parrot") && !system.contains("coding agent"), "{system}");
}

#[test]
fn no_session_leaves_no_journal() {
    let model = Model::script([Step::text("a")]);
    let scratch = Scratch::new();
    let ended = scratch.run(&model, &["-p", "x", "--no-session", "--output-format", "json"]);
    assert_eq!(ended.assert_code(0).result()["session_id"], "");
    assert!(scratch.journals().is_empty());
}

#[test]
fn a_commit_that_fails_is_told() {
    let model =
        Model::script([Step::call("write_file", json!({"path": "b.txt", "content": "two\n"})), Step::text("Written.")]);
    let scratch = Scratch::repository();
    scratch.write(".git/index.lock", "");
    let ended = scratch.run(&model, &["-p", "x", "--permission-mode", "accept-edits", "--auto-commit"]);
    assert_eq!(scratch.read("b.txt"), "two\n");
    ended.assert_code(0).assert_says("lock");
}
