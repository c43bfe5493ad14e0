//! Writes a request body from kept fragments.
//!
//! ```text
//! {"model":…,"stream":true,"stream_options":…,"max_tokens":…, "tools":[…],"messages":[{"role":"system",…} , message , message … ]}
//!                                                             └──────────────── head ────────────────┘
//! ```
//!
//! A user's texts are plain strings joined by an empty line: lists of parts are refused by too many servers.

use super::accent::{Accent, Reasoning};
use super::details;
use super::wire::{CallOut, FunctionOut, ToolMessageOut, ToolOut};
use crate::history::{Fragment, Fragments};
use crate::messages::{UserShape, push_messages, push_tools, result_text};
use crate::wire::{identifier, push_element, push_json};
use agent_core::conversation::{Answer, Block, Item};
use agent_core::llm::LlmRequest;
use agent_core::tool::ToolSpec;

/// The body of a request.
pub(crate) fn body(request: &LlmRequest, accent: Accent, fragments: &Fragments) -> serde_json::Result<Vec<u8>> {
    let mut out = Vec::new();
    out.extend_from_slice(b"{\"model\":");
    push_json(&mut out, &*request.model)?;
    out.extend_from_slice(b",\"stream\":true");
    if accent.asks_for_usage {
        out.extend_from_slice(b",\"stream_options\":{\"include_usage\":true}");
    }
    out.push(b',');
    push_json(&mut out, accent.limit_name)?;
    out.push(b':');
    push_json(&mut out, &request.max_output_tokens)?;
    fragments.write(&request.system, &request.tools, &request.conversation, |head, items| {
        out.extend_from_slice(head);
        push_messages(&mut out, items, &USER);
        out.extend_from_slice(b"]}");
    })?;
    Ok(out)
}

/// The tools and the opening of the messages with the system prompt, with a comma in front.
pub(super) fn head(system: &str, tools: &[ToolSpec]) -> serde_json::Result<Vec<u8>> {
    let mut out = Vec::new();
    push_tools(&mut out, tools.iter().map(ToolOut::of))?;
    out.extend_from_slice(b",\"messages\":[");
    if !system.trim().is_empty() {
        out.extend_from_slice(b"{\"role\":\"system\",\"content\":");
        push_json(&mut out, system)?;
        out.push(b'}');
    }
    Ok(out)
}

/// The whole messages of an answer, and the user's texts as the inside of a JSON string.
pub(super) fn fragment(item: &Item, accent: &Accent) -> serde_json::Result<Fragment> {
    let mut fragment = Fragment::default();
    match item {
        Item::Input(input) => {
            push_json(&mut fragment.user, &input.texts().join("\n\n"))?;
            // Without the quotes, so that adjacent inputs can become one string.
            fragment.user.pop();
            fragment.user.remove(0);
        }
        Item::Answer(answer) => push_answer(&mut fragment.answer, answer, accent)?,
        Item::Round(round) => {
            push_answer(&mut fragment.answer, round.answer(), accent)?;
            for result in round.results() {
                let tool_call_id = accent.call_ids.fit(result.call().as_str());
                let message = ToolMessageOut { role: "tool", tool_call_id, content: result_text(result) };
                push_element(&mut fragment.answer, &message)?;
            }
        }
    }
    Ok(fragment)
}

/// Writes the assistant's message; nothing for an answer of which this format can carry nothing.
fn push_answer(out: &mut Vec<u8>, answer: &Answer, accent: &Accent) -> serde_json::Result<()> {
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
                    id: accent.call_ids.fit(call.id.as_str()),
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
    push_reasoning(out, answer, accent.reasoning)?;
    if !calls.is_empty() {
        out.extend_from_slice(b",\"tool_calls\":[");
        out.extend_from_slice(&calls);
        out.push(b']');
    }
    out.push(b'}');
    Ok(())
}

/// Writes the reasoning of an answer as a member with a comma in front, where the server has a place for it.
fn push_reasoning(out: &mut Vec<u8>, answer: &Answer, wanted: Reasoning) -> serde_json::Result<()> {
    let thinking = answer.blocks().iter().filter_map(|block| match block {
        Block::Thinking { text, signature } => Some((text.as_str(), signature.as_deref())),
        _ => None,
    });
    match wanted {
        Reasoning::LeftOut => {}
        Reasoning::Content => {
            let texts: Vec<&str> = thinking.map(|(text, _)| text).filter(|text| !text.is_empty()).collect();
            if !texts.is_empty() {
                out.extend_from_slice(b",\"reasoning_content\":");
                push_json(out, &texts.join("\n\n"))?;
            }
        }
        Reasoning::Details => {
            if let Some(list) = thinking.filter_map(|(_, seal)| details::of_seal(seal?)).next() {
                out.extend_from_slice(b",\"reasoning_details\":");
                out.extend_from_slice(list.as_bytes());
            }
        }
    }
    Ok(())
}

const USER: UserShape = UserShape { open: b"{\"role\":\"user\",\"content\":\"", between: b"\\n\\n", close: b"\"}" };

/// The longest function name that OpenAI takes.
const NAME_LIMIT_BYTES: usize = 64;

#[cfg(test)]
mod tests;
