//! Tests of writing Responses requests.

use super::*;
use crate::sample;
use agent_types::conversation::{Arguments, CallId, Conversation, Input, Round, ToolCall, ToolResult};
use serde_json::json;
use std::sync::Arc;

fn written_for(model: &str, conversation: &Conversation) -> Value {
    let request = sample::request(model, conversation);
    let body = body(&request, &Fragments::new(|item| fragment(item, CallIds::Any), head), &Gallery::default()).unwrap();
    serde_json::from_slice(&body).unwrap()
}

fn input_of(conversation: &Conversation) -> Value {
    written_for("m", conversation)["input"].take()
}

fn user(text: &str) -> Input {
    Input::new(vec![text.into()]).unwrap()
}

fn call(id: &str) -> Block {
    let arguments = Arguments::parse("{\"n\": 1.50}").unwrap();
    Block::Call(ToolCall { id: CallId::new(id), name: Arc::from("read"), arguments })
}

fn ours(json: &Value) -> Block {
    Block::Opaque { dialect: DIALECT.to_owned(), json: json.to_string() }
}

/// A frame as it is kept: with its marker in front.
fn frame(of: &str, members: &Value) -> Block {
    let json = format!("{{\"frame_of\":\"{of}\",\"members\":{members}}}");
    Block::Opaque { dialect: DIALECT.to_owned(), json }
}

fn text(text: &str) -> Block {
    Block::Text(text.to_owned())
}

fn answered(blocks: Vec<Block>) -> Vec<Value> {
    let mut conversation = Conversation::new();
    conversation.push_input(user("a"));
    conversation.push_answer(Answer::new(blocks).unwrap()).unwrap();
    match input_of(&conversation) {
        Value::Array(mut items) => items.split_off(1),
        other => panic!("{other}"),
    }
}

#[test]
fn the_whole_body_of_a_first_request() {
    let mut conversation = Conversation::new();
    conversation.push_input(user("a \"quoted\"\n"));
    conversation.push_input(user("b"));
    assert_eq!(
        written_for("some-model", &conversation),
        json!({
            "model": "some-model",
            "stream": true,
            "store": false,
            "max_output_tokens": 100,
            "tools": [{"type": "function", "name": "read", "description": "Reads a file.",
                "parameters": {"type": "object"}, "strict": false}],
            "instructions": "Be brief.",
            "input": [{"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "a \"quoted\"\n"}, {"type": "input_text", "text": "b"},
            ]}],
        })
    );
}

#[test]
fn sealed_reasoning_is_asked_of_models_that_give_it() {
    for (model, asked) in [
        ("gpt-5.2-codex", true),
        ("openai/gpt-5", true),
        ("o4-mini", true),
        ("gpt-5-chat-latest", false),
        ("gpt-4o", false),
        ("local", false),
    ] {
        let body = written_for(model, &Conversation::new());
        let include = if asked { json!(["reasoning.encrypted_content"]) } else { Value::Null };
        assert_eq!(body["include"], include, "{model}");
    }
}

#[test]
fn a_round_is_its_items_and_the_results_in_order() {
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"});
    let blocks = vec![
        Block::Thinking { text: String::new(), signature: Some(reasoning.to_string()) },
        text("one"),
        call("c1"),
        frame("function_call", &json!({"caller": {"type": "program"}})),
        call("c2"),
    ];
    let results = vec![
        ToolResult::new(CallId::new("c1"), "fine", false),
        ToolResult::new(CallId::new("c2"), "no such file", true),
    ];
    let mut conversation = Conversation::new();
    conversation.push_input(user("a"));
    conversation.push_round(Round::new(Answer::new(blocks).unwrap(), results).unwrap()).unwrap();
    conversation.push_input(user("b"));
    let called =
        |id: &str| json!({"type": "function_call", "call_id": id, "name": "read", "arguments": "{\"n\": 1.50}"});
    let mut first = called("c1");
    first["caller"] = json!({"type": "program"});
    assert_eq!(
        input_of(&conversation),
        json!([
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}]},
            reasoning,
            {"type": "message", "role": "assistant", "content": "one"},
            first,
            called("c2"),
            {"type": "function_call_output", "call_id": "c1", "output": "fine"},
            {"type": "function_call_output", "call_id": "c2", "output": "Error: no such file"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "b"}]},
        ])
    );
}

#[test]
fn a_message_goes_back_as_it_came_while_its_texts_are_its_own() {
    let members = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "commentary",
        "content": [{"type": "output_text", "annotations": [1]}, {"type": "refusal"}]});
    let whole = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "commentary",
        "content": [{"type": "output_text", "annotations": [1], "text": "x"}, {"type": "refusal", "refusal": "y"}]});
    let plain = |content: &str| json!({"type": "message", "role": "assistant", "content": content});
    assert_eq!(answered(vec![text("x"), text("y"), frame("message", &members)]), std::slice::from_ref(&whole));
    assert_eq!(
        answered(vec![text("before"), text("x"), text("y"), frame("message", &members), text("[cut]")]),
        [plain("before"), whole, plain("[cut]")]
    );
    // A text was left out: what is there is said without the frame.
    assert_eq!(answered(vec![text("x"), frame("message", &members)]), [plain("x")]);
    assert_eq!(answered(vec![text("x"), frame("function_call", &json!({"a": 1}))]), [plain("x")]);
}

#[test]
fn reasoning_that_nothing_came_of_stays_behind() {
    let item = |id: &str| json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": "x"});
    let thinking = |id: &str| Block::Thinking { text: String::new(), signature: Some(item(id).to_string()) };
    let plain = |content: &str| json!({"type": "message", "role": "assistant", "content": content});
    assert_eq!(
        answered(vec![text("a"), thinking("r1"), thinking("r2"), text("b"), thinking("r3")]),
        [plain("a"), item("r1"), item("r2"), plain("b")]
    );
}

#[test]
fn only_what_this_server_wrote_goes_back_to_it() {
    let thinking = |seal: Option<&str>| Block::Thinking { text: "hm".to_owned(), signature: seal.map(str::to_owned) };
    let item = json!({"type": "web_search_call", "id": "ws_1"});
    let blocks = vec![
        thinking(None),
        thinking(Some("c2VhbA==")),
        thinking(Some("{\"reasoning_details\":[]}")),
        Block::RedactedThinking { data: "x".to_owned() },
        Block::Opaque { dialect: "anthropic".to_owned(), json: "{\"type\":\"x\"}".to_owned() },
        ours(&item),
    ];
    assert_eq!(answered(blocks), [item]);
}
