//! Puts the events of a stream together to an answer.
//!
//! 1. The answer is complete at `message_stop` and not before.
//! 2. A call is complete when its block was closed, and when it was not the block that the output limit fell into.
//! 3. What is not known (events, deltas, stop reasons) is ignored or kept as it came, never an error.

use super::DIALECT;
use super::wire::{EventIn, MessageIn, PieceIn, StopIn, UsageIn};
use crate::failure::Detail;
use crate::frame::{Frame, without_nulls};
use crate::opaque::OpaqueBlock;
use crate::quick::{Quick, once};
use crate::reader::{Assemble, Broken, Heard, Progress};
use crate::wire::{count, piece, text};
use agent_core::llm::{Delta, LlmResponse, RawCall, ResponseBlock, StopReason, Usage};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::VecDeque;

/// An answer being put together.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    model: String,
    blocks: Vec<OpenBlock>,
    stop: Option<StopReason>,
    usage: Option<Usage>,
    ended: bool,
}

#[derive(Debug)]
struct OpenBlock {
    /// The server's number for it.
    index: Option<u64>,
    closed: bool,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Text {
        text: String,
        citations: Vec<Value>,
    },
    Thinking {
        text: String,
        signature: String,
    },
    Redacted(String),
    Call {
        id: String,
        name: String,
        json: String,
        /// The arguments stood in the block's start; pieces that follow repeat them.
        from_start: bool,
        caller: Option<Value>,
    },
    Opaque(OpaqueBlock),
}

impl Assemble for Assembly {
    fn event(&mut self, data: &[u8], deltas: &mut VecDeque<Delta>) -> Result<Heard, Broken> {
        if self.ended || data.is_empty() || data == b"[DONE]" {
            return Ok(Heard::Nothing);
        }
        if self.add_quick(data, deltas).is_some() {
            return Ok(Heard::Something);
        }
        self.event_in_full(data, deltas)
    }

    fn document(&mut self, json: &[u8]) -> Result<(), Broken> {
        let event: EventIn<'_> = serde_json::from_slice(json).map_err(malformed)?;
        if event.error.is_some() {
            return Err(reported(event.error, json));
        }
        let message: MessageIn<'_> = serde_json::from_slice(json).map_err(malformed)?;
        let Some(content) = &message.content else {
            return Err(Broken::Malformed("expected a message, found other JSON".to_owned()));
        };
        self.begin(&message);
        for block in content {
            let content = content_of(block)?;
            self.blocks.push(OpenBlock { index: None, closed: true, content });
        }
        self.stop = text(message.stop_reason).map(|reason| stop_reason(&reason));
        self.ended = true;
        Ok(())
    }

    fn progress(&self) -> Progress {
        if self.ended { Progress::Ended } else { Progress::Open }
    }

    fn finish(&mut self) -> LlmResponse {
        let stop = self.stop.take();
        let stop = stop.unwrap_or_else(|| StopReason::Other(String::new()));
        let was_cut = matches!(stop, StopReason::MaxTokens | StopReason::ContextWindow);
        let blocks = core::mem::take(&mut self.blocks);
        let last = blocks.len().saturating_sub(1);
        let blocks = blocks.into_iter().enumerate();
        LlmResponse {
            blocks: blocks.flat_map(|(position, block)| block.finish(was_cut, position == last)).flatten().collect(),
            stop,
            usage: self.usage,
            model: core::mem::take(&mut self.model),
        }
    }
}

impl Assembly {
    pub(crate) fn event_in_full(&mut self, data: &[u8], deltas: &mut VecDeque<Delta>) -> Result<Heard, Broken> {
        let event: EventIn<'_> = serde_json::from_slice(data).map_err(malformed)?;
        match event.r#type.as_deref() {
            Some("content_block_delta") => self.add(&event, deltas)?,
            Some("content_block_start") => self.open(&event, deltas)?,
            Some("content_block_stop") => {
                let index = count(event.index);
                if let Some(block) = self.find(index) {
                    block.closed = true;
                }
            }
            Some("message_start") => {
                let message = required(event.message, "message_start without a message")?;
                let message: MessageIn<'_> = serde_json::from_str(message.get()).map_err(malformed)?;
                self.begin(&message);
            }
            Some("message_delta") => {
                self.take_stop(event.delta);
                self.take_usage(event.usage);
            }
            Some("message_stop") => self.ended = true,
            Some("error") => return Err(reported(event.error, data)),
            // A gateway's own error.
            None if event.error.is_some() => return Err(reported(event.error, data)),
            // A ping, or what nobody knows yet.
            _ => return Ok(Heard::Nothing),
        }
        Ok(Heard::Something)
    }

    fn begin(&mut self, message: &MessageIn<'_>) {
        self.model = text(message.model).unwrap_or_default().into_owned();
        self.take_usage(message.usage);
    }

    fn open(&mut self, event: &EventIn<'_>, deltas: &mut VecDeque<Delta>) -> Result<(), Broken> {
        let block = required(event.content_block, "content_block_start without a block")?;
        let content = content_of(block)?;
        match &content {
            Content::Text { text, .. } => show(text, Delta::Text, deltas),
            Content::Thinking { text, .. } => show(text, Delta::Thinking, deltas),
            Content::Redacted(_) | Content::Call { .. } | Content::Opaque(_) => {}
        }
        self.blocks.push(OpenBlock { index: count(event.index), closed: false, content });
        Ok(())
    }

    /// What `event_in_full` would do, for the commonest events; nothing done and nothing given back for any other.
    fn add_quick(&mut self, data: &[u8], deltas: &mut VecDeque<Delta>) -> Option<()> {
        let (index, kind, piece) = quick_piece(data)?;
        let block = self.find(Some(index))?;
        match (&mut block.content, kind) {
            (Content::Text { text, .. }, b"text") => {
                text.push_str(&piece);
                show_owned(piece, Delta::Text, deltas);
            }
            (Content::Thinking { text, .. }, b"thinking") => {
                text.push_str(&piece);
                show_owned(piece, Delta::Thinking, deltas);
            }
            (Content::Call { json, from_start: false, .. }, b"partial_json") => json.push_str(&piece),
            _ => return None,
        }
        Some(())
    }

    fn add(&mut self, event: &EventIn<'_>, deltas: &mut VecDeque<Delta>) -> Result<(), Broken> {
        let raw = required(event.delta, "content_block_delta without a delta")?;
        let delta: PieceIn<'_> = serde_json::from_str(raw.get()).map_err(malformed)?;
        let Some(block) = self.find(count(event.index)) else {
            return Err(Broken::Malformed("a piece of a content block that was never started".to_owned()));
        };
        match &mut block.content {
            Content::Text { text: whole, citations } => {
                citations.extend(value_of(delta.citation));
                let piece = piece(delta.text).map_err(Broken::Malformed)?;
                whole.push_str(&piece);
                show(&piece, Delta::Text, deltas);
            }
            Content::Thinking { text: whole, signature } => {
                signature.push_str(&piece(delta.signature).map_err(Broken::Malformed)?);
                let piece = piece(delta.thinking).map_err(Broken::Malformed)?;
                whole.push_str(&piece);
                show(&piece, Delta::Thinking, deltas);
            }
            Content::Call { json, from_start, .. } => {
                let piece = piece(delta.partial_json).map_err(Broken::Malformed)?;
                if !piece.is_empty() && core::mem::take(from_start) {
                    json.clear();
                }
                json.push_str(&piece);
            }
            Content::Redacted(data) => data.push_str(&piece(delta.data).map_err(Broken::Malformed)?),
            Content::Opaque(block) => block.add(raw).map_err(malformed)?,
        }
        Ok(())
    }

    /// The block of this number: the newest, for gateways that give every block the same. Without a number, the last block.
    fn find(&mut self, index: Option<u64>) -> Option<&mut OpenBlock> {
        match index {
            None => self.blocks.last_mut(),
            Some(_) => self.blocks.iter_mut().rev().find(|block| block.index == index),
        }
    }

    fn take_stop(&mut self, delta: Option<&RawValue>) {
        let Some(Ok(delta)) = delta.map(|raw| serde_json::from_str::<StopIn<'_>>(raw.get())) else {
            return;
        };
        if let Some(reason) = text(delta.stop_reason) {
            self.stop = Some(stop_reason(&reason));
        }
    }

    /// Counts are cumulative: a later one replaces an earlier one. An input of nothing at all does not: it is what gateways send at the end
    /// when they do not repeat the input's counts.
    fn take_usage(&mut self, usage: Option<&RawValue>) {
        let Some(Ok(given)) = usage.map(|raw| serde_json::from_str::<UsageIn<'_>>(raw.get())) else {
            return;
        };
        let output = count(given.output_tokens);
        let inputs =
            [count(given.input_tokens), count(given.cache_read_input_tokens), count(given.cache_creation_input_tokens)];
        if output.is_none() && inputs == [None; 3] {
            return;
        }
        let usage = self.usage.get_or_insert_default();
        usage.output_tokens = output.unwrap_or(usage.output_tokens);
        if inputs.iter().flatten().all(|tokens| *tokens == 0) {
            return;
        }
        let fields = [&mut usage.input_tokens, &mut usage.cache_read_tokens, &mut usage.cache_write_tokens];
        for (field, given) in fields.into_iter().zip(inputs) {
            *field = given.unwrap_or(*field);
        }
    }
}

impl OpenBlock {
    /// The finished block and its frame; nothing for one that is empty or was cut beyond use.
    fn finish(self, answer_was_cut: bool, is_last: bool) -> [Option<ResponseBlock>; 2] {
        let frame = |of: &str, name: &str, value: Value| {
            Frame { of: of.to_owned(), members: Map::from_iter([(name.to_owned(), value)]) }.into_block(DIALECT)
        };
        match self.content {
            Content::Text { text, .. } if text.is_empty() => [None, None],
            Content::Text { text, citations } => {
                let is_framed = !citations.is_empty() && !text.trim().is_empty();
                let frame = is_framed.then(|| frame("text", "citations", Value::Array(citations)));
                [Some(ResponseBlock::Text(text)), frame.flatten()]
            }
            Content::Thinking { text, signature } => {
                let signature = (!signature.is_empty()).then_some(signature);
                [Some(ResponseBlock::Thinking { text, signature }), None]
            }
            Content::Redacted(data) => [Some(ResponseBlock::RedactedThinking { data }), None],
            Content::Call { id, name, json, caller, .. } => {
                // Arguments that look whole may have lost their end, or all of them: after a cut nobody can tell for the last block.
                let complete = self.closed && (!answer_was_cut || (!is_last && crate::wire::is_object(&json)));
                let call = ResponseBlock::Call(RawCall { id, name, arguments: json, complete });
                [Some(call), caller.and_then(|caller| frame("tool_use", "caller", caller))]
            }
            Content::Opaque(block) => {
                let json = block.finish();
                [json.map(|json| ResponseBlock::Opaque { dialect: DIALECT.to_owned(), json }), None]
            }
        }
    }
}

/// The content of a block as it starts, or of a whole one.
fn content_of(raw: &RawValue) -> Result<Content, Broken> {
    let block: PieceIn<'_> = serde_json::from_str(raw.get()).map_err(malformed)?;
    let owned = |raw: Option<&RawValue>| text(raw).unwrap_or_default().into_owned();
    Ok(match &*block.r#type {
        "text" => {
            let citations = match value_of(block.citations) {
                Some(Value::Array(citations)) => citations,
                _ => Vec::new(),
            };
            Content::Text { text: owned(block.text), citations }
        }
        "thinking" => Content::Thinking { text: owned(block.thinking), signature: owned(block.signature) },
        "redacted_thinking" => Content::Redacted(owned(block.data)),
        "tool_use" => {
            // A stream starts with an empty object here and then sends the arguments in pieces; a whole block has them.
            let json = match block.input.map(RawValue::get) {
                None | Some("{}") => String::new(),
                Some(json) => json.to_owned(),
            };
            let (id, name, caller) = (owned(block.id), owned(block.name), value_of(block.caller));
            Content::Call { id, name, from_start: !json.is_empty(), json, caller }
        }
        _ => Content::Opaque(OpaqueBlock::starting_as(raw).map_err(malformed)?),
    })
}

/// A value that is there, without nulls in it: the server refuses some of the nulls that it sends.
fn value_of(raw: Option<&RawValue>) -> Option<Value> {
    let value: Value = serde_json::from_str(raw?.get()).ok()?;
    (!value.is_null()).then(|| without_nulls(value))
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "end_turn" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" => StopReason::MaxTokens,
        "stop_sequence" => StopReason::StopSequence,
        "pause_turn" => StopReason::Paused,
        "refusal" => StopReason::Refusal,
        "model_context_window_exceeded" => StopReason::ContextWindow,
        other => StopReason::Other(other.to_owned()),
    }
}

/// The piece of an event that has nothing else in it: its block's number, the member that it stands in, and the text.
fn quick_piece(data: &[u8]) -> Option<(u64, &[u8], Cow<'_, str>)> {
    let mut event = Quick::of(data);
    let (mut kind, mut index, mut piece) = (None, None, None);
    event.object(|name, value| match name {
        b"type" => once(&mut kind, value.word()?),
        b"index" => once(&mut index, value.count()?),
        b"delta" => {
            let (mut kind, mut text) = (None, None);
            value.object(|name, value| match name {
                b"type" => once(&mut kind, value.word()?),
                b"text" | b"thinking" | b"partial_json" => once(&mut text, (name, value.text()?)),
                _ => None,
            })?;
            once(&mut piece, kind.and(text)?)
        }
        _ => None,
    })?;
    event.end()?;
    let (name, text) = piece?;
    (kind? == b"content_block_delta").then_some((index?, name, text))
}

fn show_owned(piece: Cow<'_, str>, delta: fn(String) -> Delta, deltas: &mut VecDeque<Delta>) {
    if !piece.is_empty() {
        deltas.push_back(delta(piece.into_owned()));
    }
}

fn show(piece: &str, delta: fn(String) -> Delta, deltas: &mut VecDeque<Delta>) {
    if !piece.is_empty() {
        deltas.push_back(delta(piece.to_owned()));
    }
}

fn required<'a>(raw: Option<&'a RawValue>, otherwise: &str) -> Result<&'a RawValue, Broken> {
    raw.ok_or_else(|| Broken::Malformed(otherwise.to_owned()))
}

/// The error object if there is one, else the event that should have had one.
fn reported(error: Option<&RawValue>, event: &[u8]) -> Broken {
    let json = error.map_or(event, |raw| raw.get().as_bytes());
    Broken::Reported(Detail::of_body(json))
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` passes")]
fn malformed(error: serde_json::Error) -> Broken {
    Broken::Malformed(format!("an event is not the JSON it should be ({error})"))
}

#[cfg(test)]
mod tests;
