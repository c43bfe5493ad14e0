//! Answers in the wire format of OpenAI Responses.

use crate::reply::Reply;
use agent_core::llm::{LlmResponse, ResponseBlock, StopReason, Usage};
use serde_json::{Value, json};

/// The server-sent events of an answer, each ready to be sent.
pub(super) fn events(reply: &Reply, number: usize) -> Vec<String> {
    let answer = reply.response(number);
    let mut script = Script { number, events: Vec::new(), output: Vec::new() };
    let head = script.head(&answer, "in_progress");
    script.send("response.created", json!({"response": head}));
    script.send("response.in_progress", json!({"response": head}));
    for block in &answer.blocks {
        script.block(reply, block);
    }
    let (status, reason) = ending(&answer.stop);
    let mut whole = script.head(&answer, status);
    whole["output"] = Value::from(script.output.clone());
    whole["incomplete_details"] = reason.map_or(Value::Null, |reason| json!({"reason": reason}));
    whole["usage"] = answer.usage.map_or(Value::Null, usage_report);
    script.send(&format!("response.{status}"), json!({"response": whole}));
    script.events
}

/// The event that reports an error in the middle of an answer.
pub(super) fn error_event(kind: &str, message: &str) -> String {
    let error = json!({"type": "error", "sequence_number": 0, "error": {"type": kind, "code": kind, "message": message, "param": null}});
    event(&error)
}

struct Script {
    number: usize,
    events: Vec<String>,
    output: Vec<Value>,
}

impl Script {
    fn head(&self, answer: &LlmResponse, status: &str) -> Value {
        json!({
            "id": format!("resp_{}", self.number), "object": "response", "created_at": 1_735_689_600, "status": status,
            "model": answer.model, "output": [], "error": null, "incomplete_details": null, "usage": null,
        })
    }

    fn send(&mut self, kind: &str, mut data: Value) {
        data["type"] = Value::from(kind);
        data["sequence_number"] = Value::from(self.events.len());
        self.events.push(event(&data));
    }

    /// One item: announced, sent in pieces, and sent whole.
    fn block(&mut self, reply: &Reply, block: &ResponseBlock) {
        let index = self.output.len();
        let id = |kind: &str| format!("{kind}_{}_{index}", self.number);
        let (start, kind, text, whole) = match block {
            ResponseBlock::Text(text) => {
                let item = |content: Value, status: &str| json!({"type": "message", "id": id("msg"), "role": "assistant", "status": status, "content": content});
                let part = json!([{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]);
                (item(json!([]), "in_progress"), "output_text", text, item(part, "completed"))
            }
            ResponseBlock::Thinking { text, signature } => {
                let item = |summary: Value| json!({"type": "reasoning", "id": id("rs"), "summary": summary, "encrypted_content": signature});
                let part = json!([{"type": "summary_text", "text": text}]);
                (item(json!([])), "reasoning_summary_text", text, item(part))
            }
            ResponseBlock::Call(call) => {
                let status = if call.complete { "completed" } else { "incomplete" };
                let item = |arguments: &str, status: &str| {
                    json!({"type": "function_call", "id": id("fc"), "call_id": call.id, "name": call.name,
                        "arguments": arguments, "status": status})
                };
                let whole = item(&call.arguments, status);
                (item("", "in_progress"), "function_call_arguments", &call.arguments, whole)
            }
            // Blocks that this wire format has no words for are left out.
            _ => return,
        };
        self.send("response.output_item.added", json!({"output_index": index, "item": start}));
        for piece in reply.pieces(text) {
            let delta = json!({"output_index": index, "item_id": whole["id"], "delta": piece});
            self.send(&format!("response.{kind}.delta"), delta);
        }
        self.send("response.output_item.done", json!({"output_index": index, "item": whole}));
        self.output.push(whole);
    }
}

/// The state an answer ends in, and why it is not complete.
fn ending(stop: &StopReason) -> (&'static str, Option<&str>) {
    match stop {
        StopReason::MaxTokens | StopReason::ContextWindow => ("incomplete", Some("max_output_tokens")),
        StopReason::Refusal => ("incomplete", Some("content_filter")),
        StopReason::Other(word) => ("incomplete", Some(word)),
        _ => ("completed", None),
    }
}

fn usage_report(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.context_tokens(),
        "input_tokens_details": {"cached_tokens": usage.cache_read_tokens, "cache_write_tokens": usage.cache_write_tokens},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.total_tokens(),
    })
}

fn event(data: &Value) -> String {
    let name = data["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n")
}
