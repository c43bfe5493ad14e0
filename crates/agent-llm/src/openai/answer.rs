//! Puts the chunks of a stream together to an answer.
//!
//! 1. The answer is complete once a `finish_reason` has come; the token count may follow, `[DONE]` ends it and may be missing. A `[DONE]`
//!    without a reason ends it too, for a reason unknown: there are servers that never give one.
//! 2. A call is complete when the answer ended for a reason that is no cut. After a cut, or without a reason, only calls before the last one
//!    can be, if their arguments are whole.
//! 3. Thinking, text and calls are kept in this order, whatever the order of their pieces: the format has no other.

use super::DIALECT;
use super::calls::Calls;
use super::details::Details;
use super::wire::{ChunkIn, MessageIn, PartIn, UsageIn};
use crate::failure::Detail;
use crate::frame::{Frame, without_nulls};
use crate::quick::{Quick, once};
use crate::reader::{Assemble, Broken, Heard, Progress};
use crate::wire::{count, overlapping_usage, text};
use agent_core::llm::{Delta, LlmResponse, ResponseBlock, StopReason, Usage};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::VecDeque;

/// An answer being put together.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    model: String,
    thinking: String,
    details: Details,
    text: String,
    /// What a message has beside texts and calls.
    extras: Map<String, Value>,
    /// The model said why it refuses.
    refused: bool,
    calls: Calls,
    stop: Option<StopReason>,
    usage: Option<Usage>,
    ended: bool,
}

impl Assemble for Assembly {
    fn event(&mut self, data: &[u8], deltas: &mut VecDeque<Delta>) -> Result<Heard, Broken> {
        if self.ended || data.is_empty() {
            return Ok(Heard::Nothing);
        }
        if data == b"[DONE]" {
            self.ended = true;
            return Ok(Heard::Something);
        }
        if self.take_quick(data, deltas).is_some() {
            return Ok(Heard::Something);
        }
        self.take(data, deltas)
    }

    fn document(&mut self, json: &[u8]) -> Result<(), Broken> {
        self.take(json, &mut VecDeque::new())?;
        if self.stop.is_none() {
            return Err(Broken::Malformed("expected a chat completion, found other JSON".to_owned()));
        }
        self.ended = true;
        Ok(())
    }

    fn progress(&self) -> Progress {
        match &self.stop {
            _ if self.ended => Progress::Ended,
            Some(_) => Progress::Enough,
            None => Progress::Open,
        }
    }

    fn finish(&mut self) -> LlmResponse {
        let stop = self.stop.take();
        let mut stop = stop.unwrap_or_else(|| StopReason::Other(String::new()));
        if stop == StopReason::EndTurn {
            // Servers say `stop` for these too.
            if self.refused {
                stop = StopReason::Refusal;
            } else if !self.calls.is_empty() {
                stop = StopReason::ToolUse;
            }
        }
        let may_be_cut = match &stop {
            StopReason::MaxTokens => true,
            StopReason::Other(reason) => reason.is_empty(),
            _ => false,
        };
        let mut blocks = Vec::new();
        let signature = self.details.finish();
        if !self.thinking.is_empty() || signature.is_some() {
            blocks.push(ResponseBlock::Thinking { text: core::mem::take(&mut self.thinking), signature });
        }
        if !self.text.is_empty() {
            blocks.push(ResponseBlock::Text(core::mem::take(&mut self.text)));
        }
        // Kept with the answer; requests have no place for it in this format.
        let frame = Frame { of: "message".to_owned(), members: core::mem::take(&mut self.extras) };
        blocks.extend(frame.into_block(DIALECT));
        blocks.extend(self.calls.finish(may_be_cut).map(ResponseBlock::Call));
        LlmResponse { blocks, stop, usage: self.usage, model: core::mem::take(&mut self.model) }
    }
}

impl Assembly {
    /// What `take` would do, for the commonest chunk; nothing done and nothing given back for any other.
    fn take_quick(&mut self, json: &[u8], deltas: &mut VecDeque<Delta>) -> Option<()> {
        // The first chunk says which model answers.
        if self.model.is_empty() {
            return None;
        }
        let (is_thinking, piece) = quick_piece(json)?;
        if piece.is_empty() {
            return None;
        }
        if is_thinking {
            self.thinking.push_str(&piece);
            deltas.push_back(Delta::Thinking(piece.into_owned()));
        } else {
            self.text.push_str(&piece);
            deltas.push_back(Delta::Text(piece.into_owned()));
        }
        Some(())
    }

    pub(crate) fn take(&mut self, json: &[u8], deltas: &mut VecDeque<Delta>) -> Result<Heard, Broken> {
        let chunk: ChunkIn<'_> = serde_json::from_slice(json)
            .map_err(|error| Broken::Malformed(format!("a chunk is not the JSON it should be ({error})")))?;
        if let Some(error) = chunk.error {
            return Err(Broken::Reported(Detail::of_body(error.get().as_bytes())));
        }
        if text(chunk.object).as_deref() == Some("error") {
            return Err(Broken::Reported(Detail::of_body(json)));
        }
        if self.model.is_empty() {
            self.model = text(chunk.model).unwrap_or_default().into_owned();
        }
        let mut heard = Heard::Nothing;
        if let Some(usage) = chunk.usage.and_then(usage_of) {
            // Servers that count along repeat it in every chunk, with or without something to count.
            if self.usage != Some(usage) {
                heard = Heard::Something;
            }
            self.usage = Some(usage);
        }
        for choice in chunk.choices.unwrap_or_default() {
            // Only one answer was asked for; a second would be mixed into it.
            if count(choice.index).is_some_and(|index| index > 0) {
                continue;
            }
            // A stream's last chunk may repeat the whole in `message`.
            if let Some(message) = choice.delta.or(choice.message) {
                let before = deltas.len();
                self.add(&message, deltas)?;
                if deltas.len() > before || message.says_more() {
                    heard = Heard::Something;
                }
            }
            if let Some(reason) = text(choice.finish_reason).filter(|reason| !reason.is_empty()) {
                self.stop = Some(stop_reason(&reason)?);
                heard = Heard::Something;
            }
        }
        Ok(heard)
    }

    fn add(&mut self, piece: &MessageIn<'_>, deltas: &mut VecDeque<Delta>) -> Result<(), Broken> {
        for raw in [piece.content, piece.reasoning_content, piece.reasoning, piece.refusal] {
            // Half a character that was cut between two events must not be left out as if it had not been there.
            if raw.is_some_and(|raw| raw.get().starts_with('"')) && text(raw).is_none() {
                return Err(Broken::Malformed("a piece of text that is no text".to_owned()));
            }
        }
        // Servers that have more than one of these write the same in each.
        let reasoning = text(piece.reasoning_content)
            .or_else(|| text(piece.reasoning))
            .unwrap_or_else(|| Cow::Owned(texts_of(piece.reasoning_details)));
        self.think(&reasoning, deltas);
        self.details.add(piece.reasoning_details);
        if let Some(content) = text(piece.content) {
            self.say(&content, deltas);
        } else {
            for part in parts_of(piece.content) {
                let thinking = text(part.thinking);
                let thinking = thinking.unwrap_or_else(|| Cow::Owned(texts_of(part.thinking)));
                self.think(&thinking, deltas);
                self.say(&text(part.text).unwrap_or_default(), deltas);
            }
        }
        if let Some(refusal) = text(piece.refusal).filter(|refusal| !refusal.is_empty()) {
            self.refused = true;
            self.say(&refusal, deltas);
        }
        for (name, extra) in [("annotations", piece.annotations), ("images", piece.images), ("audio", piece.audio)] {
            self.keep_extra(name, extra);
        }
        for call in piece.tool_calls.iter().flatten() {
            self.calls.add(call);
        }
        Ok(())
    }

    /// Lists grow; of anything else the last counts.
    fn keep_extra(&mut self, name: &str, extra: Option<&RawValue>) {
        let extra = extra.and_then(|raw| serde_json::from_str(raw.get()).ok()).map_or(Value::Null, without_nulls);
        match (self.extras.get_mut(name), extra) {
            (_, Value::Null) => {}
            (_, Value::Array(more)) if more.is_empty() => {}
            (Some(Value::Array(all)), Value::Array(more)) => all.extend(more),
            (_, extra) => {
                self.extras.insert(name.to_owned(), extra);
            }
        }
    }

    fn say(&mut self, piece: &str, deltas: &mut VecDeque<Delta>) {
        if !piece.is_empty() {
            self.text.push_str(piece);
            deltas.push_back(Delta::Text(piece.to_owned()));
        }
    }

    fn think(&mut self, piece: &str, deltas: &mut VecDeque<Delta>) {
        if !piece.is_empty() {
            self.thinking.push_str(piece);
            deltas.push_back(Delta::Thinking(piece.to_owned()));
        }
    }
}

/// The piece of a chunk that has nothing else in it: whether it is thinking, and the text.
fn quick_piece(json: &[u8]) -> Option<(bool, Cow<'_, str>)> {
    let mut chunk = Quick::of(json);
    let mut piece = None;
    chunk.object(|name, value| match name {
        b"choices" => once(&mut piece, value.only(quick_choice)?),
        // An error may say so here, and only here.
        b"object" => (value.word()? == b"chat.completion.chunk").then_some(()),
        b"usage" | b"error" => value.null().then_some(()),
        _ => value.skip(),
    })?;
    chunk.end()?;
    piece
}

fn quick_choice<'a>(choice: &mut Quick<'a>) -> Option<(bool, Cow<'a, str>)> {
    let mut piece = None;
    choice.object(|name, value| match name {
        b"delta" => {
            let mut text = None;
            value.object(|name, value| match name {
                _ if value.null() => Some(()),
                b"content" => once(&mut text, (false, value.text()?)),
                b"reasoning_content" => once(&mut text, (true, value.text()?)),
                b"role" => value.skip(),
                _ => None,
            })?;
            once(&mut piece, text?)
        }
        b"index" => (value.count()? == 0).then_some(()),
        b"finish_reason" => value.null().then_some(()),
        b"message" => None,
        _ => value.skip(),
    })?;
    piece
}

/// The parts of a list; none for anything else.
fn parts_of(raw: Option<&RawValue>) -> Vec<PartIn<'_>> {
    let parts = raw.map(|raw| serde_json::from_str(raw.get()));
    parts.and_then(Result::ok).unwrap_or_default()
}

/// All texts in a list of parts.
fn texts_of(raw: Option<&RawValue>) -> String {
    let parts = parts_of(raw);
    let texts: Vec<Cow<'_, str>> = parts.iter().filter_map(|part| text(part.text)).collect();
    texts.concat()
}

/// The stop reason, or the failure that some servers report in its place.
fn stop_reason(reason: &str) -> Result<StopReason, Broken> {
    Ok(match reason {
        "stop" | "eos" => StopReason::EndTurn,
        "tool_calls" | "function_call" => StopReason::ToolUse,
        "length" | "model_length" | "max_tokens" => StopReason::MaxTokens,
        "content_filter" => StopReason::Refusal,
        "error" | "insufficient_system_resource" => {
            return Err(Broken::Reported(Detail { kind: reason.to_owned(), ..Detail::default() }));
        }
        other => StopReason::Other(other.to_owned()),
    })
}

/// The counts in parts that do not overlap: here the prompt includes what came from the cache.
fn usage_of(raw: &RawValue) -> Option<Usage> {
    let given: UsageIn<'_> = serde_json::from_str(raw.get()).ok()?;
    let prompt = count(given.prompt_tokens);
    let completion = count(given.completion_tokens);
    if prompt.is_none() && completion.is_none() {
        return None;
    }
    let details = given.prompt_tokens_details.as_ref();
    let cache_read =
        details.and_then(|details| count(details.cached_tokens)).or_else(|| count(given.prompt_cache_hit_tokens));
    let cache_write = details.and_then(|details| count(details.cache_write_tokens));
    let reasoning = given.completion_tokens_details.as_ref();
    let reasoning = reasoning.and_then(|details| count(details.reasoning_tokens)).unwrap_or(0);
    // Some servers count reasoning beside the completion; their total tells.
    let with_reasoning = completion.unwrap_or(0).saturating_add(reasoning);
    let counted_apart = count(given.total_tokens) == prompt.unwrap_or(0).checked_add(with_reasoning);
    let output = if counted_apart { Some(with_reasoning) } else { completion };
    overlapping_usage(prompt, output, cache_read, cache_write)
}

#[cfg(test)]
mod tests;
