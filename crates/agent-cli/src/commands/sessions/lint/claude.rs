//! Sessions of Claude Code: `~/.claude/projects/<directory>/<session>.jsonl`.
//!
//! Each line of a conversation has a `uuid` and the `parentUuid` that it stands behind. An answer of the model is several lines, one a
//! block, with the same `message.id`; results are blocks of user lines. Lines of sub-agents have `isSidechain`.

use super::dialect::{Call, Entry, Said, UNKNOWN, text};
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};

pub(super) fn entry(line: &Value) -> Entry {
    let said = match line["type"].as_str() {
        Some("assistant") => Said::Model { answer: text(&line["message"], "id"), calls: calls(&line["message"]) },
        Some("user") => user(line),
        _ => Said::Nothing,
    };
    Entry {
        id: text(line, "uuid"),
        parent: text(line, "parentUuid"),
        needs: None,
        is_aside: line["isSidechain"] == true,
        said,
    }
}

fn calls(message: &Value) -> Vec<Call> {
    let blocks = message["content"].as_array().into_iter().flatten();
    blocks
        .filter(|block| block["type"] == "tool_use")
        .filter_map(|block| {
            let name = text(block, "name").unwrap_or_default();
            Some(Call { id: text(block, "id")?, name, result_type: "tool_result", is_void: false })
        })
        .collect()
}

fn user(line: &Value) -> Said {
    let blocks = line["message"]["content"].as_array().into_iter().flatten().enumerate();
    let results = blocks.filter(|(_, block)| block["type"] == "tool_result");
    let results: Vec<_> = results.filter_map(|(at, block)| Some((at, text(block, "tool_use_id")?))).collect();
    match results.is_empty() {
        false => Said::Results(results),
        // What the program put in by itself is no turn of the user.
        true if line["isMeta"] == true => Said::Results(Vec::new()),
        true => Said::User,
    }
}

pub(super) fn answer(call_line: &Value, call: &Call) -> Value {
    let mut line = json!({
        "parentUuid": call_line["uuid"],
        "uuid": uuid(&call.id),
        "type": "user",
        "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": call.id, "is_error": true, "content": UNKNOWN},
        ]},
    });
    for name in ["isSidechain", "agentId", "userType", "cwd", "sessionId", "version", "gitBranch", "slug", "timestamp"]
    {
        if let Some(value) = call_line.get(name) {
            line[name] = value.clone();
        }
    }
    line
}

/// An id in the form of the others, the same for the same call.
fn uuid(call: &str) -> String {
    let hash = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, call).hash(&mut hasher);
        hasher.finish()
    };
    let (high, low) = (hash(0), hash(1));
    format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xFFFF,
        high & 0xFFF,
        low >> 52,
        low & 0xFFFF_FFFF_FFFF
    )
}
