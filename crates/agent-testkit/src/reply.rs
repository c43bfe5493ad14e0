//! One answer of a scripted model: what it says, what it costs, and how it trickles in.

use agent_core::llm::{Delta, LlmResponse, RawCall, ResponseBlock, StopReason, Usage};
use serde_json::Value;
use std::time::Duration;

/// One answer of a scripted model, for [`ScriptedProvider`](crate::ScriptedProvider) and
/// [`ScriptedServer`](crate::http::ScriptedServer) alike.
///
/// ```
/// # use agent_testkit::Reply;
/// # use serde_json::json;
/// let reply = Reply::new()
///     .text("I'll look at both files.")
///     .call("read_file", json!({"path": "a.rs"}))
///     .call("read_file", json!({"path": "b.rs"}))
///     .pieces_of(8);
/// ```
///
/// Unless told otherwise it stops with [`StopReason::ToolUse`] when it has calls and with [`StopReason::EndTurn`] when not, costs
/// [`DEFAULT_USAGE`], names [`DEFAULT_MODEL`], and comes in one piece a block without delay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    parts: Vec<Part>,
    stop: Option<StopReason>,
    usage: UsageReport,
    model: Option<String>,
    piece_chars: Option<usize>,
    first_delay: Duration,
    piece_delay: Duration,
}

/// A block whose call id may still be open.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Block(ResponseBlock),
    Call { name: String, arguments: String },
}

#[derive(Clone, Debug, Default, PartialEq)]
enum UsageReport {
    #[default]
    Usual,
    Exactly(Usage),
    Missing,
}

impl Reply {
    /// An empty answer, which a session must find unusable; add blocks to it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text block.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.block(ResponseBlock::Text(text.into()))
    }

    /// Adds a block of reasoning, sealed with a made-up signature.
    #[must_use]
    pub fn thinking(self, text: impl Into<String>) -> Self {
        self.block(ResponseBlock::Thinking { text: text.into(), signature: Some(String::from("c2lnbmVk")) })
    }

    /// Adds a call with arguments as a model sends them. Its id is unique in the script: `call_3_0` is the first block of the third
    /// answer (for a provider: of the answer to the third request).
    #[must_use]
    pub fn call(mut self, name: impl Into<String>, arguments: impl Into<Value>) -> Self {
        self.parts.push(Part::Call { name: name.into(), arguments: arguments.into().to_string() });
        self
    }

    /// Adds a call with this id.
    #[must_use]
    pub fn call_with_id(self, id: impl Into<String>, name: impl Into<String>, arguments: impl Into<Value>) -> Self {
        self.raw_call(RawCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into().to_string(),
            complete: true,
        })
    }

    /// Adds a call exactly as given: an empty or repeated id, arguments that are no JSON, cut short.
    #[must_use]
    pub fn raw_call(self, call: RawCall) -> Self {
        self.block(ResponseBlock::Call(call))
    }

    /// Adds any block.
    #[must_use]
    pub fn block(mut self, block: ResponseBlock) -> Self {
        self.parts.push(Part::Block(block));
        self
    }

    /// Stops for this reason.
    #[must_use]
    pub fn stop(mut self, stop: StopReason) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Reports this usage.
    #[must_use]
    pub const fn usage(mut self, usage: Usage) -> Self {
        self.usage = UsageReport::Exactly(usage);
        self
    }

    /// Reports no usage, as some servers do.
    #[must_use]
    pub const fn without_usage(mut self) -> Self {
        self.usage = UsageReport::Missing;
        self
    }

    /// Names this model as the one that answered.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Streams every block in pieces of so many characters; 0 counts as 1.
    #[must_use]
    pub fn pieces_of(mut self, characters: usize) -> Self {
        self.piece_chars = Some(characters.max(1));
        self
    }

    /// Waits before the first piece.
    #[must_use]
    pub const fn first_delay(mut self, delay: Duration) -> Self {
        self.first_delay = delay;
        self
    }

    /// Waits between one piece and the next.
    #[must_use]
    pub const fn piece_delay(mut self, delay: Duration) -> Self {
        self.piece_delay = delay;
        self
    }

    /// The whole answer, as the `number`th (from 1) of its script; the number makes the ids of its calls unique.
    #[must_use]
    pub fn response(&self, number: usize) -> LlmResponse {
        let blocks: Vec<ResponseBlock> = (self.parts.iter().enumerate())
            .map(|(index, part)| match part {
                Part::Block(block) => block.clone(),
                Part::Call { name, arguments } => ResponseBlock::Call(RawCall {
                    id: format!("call_{number}_{index}"),
                    name: name.clone(),
                    arguments: arguments.clone(),
                    complete: true,
                }),
            })
            .collect();
        let has_calls = blocks.iter().any(|block| matches!(block, ResponseBlock::Call(_)));
        let usual_stop = if has_calls { StopReason::ToolUse } else { StopReason::EndTurn };
        LlmResponse {
            blocks,
            stop: self.stop.clone().unwrap_or(usual_stop),
            usage: match self.usage {
                UsageReport::Usual => Some(DEFAULT_USAGE),
                UsageReport::Exactly(usage) => Some(usage),
                UsageReport::Missing => None,
            },
            model: self.model.clone().unwrap_or_else(|| DEFAULT_MODEL.into()),
        }
    }

    /// What a provider streams before the whole answer.
    pub(crate) fn deltas(&self) -> Vec<Delta> {
        let mut deltas = Vec::new();
        for part in &self.parts {
            match part {
                Part::Block(ResponseBlock::Text(text)) => {
                    deltas.extend(self.pieces(text).map(Delta::Text));
                }
                Part::Block(ResponseBlock::Thinking { text, .. }) => {
                    deltas.extend(self.pieces(text).map(Delta::Thinking));
                }
                Part::Block(_) | Part::Call { .. } => {}
            }
        }
        deltas
    }

    /// The text cut as [`pieces_of`](Self::pieces_of) says; nothing for an empty text.
    pub(crate) fn pieces(&self, text: &str) -> impl Iterator<Item = String> + use<> {
        let characters: Vec<char> = text.chars().collect();
        let size = self.piece_chars.unwrap_or(characters.len()).max(1);
        let pieces: Vec<String> = characters.chunks(size).map(|piece| piece.iter().collect()).collect();
        pieces.into_iter()
    }

    /// How long to wait before a piece, which is the first one or not.
    pub(crate) const fn delay_before(&self, first: bool) -> Duration {
        if first { self.first_delay } else { self.piece_delay }
    }
}

/// What an answer costs that was not told otherwise.
pub const DEFAULT_USAGE: Usage =
    Usage { input_tokens: 100, output_tokens: 20, cache_read_tokens: 0, cache_write_tokens: 0 };

/// The model that an answer names which was not told otherwise, and the one that a scripted server lists.
pub const DEFAULT_MODEL: &str = "scripted-model";
