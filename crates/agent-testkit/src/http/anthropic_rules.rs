//! What Anthropic Messages demands of a request.
//!
//! 1. Only known members; a model, an output limit, and an answer that is streamed.
//! 2. Roles alternate, the first is the user's, nothing is empty.
//! 3. Every `tool_use` is answered exactly once, in order, at the very beginning of the next message; no result answers nothing.
//! 4. Ids of calls are well-formed and unique in the request.
//! 5. Tools have well-formed, unique names and object schemas; a call in the history names a tool that is offered, or one that this
//!    server's own answers called although it was not, or that another program's conversation called; where they called one by a name
//!    that no request can carry, the name that stands for it is the client's choice.
//!
//! Some demands are stricter than the real service, which takes results in any order, takes some that are empty, joins adjacent
//! messages of one role, and does not look up names of old calls: a client that needs none of these kindnesses is right everywhere.

use super::picture_rules::check_source;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Checks a request; `called` are tools that answers of this server have called.
pub(super) fn check_messages_request(request: &Value, called: &BTreeSet<String>) -> Result<(), String> {
    let Some(members) = request.as_object() else {
        return Err(String::from("the body is not a JSON object"));
    };
    check_members(members)?;
    let mut known = check_tools(members)?;
    let has_tools = !known.is_empty();
    known.extend(called.iter().cloned());
    let is_sendable = |name: &String| is_word(name, MAX_NAME_CHARS);
    let mut history = History { may_rename: !called.iter().all(is_sendable), ..History::default() };
    let messages = members.get("messages").and_then(Value::as_array).ok_or("messages: an array is required")?;
    for (index, message) in messages.iter().enumerate() {
        history.append(&format!("messages.{index}"), message, &known)?;
    }
    history.finish(has_tools)
}

fn check_members(members: &Map<String, Value>) -> Result<(), String> {
    if let Some(extra) = members.keys().find(|name| !MEMBERS.contains(&name.as_str())) {
        return Err(format!("{extra}: extra inputs are not permitted"));
    }
    if members.get("model").and_then(Value::as_str).is_none_or(str::is_empty) {
        return Err(String::from("model: a text is required"));
    }
    if members.get("max_tokens").and_then(Value::as_u64).unwrap_or(0) == 0 {
        return Err(String::from("max_tokens: a number above 0 is required"));
    }
    if members.get("stream") != Some(&Value::Bool(true)) {
        return Err(String::from("stream: this server only streams"));
    }
    if let Some(system) = members.get("system").filter(|system| !system.is_string()) {
        check_texts("system", system)?;
    }
    let breakpoints: usize = members.values().map(count_breakpoints).sum();
    if breakpoints > MAX_CACHE_BREAKPOINTS {
        return Err(format!(
            "at most {MAX_CACHE_BREAKPOINTS} blocks with cache_control may be provided, found {breakpoints}"
        ));
    }
    Ok(())
}

fn check_texts(at: &str, blocks: &Value) -> Result<(), String> {
    let blocks = blocks.as_array().ok_or_else(|| format!("{at}: a text or an array of blocks is required"))?;
    for (index, block) in blocks.iter().enumerate() {
        check_text(&format!("{at}.{index}"), block)?;
    }
    Ok(())
}

fn check_text(at: &str, block: &Value) -> Result<(), String> {
    match block["text"].as_str() {
        Some(text) if block["type"] == "text" && !text.trim().is_empty() => Ok(()),
        Some(_) if block["type"] == "text" => Err(format!("{at}: text content blocks must be non-empty")),
        _ => Err(format!("{at}: a text block is required")),
    }
}

/// Counts cache marks outside of arguments and schemas, where the word would mean something else.
fn count_breakpoints(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(count_breakpoints).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| match name.as_str() {
                "cache_control" => usize::from(!value.is_null()),
                "input" | "input_schema" => 0,
                _ => count_breakpoints(value),
            })
            .sum(),
        _ => 0,
    }
}

fn check_tools(members: &Map<String, Value>) -> Result<BTreeSet<String>, String> {
    let mut names = BTreeSet::new();
    let tools = members.get("tools").and_then(Value::as_array);
    for (index, tool) in tools.into_iter().flatten().enumerate() {
        let name = tool["name"].as_str().unwrap_or_default();
        if !is_word(name, MAX_NAME_CHARS) {
            return Err(format!("tools.{index}.name: `{name}` is not a tool name"));
        }
        // A tool with a type of its own is the service's and has no schema.
        let own = tool.get("type").is_none_or(|kind| kind == "custom");
        if own && tool["input_schema"]["type"] != "object" {
            return Err(format!("tools.{index}.input_schema: an object schema is required"));
        }
        if !names.insert(name.to_owned()) {
            return Err(format!("tools.{index}.name: tool names must be unique, `{name}` is not"));
        }
    }
    Ok(names)
}

/// The messages so far.
#[derive(Default)]
struct History {
    last_role: Option<Role>,
    /// Calls of the last message, in order.
    open: Vec<String>,
    /// Every call id of the request.
    ids: BTreeSet<String>,
    /// Whether a call may have another name than the one that was called.
    may_rename: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
}

impl History {
    fn append(&mut self, at: &str, message: &Value, known: &BTreeSet<String>) -> Result<(), String> {
        let role = match message["role"].as_str() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            _ => return Err(format!("{at}.role: must be user or assistant")),
        };
        match self.last_role {
            None if role == Role::Assistant => {
                return Err(format!("{at}: the first message must use the user role"));
            }
            Some(last) if last == role => {
                return Err(format!("{at}: roles must alternate between user and assistant"));
            }
            _ => {}
        }
        self.last_role = Some(role);
        let blocks = blocks_of(at, &message["content"])?;
        match role {
            Role::User => self.append_user(at, &blocks),
            Role::Assistant => self.append_assistant(at, &blocks, known),
        }
    }

    fn append_user(&mut self, at: &str, blocks: &[Value]) -> Result<(), String> {
        let open = std::mem::take(&mut self.open);
        let mut expected = open.iter();
        for (index, block) in blocks.iter().enumerate() {
            let at = format!("{at}.content.{index}");
            let next = expected.next();
            match (block["type"].as_str(), next) {
                (Some("tool_result"), Some(id)) if block["tool_use_id"] == id.as_str() => {
                    check_result(&at, block)?;
                }
                (Some("tool_result"), Some(id)) => {
                    return Err(format!(
                        "{at}: tool_result for {} where the one for `{id}` must come: each exactly once and in call order",
                        block["tool_use_id"]
                    ));
                }
                (Some("tool_result"), None) => {
                    return Err(format!(
                        "{at}: tool_result for {} has no open tool_use in the message before",
                        block["tool_use_id"]
                    ));
                }
                (_, Some(id)) => return Err(unanswered(&at, id)),
                (Some("text"), None) => check_text(&at, block)?,
                (Some("image"), None) => check_source(&at, block)?,
                (Some("document" | "search_result" | "container_upload"), None) => {}
                (kind, None) => return Err(format!("{at}.type: {kind:?} is not for users")),
            }
        }
        expected.next().map_or(Ok(()), |id| Err(unanswered(at, id)))
    }

    fn append_assistant(&mut self, at: &str, blocks: &[Value], known: &BTreeSet<String>) -> Result<(), String> {
        for (index, block) in blocks.iter().enumerate() {
            let at = format!("{at}.content.{index}");
            match block["type"].as_str() {
                Some("text") => check_text(&at, block)?,
                Some("thinking") => check_thinking(&at, block)?,
                Some("tool_use") => self.append_call(&at, block, known)?,
                Some("tool_result" | "image" | "document") | None => {
                    return Err(format!("{at}.type: {} is not for the assistant", block["type"]));
                }
                // Redacted thinking and the service's own blocks go back as they came.
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn append_call(&mut self, at: &str, block: &Value, known: &BTreeSet<String>) -> Result<(), String> {
        let id = block["id"].as_str().unwrap_or_default();
        let name = block["name"].as_str().unwrap_or_default();
        if !is_word(id, usize::MAX) {
            return Err(format!("{at}.id: `{id}` should match ^[a-zA-Z0-9_-]+$"));
        }
        if !self.ids.insert(id.to_owned()) {
            return Err(format!("{at}: tool_use ids must be unique, `{id}` is not"));
        }
        if !is_word(name, MAX_HISTORY_NAME_CHARS) {
            return Err(format!("{at}.name: `{name}` is not a tool name"));
        }
        if !known.contains(name) && !self.may_rename {
            return Err(format!("{at}.name: there is no tool `{name}`"));
        }
        if !block["input"].is_object() {
            return Err(format!("{at}.input: an object is required"));
        }
        self.open.push(id.to_owned());
        Ok(())
    }

    fn finish(&self, has_tools: bool) -> Result<(), String> {
        if self.last_role.is_none() {
            return Err(String::from("messages: at least one message is required"));
        }
        if !self.ids.is_empty() && !has_tools {
            return Err(String::from("tools: required because the history has tool_use blocks"));
        }
        match self.open.first() {
            Some(id) => Err(unanswered("messages", id)),
            None => Ok(()),
        }
    }
}

fn unanswered(at: &str, id: &str) -> String {
    format!("{at}: tool_use `{id}` has no tool_result at the beginning of the next message")
}

/// The content as blocks; a text counts as one block.
fn blocks_of(at: &str, content: &Value) -> Result<Vec<Value>, String> {
    match content {
        Value::String(text) => Ok(vec![serde_json::json!({"type": "text", "text": text})]),
        Value::Array(blocks) if blocks.is_empty() => Err(format!("{at}: content must be non-empty")),
        Value::Array(blocks) => Ok(blocks.clone()),
        _ => Err(format!("{at}.content: a text or an array is required")),
    }
}

fn check_result(at: &str, block: &Value) -> Result<(), String> {
    let empty = format!("{at}.content: a tool_result must be non-empty");
    match &block["content"] {
        Value::String(text) if !text.trim().is_empty() => Ok(()),
        Value::Array(parts) if !parts.is_empty() => {
            for part in parts.iter().filter(|part| part["type"] == "text") {
                check_text(&format!("{at}.content"), part)?;
            }
            for part in parts.iter().filter(|part| part["type"] == "image") {
                check_source(&format!("{at}.content"), part)?;
            }
            Ok(())
        }
        _ => Err(empty),
    }
}

fn check_thinking(at: &str, block: &Value) -> Result<(), String> {
    if block["signature"].as_str().is_none_or(str::is_empty) {
        return Err(format!("{at}.signature: thinking without its signature cannot be sent back"));
    }
    if !block["cache_control"].is_null() {
        return Err(format!("{at}.cache_control: extra inputs are not permitted"));
    }
    Ok(())
}

pub(super) fn is_word(text: &str, max_chars: usize) -> bool {
    let fits = !text.is_empty() && text.len() <= max_chars;
    fits && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// Longest name of an offered tool.
const MAX_NAME_CHARS: usize = 128;

/// Longest name of a tool in the history.
const MAX_HISTORY_NAME_CHARS: usize = 200;

/// Most cache marks of one request.
const MAX_CACHE_BREAKPOINTS: usize = 4;

/// Members that a request may have.
const MEMBERS: [&str; 19] = [
    "model",
    "max_tokens",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "stream",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "metadata",
    "thinking",
    "service_tier",
    "container",
    "context_management",
    "mcp_servers",
    "output_config",
    "cache_control",
];
