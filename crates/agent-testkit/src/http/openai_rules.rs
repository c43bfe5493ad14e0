//! What OpenAI Chat Completions demands of a request.
//!
//! 1. A model, messages, and an answer that is streamed.
//! 2. Every call is answered exactly once, in order, by the `tool` messages that follow it; no `tool` message answers nothing.
//! 3. Nothing is empty; names of calls are well-formed; arguments are the text of a JSON object.

use super::anthropic_rules::is_word;
use super::picture_rules::check_url;
use serde_json::Value;
use std::collections::VecDeque;

/// Checks a request.
pub(super) fn check_chat_request(request: &Value) -> Result<(), String> {
    if request["model"].as_str().is_none_or(str::is_empty) {
        return Err(String::from("model: a text is required"));
    }
    if request["stream"] != true {
        return Err(String::from("stream: this server only streams"));
    }
    let messages = request["messages"].as_array();
    let messages =
        messages.filter(|messages| !messages.is_empty()).ok_or("messages: at least one message is required")?;
    let mut open = VecDeque::new();
    for (index, message) in messages.iter().enumerate() {
        check_message(&format!("messages[{index}]"), message, &mut open)?;
    }
    match open.front() {
        Some(id) => Err(format!("messages: call `{id}` has no tool message")),
        None => Ok(()),
    }
}

/// Checks one message; `open` are the calls that wait for an answer, in order.
fn check_message(at: &str, message: &Value, open: &mut VecDeque<String>) -> Result<(), String> {
    let role = message["role"].as_str().unwrap_or_default();
    if role == "tool" {
        let id = message["tool_call_id"].as_str().unwrap_or_default();
        return match open.pop_front() {
            Some(expected) if expected == id => {
                let has_picture = message["content"].as_array().into_iter().flatten().any(is_picture);
                if has_picture {
                    return Err(format!("{at}.content: a tool message has text alone"));
                }
                check_content(at, &message["content"])
            }
            Some(expected) => Err(format!("{at}: tool message for `{id}` where the one for `{expected}` must come")),
            None => Err(format!("{at}: tool message for `{id}` answers no call")),
        };
    }
    if let Some(id) = open.front() {
        return Err(format!("{at}: call `{id}` must be answered first"));
    }
    match role {
        "system" | "developer" | "user" => check_content(at, &message["content"]),
        "assistant" => check_assistant(at, message, open),
        _ => Err(format!("{at}.role: `{role}` is not a role")),
    }
}

fn check_assistant(at: &str, message: &Value, open: &mut VecDeque<String>) -> Result<(), String> {
    let calls = message["tool_calls"].as_array();
    for call in calls.into_iter().flatten() {
        let id = call["id"].as_str().unwrap_or_default();
        let name = call["function"]["name"].as_str().unwrap_or_default();
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        if id.is_empty() || name.is_empty() || call["type"] != "function" {
            return Err(format!("{at}.tool_calls: id, type and name are required"));
        }
        if !is_word(name, MAX_NAME_CHARS) {
            return Err(format!(
                "{at}.tool_calls: the name `{name}` does not match ^[a-zA-Z0-9_-]{{1,{MAX_NAME_CHARS}}}$"
            ));
        }
        if !serde_json::from_str(arguments).is_ok_and(|value: Value| value.is_object()) {
            return Err(format!("{at}.tool_calls: the arguments of `{id}` are no JSON object"));
        }
        if open.iter().any(|other| other == id) {
            return Err(format!("{at}.tool_calls: call id `{id}` stands twice"));
        }
        open.push_back(id.to_owned());
    }
    match (&message["content"], open.is_empty()) {
        (Value::Null, false) => Ok(()),
        (content, _) => check_content(at, content),
    }
}

fn is_picture(part: &Value) -> bool {
    part["type"] == "image_url"
}

fn check_content(at: &str, content: &Value) -> Result<(), String> {
    for part in content.as_array().into_iter().flatten().filter(|part| is_picture(part)) {
        check_url(&format!("{at}.content"), &part["image_url"]["url"])?;
    }
    let filled = match content {
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(parts) => {
            !parts.is_empty()
                && parts.iter().all(|part| {
                    part["type"] != "text" || part["text"].as_str().is_some_and(|text| !text.trim().is_empty())
                })
        }
        _ => false,
    };
    if filled { Ok(()) } else { Err(format!("{at}.content: must be non-empty")) }
}

/// Longest name of a function.
pub(super) const MAX_NAME_CHARS: usize = 64;
