//! Puts the chunks of a stream together to an answer.
//!
//! 1. The answer is complete once a `finish_reason` has come; the token count may follow, `[DONE]` ends it and may be missing. Behind a
//!    text or a call, a `[DONE]` without a reason ends it too, for a reason unknown: there are servers that never give one.
//! 2. A call is complete when the answer ended for a reason that is no cut; without a reason, when its arguments are whole. After a cut,
//!    only calls before the last one can be.
//! 3. Thinking, text and calls are kept in this order, whatever the order of their pieces: the format has no other.

use super::calls::{Calls, Ending, join};
use super::details::Details;
use super::wire::{ChunkIn, MessageIn, PartIn, UsageIn};
use super::{DIALECT, MESSAGE_FRAME};
use crate::failure::Detail;
use crate::frame::{Frame, without_nulls};
use crate::reader::{Assemble, Broken, Heard, Progress};
use crate::seam::Seam;
use crate::wire::{count, is_done, output_tokens, overlapping_usage, text};
use agent_types::llm::{Delta, LlmResponse, ResponseBlock, StopReason, Usage};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
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
    seams: Seams,
    stop: Option<StopReason>,
    usage: Option<Usage>,
    ended: bool,
}

/// Where the texts of an answer may be cut within a character.
#[derive(Debug, Default)]
struct Seams {
    thinking: Seam,
    text: Seam,
    refusal: Seam,
}

/// How an answer comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Chunk,
    Document,
}

impl Assemble for Assembly {
    fn event(&mut self, data: &[u8], deltas: &mut VecDeque<Delta>) -> Result<Heard, Broken> {
        if self.ended || data.is_empty() {
            return Ok(Heard::Nothing);
        }
        if is_done(data) {
            return self.end();
        }
        self.take(data, deltas, Form::Chunk)
    }

    fn document(&mut self, json: &[u8]) -> Result<(), Broken> {
        self.take(json, &mut VecDeque::new(), Form::Document)?;
        // Some servers give no reason.
        if self.stop.is_none() && !self.says_something() {
            return Err(Broken::Malformed("expected a chat completion, found other JSON".to_owned()));
        }
        self.check_whole()?;
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
        let ending = match &stop {
            StopReason::MaxTokens => Ending::Cut,
            StopReason::Other(reason) if reason.is_empty() && self.ended => Ending::Unexplained,
            StopReason::Other(reason) if reason.is_empty() => Ending::Cut,
            _ => Ending::Whole,
        };
        let mut blocks = Vec::new();
        let signature = self.details.finish();
        if !self.thinking.is_empty() || signature.is_some() {
            blocks.push(ResponseBlock::Thinking { text: core::mem::take(&mut self.thinking), signature });
        }
        // Kept with the answer, and of no use with one that says nothing. Requests have a place for the seals in it only.
        let says_something = self.says_something();
        let members = core::mem::take(&mut self.extras);
        let frame = Frame { of: MESSAGE_FRAME.to_owned(), members };
        let frame = if says_something { frame.into_block(DIALECT) } else { None };
        if !self.text.is_empty() {
            blocks.push(ResponseBlock::Text(core::mem::take(&mut self.text)));
        }
        blocks.extend(frame);
        blocks.extend(self.calls.finish(ending));
        LlmResponse { blocks, stop, usage: self.usage, model: core::mem::take(&mut self.model) }
    }
}

impl Assembly {
    /// The server says that nothing follows.
    fn end(&mut self) -> Result<Heard, Broken> {
        if self.stop.is_none() {
            if !self.says_something() {
                return Err(Broken::Malformed("the answer ended before it was complete".to_owned()));
            }
            self.check_whole()?;
        }
        self.ended = true;
        Ok(Heard::Something)
    }

    /// Whether there is anything in the answer beside thinking, blanks, and what belongs to a text.
    fn says_something(&self) -> bool {
        let shows = ["images", "audio"].iter().any(|name| self.extras.contains_key(*name));
        shows || !self.text.trim().is_empty() || !self.calls.is_empty()
    }

    /// An error when a text lacks half of its last character.
    fn check_whole(&self) -> Result<(), Broken> {
        if self.calls.is_open() || self.details.is_open() {
            return Err(Broken::Malformed("a piece of text that ends within a character".to_owned()));
        }
        let Seams { thinking, text, refusal } = &self.seams;
        [thinking, text, refusal].iter().try_for_each(|seam| seam.check_closed()).map_err(Broken::Malformed)
    }

    fn take(&mut self, json: &[u8], deltas: &mut VecDeque<Delta>, form: Form) -> Result<Heard, Broken> {
        let chunk: ChunkIn<'_> = serde_json::from_slice(json)
            .map_err(|error| Broken::Malformed(format!("a chunk is not valid JSON of the expected form ({error})")))?;
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
        // Only one answer was asked for; a second would be mixed into it.
        let choices = chunk.choices.unwrap_or_default().into_iter();
        let choices = choices.filter(|choice| count(choice.index).is_none_or(|index| index == 0));
        let mut usage = chunk.usage.and_then(usage_of);
        for choice in choices {
            usage = usage.or_else(|| usage_of(choice.usage?));
            let message = match form {
                // A stream's last chunk may repeat the whole in `message`.
                Form::Chunk => choice.delta.or(choice.message),
                Form::Document => choice.message.or(choice.delta),
            };
            if let Some(message) = message {
                let before = deltas.len();
                self.add(&message, deltas, form)?;
                if deltas.len() > before || message.says_more() {
                    heard = Heard::Something;
                }
            }
            if let Some(reason) = text(choice.finish_reason).filter(|reason| !reason.is_empty()) {
                let stop = stop_reason(&reason)?;
                self.check_whole()?;
                self.stop = Some(stop);
                heard = Heard::Something;
            }
        }
        // Servers that count along repeat it in every chunk, with or without something to count.
        if usage.is_some() && self.usage != usage {
            self.usage = usage;
            heard = Heard::Something;
        }
        Ok(heard)
    }

    fn add(&mut self, piece: &MessageIn<'_>, deltas: &mut VecDeque<Delta>, form: Form) -> Result<(), Broken> {
        self.add_thinking(piece, deltas).map_err(Broken::Malformed)?;
        self.add_text(piece, deltas).map_err(Broken::Malformed)?;
        for (name, extra) in [("annotations", piece.annotations), ("images", piece.images), ("audio", piece.audio)] {
            self.keep_extra(name, extra);
        }
        for (name, seal) in [("extra_content", piece.extra_content), ("thought_signature", piece.thought_signature)] {
            if let Some(Ok(seal)) = seal.map(|raw| serde_json::from_str(raw.get())) {
                join(&mut self.extras, name, seal);
            }
        }
        let calls = piece.tool_calls.as_deref().unwrap_or_default();
        self.calls.add(calls, form == Form::Document).map_err(Broken::Malformed)?;
        self.calls.add_legacy(piece.function_call).map_err(Broken::Malformed)
    }

    fn add_thinking(&mut self, piece: &MessageIn<'_>, deltas: &mut VecDeque<Delta>) -> Result<(), String> {
        // Servers that have more than one of these write the same in each.
        let spelt = [piece.reasoning_content, piece.reasoning].into_iter().flatten();
        if let Some(raw) = spelt.into_iter().find(|raw| is_text(raw) && raw.get() != "\"\"") {
            let reasoning = self.seams.thinking.piece(Some(raw))?;
            self.think(&reasoning, deltas);
        } else {
            self.think_in_parts(piece.reasoning_details, deltas)?;
        }
        self.details.add(piece.reasoning_details)
    }

    /// All texts in a list of parts.
    fn think_in_parts(&mut self, parts: Option<&RawValue>, deltas: &mut VecDeque<Delta>) -> Result<(), String> {
        for part in parts_of(parts) {
            if let Some(raw) = part.text.filter(|raw| is_text(raw)) {
                let thinking = self.seams.thinking.piece(Some(raw))?;
                self.think(&thinking, deltas);
            }
        }
        Ok(())
    }

    fn add_text(&mut self, piece: &MessageIn<'_>, deltas: &mut VecDeque<Delta>) -> Result<(), String> {
        if let Some(raw) = piece.content.filter(|raw| is_text(raw)) {
            let content = self.seams.text.piece(Some(raw))?;
            self.say(&content, deltas);
        } else {
            for part in parts_of(piece.content) {
                match part.thinking {
                    Some(raw) if is_text(raw) => {
                        let thinking = self.seams.thinking.piece(Some(raw))?;
                        self.think(&thinking, deltas);
                    }
                    parts => self.think_in_parts(parts, deltas)?,
                }
                if let Some(raw) = part.text.filter(|raw| is_text(raw)) {
                    let content = self.seams.text.piece(Some(raw))?;
                    self.say(&content, deltas);
                }
            }
        }
        if let Some(raw) = piece.refusal.filter(|raw| is_text(raw) && raw.get() != "\"\"") {
            self.refused = true;
            let refusal = self.seams.refusal.piece(Some(raw))?;
            self.say(&refusal, deltas);
        }
        Ok(())
    }

    /// Lists grow; of anything else the last counts.
    fn keep_extra(&mut self, name: &str, extra: Option<&RawValue>) {
        let extra = extra
            .and_then(|raw| serde_json::from_str(raw.get()).ok())
            .map_or(Value::Null, |value| without_nulls(value, &[]));
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

/// The parts of a list; none for anything else.
fn parts_of(raw: Option<&RawValue>) -> Vec<PartIn<'_>> {
    let parts = raw.map(|raw| serde_json::from_str(raw.get()));
    parts.and_then(Result::ok).unwrap_or_default()
}

/// Whether a value is a string, readable or not.
fn is_text(raw: &RawValue) -> bool {
    raw.get().starts_with('"')
}

/// The stop reason, or the failure that some servers report in its place.
fn stop_reason(reason: &str) -> Result<StopReason, Broken> {
    // Servers and what comes before them say some of them in their own words, and in capital letters.
    Ok(match &*reason.to_ascii_lowercase() {
        "stop" | "eos" | "eos_token" | "stop_sequence" | "end_turn" | "end" | "complete" | "completed" => {
            StopReason::EndTurn
        }
        "tool_calls" | "function_call" | "tool_use" => StopReason::ToolUse,
        "length" | "model_length" | "max_tokens" | "max_length" => StopReason::MaxTokens,
        "content_filter" => StopReason::Refusal,
        "error" | "abort" | "insufficient_system_resource" => {
            return Err(Broken::Reported(Detail { kind: reason.to_owned(), ..Detail::default() }));
        }
        _ => StopReason::Other(reason.to_owned()),
    })
}

/// The counts in parts that do not overlap: here the prompt includes tokens from the cache.
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
    let reasoning = reasoning.and_then(|details| count(details.reasoning_tokens));
    let output = output_tokens(prompt, completion, reasoning, count(given.total_tokens));
    overlapping_usage(prompt, output, cache_read, cache_write)
}

#[cfg(test)]
mod tests;
