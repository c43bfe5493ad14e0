//! Tests of writing OpenAI requests.

use super::*;
use crate::sample;
use agent_types::conversation::{Arguments, CallId, Conversation, Input, Round, ToolCall, ToolResult};
use serde_json::{Value, json};
use std::sync::Arc;

fn written(conversation: &Conversation, quirks: Quirks) -> Value {
    let request = sample::request("some-model", conversation);
    let body = body(&request, quirks, &Fragments::new(move |item| fragment(item, &quirks), head), &Gallery::default())
        .unwrap();
    serde_json::from_slice(&body).unwrap()
}

fn input(text: &str) -> Input {
    Input::new(vec![text.into()]).unwrap()
}

#[test]
fn the_whole_body_of_a_first_request() {
    let mut conversation = Conversation::new();
    conversation.push_input(input("a \"quoted\"\n"));
    conversation.push_input(input("b"));
    assert_eq!(
        written(&conversation, Quirks::of_host("127.0.0.1")),
        json!({
            "model": "some-model",
            "stream": true,
            "stream_options": {"include_usage": true},
            "max_tokens": 100,
            "tools": [{"type": "function", "function":
                {"name": "read", "description": "Reads a file.", "parameters": {"type": "object"}}}],
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "a \"quoted\"\n\n\nb"},
            ],
        })
    );
    let body = written(&conversation, Quirks::of_host("api.openai.com"));
    assert_eq!(body["max_completion_tokens"], 100);
    assert_eq!(body.get("max_tokens"), None);
}

#[test]
fn results_are_messages_of_their_own_before_what_the_user_says() {
    let call = |id: &str| {
        Block::Call(ToolCall {
            id: CallId::new(id),
            name: Arc::from("read"),
            arguments: Arguments::parse("{\"n\": 1.50}").unwrap(),
        })
    };
    let blocks = vec![
        Block::Thinking { text: "hm".to_owned(), signature: Some("seal".to_owned()) },
        Block::Text("one".to_owned()),
        Block::Text(" line".to_owned()),
        call("c1"),
        Block::Text("two".to_owned()),
        call("c2"),
    ];
    let results = vec![
        ToolResult::new(CallId::new("c1"), "fine", false),
        ToolResult::new(CallId::new("c2"), "no such file", true),
    ];
    let mut conversation = Conversation::new();
    conversation.push_input(input("a"));
    conversation.push_round(Round::new(Answer::new(blocks).unwrap(), results).unwrap()).unwrap();
    conversation.push_input(input("b"));
    let function = json!({"name": "read", "arguments": "{\"n\": 1.50}"});
    assert_eq!(
        written(&conversation, Quirks::of_host(""))["messages"],
        json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "one line\n\ntwo", "tool_calls": [
                {"id": "c1", "type": "function", "function": function},
                {"id": "c2", "type": "function", "function": function},
            ]},
            {"role": "tool", "tool_call_id": "c1", "content": "fine"},
            {"role": "tool", "tool_call_id": "c2", "content": "Error: no such file"},
            {"role": "user", "content": "b"},
        ])
    );
}

#[test]
fn an_answer_that_this_format_cannot_carry_is_left_out() {
    let mut conversation = Conversation::new();
    conversation.push_input(input("a"));
    let thinking = Block::Thinking { text: "hm".to_owned(), signature: None };
    conversation.push_answer(Answer::new(vec![thinking]).unwrap()).unwrap();
    conversation.push_input(input("b"));
    assert_eq!(
        written(&conversation, Quirks::of_host(""))["messages"][1],
        json!({"role": "user", "content": "a\n\nb"})
    );
}
