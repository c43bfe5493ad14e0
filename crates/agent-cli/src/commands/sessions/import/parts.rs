//! What a line of another program's session says, in parts that are in no program's own form.

use super::super::lint::dialect::{Format, text};
use serde_json::Value;

/// One thing that was said or done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    User(String),
    /// In the user's place, and not the user's words.
    Note(String),
    /// Of the model. Parts of one answer have its name in common.
    Said {
        answer: Option<String>,
        text: String,
    },
    Call {
        answer: Option<String>,
        id: String,
        name: String,
        /// JSON, or whatever the program had.
        arguments: String,
    },
    Result {
        id: String,
        content: String,
        is_error: bool,
    },
    Left(Left),
}

/// What is left out, or kept as text only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    Thinking,
    Image,
    /// Its text is a part of its own.
    Unknown,
    /// Of the program itself, and not of the user.
    Own,
    /// A call that was never run.
    Void,
}

pub(super) fn of(format: Format, line: &Value) -> Vec<Part> {
    let mut parts = Vec::new();
    match format {
        Format::ClaudeCode => claude(line, &mut parts),
        Format::Codex => codex(line, &mut parts),
        Format::Pi => pi(line, &mut parts),
        Format::Agent => {}
    }
    parts
}

fn claude(line: &Value, parts: &mut Vec<Part>) {
    let message = &line["message"];
    match line["type"].as_str() {
        Some("assistant") if line["isApiErrorMessage"] == true => parts.push(Part::Left(Left::Own)),
        Some("assistant") => {
            let answer = text(message, "id");
            for block in blocks(&message["content"]) {
                said(&block, answer.as_ref(), parts);
            }
        }
        Some("user") if line["isMeta"] == true || is_others(message) => parts.push(Part::Left(Left::Own)),
        Some("user") => {
            for block in blocks(&message["content"]) {
                if block["type"] == "tool_result" {
                    let content = content(&block["content"], parts);
                    let id = text(&block, "tool_use_id").unwrap_or_default();
                    parts.push(Part::Result { id, content, is_error: block["is_error"] == true });
                } else if line["isCompactSummary"] == true {
                    parts.extend(text(&block, "text").map(Part::Note));
                } else {
                    user(&block, parts);
                }
            }
        }
        _ => {}
    }
}

fn codex(line: &Value, parts: &mut Vec<Part>) {
    let item = &line["payload"];
    match (line["type"].as_str(), item["replacement_history"].as_array()) {
        (Some("compacted"), Some(history)) => history.iter().for_each(|item| codex_item(item, parts)),
        (Some("compacted"), None) => {
            parts.extend(text(item, "message").map(|summary| Part::Note(summarised(&summary))));
        }
        (Some("response_item"), _) => codex_item(item, parts),
        _ => {}
    }
}

fn codex_item(item: &Value, parts: &mut Vec<Part>) {
    let id = || text(item, "call_id").or_else(|| text(item, "id")).unwrap_or_default();
    let mut call = |name: String, arguments: String| parts.push(Part::Call { answer: None, id: id(), name, arguments });
    match item["type"].as_str().unwrap_or_default() {
        "message" if item["role"] == "assistant" => {
            blocks(&item["content"]).iter().for_each(|block| said(block, None, parts));
        }
        "message" if item["role"] == "user" => blocks(&item["content"]).iter().for_each(|block| user(block, parts)),
        "message" | "ghost_snapshot" => parts.push(Part::Left(Left::Own)),
        "reasoning" => parts.push(Part::Left(Left::Thinking)),
        "function_call" => call(text(item, "name").unwrap_or_default(), text(item, "arguments").unwrap_or_default()),
        "custom_tool_call" => call(text(item, "name").unwrap_or_default(), text(item, "input").unwrap_or_default()),
        "local_shell_call" => call(String::from("local_shell"), item["action"].to_string()),
        "function_call_output" | "custom_tool_call_output" => {
            let output = &item["output"];
            let told = if output.is_object() { &output["content"] } else { output };
            let content = content(told, parts);
            parts.push(Part::Result { id: id(), content, is_error: output["success"] == false });
        }
        kind => unknown(kind, item, None, parts),
    }
}

fn pi(line: &Value, parts: &mut Vec<Part>) {
    match line["type"].as_str() {
        Some("message") => pi_message(&line["message"], parts),
        Some("compaction" | "branch_summary") => {
            parts.extend(text(line, "summary").map(|summary| Part::Note(summarised(&summary))));
        }
        Some("custom_message") => parts.push(Part::Left(Left::Own)),
        _ => {}
    }
}

fn pi_message(message: &Value, parts: &mut Vec<Part>) {
    match message["role"].as_str() {
        Some("user") => blocks(&message["content"]).iter().for_each(|block| user(block, parts)),
        Some("assistant") => {
            let is_void = matches!(message["stopReason"].as_str(), Some("error" | "aborted"));
            for block in blocks(&message["content"]) {
                if is_void && block["type"] == "toolCall" {
                    parts.push(Part::Left(Left::Void));
                } else {
                    said(&block, None, parts);
                }
            }
        }
        Some("toolResult") => {
            let content = content(&message["content"], parts);
            let id = text(message, "toolCallId").unwrap_or_default();
            parts.push(Part::Result { id, content, is_error: message["isError"] == true });
        }
        Some("bashExecution") if message["excludeFromContext"] != true => {
            let command = text(message, "command").unwrap_or_default();
            let output = text(message, "output").unwrap_or_default();
            // The output is that of a program.
            parts.push(Part::Note(format!("the user ran `{command}`:\n{output}")));
        }
        _ => parts.push(Part::Left(Left::Own)),
    }
}

/// A block of an answer.
fn said(block: &Value, answer: Option<&String>, parts: &mut Vec<Part>) {
    let answer = answer.cloned();
    match block["type"].as_str().unwrap_or_default() {
        "text" | "output_text" => {
            parts.extend(text(block, "text").map(|text| Part::Said { answer, text }));
        }
        "thinking" | "redacted_thinking" | "reasoning" => parts.push(Part::Left(Left::Thinking)),
        "tool_use" | "toolCall" => {
            let arguments = if block["input"].is_null() { &block["arguments"] } else { &block["input"] };
            let (id, name) = (text(block, "id").unwrap_or_default(), text(block, "name").unwrap_or_default());
            parts.push(Part::Call { answer, id, name, arguments: arguments.to_string() });
        }
        "image" | "input_image" | "output_image" | "image_url" => {
            parts.extend([Part::Said { answer, text: String::from(AN_IMAGE) }, Part::Left(Left::Image)]);
        }
        kind => unknown(kind, block, answer, parts),
    }
}

/// Whether a message of a line of the user's says that another one speaks.
fn is_others(message: &Value) -> bool {
    message["role"].as_str().is_some_and(|role| role != "user")
}

/// A block of the user's.
fn user(block: &Value, parts: &mut Vec<Part>) {
    match block["type"].as_str().unwrap_or_default() {
        "text" | "input_text" => match text(block, "text") {
            Some(text) if is_own(&text) => parts.push(Part::Left(Left::Own)),
            text => parts.extend(text.map(Part::User)),
        },
        "image" | "input_image" | "document" => {
            parts.extend([Part::User(String::from(AN_IMAGE)), Part::Left(Left::Image)]);
        }
        kind => parts.extend([Part::Note(named(kind, block)), Part::Left(Left::Unknown)]),
    }
}

fn unknown(kind: &str, block: &Value, answer: Option<String>, parts: &mut Vec<Part>) {
    parts.extend([Part::Said { answer, text: named(kind, block) }, Part::Left(Left::Unknown)]);
}

/// A content as a list of blocks; a text alone is one.
fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => vec![serde_json::json!({"type": "text", "text": text})],
        Value::Array(blocks) => blocks.clone(),
        _ => Vec::new(),
    }
}

/// The text of a result.
fn content(content: &Value, parts: &mut Vec<Part>) -> String {
    let of_block = |block: &Value| match block["type"].as_str().unwrap_or_default() {
        "text" | "input_text" | "output_text" => text(block, "text").unwrap_or_default(),
        "image" | "input_image" => {
            parts.push(Part::Left(Left::Image));
            String::from(AN_IMAGE)
        }
        kind => {
            parts.push(Part::Left(Left::Unknown));
            named(kind, block)
        }
    };
    blocks(content).iter().map(of_block).collect::<Vec<_>>().join("\n")
}

/// A block that is not known, with its name.
fn named(kind: &str, block: &Value) -> String {
    let kind: String = kind.chars().filter(|c| c.is_ascii_alphanumeric() || "_-".contains(*c)).take(40).collect();
    let json: String = block.to_string().chars().take(MOST_CHARS_OF_UNKNOWN).collect();
    format!("[a block of the kind `{kind}`, as text] {json}")
}

fn summarised(summary: &str) -> String {
    format!("[Summary of the conversation until here]\n{summary}")
}

/// Whether the program put it in by itself, in the user's place: where it works, instructions, what its own commands said.
fn is_own(text: &str) -> bool {
    let text = text.trim_start();
    OWN.iter().any(|start| text.starts_with(start))
}

const OWN: [&str; 21] = [
    "<environment_context",
    "<user_instructions",
    "<INSTRUCTIONS",
    "# AGENTS.md instructions",
    "<permissions instructions",
    "<turn_aborted",
    "<system-reminder",
    "<command-name",
    "<command-message",
    "<local-command-stdout",
    "<local-command-stderr",
    "<local-command-caveat",
    "<bash-input",
    "<bash-stdout",
    "<bash-stderr",
    "<task-notification",
    "<teammate-message",
    "<user_shell_command",
    "<subagent_notification",
    "<hook_prompt",
    "Caveat: The messages below were generated by the user while running local commands",
];
const AN_IMAGE: &str = "[an image, left out]";
const MOST_CHARS_OF_UNKNOWN: usize = 2_000;
