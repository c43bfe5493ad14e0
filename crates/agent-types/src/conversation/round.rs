//! An answer with tool calls, and their results.

use super::item::with_names;
use super::{Answer, CallId, ItemError, cut, or_no_output};
use crate::picture::Picture;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The result of a tool call, as the model will read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "ResultParts")]
pub struct ToolResult {
    call: CallId,
    content: String,
    is_error: bool,
    #[serde(skip_serializing_if = "<[Picture]>::is_empty")]
    pictures: Box<[Picture]>,
}

impl ToolResult {
    /// A result for a call. Blank content is replaced by a note that there was none: providers refuse empty content.
    #[must_use]
    pub fn new(call: CallId, content: impl Into<String>, is_error: bool) -> Self {
        Self { call, content: or_no_output(content.into()), is_error, pictures: Box::default() }
    }

    /// The same result with pictures.
    #[must_use]
    pub fn with_pictures(mut self, pictures: Vec<Picture>) -> Self {
        self.pictures = pictures.into();
        self
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

    /// The pictures that the model sees with it.
    #[must_use]
    pub const fn pictures(&self) -> &[Picture] {
        &self.pictures
    }

    /// Its size in estimates: that of the text, and what the pictures are worth.
    pub(super) fn weight(&self) -> u64 {
        self.content.len() as u64 + self.pictures.iter().map(Picture::weight).sum::<u64>()
    }

    pub(super) fn with_pictures_told(&self, tell: &dyn Fn(&Picture) -> String) -> Self {
        let content = with_names(&self.content, &self.pictures, tell);
        Self { call: self.call.clone(), content, is_error: self.is_error, pictures: Box::default() }
    }

    /// The same result with its content cut to about `limit_bytes`. Pictures that are worth more than that are named instead.
    pub(super) fn clipped(&self, limit_bytes: usize) -> Self {
        let content = cut(&self.content, limit_bytes).unwrap_or_else(|| self.content.clone());
        let clipped = Self { content, ..self.clone() };
        if clipped.pictures.iter().map(Picture::weight).sum::<u64>() <= limit_bytes as u64 {
            return clipped;
        }
        clipped.with_pictures_told(&|picture| picture.named("left out to make room"))
    }
}

#[derive(Deserialize)]
struct ResultParts {
    call: CallId,
    content: String,
    is_error: bool,
    #[serde(default)]
    pictures: Vec<Picture>,
}

impl From<ResultParts> for ToolResult {
    fn from(parts: ResultParts) -> Self {
        Self::new(parts.call, parts.content, parts.is_error).with_pictures(parts.pictures)
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

    /// The same round with other words for each picture.
    pub(super) fn with_pictures_told(&self, tell: &dyn Fn(&Picture) -> String) -> Self {
        let results = self.results.iter().map(|result| result.with_pictures_told(tell)).collect();
        Self { answer: self.answer.clone(), results }
    }

    /// The same round with every result cut to about `limit_bytes`, or `None` if none is longer.
    #[must_use]
    pub fn clipped(&self, limit_bytes: usize) -> Option<Self> {
        if self.results.iter().all(|result| result.weight() <= limit_bytes as u64) {
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
