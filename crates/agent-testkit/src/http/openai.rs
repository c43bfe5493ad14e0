//! Answers in the wire format of OpenAI Chat Completions.

use crate::reply::Reply;
use agent_core::llm::{ResponseBlock, StopReason, Usage};
use serde_json::{Value, json};

/// The server-sent events of an answer, each ready to be sent. Usage comes only when the request asks for it, as with the real service.
pub(super) fn events(reply: &Reply, number: usize, request: &Value) -> Vec<String> {
    let response = reply.response(number);
    let id = format!("chatcmpl-{number}");
    let chunk = |choices: Value, usage: Value| {
        let chunk = json!({
            "id": id, "object": "chat.completion.chunk", "created": 1_735_689_600, "model": response.model,
            "choices": choices, "usage": usage,
        });
        event(&chunk)
    };
    let delta = |delta: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": null});
        chunk(json!([choice]), Value::Null)
    };

    let mut events = vec![delta(json!({"role": "assistant", "content": ""}))];
    events.extend(deltas(reply, &response.blocks).into_iter().map(delta));
    let finish = json!([{"index": 0, "delta": {}, "finish_reason": finish_reason(&response.stop)}]);
    events.push(chunk(finish, Value::Null));
    if let (Some(usage), Some(true)) = (response.usage, request["stream_options"]["include_usage"].as_bool()) {
        events.push(chunk(json!([]), usage_report(usage)));
    }
    events.push(String::from("data: [DONE]\n\n"));
    events
}

/// The event that reports an error in the middle of an answer.
pub(super) fn error_event(kind: &str, message: &str) -> String {
    event(&json!({"error": {"type": kind, "message": message, "param": null, "code": null}}))
}

/// The body of a response that is an error.
pub(super) fn error_body(status: u16, message: &str) -> Value {
    let (kind, code) = match status {
        401 => ("invalid_request_error", json!("invalid_api_key")),
        404 => ("invalid_request_error", json!("model_not_found")),
        400..=428 => ("invalid_request_error", Value::Null),
        429 => ("requests", json!("rate_limit_exceeded")),
        _ => ("server_error", Value::Null),
    };
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

/// What arrives of the blocks, piece by piece. Blocks that this wire format has no words for are left out.
fn deltas(reply: &Reply, blocks: &[ResponseBlock]) -> Vec<Value> {
    let mut deltas = Vec::new();
    let mut calls = 0;
    for block in blocks {
        match block {
            ResponseBlock::Text(text) => {
                deltas.extend(reply.pieces(text).map(|piece| json!({"content": piece})));
            }
            // The member that servers with open models use.
            ResponseBlock::Thinking { text, .. } => {
                let pieces = reply.pieces(text);
                deltas.extend(pieces.map(|piece| json!({"reasoning_content": piece})));
            }
            ResponseBlock::Call(call) => {
                let first = json!({
                    "index": calls, "id": call.id, "type": "function",
                    "function": {"name": call.name, "arguments": ""},
                });
                deltas.push(json!({"tool_calls": [first]}));
                for piece in reply.pieces(&call.arguments) {
                    let more = json!({"index": calls, "function": {"arguments": piece}});
                    deltas.push(json!({"tool_calls": [more]}));
                }
                calls += 1;
            }
            _ => {}
        }
    }
    deltas
}

fn usage_report(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.context_tokens(),
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens(),
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens},
        "completion_tokens_details": {"reasoning_tokens": 0},
    })
}

fn finish_reason(stop: &StopReason) -> Value {
    let word = match stop {
        StopReason::EndTurn | StopReason::StopSequence | StopReason::Paused => "stop",
        StopReason::ToolUse => "tool_calls",
        StopReason::MaxTokens | StopReason::ContextWindow => "length",
        StopReason::Refusal => "content_filter",
        StopReason::Other(word) if word.is_empty() => return Value::Null,
        StopReason::Other(word) => word,
    };
    Value::from(word)
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}
