//! What OpenAI Responses demands of a request beyond its shape.
//!
//! 1. An answer that is streamed and not stored: a client that relied on what the server stores would lose its history with it.
//! 2. Every call is answered exactly once, after it; every output answers a call. Results are in call order.
//! 3. Reasoning has a seal or its text, and is followed by what it led to.
//! 4. Names of calls are well-formed; arguments are the text of a JSON object.

use super::anthropic_rules::is_word;
use super::openai_rules::MAX_NAME_CHARS;
use super::picture_rules::check_url;
use serde_json::Value;
use std::collections::VecDeque;

/// Checks a request.
pub(super) fn check_responses_request(request: &Value) -> Result<(), String> {
    if request["stream"] != true {
        return Err(String::from("stream: this server only streams"));
    }
    if request["store"] != false {
        return Err(String::from("store: this server stores nothing"));
    }
    let items = request["input"].as_array().ok_or("input: this server wants a list of items")?;
    let mut open = VecDeque::new();
    let mut thought = None;
    for (index, item) in items.iter().enumerate() {
        let at = format!("input[{index}]");
        let parts = [&item["content"], &item["output"]].into_iter().filter_map(Value::as_array).flatten();
        for part in parts.filter(|part| part["type"] == "input_image") {
            check_url(&at, &part["image_url"])?;
        }
        match item["type"].as_str() {
            Some("reasoning") => {
                let sealed = item["encrypted_content"].as_str().is_some_and(|sealed| !sealed.is_empty());
                if !sealed && item["content"].as_array().is_none_or(Vec::is_empty) {
                    return Err(format!("{at}: reasoning that is neither sealed nor in words cannot be read again"));
                }
                thought = Some(at);
                continue;
            }
            Some("function_call") => take_call(&at, item, &mut open)?,
            Some("function_call_output") => {
                let id = item["call_id"].as_str().unwrap_or_default();
                match open.pop_front() {
                    Some(expected) if expected == id => {}
                    Some(expected) => {
                        return Err(format!("{at}: output for `{id}` where the one for `{expected}` must come"));
                    }
                    None => return Err(format!("{at}: no call is open that `{id}` could answer")),
                }
            }
            _ => {
                let is_users = matches!(item["role"].as_str(), Some("user" | "system" | "developer"));
                if let Some(id) = open.front().filter(|_| is_users) {
                    return Err(format!("{at}: call `{id}` must be answered first"));
                }
                if let Some(at) = thought.filter(|_| is_users) {
                    return Err(format!("{at}: reasoning was provided without its required following item"));
                }
            }
        }
        thought = None;
    }
    match open.front() {
        Some(id) => Err(format!("input: no tool output found for call `{id}`")),
        None => Ok(()),
    }
}

fn take_call(at: &str, item: &Value, open: &mut VecDeque<String>) -> Result<(), String> {
    let id = item["call_id"].as_str().unwrap_or_default();
    let arguments = item["arguments"].as_str().unwrap_or_default();
    if !serde_json::from_str(arguments).is_ok_and(|value: Value| value.is_object()) {
        return Err(format!("{at}: the arguments of `{id}` are no JSON object"));
    }
    let name = item["name"].as_str().unwrap_or_default();
    if !is_word(name, MAX_NAME_CHARS) {
        return Err(format!("{at}.name: `{name}` does not match ^[a-zA-Z0-9_-]{{1,{MAX_NAME_CHARS}}}$"));
    }
    if open.iter().any(|other| other == id) {
        return Err(format!("{at}: call id `{id}` stands twice"));
    }
    open.push_back(id.to_owned());
    Ok(())
}
