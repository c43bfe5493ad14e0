//! Writes a request body from kept fragments.
//!
//! ```text
//! {"model":…,"stream":true,"stream_options":…,"max_tokens":…, "tools":[…],"messages":[{"role":"system",…} , message , message … ]}
//!                                                             └──────────────── head ────────────────┘
//! ```
//!
//! A user's texts are plain strings joined by an empty line: lists of parts are refused by too many servers.

use super::wire::{CallOut, FunctionOut, ToolMessageOut, ToolOut};
use crate::history::{Fragment, Fragments};
use crate::wire::{identifier, push_element, push_json};
use agent_core::conversation::{Answer, Block, Item, ToolResult};
use agent_core::llm::LlmRequest;
use agent_core::tool::ToolSpec;
use std::borrow::Cow;

/// How the server calls the output limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitName {
    /// What every server but one understands.
    MaxTokens,
    /// OpenAI's own models refuse the old name.
    MaxCompletionTokens,
}

impl LimitName {
    pub(super) fn for_host(host: &str) -> Self {
        if host == "api.openai.com" || host.ends_with(".openai.azure.com") {
            Self::MaxCompletionTokens
        } else {
            Self::MaxTokens
        }
    }
}

/// The body of a request.
pub(super) fn body(request: &LlmRequest, limit_name: LimitName, fragments: &Fragments) -> serde_json::Result<Vec<u8>> {
    let mut out = Vec::new();
    out.extend_from_slice(b"{\"model\":");
    push_json(&mut out, &*request.model)?;
    out.extend_from_slice(b",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
    out.extend_from_slice(match limit_name {
        LimitName::MaxTokens => b",\"max_tokens\":",
        LimitName::MaxCompletionTokens => b",\"max_completion_tokens\":",
    });
    push_json(&mut out, &request.max_output_tokens)?;
    fragments.write(&request.system, &request.tools, &request.conversation, |head, items| {
        out.extend_from_slice(head);
        push_messages(&mut out, items);
        out.extend_from_slice(b"]}");
    })?;
    Ok(out)
}

/// The tools and the opening of the messages with the system prompt, with a comma in front.
pub(super) fn head(system: &str, tools: &[ToolSpec]) -> serde_json::Result<Vec<u8>> {
    let mut list = Vec::new();
    for tool in tools {
        push_element(&mut list, &ToolOut::of(tool))?;
    }
    let mut out = Vec::new();
    if !list.is_empty() {
        out.extend_from_slice(b",\"tools\":[");
        out.extend_from_slice(&list);
        out.push(b']');
    }
    out.extend_from_slice(b",\"messages\":[");
    if !system.trim().is_empty() {
        out.extend_from_slice(b"{\"role\":\"system\",\"content\":");
        push_json(&mut out, system)?;
        out.push(b'}');
    }
    Ok(out)
}

/// The whole messages of an answer, and the user's texts as the inside of a JSON string.
pub(super) fn fragment(item: &Item) -> serde_json::Result<Fragment> {
    let mut fragment = Fragment::default();
    match item {
        Item::Input(input) => {
            push_json(&mut fragment.user, &input.texts().join("\n\n"))?;
            // Without the quotes, so that adjacent inputs can become one string.
            fragment.user.pop();
            fragment.user.remove(0);
        }
        Item::Answer(answer) => push_answer(&mut fragment.answer, answer)?,
        Item::Round(round) => {
            push_answer(&mut fragment.answer, round.answer())?;
            for result in round.results() {
                let message =
                    ToolMessageOut { role: "tool", tool_call_id: result.call().as_str(), content: content_of(result) };
                push_element(&mut fragment.answer, &message)?;
            }
        }
    }
    Ok(fragment)
}

/// Writes the assistant's message; nothing for an answer of which this format can carry nothing.
fn push_answer(out: &mut Vec<u8>, answer: &Answer) -> serde_json::Result<()> {
    let mut text = String::new();
    let mut after_text = false;
    let mut calls = Vec::new();
    for block in answer.blocks() {
        match block {
            Block::Text(more) => {
                if !text.is_empty() && !after_text {
                    text.push_str("\n\n");
                }
                text.push_str(more);
            }
            Block::Call(call) => {
                let call = CallOut {
                    id: call.id.as_str(),
                    r#type: "function",
                    function: FunctionOut {
                        name: identifier(&call.name, NAME_LIMIT_BYTES),
                        arguments: call.arguments.as_str(),
                    },
                };
                push_element(&mut calls, &call)?;
            }
            // There is no place for the others in this format.
            _ => {}
        }
        after_text = matches!(block, Block::Text(_));
    }
    if text.is_empty() && calls.is_empty() {
        return Ok(());
    }
    out.extend_from_slice(b"{\"role\":\"assistant\",\"content\":");
    if text.is_empty() {
        out.extend_from_slice(b"null");
    } else {
        push_json(out, &text)?;
    }
    if !calls.is_empty() {
        out.extend_from_slice(b",\"tool_calls\":[");
        out.extend_from_slice(&calls);
        out.push(b']');
    }
    out.push(b'}');
    Ok(())
}

/// The format has no mark for a failed call, so that the text has to say it.
fn content_of(result: &ToolResult) -> Cow<'_, str> {
    let content = result.content();
    let says_so = || content.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("error"));
    if result.is_error() && !says_so() { Cow::Owned(format!("Error: {content}")) } else { Cow::Borrowed(content) }
}

/// Writes the messages behind the opening bracket (and the system prompt): adjacent inputs are one user message.
fn push_messages(out: &mut Vec<u8>, items: &mut dyn Iterator<Item = &Fragment>) {
    let mut in_user = false;
    for fragment in items {
        if !fragment.answer.is_empty() {
            close_user(out, &mut in_user);
            push_separator(out);
            out.extend_from_slice(&fragment.answer);
        }
        if !fragment.user.is_empty() {
            if in_user {
                out.extend_from_slice(b"\\n\\n");
            } else {
                push_separator(out);
                out.extend_from_slice(b"{\"role\":\"user\",\"content\":\"");
                in_user = true;
            }
            out.extend_from_slice(&fragment.user);
        }
    }
    close_user(out, &mut in_user);
}

fn close_user(out: &mut Vec<u8>, in_user: &mut bool) {
    if core::mem::take(in_user) {
        out.extend_from_slice(b"\"}");
    }
}

fn push_separator(out: &mut Vec<u8>) {
    if !out.ends_with(b"[") {
        out.push(b',');
    }
}

/// The longest function name that OpenAI takes.
const NAME_LIMIT_BYTES: usize = 64;

#[cfg(test)]
mod tests;
