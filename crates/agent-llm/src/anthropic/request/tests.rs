//! Tests of writing Anthropic requests.

use super::*;
use crate::sample;
use agent_types::conversation::{Arguments, CallId, Conversation, Input, Round, ToolCall, ToolResult};
use serde_json::{Value, json};
use std::sync::Arc;

fn request(conversation: &Conversation) -> LlmRequest {
    sample::request("some-model", conversation)
}

fn fragments() -> Fragments {
    Fragments::new(fragment, head)
}

fn written(conversation: &Conversation) -> Value {
    let body = body(&request(conversation), &fragments(), &Gallery::default()).unwrap();
    serde_json::from_slice(&body).unwrap()
}

fn input(text: &str) -> Input {
    Input::new(vec![text.into()]).unwrap()
}

fn call(id: &str, name: &str, arguments: &str) -> Block {
    Block::Call(ToolCall {
        id: CallId::new(id),
        name: Arc::from(name),
        arguments: Arguments::parse(arguments).unwrap(),
    })
}

fn round(blocks: Vec<Block>) -> Round {
    let answer = Answer::new(blocks).unwrap();
    let results = answer
        .calls()
        .enumerate()
        .map(|(n, call)| ToolResult::new(call.id.clone(), format!("result {n}"), n == 1))
        .collect();
    Round::new(answer, results).unwrap()
}

/// The JSON without cache marks.
fn unmarked(mut value: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.remove("cache_control");
                members.values_mut().for_each(strip);
            }
            Value::Array(list) => list.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut value);
    value
}

#[test]
fn the_whole_body_of_a_first_request() {
    let mut conversation = Conversation::new();
    conversation.push_input(input("hello \"you\""));
    assert_eq!(
        written(&conversation),
        json!({
            "model": "some-model",
            "max_tokens": 100,
            "stream": true,
            "tools": [{"name": "read", "description": "Reads a file.", "input_schema": {"type": "object"}}],
            "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
            "messages": [{"role": "user", "content": [
                {"type": "text", "text": "hello \"you\"", "cache_control": {"type": "ephemeral"}},
            ]}],
        })
    );
}

#[test]
fn without_a_system_prompt_the_last_tool_is_marked() {
    let request = LlmRequest { system: Arc::from(" "), ..request(&Conversation::new()) };
    let body = body(&request, &fragments(), &Gallery::default()).unwrap();
    let value: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(value.get("system"), None);
    assert_eq!(value["tools"][0]["cache_control"]["type"], "ephemeral");
}

#[test]
fn results_and_the_inputs_after_them_are_one_user_message() {
    let mut conversation = Conversation::new();
    conversation.push_input(input("a"));
    conversation.push_input(input("b"));
    let blocks = vec![Block::Text("t".to_owned()), call("c1", "read", "{\"n\": 1.50}"), call("x.y:2", "", "")];
    conversation.push_round(round(blocks)).unwrap();
    conversation.push_input(input("c"));
    conversation.push_input(input("d"));
    assert_eq!(
        unmarked(written(&conversation))["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "t"},
                {"type": "tool_use", "id": "c1", "name": "read", "input": {"n": 1.5}},
                {"type": "tool_use", "id": "x_y_2_2cputicexb2x0", "name": "unnamed", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "result 0"},
                {"type": "tool_result", "tool_use_id": "x_y_2_2cputicexb2x0", "content": "result 1", "is_error": true},
                {"type": "text", "text": "c"},
                {"type": "text", "text": "d"},
            ]},
        ])
    );
    let body = body(&request(&conversation), &fragments(), &Gallery::default()).unwrap();
    let body = String::from_utf8(body).unwrap();
    assert!(body.contains("\"input\":{\"n\": 1.50}"), "verbatim: {body}");
}

#[test]
fn thinking_goes_back_only_with_its_seal_and_opaque_blocks_only_home() {
    let opaque = |dialect: &str| Block::Opaque {
        dialect: dialect.to_owned(),
        json: format!("{{\"type\":\"{dialect}_block\"}}"),
    };
    let thinking =
        |signature: Option<&str>| Block::Thinking { text: "hm".to_owned(), signature: signature.map(str::to_owned) };
    let mut conversation = Conversation::new();
    conversation.push_input(input("a"));
    let blocks = vec![
        thinking(None),
        thinking(Some("seal")),
        Block::RedactedThinking { data: "xx".to_owned() },
        opaque("anthropic"),
        opaque("other"),
    ];
    conversation.push_answer(Answer::new(blocks).unwrap()).unwrap();
    conversation.push_input(input("b"));
    conversation.push_answer(Answer::new(vec![thinking(None), opaque("other")]).unwrap()).unwrap();
    conversation.push_input(input("c"));
    assert_eq!(
        unmarked(written(&conversation))["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "a"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "seal"},
                {"type": "redacted_thinking", "data": "xx"},
                {"type": "anthropic_block"},
            ]},
            // The second answer has nothing that this server takes: its neighbours are one message.
            {"role": "user", "content": [{"type": "text", "text": "b"}, {"type": "text", "text": "c"}]},
        ])
    );
}

#[test]
fn the_bytes_before_the_moving_marks_stay_and_there_are_at_most_four_marks() {
    let kept = fragments();
    let first = request(&Conversation::new());
    let mut conversation = Conversation::new();
    conversation.push_input(input("question"));
    let mut before: Option<String> = None;
    for turn in 0..6 {
        let request = LlmRequest { conversation: conversation.clone(), ..first.clone() };
        let body = String::from_utf8(body(&request, &kept, &Gallery::default()).unwrap()).unwrap();
        assert!(body.matches("cache_control").count() <= 4, "{body}");
        if let Some(before) = before {
            let stable = before
                .replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "")
                .trim_end_matches(['}', ']'])
                .to_owned();
            let now = body.replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
            assert!(now.starts_with(&stable), "turn {turn}:\n{stable}\n{now}");
        }
        before = Some(body);
        let id = format!("call_{turn}");
        conversation.push_round(round(vec![call(&id, "read", "{}")])).unwrap();
    }
    let last: Value = serde_json::from_str(&before.unwrap()).unwrap();
    let marked: Vec<usize> = (0..)
        .zip(last["messages"].as_array().unwrap())
        .filter(|(_, message)| message.to_string().contains("cache_control"))
        .map(|(position, _)| position)
        .collect();
    let count = last["messages"].as_array().unwrap().len();
    assert_eq!(marked, [count - 3, count - 1]);
}
