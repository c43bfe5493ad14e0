//! Answers in the wire format of Anthropic Messages.

use crate::reply::Reply;
use agent_core::llm::{RawCall, ResponseBlock, StopReason};
use serde_json::{Value, json};

/// The server-sent events of an answer, each ready to be sent.
pub(super) fn events(reply: &Reply, number: usize) -> Vec<String> {
    let response = reply.response(number);
    let usage = response.usage.unwrap_or_default();
    // Real answers count what was read at the start and correct what was written at the end.
    let usage_at_start = match response.usage {
        Some(_) => json!({
            "input_tokens": usage.input_tokens, "output_tokens": 1,
            "cache_read_input_tokens": usage.cache_read_tokens,
            "cache_creation_input_tokens": usage.cache_write_tokens,
        }),
        None => Value::Null,
    };
    let mut events = vec![
        event(&json!({"type": "message_start", "message": {
            "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": response.model,
            "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage_at_start,
        }})),
        event(&json!({"type": "ping"})),
    ];
    for (index, block) in response.blocks.iter().enumerate() {
        let (start, deltas) = block_parts(reply, block);
        events.push(event(&json!({"type": "content_block_start", "index": index, "content_block": start})));
        for delta in deltas {
            events.push(event(&json!({"type": "content_block_delta", "index": index, "delta": delta})));
        }
        events.push(event(&json!({"type": "content_block_stop", "index": index})));
    }
    let mut end = json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(&response.stop), "stop_sequence": null},
    });
    if response.usage.is_some() {
        end["usage"] = json!({"output_tokens": usage.output_tokens});
    }
    events.push(event(&end));
    events.push(event(&json!({"type": "message_stop"})));
    events
}

/// The event that reports an error in the middle of an answer.
pub(super) fn error_event(kind: &str, message: &str) -> String {
    event(&json!({"type": "error", "error": {"type": kind, "message": message}}))
}

/// The body of a response that is an error.
pub(super) fn error_body(status: u16, message: &str) -> Value {
    let kind = match status {
        400 | 422 => "invalid_request_error",
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_scripted"})
}

/// How a block opens, and what then arrives of it piece by piece.
fn block_parts(reply: &Reply, block: &ResponseBlock) -> (Value, Vec<Value>) {
    match block {
        ResponseBlock::Text(text) => {
            let pieces = reply.pieces(text);
            let deltas = pieces.map(|piece| json!({"type": "text_delta", "text": piece}));
            (json!({"type": "text", "text": ""}), deltas.collect())
        }
        ResponseBlock::Thinking { text, signature } => {
            let mut deltas: Vec<Value> =
                (reply.pieces(text)).map(|piece| json!({"type": "thinking_delta", "thinking": piece})).collect();
            if let Some(signature) = signature {
                deltas.push(json!({"type": "signature_delta", "signature": signature}));
            }
            let start = json!({"type": "thinking", "thinking": "", "signature": ""});
            (start, deltas)
        }
        ResponseBlock::RedactedThinking { data } => (json!({"type": "redacted_thinking", "data": data}), Vec::new()),
        ResponseBlock::Call(call) => call_parts(reply, call),
        ResponseBlock::Opaque { json: text, .. } => {
            let block = serde_json::from_str(text).unwrap_or_else(|_| json!({"type": "unknown"}));
            (block, Vec::new())
        }
    }
}

fn call_parts(reply: &Reply, call: &RawCall) -> (Value, Vec<Value>) {
    let start = json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}});
    // Real answers open with an empty piece.
    let pieces = std::iter::once(String::new()).chain(reply.pieces(&call.arguments));
    let deltas = pieces.map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
    (start, deltas.collect())
}

fn stop_reason(stop: &StopReason) -> Value {
    let word = match stop {
        StopReason::EndTurn => "end_turn",
        StopReason::ToolUse => "tool_use",
        StopReason::MaxTokens => "max_tokens",
        StopReason::StopSequence => "stop_sequence",
        StopReason::Paused => "pause_turn",
        StopReason::Refusal => "refusal",
        StopReason::ContextWindow => "model_context_window_exceeded",
        StopReason::Other(word) if word.is_empty() => return Value::Null,
        StopReason::Other(word) => word,
    };
    Value::from(word)
}

fn event(data: &Value) -> String {
    let name = data["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n")
}
