//! The values a conversation is made of. Each can be built only in a form that is valid in a history.

use super::{Arguments, Summary, cut, non_blank, or_no_output};
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use serde::{Deserialize, Serialize};

/// One entry of a [`Conversation`](super::Conversation).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Item {
    /// What the user said.
    Input(Input),
    /// What the model said, without tool calls.
    Answer(Answer),
    /// What the model said with tool calls, and their results.
    Round(Round),
    /// What a model wrote in the place of earlier items.
    Summary(Summary),
}

impl Item {
    /// Size of all texts in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Input(input) => input.texts.iter().map(|text| text.len() as u64).sum(),
            Self::Answer(answer) => answer.bytes(),
            Self::Summary(summary) => summary.bytes(),
            Self::Round(round) => {
                let results: u64 = round.results.iter().map(|result| result.content.len() as u64).sum();
                round.answer.bytes() + results
            }
        }
    }
}

/// What the user said between two answers: one or more texts, none of them blank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Input {
    texts: Vec<String>,
}

impl Input {
    /// Keeps the texts that are not blank.
    ///
    /// # Errors
    /// [`ItemError::Empty`] when nothing is left.
    pub fn new(texts: Vec<String>) -> Result<Self, ItemError> {
        let mut texts = texts;
        texts.retain(|text| non_blank(text));
        // It will be kept as long as the history.
        texts.shrink_to_fit();
        if texts.is_empty() { Err(ItemError::Empty) } else { Ok(Self { texts }) }
    }

    /// The texts in the order they were given.
    #[must_use]
    pub fn texts(&self) -> &[String] {
        &self.texts
    }
}

impl TryFrom<Vec<String>> for Input {
    type Error = ItemError;

    fn try_from(texts: Vec<String>) -> Result<Self, ItemError> {
        Self::new(texts)
    }
}

impl From<Input> for Vec<String> {
    fn from(input: Input) -> Self {
        input.texts
    }
}

/// What the model said: at least one block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "AnswerParts", into = "AnswerParts")]
pub struct Answer {
    blocks: Vec<Block>,
    paused: bool,
}

impl Answer {
    /// An answer of these blocks; empty ones are left out. A text of blanks stays, because it stands between what others say.
    ///
    /// # Errors
    /// [`ItemError::Empty`] when nothing but blanks is left, [`ItemError::RepeatedCall`] when two calls have one id.
    pub fn new(blocks: Vec<Block>) -> Result<Self, ItemError> {
        let mut blocks = blocks;
        blocks.retain(|block| !block.is_empty());
        if blocks.iter().all(Block::is_blank) {
            return Err(ItemError::Empty);
        }
        let answer = Self { blocks, paused: false };
        let mut ids = BTreeSet::new();
        let repeated = answer.calls().find(|call| !ids.insert(&call.id)).map(|call| call.id.clone());
        match repeated {
            Some(repeated) => Err(ItemError::RepeatedCall(repeated)),
            None => Ok(answer),
        }
    }

    /// The same answer, marked as paused by the provider: the next request continues it.
    #[must_use]
    pub fn paused(mut self) -> Self {
        self.paused = true;
        self
    }

    /// Whether the provider paused this answer.
    #[must_use]
    pub const fn is_paused(&self) -> bool {
        self.paused
    }

    /// The same answer, which nothing continues any more.
    pub(super) fn closed(mut self) -> Self {
        self.paused = false;
        self
    }

    /// The blocks in the order the model wrote them.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The tool calls in the order the model wrote them.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            Block::Text(_) | Block::Thinking { .. } | Block::RedactedThinking { .. } | Block::Opaque { .. } => None,
        })
    }

    /// All text blocks as one string.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.text_into(&mut out);
        out
    }

    /// Replaces another text with them, reusing its memory.
    pub fn text_into(&self, out: &mut String) {
        out.clear();
        for block in &self.blocks {
            if let Block::Text(text) = block {
                out.push_str(text);
            }
        }
    }

    /// This (paused) answer followed by its continuation.
    pub(super) fn joined(mut self, continuation: Self) -> Self {
        self.blocks.extend(continuation.blocks);
        Self { blocks: self.blocks, paused: continuation.paused }
    }

    /// Size of its texts, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.blocks.iter().map(Block::bytes).sum()
    }
}

#[derive(Serialize, Deserialize)]
struct AnswerParts {
    blocks: Vec<Block>,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    paused: bool,
}

impl TryFrom<AnswerParts> for Answer {
    type Error = ItemError;

    fn try_from(parts: AnswerParts) -> Result<Self, ItemError> {
        let answer = Self::new(parts.blocks)?;
        Ok(if parts.paused { answer.paused() } else { answer })
    }
}

impl From<Answer> for AnswerParts {
    fn from(answer: Answer) -> Self {
        Self { blocks: answer.blocks, paused: answer.paused }
    }
}

/// One part of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Block {
    /// Text for the user.
    Text(String),
    /// The model's reasoning. With a signature it must go back to the provider as it came.
    Thinking {
        /// The reasoning, as far as the provider shows it; may be empty.
        text: String,
        /// The provider's seal over it.
        signature: Option<String>,
    },
    /// Reasoning that the provider keeps to itself; goes back as it came.
    RedactedThinking {
        /// The provider's sealed data.
        data: String,
    },
    /// A tool call.
    Call(ToolCall),
    /// A block that only the provider which sent it understands; goes back to it as it came and to no other.
    Opaque {
        /// Which wire format it belongs to, as [`LlmProvider::dialect`](crate::ports::LlmProvider::dialect) names it.
        dialect: String,
        /// The block as JSON text.
        json: String,
    },
}

impl Block {
    fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Thinking { text, signature } => text.is_empty() && signature.is_none(),
            Self::RedactedThinking { .. } | Self::Call(_) | Self::Opaque { .. } => false,
        }
    }

    fn is_blank(&self) -> bool {
        match self {
            Self::Text(text) => !non_blank(text),
            Self::Thinking { .. } | Self::RedactedThinking { .. } | Self::Call(_) | Self::Opaque { .. } => {
                self.is_empty()
            }
        }
    }

    fn bytes(&self) -> u64 {
        let length = match self {
            Self::Text(text) => text.len(),
            Self::Thinking { text, signature } => text.len() + signature.as_ref().map_or(0, String::len),
            Self::RedactedThinking { data } => data.len(),
            Self::Call(call) => call.id.as_str().len() + call.name.len() + call.arguments.as_str().len(),
            Self::Opaque { json, .. } => json.len(),
        };
        length as u64
    }
}

/// Identifies a tool call within a conversation. Unique in its answer; made by the model or, where that failed, by the session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(#[serde(deserialize_with = "crate::shared_text::deserialize")] Arc<str>);

impl CallId {
    /// An id with this text.
    #[must_use]
    pub fn new(id: &str) -> Self {
        Self(Arc::from(id))
    }

    /// The id's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An id sorts and compares as its text does.
impl Borrow<str> for CallId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A tool call with complete arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Identifies the call; its result carries the same id.
    pub id: CallId,
    /// Name of the tool, as the model wrote it.
    pub name: Arc<str>,
    /// A JSON object.
    pub arguments: Arguments,
}

/// The result of a tool call, as the model will read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "ResultParts")]
pub struct ToolResult {
    call: CallId,
    content: String,
    is_error: bool,
}

impl ToolResult {
    /// A result for a call. Blank content is replaced by a note that there was none: providers refuse empty content.
    #[must_use]
    pub fn new(call: CallId, content: impl Into<String>, is_error: bool) -> Self {
        Self { call, content: or_no_output(content.into()), is_error }
    }

    /// The call it answers.
    #[must_use]
    pub const fn call(&self) -> &CallId {
        &self.call
    }

    /// What the model reads.
    #[must_use]
    pub fn content(&self) -> &str {
        &self.content
    }

    /// Whether the call failed or was not run.
    #[must_use]
    pub const fn is_error(&self) -> bool {
        self.is_error
    }

    /// The same result with its content cut to about `limit_bytes`.
    pub(super) fn clipped(&self, limit_bytes: usize) -> Self {
        let content = cut(&self.content, limit_bytes).unwrap_or_else(|| self.content.clone());
        Self { call: self.call.clone(), content, is_error: self.is_error }
    }
}

#[derive(Deserialize)]
struct ResultParts {
    call: CallId,
    content: String,
    is_error: bool,
}

impl From<ResultParts> for ToolResult {
    fn from(parts: ResultParts) -> Self {
        Self::new(parts.call, parts.content, parts.is_error)
    }
}

/// An answer with tool calls and the results of all of them, in call order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RoundParts", into = "RoundParts")]
pub struct Round {
    answer: Answer,
    results: Vec<ToolResult>,
}

impl Round {
    /// Joins an answer to its results.
    ///
    /// # Errors
    /// [`ItemError::Unanswered`] when a call lacks its result, the order differs, or there is a result too many;
    /// [`ItemError::Empty`] when the answer has no calls at all.
    pub fn new(answer: Answer, results: Vec<ToolResult>) -> Result<Self, ItemError> {
        if answer.calls().next().is_none() {
            return Err(ItemError::Empty);
        }
        let mut answered = results.iter();
        for call in answer.calls() {
            match answered.next() {
                Some(result) if result.call == call.id => {}
                Some(_) | None => return Err(ItemError::Unanswered(call.id.clone())),
            }
        }
        match answered.next() {
            Some(extra) => Err(ItemError::Unanswered(extra.call.clone())),
            None => Ok(Self { answer, results }),
        }
    }

    /// What the model said.
    #[must_use]
    pub const fn answer(&self) -> &Answer {
        &self.answer
    }

    /// One result a call, in call order.
    #[must_use]
    pub fn results(&self) -> &[ToolResult] {
        &self.results
    }

    /// The same round after the paused answer that it continues. That answer has no calls, so the results still answer every call.
    pub(super) fn continuing(self, paused: Answer) -> Self {
        Self { answer: paused.joined(self.answer), results: self.results }
    }

    /// The same round with every result cut to about `limit_bytes`, or `None` if none is longer.
    #[must_use]
    pub fn clipped(&self, limit_bytes: usize) -> Option<Self> {
        if self.results.iter().all(|result| result.content.len() <= limit_bytes) {
            return None;
        }
        let results = self.results.iter().map(|result| result.clipped(limit_bytes)).collect();
        Some(Self { answer: self.answer.clone(), results })
    }
}

#[derive(Serialize, Deserialize)]
struct RoundParts {
    answer: Answer,
    results: Vec<ToolResult>,
}

impl TryFrom<RoundParts> for Round {
    type Error = ItemError;

    fn try_from(parts: RoundParts) -> Result<Self, ItemError> {
        Self::new(parts.answer, parts.results)
    }
}

impl From<Round> for RoundParts {
    fn from(round: Round) -> Self {
        Self { answer: round.answer, results: round.results }
    }
}

/// Why a value is not valid in a history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ItemError {
    /// There is nothing in it.
    #[error("build a history item: it is empty")]
    Empty,
    /// Two calls of one answer have the same id.
    #[error("build an answer: call id `{}` occurs twice", .0)]
    RepeatedCall(CallId),
    /// The results do not answer the calls one by one.
    #[error("build a round: call `{}` and its results do not match", .0)]
    Unanswered(CallId),
}
