//! Puts the events of a stream together to an answer.
//!
//! 1. The answer is complete at `message_stop` and not before.
//! 2. A call is complete when its block was closed, and when it was not the block that the output limit fell into.
//! 3. What is not known (events, deltas, stop reasons) is ignored or kept as it came, never an error.

use super::wire::{EventIn, MessageIn, PieceIn, StopIn, UsageIn};
use super::{CONTAINER, DIALECT, MESSAGE_FRAME, server_tools};
use crate::failure::Detail;
use crate::frame::{Frame, without_nulls};
use crate::opaque::OpaqueBlock;
use crate::reader::{Assemble, Broken, Heard, Progress};
use crate::seam::Seam;
use crate::wire::{count, is_done, text};
use agent_types::llm::{Delta, LlmResponse, RawCall, ResponseBlock, StopReason, Usage};
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
    /// Where the server runs code.
    container: Option<Value>,
    ended: bool,
}

#[derive(Debug)]
struct OpenBlock {
    /// The server's number for it.
    index: Option<u64>,
    closed: bool,
    content: Content,
    seam: Seam,
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
        if self.ended || data.is_empty() || is_done(data) {
            return Ok(Heard::Nothing);
        }
        self.take(data, deltas)
    }

    fn document(&mut self, json: &[u8]) -> Result<(), Broken> {
        let event: EventIn<'_> = serde_json::from_slice(json).map_err(malformed)?;
        if event.error.is_some() {
            return Err(reported(event.error, json));
        }
        let message: MessageIn<'_> = serde_json::from_slice(json).map_err(malformed)?;
        if message.content.is_none() {
            return Err(Broken::Malformed("expected a message, found other JSON".to_owned()));
        }
        self.begin(&message, &mut VecDeque::new())?;
        self.check_stop()?;
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
        let blocks = blocks.flat_map(|(position, block)| block.finish(was_cut, position == last)).flatten();
        let mut blocks: Vec<ResponseBlock> = blocks.collect();
        if was_cut {
            server_tools::drop_open(&mut blocks);
        }
        // With an answer that says nothing, it is of no use.
        let says_something = |block: &ResponseBlock| match block {
            ResponseBlock::Text(text) => !text.trim().is_empty(),
            other => matches!(other, ResponseBlock::Call(_)),
        };
        if blocks.iter().any(says_something) {
            let members = self.container.take().map(|container| (CONTAINER.to_owned(), container));
            let frame = Frame { of: MESSAGE_FRAME.to_owned(), members: members.into_iter().collect() };
            blocks.extend(frame.into_block(DIALECT));
        }
        LlmResponse { blocks, stop, usage: self.usage, model: core::mem::take(&mut self.model) }
    }
}

impl Assembly {
    fn take(&mut self, data: &[u8], deltas: &mut VecDeque<Delta>) -> Result<Heard, Broken> {
        let event: EventIn<'_> = serde_json::from_slice(data).map_err(malformed)?;
        match event.r#type.as_deref() {
            Some("content_block_delta") => self.add(&event, deltas)?,
            Some("content_block_start") => self.open(&event, deltas)?,
            Some("content_block_stop") => {
                let index = count(event.index);
                if let Some(block) = self.find(index) {
                    block.seam.check_closed().map_err(Broken::Malformed)?;
                    block.closed = true;
                }
            }
            Some("message_start") => {
                let message = required(event.message, "message_start without a message")?;
                let message: MessageIn<'_> = serde_json::from_str(message.get()).map_err(malformed)?;
                self.begin(&message, deltas)?;
            }
            Some("message_delta") => {
                self.take_stop(event.delta);
                self.take_usage(event.usage);
            }
            Some("message_stop") => {
                let seams = self.blocks.iter().map(|block| block.seam.check_closed());
                seams.collect::<Result<(), _>>().map_err(Broken::Malformed)?;
                self.check_stop()?;
                self.ended = true;
            }
            Some("error") => return Err(reported(event.error, data)),
            // A gateway's own error.
            None if event.error.is_some() => return Err(reported(event.error, data)),
            // A ping, or an event of a later protocol.
            _ => return Ok(Heard::Nothing),
        }
        Ok(Heard::Something)
    }

    /// Takes in a message: the whole answer, or the beginning of one. A server that continues code of the model may send whole blocks
    /// there, and even the end.
    fn begin(&mut self, message: &MessageIn<'_>, deltas: &mut VecDeque<Delta>) -> Result<(), Broken> {
        self.model = text(message.model).unwrap_or_default().into_owned();
        self.take_usage(message.usage);
        self.take_container(message.container);
        for block in message.content.iter().flatten() {
            self.push(None, block, deltas)?;
            if let Some(block) = self.blocks.last_mut() {
                block.seam.check_closed().map_err(Broken::Malformed)?;
                block.closed = true;
            }
        }
        self.stop = said(message.stop_reason);
        Ok(())
    }

    /// Every whole message of this protocol says why it ended. Without that, a text may be incomplete; calls are whole by themselves.
    fn check_stop(&self) -> Result<(), Broken> {
        let has_calls = self.blocks.iter().any(|block| matches!(block.content, Content::Call { .. }));
        match self.stop {
            None if !has_calls => Err(Broken::Malformed("a whole message without a `stop_reason`".to_owned())),
            None | Some(_) => Ok(()),
        }
    }

    fn open(&mut self, event: &EventIn<'_>, deltas: &mut VecDeque<Delta>) -> Result<(), Broken> {
        let block = required(event.content_block, "content_block_start without a block")?;
        self.push(count(event.index), block, deltas)
    }

    fn push(&mut self, index: Option<u64>, block: &RawValue, deltas: &mut VecDeque<Delta>) -> Result<(), Broken> {
        let mut seam = Seam::default();
        let content = content_of(block, &mut seam)?;
        match &content {
            Content::Text { text, .. } => show(text, Delta::Text, deltas),
            Content::Thinking { text, .. } => show(text, Delta::Thinking, deltas),
            Content::Redacted(_) | Content::Call { .. } | Content::Opaque(_) => {}
        }
        self.blocks.push(OpenBlock { index, closed: false, content, seam });
        Ok(())
    }

    fn take_container(&mut self, container: Option<&RawValue>) {
        let container = container.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
        self.container = container.filter(Value::is_object).or_else(|| self.container.take());
    }

    fn add(&mut self, event: &EventIn<'_>, deltas: &mut VecDeque<Delta>) -> Result<(), Broken> {
        let raw = required(event.delta, "content_block_delta without a delta")?;
        let delta: PieceIn<'_> = serde_json::from_str(raw.get()).map_err(malformed)?;
        let Some(block) = self.find(count(event.index)) else {
            return Err(Broken::Malformed("a piece of a content block that has not started".to_owned()));
        };
        let OpenBlock { content, seam, .. } = block;
        let mut piece = |raw| seam.piece(raw).map_err(Broken::Malformed);
        match content {
            Content::Text { text: whole, citations } => {
                citations.extend(value_of(delta.citation)?);
                let piece = piece(delta.text)?;
                whole.push_str(&piece);
                show(&piece, Delta::Text, deltas);
            }
            Content::Thinking { text: whole, signature } => {
                let thinking = piece(delta.thinking)?;
                whole.push_str(&thinking);
                show(&thinking, Delta::Thinking, deltas);
                signature.push_str(&piece(delta.signature)?);
            }
            Content::Call { json, from_start, .. } => {
                let piece = piece(delta.partial_json)?;
                if !piece.is_empty() && core::mem::take(from_start) {
                    json.clear();
                }
                json.push_str(&piece);
            }
            Content::Redacted(data) => data.push_str(&piece(delta.data)?),
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
        self.take_container(delta.container);
        if let Some(reason) = said(delta.stop_reason) {
            self.stop = Some(reason);
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
                // Arguments that look whole may have lost their end, or all of them: after a cut this is unknown for the last block.
                let complete = self.closed && (!answer_was_cut || (!is_last && crate::wire::is_whole(&json)));
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
fn content_of(raw: &RawValue, seam: &mut Seam) -> Result<Content, Broken> {
    let block: PieceIn<'_> = serde_json::from_str(raw.get()).map_err(malformed)?;
    let mut said = |raw| seam.piece(raw).map(Cow::into_owned).map_err(Broken::Malformed);
    let owned = |raw: Option<&RawValue>| text(raw).unwrap_or_default().into_owned();
    Ok(match &*block.r#type {
        "text" => {
            let citations = match value_of(block.citations)? {
                Some(Value::Array(citations)) => citations,
                _ => Vec::new(),
            };
            Content::Text { text: said(block.text)?, citations }
        }
        "thinking" => Content::Thinking { text: said(block.thinking)?, signature: owned(block.signature) },
        "redacted_thinking" => Content::Redacted(owned(block.data)),
        "tool_use" => {
            // A stream starts with an empty object here and then sends the arguments in pieces; a whole block has them.
            let json = match block.input.map(RawValue::get) {
                None | Some("{}" | "null") => String::new(),
                Some(json) => json.to_owned(),
            };
            let (id, name, caller) = (owned(block.id), owned(block.name), value_of(block.caller)?);
            Content::Call { id, name, from_start: !json.is_empty(), json, caller }
        }
        _ => Content::Opaque(OpaqueBlock::starting_as(raw).map_err(malformed)?),
    })
}

/// A value that is there, without most nulls in it: the server refuses some of the nulls that it sends.
fn value_of(raw: Option<&RawValue>) -> Result<Option<Value>, Broken> {
    let Some(raw) = raw else { return Ok(None) };
    let value: Value = serde_json::from_str(raw.get()).map_err(malformed)?;
    Ok((!value.is_null()).then(|| without_nulls(value, REQUIRED_NULLS)))
}

/// Why a message ended. An empty word says as little as none.
fn said(raw: Option<&RawValue>) -> Option<StopReason> {
    text(raw).filter(|reason| !reason.trim().is_empty()).map(|reason| stop_reason(&reason))
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

fn show(piece: &str, delta: fn(String) -> Delta, deltas: &mut VecDeque<Delta>) {
    if !piece.is_empty() {
        deltas.push_back(delta(piece.to_owned()));
    }
}

fn required<'a>(raw: Option<&'a RawValue>, otherwise: &str) -> Result<&'a RawValue, Broken> {
    raw.ok_or_else(|| Broken::Malformed(otherwise.to_owned()))
}

/// Members of what goes back that a request must have, null or not: the titles in citations. Of all members of messages, they are the only
/// ones by the types of the official client (anthropic 2.12, beta included).
const REQUIRED_NULLS: &[&str] = &["document_title", "title"];

/// The error object if there is one, else the event that should have had one.
fn reported(error: Option<&RawValue>, event: &[u8]) -> Broken {
    let json = error.map_or(event, |raw| raw.get().as_bytes());
    Broken::Reported(Detail::of_body(json))
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` passes")]
fn malformed(error: serde_json::Error) -> Broken {
    Broken::Malformed(format!("an event is not valid JSON of the expected form ({error})"))
}

#[cfg(test)]
mod tests;
