//! Writes a request body from kept fragments.
//!
//! ```text
//! {"model":…,"max_tokens":…,"stream":true,"thinking":…, "tools":[…],"system":[…], "messages":[ fragment , fragment … ]}
//!                                                        └────────── head ───────┘
//! ```
//!
//! Marks for the server's prompt cache are put in afterwards: they move with every request, the kept bytes do not.

use super::wire::{BlockOut, SystemOut, ToolOut};
use super::{CONTAINER, DIALECT, MESSAGE_FRAME, server_tools, thinking};
use crate::frame::Frame;
use crate::history::{Fragment, Fragments};
use crate::messages::{push_hole, push_next, push_tools};
use crate::pictures::{Gallery, Painter, PictureShape};
use crate::wire::{name, plain_id, push_element, push_json};
use agent_types::conversation::{Answer, Block, Conversation, Item, ToolResult};
use agent_types::llm::LlmRequest;
use agent_types::tool::ToolSpec;
use serde_json::value::RawValue;

/// The body of a request.
pub(crate) fn body(request: &LlmRequest, fragments: &Fragments, gallery: &Gallery) -> serde_json::Result<Vec<u8>> {
    let mut out = Vec::new();
    out.extend_from_slice(b"{\"model\":");
    push_json(&mut out, &*request.model)?;
    out.extend_from_slice(b",\"max_tokens\":");
    push_json(&mut out, &request.max_output_tokens)?;
    out.extend_from_slice(b",\"stream\":true");
    thinking::push(&mut out, request)?;
    if let Some(id) = container(&request.conversation) {
        out.extend_from_slice(b",\"container\":");
        push_json(&mut out, &id)?;
    }
    fragments.write(&request.system, &request.tools, &request.conversation, |bytes, head, items| {
        out.reserve(bytes + gallery.size());
        out.extend_from_slice(head);
        out.extend_from_slice(b",\"messages\":[");
        push_messages(&mut out, items, gallery.painter());
        out.extend_from_slice(b"]}");
    })?;
    Ok(out)
}

/// The tools and the system prompt, each member with a comma in front.
pub(super) fn head(system: &str, tools: &[ToolSpec]) -> serde_json::Result<Vec<u8>> {
    let mut out = Vec::new();
    push_tools(&mut out, tools.iter().map(ToolOut::of))?;
    let has_system = !system.trim().is_empty();
    if !has_system && !tools.is_empty() {
        out.pop();
        mark(&mut out);
        out.push(b']');
    }
    if has_system {
        let mut block = Vec::new();
        push_json(&mut block, &SystemOut::of(system))?;
        // The cache covers everything before the mark, and tools stand before the system prompt whatever their order here.
        mark(&mut block);
        out.extend_from_slice(b",\"system\":[");
        out.extend_from_slice(&block);
        out.push(b']');
    }
    Ok(out)
}

/// The content blocks of an item, separated by commas.
pub(super) fn fragment(item: &Item) -> serde_json::Result<Fragment> {
    let mut fragment = Fragment::default();
    match item {
        Item::Input(input) => {
            for said in input.messages() {
                // A model reads pictures best before the text about them.
                for _ in &said.pictures {
                    push_hole(&mut fragment.user, &mut fragment.user_holes);
                }
                push_next(&mut fragment.user, &fragment.user_holes);
                push_json(&mut fragment.user, &BlockOut::Text { text: &said.whole() })?;
            }
        }
        Item::Summary(summary) => {
            for text in summary.texts() {
                push_element(&mut fragment.user, &BlockOut::Text { text })?;
            }
        }
        Item::Answer(answer) => {
            let closed = server_tools::closed(answer.blocks());
            if answer.is_paused() && closed.len() < answer.blocks().len() {
                let mut without = Vec::new();
                push_blocks(&mut without, closed.into_iter())?;
                fragment.closed_answer = Some(without);
                push_blocks(&mut fragment.answer, answer.blocks().iter())?;
            } else {
                push_blocks(&mut fragment.answer, closed.into_iter())?;
            }
        }
        Item::Round(round) => {
            push_blocks(&mut fragment.answer, round.answer().blocks().iter())?;
            for result in round.results() {
                if !result.pictures().is_empty() {
                    push_result_with_pictures(&mut fragment, result)?;
                    continue;
                }
                let block = BlockOut::ToolResult {
                    tool_use_id: plain_id(result.call().as_str(), ID_LIMIT_BYTES),
                    content: result.content(),
                    is_error: result.is_error(),
                };
                push_element(&mut fragment.user, &block)?;
            }
        }
    }
    Ok(fragment)
}

/// A list in place of a text.
fn push_result_with_pictures(fragment: &mut Fragment, result: &ToolResult) -> serde_json::Result<()> {
    let Fragment { user, user_holes, .. } = fragment;
    push_next(user, user_holes);
    user.extend_from_slice(b"{\"type\":\"tool_result\",\"tool_use_id\":");
    push_json(user, &plain_id(result.call().as_str(), ID_LIMIT_BYTES))?;
    user.extend_from_slice(b",\"content\":[");
    push_json(user, &BlockOut::Text { text: result.content() })?;
    for _ in result.pictures() {
        push_hole(user, user_holes);
    }
    user.push(b']');
    if result.is_error() {
        user.extend_from_slice(b",\"is_error\":true");
    }
    user.push(b'}');
    Ok(())
}

/// The container of the turn that is going on: the server asks for it back with the results of calls that code in it made. A turn that has
/// ended leaves it, because it may be gone by the next one.
fn container(conversation: &Conversation) -> Option<String> {
    let mut newest = None;
    for item in conversation.iter() {
        match item.as_ref() {
            Item::Input(_) | Item::Summary(_) => {}
            Item::Answer(answer) if !answer.is_paused() => newest = None,
            Item::Answer(answer) => newest = container_of(answer).or(newest),
            Item::Round(round) => newest = container_of(round.answer()).or(newest),
        }
    }
    newest
}

fn container_of(answer: &Answer) -> Option<String> {
    let frames = answer.blocks().iter().rev().filter_map(|block| match block {
        Block::Opaque { dialect, json } if dialect == DIALECT => Frame::of_block(json),
        _ => None,
    });
    let mut containers = frames.filter(|frame| frame.of == MESSAGE_FRAME);
    let frame = containers.next()?;
    Some(frame.members.get(CONTAINER)?.get("id")?.as_str()?.to_owned())
}

fn push_blocks<'a>(out: &mut Vec<u8>, blocks: impl Iterator<Item = &'a Block>) -> serde_json::Result<()> {
    // What the block before is, for a frame to know its own.
    let mut before = "";
    for block in blocks {
        let frame = match block {
            Block::Opaque { dialect, json } if dialect == DIALECT => Frame::of_block(json),
            _ => None,
        };
        if let Some(frame) = frame {
            if frame.of == before {
                frame.join(out)?;
            }
            before = "";
            continue;
        }
        before = match block {
            Block::Text(text) if text.trim().is_empty() => "",
            Block::Text(_) => "text",
            Block::Call(_) => "tool_use",
            Block::Thinking { .. } | Block::RedactedThinking { .. } | Block::Opaque { .. } => "",
        };
        match block {
            // The server refuses a text of blanks alone.
            Block::Text(text) if text.trim().is_empty() => {}
            Block::Text(text) => push_element(out, &BlockOut::Text { text })?,
            // The seals of other formats are JSON.
            Block::Thinking { text, signature: Some(signature) } if !signature.starts_with('{') => {
                let block = BlockOut::Thinking { thinking: text, signature };
                push_element(out, &block)?;
            }
            Block::RedactedThinking { data } => {
                push_element(out, &BlockOut::RedactedThinking { data })?;
            }
            Block::Call(call) => {
                let block = BlockOut::ToolUse {
                    id: plain_id(call.id.as_str(), ID_LIMIT_BYTES),
                    name: name(&call.name, ID_LIMIT_BYTES),
                    input: serde_json::from_str(call.arguments.as_str())?,
                };
                push_element(out, &block)?;
            }
            Block::Opaque { dialect, json } if dialect == DIALECT => {
                let block: &RawValue = serde_json::from_str(json)?;
                push_element(out, block)?;
            }
            // The server refuses thinking without its signature, and blocks of another format mean nothing to it.
            Block::Thinking { .. } | Block::Opaque { .. } => {}
        }
    }
    Ok(())
}

/// Writes the messages: adjacent content of one role is one message, and a message without content is left out.
fn push_messages(out: &mut Vec<u8>, items: &mut dyn Iterator<Item = &Fragment>, mut painter: Painter<'_>) {
    let mut open: Option<&str> = None;
    // Where the last block of each of the last two user messages ends.
    let mut user_ends = [None, None];
    let mut items = items.peekable();
    while let Some(fragment) = items.next() {
        let answer = fragment.closed_answer.as_ref().filter(|_| items.peek().is_some()).unwrap_or(&fragment.answer);
        let sides = [("assistant", answer, &fragment.answer_holes), ("user", &fragment.user, &fragment.user_holes)];
        for (role, blocks, holes) in sides {
            if blocks.is_empty() {
                continue;
            }
            if open == Some(role) {
                out.push(b',');
            } else {
                if open.is_some() {
                    out.extend_from_slice(b"]},");
                }
                out.extend_from_slice(b"{\"role\":\"");
                out.extend_from_slice(role.as_bytes());
                out.extend_from_slice(b"\",\"content\":[");
                if role == "user" {
                    user_ends.rotate_left(1);
                }
            }
            open = Some(role);
            painter.fill(out, blocks, holes, &PICTURE);
            if role == "user" {
                user_ends[1] = Some(out.len());
            }
        }
    }
    if open.is_some() {
        out.extend_from_slice(b"]}");
    }
    // The last first, so that the other position stays true. The one before finds what the previous request stored.
    for end in user_ends.into_iter().rev().flatten() {
        let behind = out.split_off(end);
        mark(out);
        out.extend_from_slice(&behind);
    }
}

/// Adds the cache mark to the object that `out` ends with.
fn mark(out: &mut Vec<u8>) {
    out.pop();
    out.extend_from_slice(b",\"cache_control\":{\"type\":\"ephemeral\"}}");
}

const PICTURE: PictureShape = PictureShape {
    open: b"{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"",
    between: b"\",\"data\":\"",
    close: b"\"}}",
    text: "text",
};

/// The longest tool name the server takes; ids have no stated limit and are far shorter.
const ID_LIMIT_BYTES: usize = 128;

#[cfg(test)]
mod tests;
