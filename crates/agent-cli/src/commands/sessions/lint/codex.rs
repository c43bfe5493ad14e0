//! Sessions of Codex: `~/.codex/sessions/<date>/rollout-….jsonl`.
//!
//! Each line is an envelope of `type` and `payload`; the conversation is the items of type `response_item`, in their order. Calls and
//! results have their `call_id` in common. There are no parents.

use super::dialect::{Call, Entry, Said, UNKNOWN, text};
use serde_json::{Value, json};

pub(super) fn entry(line: &Value) -> Entry {
    if line["type"] != "response_item" {
        return Entry::default();
    }
    let item = &line["payload"];
    let call_id = text(item, "call_id");
    let said = match (item["type"].as_str().unwrap_or_default(), call_id) {
        ("function_call" | "local_shell_call", Some(id)) => call(item, id, "function_call_output"),
        ("custom_tool_call", Some(id)) => call(item, id, "custom_tool_call_output"),
        ("function_call_output" | "custom_tool_call_output", Some(id)) => Said::Results(vec![(0, id)]),
        ("message", _) if item["role"] == "assistant" => Said::Model { answer: None, calls: Vec::new() },
        ("message", _) => Said::User,
        _ => Said::Nothing,
    };
    Entry { said, ..Entry::default() }
}

fn call(item: &Value, id: String, result_type: &'static str) -> Said {
    let name = text(item, "name").unwrap_or_default();
    Said::Model { answer: None, calls: vec![Call { id, name, result_type, is_void: false }] }
}

pub(super) fn answer(call_line: &Value, call: &Call) -> Value {
    json!({
        "timestamp": call_line["timestamp"],
        "type": "response_item",
        "payload": {"type": call.result_type, "call_id": call.id, "output": UNKNOWN},
    })
}
