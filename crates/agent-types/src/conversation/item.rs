//! The values a conversation is made of. Each can be built only in a form that is valid in a history.

use super::{Arguments, Round, Summary, ToolResult, UserMessage, non_blank};
use crate::picture::Picture;
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
    /// Size of all texts in bytes, and what the pictures are worth in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Input(input) => input.messages.iter().map(UserMessage::weight).sum(),
            Self::Answer(answer) => answer.bytes(),
            Self::Summary(summary) => summary.bytes(),
            Self::Round(round) => {
                let results: u64 = round.results().iter().map(ToolResult::weight).sum();
                round.answer().bytes() + results
            }
        }
    }

    /// The pictures of the user's messages and of tool results, in order.
    pub fn pictures(&self) -> impl Iterator<Item = &Picture> {
        let (messages, results): (&[UserMessage], &[ToolResult]) = match self {
            Self::Input(input) => (&input.messages, &[]),
            Self::Answer(_) | Self::Summary(_) => (&[], &[]),
            Self::Round(round) => (&[], round.results()),
        };
        messages.iter().flat_map(|said| &said.pictures).chain(results.iter().flat_map(ToolResult::pictures))
    }

    /// The same item with each picture named in the text instead, or `None` if it has none.
    #[must_use]
    pub fn with_pictures_named(&self, why: &str) -> Option<Self> {
        self.with_pictures_told(&|picture| picture.named(why))
    }

    /// The same with other words for each picture.
    #[must_use]
    pub fn with_pictures_told(&self, tell: &dyn Fn(&Picture) -> String) -> Option<Self> {
        self.pictures().next()?;
        Some(match self {
            Self::Input(input) => {
                let named = |said: &UserMessage| UserMessage {
                    text: with_names(&said.text, &said.pictures, tell),
                    pictures: [].into(),
                    ..said.clone()
                };
                Self::Input(Input { messages: input.messages.iter().map(named).collect() })
            }
            Self::Round(round) => Self::Round(round.with_pictures_told(tell)),
            Self::Answer(_) | Self::Summary(_) => return None,
        })
    }
}

pub(super) fn with_names(text: &str, pictures: &[Picture], tell: &dyn Fn(&Picture) -> String) -> String {
    let mut text = String::from(text);
    for picture in pictures {
        text.push('\n');
        text.push_str(&tell(picture));
    }
    text
}

/// What the user said between two answers: one or more messages, none of them blank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<UserMessage>", into = "Vec<UserMessage>")]
pub struct Input {
    messages: Vec<UserMessage>,
}

impl Input {
    /// Keeps the messages that are not blank.
    ///
    /// # Errors
    /// [`ItemError::Empty`] when nothing is left.
    pub fn new(messages: Vec<UserMessage>) -> Result<Self, ItemError> {
        let mut messages = messages;
        messages.retain(|said| non_blank(said));
        // It will be kept as long as the history.
        messages.shrink_to_fit();
        if messages.is_empty() { Err(ItemError::Empty) } else { Ok(Self { messages }) }
    }

    /// The messages in the order they were given.
    #[must_use]
    pub fn messages(&self) -> &[UserMessage] {
        &self.messages
    }

    /// Their texts alone.
    #[must_use]
    pub fn texts(&self) -> Vec<&str> {
        self.messages.iter().map(|said| said.text.as_str()).collect()
    }
}

impl TryFrom<Vec<UserMessage>> for Input {
    type Error = ItemError;

    fn try_from(messages: Vec<UserMessage>) -> Result<Self, ItemError> {
        Self::new(messages)
    }
}

impl From<Input> for Vec<UserMessage> {
    fn from(input: Input) -> Self {
        input.messages
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
        match answer.repeated_call().cloned() {
            Some(repeated) => Err(ItemError::RepeatedCall(repeated)),
            None => Ok(answer),
        }
    }

    /// The first id that two calls have. Of few calls each is compared with those before it, which needs no memory.
    fn repeated_call(&self) -> Option<&CallId> {
        let mut calls = self.calls().map(|call| &call.id);
        if self.blocks.len() > FEW_BLOCKS {
            let mut ids = BTreeSet::new();
            return calls.find(|id| !ids.insert(*id));
        }
        let mut at = 0;
        calls.find(|id| {
            let before = self.calls().take(at);
            at += 1;
            before.into_iter().any(|call| call.id == **id)
        })
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

/// More blocks than that are looked through with a set.
const FEW_BLOCKS: usize = 16;

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
