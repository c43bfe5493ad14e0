//! Writes a request body from kept fragments.
//!
//! ```text
//! {"model":…,"stream":true,"max_tokens":…,"reasoning_effort":…, "tools":[…],"messages":[{"role":"system",…} , message , message … ]}
//!                                                               └───────────────── head ──────────────────┘
//! ```
//!
//! A user's texts are plain strings joined by an empty line: lists of parts are refused by too many servers. Only beside a picture they are
//! parts.

use super::details;
use super::quirks::{Quirks, Reasoning};
use super::wire::{CallOut, FunctionOut, ToolMessageOut, ToolOut};
use super::{CALL_FRAME, DIALECT, MESSAGE_FRAME};
use crate::frame::Frame;
use crate::history::{Fragment, Fragments};
use crate::messages::{UserShape, push_messages, push_separator, push_tools, result_text};
use crate::pictures::{Gallery, Hole, Painter, PictureShape};
use crate::wire::{name, push_element, push_json};
use agent_types::conversation::{Answer, Block, Item, ToolCall, UserMessage};
use agent_types::llm::LlmRequest;
use agent_types::tool::ToolSpec;
use serde_json::{Map, Value};

/// The body of a request.
pub(crate) fn body(
    request: &LlmRequest,
    quirks: Quirks,
    fragments: &Fragments,
    gallery: &Gallery,
) -> serde_json::Result<Vec<u8>> {
    let mut out = Vec::new();
    out.extend_from_slice(b"{\"model\":");
    push_json(&mut out, &*request.model)?;
    out.extend_from_slice(b",\"stream\":true");
    if quirks.asks_for_usage {
        out.extend_from_slice(b",\"stream_options\":{\"include_usage\":true}");
    }
    out.push(b',');
    push_json(&mut out, quirks.limit_name)?;
    out.push(b':');
    push_json(&mut out, &request.max_output_tokens)?;
    if let Some(effort) = request.effort {
        out.extend_from_slice(b",\"reasoning_effort\":");
        push_json(&mut out, effort.name())?;
    }
    fragments.write(&request.system, &request.tools, &request.conversation, |bytes, head, items| {
        out.reserve(bytes + gallery.size());
        out.extend_from_slice(head);
        push_messages(&mut out, items, &USER, gallery.painter());
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
pub(super) fn fragment(item: &Item, quirks: &Quirks) -> serde_json::Result<Fragment> {
    let mut fragment = Fragment::default();
    match item {
        Item::Input(input) => {
            let texts: Vec<_> = input.messages().iter().map(UserMessage::whole).collect();
            push_inside(&mut fragment.user, &texts.join("\n\n"))?;
            leave_holes(&mut fragment, item);
        }
        Item::Summary(summary) => {
            push_inside(&mut fragment.user, &summary.texts().collect::<Vec<_>>().join("\n\n"))?;
        }
        Item::Answer(answer) => push_answer(&mut fragment.answer, answer, quirks)?,
        Item::Round(round) => {
            push_answer(&mut fragment.answer, round.answer(), quirks)?;
            for result in round.results() {
                let tool_call_id = quirks.call_ids.fit(result.call().as_str());
                let message = ToolMessageOut { role: "tool", tool_call_id, content: result_text(result) };
                push_element(&mut fragment.answer, &message)?;
            }
            // The message of a tool is text alone: pictures follow in one of the user's, after all results of the round.
            let names: Vec<&str> = item.pictures().map(|picture| &*picture.name).collect();
            if !names.is_empty() {
                let told = format!("[pictures of the tool results above, in order: {}]", names.join(", "));
                push_inside(&mut fragment.user, &told)?;
                leave_holes(&mut fragment, item);
            }
        }
    }
    Ok(fragment)
}

/// A text as the inside of a JSON string, so that adjacent inputs can become one.
fn push_inside(out: &mut Vec<u8>, text: &str) -> serde_json::Result<()> {
    push_json(out, text)?;
    out.pop();
    out.remove(0);
    Ok(())
}

/// The pictures of an item belong to its user's message. Their places in the text do not matter.
fn leave_holes(fragment: &mut Fragment, item: &Item) {
    fragment.user_holes.extend(item.pictures().map(|_| Hole(fragment.user.len())));
}

/// One string, or a list of parts where a picture is among them.
fn push_user(out: &mut Vec<u8>, said: &[&Fragment], painter: &mut Painter<'_>) {
    out.extend_from_slice(b"{\"role\":\"user\",\"content\":");
    let pictures = said.iter().map(|fragment| fragment.user_holes.len()).sum();
    if painter.shows_any(pictures) {
        out.push(b'[');
        for fragment in said {
            for _ in &fragment.user_holes {
                push_separator(out);
                painter.fill(out, b"", &[Hole(0)], &USER.picture);
            }
            push_separator(out);
            out.extend_from_slice(b"{\"type\":\"text\",\"text\":\"");
            out.extend_from_slice(&fragment.user);
            out.extend_from_slice(b"\"}");
        }
        out.extend_from_slice(b"]}");
        return;
    }
    out.push(b'"');
    for (at, fragment) in said.iter().enumerate() {
        if at > 0 {
            out.extend_from_slice(b"\\n\\n");
        }
        out.extend_from_slice(&fragment.user);
        for _ in &fragment.user_holes {
            out.extend_from_slice(b"\\n");
            let mut inside = Vec::new();
            // A string is always written.
            if push_inside(&mut inside, &painter.name()).is_ok() {
                out.extend_from_slice(&inside);
            }
        }
    }
    out.extend_from_slice(b"\"}");
}

/// Writes the assistant's message; nothing if this format can carry no part of the answer.
fn push_answer(out: &mut Vec<u8>, answer: &Answer, quirks: &Quirks) -> serde_json::Result<()> {
    let mut text = String::new();
    let mut after_text = false;
    let mut calls = Vec::new();
    let mut seals = Map::new();
    for (at, block) in answer.blocks().iter().enumerate() {
        match block {
            Block::Text(more) => {
                if !text.is_empty() && !after_text {
                    text.push_str("\n\n");
                }
                text.push_str(more);
            }
            Block::Call(call) => {
                let frame = answer.blocks().get(at + 1).and_then(|next| frame_of(next, CALL_FRAME, quirks));
                push_element(&mut calls, &call_out(call, frame, quirks))?;
            }
            Block::Opaque { .. } => {
                let members = frame_of(block, MESSAGE_FRAME, quirks).unwrap_or_default().into_iter();
                seals.extend(members.filter(|(name, _)| SEALS.contains(&name.as_str())));
            }
            // There is no place for the others in this format.
            Block::Thinking { .. } | Block::RedactedThinking { .. } => {}
        }
        after_text = matches!(block, Block::Text(_));
    }
    // Some servers refuse a text of blanks alone.
    let has_text = !text.trim().is_empty();
    if !has_text && calls.is_empty() {
        return Ok(());
    }
    out.extend_from_slice(b"{\"role\":\"assistant\",\"content\":");
    if has_text {
        push_json(out, &text)?;
    } else {
        out.extend_from_slice(b"null");
    }
    push_reasoning(out, answer, quirks.reasoning)?;
    if !calls.is_empty() {
        out.extend_from_slice(b",\"tool_calls\":[");
        out.extend_from_slice(&calls);
        out.push(b']');
    }
    out.push(b'}');
    Frame { of: MESSAGE_FRAME.to_owned(), members: seals }.join(out)
}

/// A call as it came, with the members that only its server knows.
fn call_out<'a>(call: &'a ToolCall, frame: Option<Map<String, Value>>, quirks: &Quirks) -> CallOut<'a> {
    let mut extras = frame.unwrap_or_default();
    let function_extras = match extras.remove("function") {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    };
    let name = name(&call.name, NAME_LIMIT_BYTES);
    let function = FunctionOut { name, arguments: call.arguments.as_str(), extras: function_extras };
    CallOut { id: quirks.call_ids.fit(call.id.as_str()), r#type: "function", function, extras }
}

/// The members in a block that is a frame of this kind, for a server that takes them.
fn frame_of(block: &Block, kind: &str, quirks: &Quirks) -> Option<Map<String, Value>> {
    match block {
        Block::Opaque { dialect, json } if quirks.takes_extras && dialect == DIALECT => {
            Frame::of_block(json).filter(|frame| frame.of == kind).map(|frame| frame.members)
        }
        _ => None,
    }
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

const USER: UserShape = UserShape {
    push: push_user,
    picture: PictureShape {
        open: b"{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:",
        between: b";base64,",
        close: b"\"}}",
        text: "text",
    },
};

/// What of a message goes back with it, beside its text and its calls: the seals over thinking that Gemini's servers ask for.
const SEALS: &[&str] = &["extra_content", "thought_signature"];

/// The longest function name that OpenAI takes.
const NAME_LIMIT_BYTES: usize = 64;

#[cfg(test)]
mod tests;
