//! The input of a hook: one JSON object.

use super::About;
use agent_types::conversation::ToolCall;
use agent_types::hook::{HookOccasion, HookPoint};
use agent_types::tool::ToolStatus;
use serde_json::{Map, Value, json};
use std::path::Path;

/// The object, as bytes.
pub(super) fn of(about: About<'_>, session_id: &str, directory: &Path) -> Vec<u8> {
    let mut fields = match about {
        About::Call(call) => of_call(call),
        About::Ended(ended) => {
            let mut fields = of_call(&ended.call);
            let status = match ended.status {
                ToolStatus::Ok => "ok",
                ToolStatus::Interrupted => "interrupted",
                _ => "failed",
            };
            let is_error = ended.status != ToolStatus::Ok;
            fields.insert(
                String::from("tool_response"),
                json!({ "status": status, "is_error": is_error, "content": ended.content }),
            );
            fields
        }
        About::Session(occasion) => of_occasion(occasion),
    };
    fields.insert(String::from("session_id"), Value::from(session_id));
    fields.insert(String::from("cwd"), Value::from(directory.display().to_string()));
    fields.insert(String::from("hook_event_name"), Value::from(about.point().name()));
    let mut text = Value::Object(fields).to_string().into_bytes();
    text.push(b'\n');
    text
}

/// What a matcher looks at, beside tools.
pub(super) fn subject(occasion: &HookOccasion) -> &str {
    match occasion {
        HookOccasion::SessionStart { is_resumed: true } => "resume",
        HookOccasion::SessionStart { is_resumed: false } => "startup",
        HookOccasion::PreCompact { is_requested: true, .. } => "manual",
        HookOccasion::PreCompact { is_requested: false, .. } => "auto",
        HookOccasion::SubagentStart { agent_name, .. } | HookOccasion::SubagentStop { agent_name, .. } => agent_name,
        _ => "",
    }
}

/// All that a matcher can be compared with at a point, where that is not the name of a tool or of an agent.
pub(super) const fn subjects(point: HookPoint) -> &'static [&'static str] {
    match point {
        HookPoint::SessionStart => &["startup", "resume"],
        HookPoint::PreCompact => &["manual", "auto"],
        _ => &[],
    }
}

fn of_call(call: &ToolCall) -> Map<String, Value> {
    // Arguments of a call are an object; were they none, a hook should still see what there is.
    let arguments: Value =
        serde_json::from_str(call.arguments.as_str()).unwrap_or_else(|_| Value::from(call.arguments.as_str()));
    object(json!({ "tool_name": call.name.as_ref(), "tool_input": arguments, "tool_use_id": call.id.as_str() }))
}

fn of_occasion(occasion: &HookOccasion) -> Map<String, Value> {
    object(match occasion {
        HookOccasion::UserPromptSubmit { prompt } => json!({ "prompt": prompt }),
        HookOccasion::Stop { text, is_held } => json!({ "stop_hook_active": is_held, "last_assistant_message": text }),
        HookOccasion::SessionStart { .. } => json!({ "source": subject(occasion) }),
        HookOccasion::SessionEnd => json!({ "reason": "other" }),
        HookOccasion::PreCompact { focus, .. } => {
            json!({ "trigger": subject(occasion), "custom_instructions": focus.as_deref().unwrap_or_default() })
        }
        HookOccasion::SubagentStart { agent_id, agent_name, is_resumed } => {
            let source = if *is_resumed { "resume" } else { "startup" };
            json!({ "agent_id": agent_id, "agent_name": agent_name, "source": source })
        }
        HookOccasion::SubagentStop { agent_id, agent_name, text, is_held } => json!({
            "agent_id": agent_id, "agent_name": agent_name, "stop_hook_active": is_held, "last_assistant_message": text
        }),
        _ => Value::Null,
    })
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
