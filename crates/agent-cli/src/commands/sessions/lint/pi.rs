//! Sessions of pi: `~/.pi/agent/sessions/<directory>/<time>_<id>.jsonl`.
//!
//! A header of type `session`, then entries with `id` and `parentId` (from version 2 on). Messages have the roles `user`, `assistant` and
//! `toolResult`, one result an entry. What a failed or stopped answer called was never run and needs no result.

use super::dialect::{Call, Entry, Said, UNKNOWN, text};
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};

pub(super) fn entry(line: &Value) -> Entry {
    let said = match line["type"].as_str() {
        Some("message") => message(&line["message"]),
        // Stands where the user's words could.
        Some("custom_message" | "compaction" | "branch_summary") => Said::Results(Vec::new()),
        _ => Said::Nothing,
    };
    // The header's id is the session's.
    let id = if line["type"] == "session" { None } else { text(line, "id") };
    Entry { id, parent: text(line, "parentId"), needs: text(line, "firstKeptEntryId"), is_aside: false, said }
}

fn message(message: &Value) -> Said {
    match message["role"].as_str() {
        Some("user") => Said::User,
        Some("toolResult") => Said::Results(text(message, "toolCallId").map(|id| (0, id)).into_iter().collect()),
        Some("assistant") => {
            let is_void = matches!(message["stopReason"].as_str(), Some("error" | "aborted"));
            let blocks = message["content"].as_array().into_iter().flatten();
            let calls = blocks.filter(|block| block["type"] == "toolCall").filter_map(|block| {
                let name = text(block, "name").unwrap_or_default();
                Some(Call { id: text(block, "id")?, name, result_type: "toolResult", is_void })
            });
            Said::Model { answer: None, calls: calls.collect() }
        }
        _ => Said::Results(Vec::new()),
    }
}

pub(super) fn answer(call_line: &Value, call: &Call) -> Value {
    let mut line = json!({
        "type": "message",
        "timestamp": call_line["timestamp"],
        "message": {
            "role": "toolResult",
            "toolCallId": call.id,
            "toolName": call.name,
            "content": [{"type": "text", "text": UNKNOWN}],
            "isError": true,
            "timestamp": call_line["message"]["timestamp"],
        },
    });
    if let Some(id) = call_line.get("id") {
        let mut hasher = DefaultHasher::new();
        call.id.hash(&mut hasher);
        line["id"] = format!("{:08x}", hasher.finish() & 0xFFFF_FFFF).into();
        line["parentId"] = id.clone();
    }
    line
}
