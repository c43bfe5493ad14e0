//! Puts the events of a stream together to an answer.
//!
//! 1. The answer is complete at `response.completed` or `response.incomplete` and not before; `response.failed` is an error.
//! 2. The response object at the end is what counts: what was put together from pieces is used only where a server leaves its output out.
//! 3. A call is complete when its item is, and when it was not what the output limit fell into.
//! 4. Items and events that are not known are kept as they came or ignored, never an error.

use super::items::{Cut, blocks_of, blocks_of_piece, waiting_calls};
use super::wire::{EventIn, ItemHeadIn, ResponseIn, UsageIn};
use crate::failure::Detail;
use crate::opaque::readable;
use crate::reader::{Assemble, Broken, Heard, Progress};
use crate::seam::Seam;
use crate::wire::{count, is_done, output_tokens, overlapping_usage, text};
use agent_types::llm::{Delta, LlmResponse, ResponseBlock, StopReason, Usage};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::VecDeque;

/// An answer being put together.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    model: String,
    /// What has come of the items so far.
    open: Vec<OpenItem>,
    /// Of the pieces that belong to none.
    stray_seam: Seam,
    /// The items of the answer, once it is complete.
    output: Vec<Box<RawValue>>,
    stop: Option<StopReason>,
    usage: Option<Usage>,
    /// Most tokens the answer may have, where that is known.
    limit_tokens: Option<u64>,
}

/// An item that arrives in pieces.
#[derive(Debug)]
struct OpenItem {
    /// The server's number for it, and its name; some servers give only one of them.
    index: Option<u64>,
    id: String,
    start: Box<RawValue>,
    /// The text or the arguments, from pieces.
    grown: String,
    seam: Seam,
    done: Option<Box<RawValue>>,
}

impl Assemble for Assembly {
    fn event(&mut self, data: &[u8], deltas: &mut VecDeque<Delta>) -> Result<Heard, Broken> {
        if self.stop.is_some() || data.is_empty() || is_done(data) {
            return Ok(Heard::Nothing);
        }
        self.take(data, deltas)
    }

    fn document(&mut self, json: &[u8]) -> Result<(), Broken> {
        let response: ResponseIn<'_> = serde_json::from_slice(json).map_err(malformed)?;
        if response.error.is_some_and(|error| error.get() != "null") {
            return Err(reported(response.error, json));
        }
        if response.output.is_none() {
            return Err(Broken::Malformed("expected a response, found other JSON".to_owned()));
        }
        self.end(&response, json)
    }

    fn progress(&self) -> Progress {
        if self.stop.is_some() { Progress::Ended } else { Progress::Open }
    }

    fn finish(&mut self) -> LlmResponse {
        let mut stop = self.stop.take().unwrap_or_else(|| StopReason::Other(String::new()));
        let was_cut = matches!(stop, StopReason::MaxTokens | StopReason::Other(_));
        let (mut blocks, mut refused) = (Vec::new(), false);
        let last = self.output.len().saturating_sub(1);
        let waiting = waiting_calls(&self.output);
        for (position, (item, waits)) in self.output.drain(..).zip(waiting).enumerate() {
            let cut = match (was_cut, position == last) {
                (false, _) => Cut::No,
                (true, false) => Cut::Before,
                (true, true) => Cut::Here,
            };
            refused |= blocks_of(&item, cut, waits, &mut blocks);
        }
        for item in self.open.drain(..) {
            blocks_of_piece(&item.start, item.grown, &mut blocks);
        }
        if stop == StopReason::EndTurn {
            if refused {
                stop = StopReason::Refusal;
            } else if blocks.iter().any(|block| matches!(block, ResponseBlock::Call(_))) {
                stop = StopReason::ToolUse;
            }
        }
        LlmResponse { blocks, stop, usage: self.usage, model: core::mem::take(&mut self.model) }
    }
}

impl Assembly {
    /// An answer that may have so many tokens.
    pub(crate) fn within(limit_tokens: u32) -> Self {
        Self { limit_tokens: Some(u64::from(limit_tokens)), ..Self::default() }
    }

    fn take(&mut self, data: &[u8], deltas: &mut VecDeque<Delta>) -> Result<Heard, Broken> {
        let event: EventIn<'_> = serde_json::from_slice(data).map_err(malformed)?;
        match event.r#type.as_deref() {
            Some("response.output_text.delta" | "response.refusal.delta") => {
                self.grow(&event, Some(Delta::Text), deltas)?;
            }
            Some("response.reasoning_summary_text.delta" | "response.reasoning_text.delta") => {
                self.grow(&event, Some(Delta::Thinking), deltas)?;
            }
            Some("response.function_call_arguments.delta" | "response.custom_tool_call_input.delta") => {
                self.grow(&event, None, deltas)?;
            }
            Some("response.reasoning_summary_part.added") => {
                // Between two parts of a summary, as between two paragraphs.
                if count(event.summary_index).is_some_and(|index| index > 0) {
                    deltas.push_back(Delta::Thinking("\n\n".to_owned()));
                }
            }
            Some("response.output_item.added") => self.begin(&event)?,
            Some("response.output_item.done") => self.close(&event, deltas)?,
            Some("response.created" | "response.in_progress" | "response.queued") => {
                let response = response_of(event.response)?;
                let model = text(response.model).unwrap_or_default();
                if !model.is_empty() {
                    self.model = model.into_owned();
                }
                return Ok(if event.r#type.as_deref() == Some("response.created") {
                    Heard::Something
                } else {
                    Heard::Nothing
                });
            }
            Some("response.completed" | "response.incomplete" | "response.failed" | "response.cancelled") => {
                let response = response_of(event.response)?;
                self.end(&response, data)?;
            }
            Some("error") => return Err(reported(event.error, data)),
            // A gateway's own error.
            None if event.error.is_some_and(|error| error.get() != "null") => return Err(reported(event.error, data)),
            // What a tool of the server's own does.
            Some(other) if other.starts_with("response.") => {}
            _ => return Ok(Heard::Nothing),
        }
        Ok(Heard::Something)
    }

    fn begin(&mut self, event: &EventIn<'_>) -> Result<(), Broken> {
        let item = required(event.item, "output_item.added without an item")?;
        let head: ItemHeadIn<'_> = serde_json::from_str(item.get()).map_err(malformed)?;
        self.open.push(OpenItem {
            index: count(event.output_index),
            id: text(head.id).unwrap_or_default().into_owned(),
            start: item.to_owned(),
            grown: String::new(),
            seam: Seam::default(),
            done: None,
        });
        Ok(())
    }

    fn grow(
        &mut self,
        event: &EventIn<'_>,
        shown: Option<fn(String) -> Delta>,
        deltas: &mut VecDeque<Delta>,
    ) -> Result<(), Broken> {
        let (index, id) = (count(event.output_index), text(event.item_id).unwrap_or_default());
        let piece = self.seam(index, &id).piece(event.delta).map_err(Broken::Malformed)?;
        if piece.is_empty() {
            return Ok(());
        }
        // A piece of an item that was never announced is shown; the end of the answer brings it whole.
        if let Some(item) = self.find(index, &id) {
            item.grown.push_str(&piece);
        }
        deltas.extend(shown.map(|shown| shown(piece.into_owned())));
        Ok(())
    }

    /// Where the text of an item may be cut within a character.
    fn seam(&mut self, index: Option<u64>, id: &str) -> &mut Seam {
        match self.position(index, id).and_then(|position| self.open.get_mut(position)) {
            Some(item) => &mut item.seam,
            None => &mut self.stray_seam,
        }
    }

    /// Takes in a whole item. One whose text did not come in pieces is shown now.
    fn close(&mut self, event: &EventIn<'_>, deltas: &mut VecDeque<Delta>) -> Result<(), Broken> {
        let whole = required(event.item, "output_item.done without an item")?;
        let head: ItemHeadIn<'_> = serde_json::from_str(whole.get()).map_err(malformed)?;
        let id = text(head.id).unwrap_or_default();
        let index = count(event.output_index);
        if self.find(index, &id).is_none_or(|item| item.done.is_some()) {
            self.begin(event)?;
        }
        let Some(item) = self.find(index, &id) else { return Ok(()) };
        let is_message = head.r#type.as_deref() == Some("message");
        if is_message && item.grown.is_empty() {
            let mut blocks = Vec::new();
            blocks_of(whole, Cut::No, false, &mut blocks);
            let texts = blocks.into_iter().filter_map(|block| match block {
                ResponseBlock::Text(text) => Some(Delta::Text(text)),
                _ => None,
            });
            deltas.extend(texts);
        }
        item.done = Some(whole.to_owned());
        Ok(())
    }

    /// The item of this number or name; without either, the last one.
    fn find(&mut self, index: Option<u64>, id: &str) -> Option<&mut OpenItem> {
        let position = self.position(index, id)?;
        self.open.get_mut(position)
    }

    fn position(&self, index: Option<u64>, id: &str) -> Option<usize> {
        if index.is_some() {
            return self.open.iter().rposition(|item| item.index == index);
        }
        if id.is_empty() { self.open.len().checked_sub(1) } else { self.open.iter().rposition(|item| item.id == id) }
    }

    fn end(&mut self, response: &ResponseIn<'_>, json: &[u8]) -> Result<(), Broken> {
        let model = text(response.model).unwrap_or_default();
        if !model.is_empty() {
            self.model = model.into_owned();
        }
        self.usage = response.usage.and_then(usage_of).or(self.usage);
        let reason = response.incomplete_details.as_ref().and_then(|details| text(details.reason));
        let stop = match text(response.status).as_deref() {
            Some("failed" | "cancelled") => return Err(reported(response.error, json)),
            Some("incomplete") => incomplete(reason.as_deref().unwrap_or_default()),
            // llama-server calls an answer complete that its limit has cut: an answer of just so many tokens is taken for one.
            Some("completed") | None => match self.usage {
                Some(usage) if Some(usage.output_tokens) == self.limit_tokens => StopReason::MaxTokens,
                _ => StopReason::EndTurn,
            },
            Some(other) => return Err(Broken::Malformed(format!("the answer ended in the state `{other}`"))),
        };
        let output = response.output.as_deref().unwrap_or_default();
        if output.is_empty() {
            let pieces = self.open.iter().filter(|item| item.done.is_none());
            let seams = pieces.map(|item| item.seam.check_closed());
            seams.collect::<Result<(), _>>().map_err(Broken::Malformed)?;
        }
        let done = self.open.iter().filter(|_| output.is_empty()).filter_map(|item| item.done.as_deref());
        output.iter().copied().chain(done).try_for_each(readable).map_err(malformed)?;
        self.stop = Some(stop);
        if output.is_empty() {
            // Whole items first: what was not finished can only be the end.
            self.output = self.open.iter_mut().filter_map(|item| item.done.take()).collect();
            self.open
                .retain(|item| item.done.is_none() && self.output.iter().all(|done| !same_item(&item.start, done)));
        } else {
            self.output = output.iter().map(|item| (*item).to_owned()).collect();
            self.open.clear();
        }
        Ok(())
    }
}

fn same_item(one: &RawValue, other: &RawValue) -> bool {
    let id = |raw: &RawValue| {
        let head: Option<ItemHeadIn<'_>> = serde_json::from_str(raw.get()).ok();
        head.and_then(|head| text(head.id).map(Cow::into_owned))
    };
    id(one).is_some() && id(one) == id(other)
}

fn response_of(raw: Option<&RawValue>) -> Result<ResponseIn<'_>, Broken> {
    let raw = required(raw, "an event about the response does not contain it")?;
    serde_json::from_str(raw.get()).map_err(malformed)
}

/// Why an answer is not complete. Where no reason is given it was cut all the same.
fn incomplete(reason: &str) -> StopReason {
    match reason {
        "max_output_tokens" | "max_tokens" | "" => StopReason::MaxTokens,
        "content_filter" => StopReason::Refusal,
        other => StopReason::Other(other.to_owned()),
    }
}

/// The counts in parts that do not overlap: here the input includes tokens from the cache.
fn usage_of(raw: &RawValue) -> Option<Usage> {
    let given: UsageIn<'_> = serde_json::from_str(raw.get()).ok()?;
    let details = given.input_tokens_details.as_ref();
    let (input, output) = (count(given.input_tokens), count(given.output_tokens));
    let reasoning = given.output_tokens_details.as_ref().and_then(|details| count(details.reasoning_tokens));
    overlapping_usage(
        input,
        output_tokens(input, output, reasoning, count(given.total_tokens)),
        details.and_then(|details| count(details.cached_tokens)),
        details.and_then(|details| count(details.cache_write_tokens)),
    )
}

fn required<'a>(raw: Option<&'a RawValue>, otherwise: &str) -> Result<&'a RawValue, Broken> {
    raw.ok_or_else(|| Broken::Malformed(otherwise.to_owned()))
}

/// The error object if there is one, else the event that should have had one.
fn reported(error: Option<&RawValue>, event: &[u8]) -> Broken {
    let error = error.filter(|error| error.get() != "null");
    Broken::Reported(Detail::of_body(error.map_or(event, |raw| raw.get().as_bytes())))
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` passes")]
fn malformed(error: serde_json::Error) -> Broken {
    Broken::Malformed(format!("an event is not valid JSON of the expected form ({error})"))
}

#[cfg(test)]
mod tests;
