//! Servers that write something otherwise than their format says, as a user meets them: what is shown, what is run, what the exit code is,
//! and what goes back.

use crate::support::{Ended, Model, Running, Scratch, Wire};
use agent_testkit::http::Step;
use serde_json::{Value, json};

/// A stream of these events.
fn stream(events: &[Value], tail: &str) -> Step {
    let events: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    Step::body("text/event-stream", events + tail)
}

fn chunk(delta: &Value) -> Value {
    json!({"model": "m", "choices": [{"index": 0, "delta": delta}]})
}

fn finished(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn listing(arguments: &Value) -> Value {
    json!({"id": "c1", "type": "function", "function": {"name": "list_files", "arguments": arguments}})
}

fn run(scratch: &Scratch, model: &Model, wire: Wire, arguments: &[&str]) -> Ended {
    let mut command = scratch.agent(&["run", "--output-format", "stream-json", "--include-partial-messages"]);
    Running::start(command.args(arguments).args(model.flags(wire))).end()
}

#[test]
fn a_tool_call_goes_back_with_the_seal_that_its_server_asks_for() {
    let seal = json!({"google": {"thought_signature": "SIG"}});
    let mut call = listing(&json!("{}"));
    call["extra_content"] = seal.clone();
    let model = Model::script([
        stream(&[chunk(&json!({"tool_calls": [call]})), finished("tool_calls")], "data: [DONE]\n\n"),
        Step::text("Done."),
    ]);
    let scratch = Scratch::new();
    run(&scratch, &model, Wire::OpenAi, &["-p", "go"]).assert_code(0);
    // Out of the journal, too.
    let last = Step::text("Again.");
    drop(model);
    let model = Model::script([last]);
    run(&scratch, &model, Wire::OpenAi, &["--continue", "-p", "more"]).assert_code(0);
    let messages = model.last_body()["messages"].clone();
    let calls: Vec<&Value> =
        messages.as_array().unwrap().iter().filter_map(|message| message.get("tool_calls")).collect();
    assert_eq!(calls[0][0]["extra_content"], seal, "{messages}");
    model.assert_valid();
}

#[test]
fn the_end_without_a_reason_and_null_arguments_run_the_call() {
    for (arguments, tail) in
        [(json!("{}"), "data: [DONE]\n\n"), (json!("null"), "data: [DONE] \n\n"), (Value::Null, "")]
    {
        let mut events = vec![chunk(&json!({"tool_calls": [listing(&arguments)]}))];
        if tail != "data: [DONE]\n\n" {
            events.push(finished("tool_calls"));
        }
        let model = Model::script([stream(&events, tail), Step::text("Done.")]);
        let scratch = Scratch::new();
        scratch.write("seen.txt", "x");
        let ended = run(&scratch, &model, Wire::OpenAi, &["-p", "go"]);
        assert_eq!(ended.assert_code(0).result()["result"], "Done.", "{arguments}");
        assert!(model.last_body()["messages"].to_string().contains("seen.txt"), "{arguments}: it was not run");
        model.assert_valid();
    }
}

#[test]
fn blanks_between_texts_are_in_the_result() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let content = json!([text("The grass is green."), text(" "), text("The sky is blue.")]);
    let message = json!({"type": "message", "model": "m", "content": content, "stop_reason": "end_turn"});
    let model = Model::script([Step::body("application/json", message.to_string()), Step::text("Yes.")]);
    let scratch = Scratch::new();
    let ended = run(&scratch, &model, Wire::Anthropic, &["-p", "go"]);
    let whole = "The grass is green. The sky is blue.";
    assert_eq!(ended.assert_code(0).result()["result"], whole);
    let said = ended.lines().into_iter().find(|line| line["type"] == "assistant").unwrap();
    assert!(said.to_string().contains("\" \""), "{said}");
    // The next request has no text of blanks, which the server would refuse.
    run(&scratch, &model, Wire::Anthropic, &["--continue", "-p", "sure?"]).assert_code(0);
    model.assert_valid();
}

#[test]
fn an_answer_that_was_cut_stays_as_it_came_and_the_next_message_says_so() {
    for (wire, step) in [
        (Wire::OpenAi, stream(&[chunk(&json!({"content": "half an ans"})), finished("length")], "")),
        (
            Wire::Anthropic,
            Step::body(
                "application/json",
                json!({"type": "message", "model": "m", "stop_reason": "max_tokens", "content": [
                    {"type": "text", "text": "half an ans"},
                    {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}]})
                .to_string(),
            ),
        ),
    ] {
        let model = Model::script([step, Step::text("Whole.")]);
        let scratch = Scratch::new();
        let ended = run(&scratch, &model, wire, &["-p", "go"]);
        ended.assert_code(62).assert_says("cut by the limit on output tokens");
        run(&scratch, &model, wire, &["--continue", "-p", "on"]).assert_code(0);
        let messages = model.last_body()["messages"].clone();
        let of = |role: &str| -> String {
            let messages = messages.as_array().unwrap().iter().filter(|message| message["role"] == role);
            messages.map(Value::to_string).collect()
        };
        assert!(of("assistant").contains("half an ans") && !of("assistant").contains("cut"), "{messages}");
        assert!(!of("assistant").contains("server_tool_use"), "{messages}");
        assert!(of("user").contains("[Your last answer was cut by the limit on output tokens.]"), "{messages}");
        model.assert_valid();
    }
}

#[test]
fn a_call_of_no_function_does_not_end_the_run_as_if_it_were_done() {
    let call = json!({"type": "custom_tool_call", "id": "ct", "call_id": "c1", "name": "apply_patch", "input": "*** Begin Patch", "status": "completed"});
    let answer =
        json!({"type": "response.completed", "response": {"status": "completed", "model": "m", "output": [call]}});
    let model = Model::script([stream(&[answer], ""), Step::text("Done.")]);
    let ended = run(&Scratch::new(), &model, Wire::OpenAiResponses, &["-p", "go"]);
    assert_eq!(ended.assert_code(0).result()["result"], "Done.");
    let input = model.last_body()["input"].to_string();
    assert!(input.contains("the arguments are not a JSON object"), "{input}");
    model.assert_valid();
}

#[test]
fn an_error_outside_of_the_protocol_is_told() {
    let begun = [chunk(&json!({"content": "Hel"}))];
    let error = "error: {\"code\":400,\"message\":\"the grammar is wrong\",\"type\":\"invalid_request_error\"}\n\n";
    let model = Model::script([stream(&begun, error)]);
    let ended = run(&Scratch::new(), &model, Wire::OpenAi, &["-p", "go"]);
    ended.assert_code(62).assert_says("the server ended the answer with an error: the grammar is wrong");
}

#[test]
fn events_that_are_said_to_be_json_are_read() {
    let body =
        format!("data: {}\n\ndata: {}\n\ndata: [DONE]\n\n", chunk(&json!({"content": "Hello."})), finished("stop"));
    let model = Model::script([Step::body("application/json", body)]);
    let ended = run(&Scratch::new(), &model, Wire::OpenAi, &["-p", "go"]);
    assert_eq!(ended.assert_code(0).result()["result"], "Hello.");
}
