//! The items of an answer as blocks.
//!
//! | Item | Block |
//! |---|---|
//! | `message` | its texts, and a frame with the rest |
//! | `reasoning` | thinking, sealed with the item itself where the server can read it again |
//! | `function_call` | a call, and a frame with members that are not usual |
//! | another call that waits for its result | a call; it goes back as a call of a function, with the result as one of those |
//! | anything else | kept as it came |

use super::DIALECT;
use super::wire::ItemHeadIn;
use crate::frame::{Frame, without_nulls};
use crate::wire::{is_whole, text};
use agent_types::llm::{RawCall, ResponseBlock};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Where an item stands when the answer was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// It was not.
    No,
    /// Somewhere after this item.
    Before,
    /// Perhaps in this item.
    Here,
}

/// Appends the blocks of an item. Gives back whether it is a refusal.
pub(super) fn blocks_of(item: &RawValue, cut: Cut, waits: bool, blocks: &mut Vec<ResponseBlock>) -> bool {
    let Ok(head) = serde_json::from_str::<ItemHeadIn<'_>>(item.get()) else {
        // What is not an object could not be sent back.
        return false;
    };
    match head.r#type.as_deref() {
        Some("message") => return push_message(item, blocks),
        Some("reasoning") => push_reasoning(item, blocks),
        Some("function_call") => push_call(item, &head, cut, blocks),
        _ if waits => push_call(item, &head, cut, blocks),
        // The server would continue a call of its own tool that was not done when the answer was cut.
        _ if cut != Cut::No
            && text(head.status)
                .is_some_and(|status| matches!(&*status, "in_progress" | "incomplete" | "searching")) => {}
        _ => blocks.push(ResponseBlock::Opaque { dialect: DIALECT.to_owned(), json: item.get().to_owned() }),
    }
    false
}

/// Which items are calls that wait for a result from here and are no calls of functions, such as `custom_tool_call`. Nothing of the kind is
/// offered; some models and gateways send it all the same. What a server runs itself looks alike, but there the model has gone on.
pub(super) fn waiting_calls(output: &[Box<RawValue>]) -> Vec<bool> {
    let heads: Vec<Option<ItemHeadIn<'_>>> = output.iter().map(|item| serde_json::from_str(item.get()).ok()).collect();
    let is_output = |head: &ItemHeadIn<'_>| head.r#type.as_deref().is_some_and(|kind| kind.ends_with("_output"));
    let answered: Vec<Cow<'_, str>> =
        heads.iter().flatten().filter(|head| is_output(head)).filter_map(|head| text(head.call_id)).collect();
    let mut waiting = vec![false; output.len()];
    for (waits, head) in waiting.iter_mut().zip(&heads).rev() {
        let Some(head) = head else { continue };
        match head.r#type.as_deref() {
            Some("message" | "reasoning" | "function_call") => break,
            Some("mcp_approval_request") => *waits = true,
            _ if is_output(head) => {}
            _ => *waits = text(head.call_id).is_some_and(|id| !id.is_empty() && !answered.contains(&id)),
        }
    }
    waiting
}

/// Appends what there is of an item that the end of the answer cut through.
pub(super) fn blocks_of_piece(start: &RawValue, grown: String, blocks: &mut Vec<ResponseBlock>) {
    let Ok(head) = serde_json::from_str::<ItemHeadIn<'_>>(start.get()) else { return };
    match head.r#type.as_deref() {
        Some("message") if !grown.is_empty() => blocks.push(ResponseBlock::Text(grown)),
        Some("reasoning") if !grown.is_empty() => {
            blocks.push(ResponseBlock::Thinking { text: grown, signature: None });
        }
        Some("function_call" | "custom_tool_call") => blocks.push(ResponseBlock::Call(RawCall {
            id: text(head.call_id).unwrap_or_default().into_owned(),
            name: text(head.name).unwrap_or_default().into_owned(),
            arguments: grown,
            complete: false,
        })),
        _ => {}
    }
}

/// A message becomes its texts; everything else of it, the places of the texts included, goes into the frame.
fn push_message(item: &RawValue, blocks: &mut Vec<ResponseBlock>) -> bool {
    let mut members = members_of(item);
    let parts = match members.remove("content") {
        Some(Value::Array(parts)) => parts,
        Some(Value::String(text)) => vec![serde_json::json!({"type": "output_text", "text": text})],
        _ => Vec::new(),
    };
    let (mut places, mut refused, mut says_something) = (Vec::new(), false, false);
    for mut part in parts {
        let name = if part["type"] == "refusal" { "refusal" } else { "text" };
        if let Some(Value::String(text)) = part.get_mut(name).map(Value::take) {
            refused |= name == "refusal";
            if text.is_empty() {
                continue;
            }
            says_something |= !text.trim().is_empty();
            blocks.push(ResponseBlock::Text(text));
        }
        if let Some(part) = part.as_object_mut() {
            part.remove("logprobs");
        }
        places.push(without_nulls(part, &[]));
    }
    // A server without ids has nothing to recognise a message by: a plain one does as well.
    let has_identity = members.contains_key("id") || members.contains_key("phase");
    if has_identity && says_something {
        members.insert("content".to_owned(), Value::Array(places));
        blocks.extend(Frame { of: "message".to_owned(), members }.into_block(DIALECT));
    }
    refused
}

/// Whether this part of a framed message has a text of its own, which comes before the frame.
pub(super) fn has_text(place: &Value) -> bool {
    place["type"] == "output_text" || place["type"] == "refusal"
}

/// The name of the member that a part's text stands in.
pub(super) fn text_member(place: &Value) -> &'static str {
    if place["type"] == "refusal" { "refusal" } else { "text" }
}

fn push_reasoning(item: &RawValue, blocks: &mut Vec<ResponseBlock>) {
    let members = members_of(item);
    let texts = |name: &str| {
        let parts = members.get(name).and_then(Value::as_array);
        let texts = parts.into_iter().flatten().filter_map(|part| part["text"].as_str());
        texts.collect::<Vec<_>>().join("\n\n")
    };
    let (summary, content) = (texts("summary"), texts("content"));
    let is_sealed = members.get("encrypted_content").and_then(Value::as_str).is_some_and(|sealed| !sealed.is_empty());
    // Without its seal or its text, the server would look the item up by its id, and it was not asked to store it.
    let can_go_back = is_sealed || !content.is_empty();
    let text = if summary.is_empty() { content } else { summary };
    if text.is_empty() && !can_go_back {
        return;
    }
    let signature = can_go_back.then(|| Value::Object(members).to_string());
    blocks.push(ResponseBlock::Thinking { text, signature });
}

fn push_call(item: &RawValue, head: &ItemHeadIn<'_>, cut: Cut, blocks: &mut Vec<ResponseBlock>) {
    let owned = |raw: Option<&RawValue>| text(raw).unwrap_or_default().into_owned();
    // Some servers write the object itself.
    let given = head.arguments.or(head.input).or(head.action).or(head.operation);
    let arguments = match text(given) {
        Some(text) => text.into_owned(),
        None => given.map(RawValue::get).filter(|json| *json != "null").unwrap_or_default().to_owned(),
    };
    let was_done = match text(head.status).as_deref() {
        Some("incomplete") => false,
        // A whole call of a program that waits for its result; if it were half a call, its arguments would tell.
        Some("in_progress") => is_whole(&arguments),
        _ => true,
    };
    let complete = was_done
        && match cut {
            Cut::No => true,
            Cut::Before => is_whole(&arguments),
            // Arguments that look whole may have lost their end.
            Cut::Here => false,
        };
    let id = if head.call_id.is_some() { owned(head.call_id) } else { owned(head.id) };
    if head.r#type.as_deref() != Some("function_call") {
        let name =
            if head.name.is_some() { owned(head.name) } else { head.r#type.as_deref().unwrap_or_default().to_owned() };
        blocks.push(ResponseBlock::Call(RawCall { id, name, arguments, complete }));
        return;
    }
    blocks.push(ResponseBlock::Call(RawCall { id, name: owned(head.name), arguments, complete }));
    let mut members = members_of(item);
    members.retain(|name, _| !USUAL_MEMBERS.contains(&name.as_str()));
    blocks.extend(Frame { of: "function_call".to_owned(), members }.into_block(DIALECT));
}

/// The members of an item that are not null.
fn members_of(item: &RawValue) -> Map<String, Value> {
    let value = serde_json::from_str(item.get()).unwrap_or(Value::Null);
    match without_nulls(value, &[]) {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// The members of a call that the normalised form has, or that say nothing beyond this answer.
const USUAL_MEMBERS: &[&str] = &["type", "id", "status", "call_id", "name", "arguments"];
