//! Writes a request body from kept fragments.
//!
//! ```text
//! {"model":…,"stream":true,"store":false,"max_output_tokens":…,"reasoning":…, "tools":[…],"instructions":…,"input":[ item , item … ]}
//!                                                                             └─────────────── head ───────────────┘
//! ```
//!
//! Nothing is stored on the server: every request carries the whole conversation, sealed reasoning included.

use super::DIALECT;
use super::items::{has_text, text_member};
use super::wire::{InputTextOut, ItemHeadIn, ItemOut, ToolOut};
use crate::frame::Frame;
use crate::history::{Fragment, Fragments};
use crate::messages::{UserShape, push_hole, push_messages, push_next, push_separator, push_tools, result_text};
use crate::openai::CallIds;
use crate::pictures::{Gallery, Painter, PictureShape};
use crate::wire::{name, push_element, push_json};
use agent_types::conversation::{Answer, Block, Item, ToolResult};
use agent_types::llm::LlmRequest;
use agent_types::tool::ToolSpec;
use serde_json::Value;
use serde_json::value::RawValue;

/// The body of a request.
pub(crate) fn body(request: &LlmRequest, fragments: &Fragments, gallery: &Gallery) -> serde_json::Result<Vec<u8>> {
    let mut out = Vec::new();
    out.extend_from_slice(b"{\"model\":");
    push_json(&mut out, &*request.model)?;
    out.extend_from_slice(b",\"stream\":true,\"store\":false");
    if seals_reasoning(&request.model) {
        out.extend_from_slice(b",\"include\":[\"reasoning.encrypted_content\"]");
    }
    out.extend_from_slice(b",\"max_output_tokens\":");
    push_json(&mut out, &request.max_output_tokens)?;
    if let Some(effort) = request.effort {
        out.extend_from_slice(b",\"reasoning\":{\"effort\":");
        push_json(&mut out, effort.name())?;
        out.push(b'}');
    }
    fragments.write(&request.system, &request.tools, &request.conversation, |bytes, head, items| {
        out.reserve(bytes + gallery.size());
        out.extend_from_slice(head);
        push_messages(&mut out, items, &USER, gallery.painter());
        out.extend_from_slice(b"]}");
    })?;
    Ok(out)
}

/// Whether the model takes the wish for sealed reasoning: others answer it with an error.
pub(super) fn seals_reasoning(model: &str) -> bool {
    // Routers put the maker's name before the model's.
    let name = model.rsplit('/').next().unwrap_or(model);
    let is_one_of = |names: &[&str]| names.iter().any(|start| name.starts_with(start));
    is_one_of(SEALS_REASONING) && !is_one_of(SEALS_NOTHING)
}

/// The tools, the system prompt and the opening of the input, with a comma in front.
pub(super) fn head(system: &str, tools: &[ToolSpec]) -> serde_json::Result<Vec<u8>> {
    let mut out = Vec::new();
    push_tools(&mut out, tools.iter().map(ToolOut::of))?;
    if !system.trim().is_empty() {
        out.extend_from_slice(b",\"instructions\":");
        push_json(&mut out, system)?;
    }
    out.extend_from_slice(b",\"input\":[");
    Ok(out)
}

/// The whole items of an answer, and the user's texts as parts of a message.
pub(super) fn fragment(item: &Item, ids: CallIds) -> serde_json::Result<Fragment> {
    let mut fragment = Fragment::default();
    match item {
        Item::Input(input) => {
            for said in input.messages() {
                // A model reads pictures best before the text about them.
                for _ in &said.pictures {
                    push_hole(&mut fragment.user, &mut fragment.user_holes);
                }
                push_next(&mut fragment.user, &fragment.user_holes);
                push_json(&mut fragment.user, &InputTextOut { r#type: "input_text", text: &said.whole() })?;
            }
        }
        Item::Summary(summary) => {
            for text in summary.texts() {
                push_element(&mut fragment.user, &InputTextOut { r#type: "input_text", text })?;
            }
        }
        Item::Answer(answer) => push_answer(&mut fragment.answer, answer, ids)?,
        Item::Round(round) => {
            push_answer(&mut fragment.answer, round.answer(), ids)?;
            for result in round.results() {
                let call_id = ids.fit(result.call().as_str());
                if !result.pictures().is_empty() {
                    push_result_with_pictures(&mut fragment, &call_id, result)?;
                    continue;
                }
                let item = ItemOut::FunctionCallOutput { call_id, output: result_text(result) };
                push_element(&mut fragment.answer, &item)?;
            }
        }
    }
    Ok(fragment)
}

/// A list of parts in place of a text.
fn push_result_with_pictures(fragment: &mut Fragment, call_id: &str, result: &ToolResult) -> serde_json::Result<()> {
    let Fragment { answer, answer_holes, .. } = fragment;
    push_separator(answer);
    answer.extend_from_slice(b"{\"type\":\"function_call_output\",\"call_id\":");
    push_json(answer, call_id)?;
    answer.extend_from_slice(b",\"output\":[");
    push_json(answer, &InputTextOut { r#type: "input_text", text: &result_text(result) })?;
    for _ in result.pictures() {
        push_hole(answer, answer_holes);
    }
    answer.extend_from_slice(b"]}");
    Ok(())
}

fn push_user(out: &mut Vec<u8>, said: &[&Fragment], painter: &mut Painter<'_>) {
    out.extend_from_slice(b"{\"type\":\"message\",\"role\":\"user\",\"content\":[");
    for fragment in said {
        push_separator(out);
        painter.fill(out, &fragment.user, &fragment.user_holes, &USER.picture);
    }
    out.extend_from_slice(b"]}");
}

fn push_answer(out: &mut Vec<u8>, answer: &Answer, ids: CallIds) -> serde_json::Result<()> {
    // Texts wait for the frame of their message, reasoning for what follows it: the server refuses reasoning at the end.
    let mut texts: Vec<&str> = Vec::new();
    let mut reasoning: Vec<&RawValue> = Vec::new();
    let mut after_call = false;
    for block in answer.blocks() {
        let frame = match block {
            Block::Opaque { dialect, json } if dialect == DIALECT => Frame::of_block(json),
            _ => None,
        };
        if let Some(frame) = frame {
            match frame.of.as_str() {
                "message" => push_framed(out, &mut texts, frame)?,
                "function_call" if after_call => frame.join(out)?,
                _ => {}
            }
            after_call = false;
            continue;
        }
        let says_something = match block {
            Block::Text(_) | Block::Call(_) => true,
            Block::Opaque { dialect, .. } => dialect == DIALECT,
            Block::Thinking { .. } | Block::RedactedThinking { .. } => false,
        };
        if says_something && !reasoning.is_empty() {
            push_texts(out, &mut texts)?;
            for item in reasoning.drain(..) {
                push_element(out, item)?;
            }
        }
        after_call = matches!(block, Block::Call(_));
        if let Block::Text(text) = block {
            texts.push(text);
            continue;
        }
        push_texts(out, &mut texts)?;
        match block {
            Block::Call(call) => {
                let name = name(&call.name, NAME_LIMIT_BYTES);
                let (call_id, arguments) = (ids.fit(call.id.as_str()), call.arguments.as_str());
                push_element(out, &ItemOut::FunctionCall { call_id, name, arguments })?;
            }
            Block::Thinking { signature: Some(item), .. } if is_reasoning(item) => {
                reasoning.push(serde_json::from_str(item)?);
            }
            Block::Opaque { dialect, json } if dialect == DIALECT => {
                push_element(out, serde_json::from_str::<&RawValue>(json)?)?;
            }
            // Thinking without its seal and what another format sealed mean nothing to this server.
            _ => {}
        }
    }
    push_texts(out, &mut texts)
}

/// Texts that no frame belongs to, as a plain message.
fn push_texts(out: &mut Vec<u8>, texts: &mut Vec<&str>) -> serde_json::Result<()> {
    if texts.is_empty() {
        return Ok(());
    }
    let content = texts.concat();
    texts.clear();
    if content.trim().is_empty() {
        return Ok(());
    }
    push_element(out, &ItemOut::Message { role: "assistant", content: &content })
}

/// A message as it came, if the texts before the frame are still the ones it was taken from.
fn push_framed(out: &mut Vec<u8>, texts: &mut Vec<&str>, mut frame: Frame) -> serde_json::Result<()> {
    let places = frame.members.get_mut("content").and_then(Value::as_array_mut);
    let mut places: Vec<&mut Value> = places.into_iter().flatten().filter(|place| has_text(place)).collect();
    // Texts before the message's own belong to none.
    let Some(others) = texts.len().checked_sub(places.len()) else {
        return push_texts(out, texts);
    };
    let own = texts.split_off(others);
    push_texts(out, texts)?;
    for (place, text) in places.iter_mut().zip(own) {
        let member = text_member(place);
        place[member] = Value::from(text);
    }
    push_element(out, &frame.members)
}

/// Whether a seal is an item of this format: the seals of others are no JSON objects.
fn is_reasoning(seal: &str) -> bool {
    let head: Option<ItemHeadIn<'_>> = serde_json::from_str(seal).ok();
    head.is_some_and(|head| head.r#type.as_deref() == Some("reasoning"))
}

const USER: UserShape = UserShape {
    push: push_user,
    picture: PictureShape {
        open: b"{\"type\":\"input_image\",\"detail\":\"auto\",\"image_url\":\"data:",
        between: b";base64,",
        close: b"\"}",
        text: "input_text",
    },
};

/// The longest function name that OpenAI takes.
const NAME_LIMIT_BYTES: usize = 64;

/// How the names of models begin that reason.
const SEALS_REASONING: &[&str] = &["gpt-5", "o1", "o3", "o4", "codex-", "computer-use", "grok-4", "grok-code"];

/// The exceptions among them.
const SEALS_NOTHING: &[&str] = &["gpt-5-chat", "gpt-5.1-chat", "gpt-5.2-chat"];

#[cfg(test)]
mod tests;
