//! The conversation: a history that cannot be wrong.
//!
//! A [`Conversation`] is a list of [`Item`]s. Each is valid by construction:
//!
//! ```text
//! Input    what the user said (never empty)
//! Answer   what the model said, without tool calls
//! Round    what the model said with tool calls, and the result of each, in call order
//! Summary  what a model wrote in the place of earlier items, and what of them stays word for word
//! ```
//!
//! 1. A tool call and its result are one value, so no call in history is unanswered.
//! 2. An answer follows user content (an input, a summary or the results of a round) or continues a paused answer.
//! 3. Nothing is empty, so every history can be sent to every provider. A text of blanks may stand between the other blocks of an answer; a
//!    provider that refuses it leaves it out.
//!
//! Appending is in place and cloning is cheap (one reference and at most 16 pointers, however long the history is), so that a
//! model request carries one. Absent on purpose: wire formats, roles as strings, editing.

mod arguments;
mod attachment;
mod chunks;
mod item;
mod message;
mod round;
mod summary;

pub use arguments::{Arguments, ArgumentsError};
pub use attachment::Attachment;
pub use item::{Answer, Block, CallId, Input, Item, ItemError, ToolCall};
pub use message::{Author, UserMessage};
pub use round::{Round, ToolResult};
pub use summary::{KeptResult, Summary};

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chunks::Chunks;
use serde::{Deserialize, Serialize};

/// A history in which every tool call is answered and roles alternate. Cloning costs the same at any length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Arc<Item>>", into = "Vec<Arc<Item>>")]
pub struct Conversation {
    items: Chunks,
    /// Sum of the items' sizes: what token estimates are made from, without walking the history.
    bytes: u64,
}

impl Conversation {
    /// An empty conversation.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends what the user said. It follows anything; providers send adjacent user content as one message.
    pub fn push_input(&mut self, input: Input) {
        self.append(Item::Input(input));
    }

    /// Appends a summary, which stands for what was said before.
    pub fn push_summary(&mut self, summary: Summary) {
        self.append(Item::Summary(summary));
    }

    /// Appends an answer without tool calls. An answer that continues a paused one is joined to it.
    ///
    /// # Errors
    /// [`ConversationError::NoUserContent`] when the last item is neither user content nor a paused answer,
    /// [`ConversationError::OpenCalls`] when the answer has tool calls: those need a [`Round`].
    pub fn push_answer(&mut self, answer: Answer) -> Result<(), ConversationError> {
        if answer.calls().next().is_some() {
            return Err(ConversationError::OpenCalls);
        }
        let answer = match self.continued()? {
            Some(paused) => paused.joined(answer),
            None => answer,
        };
        self.append(Item::Answer(answer));
        Ok(())
    }

    /// Appends an answer with tool calls together with their results.
    ///
    /// # Errors
    /// [`ConversationError::NoUserContent`] as for [`push_answer`](Self::push_answer).
    pub fn push_round(&mut self, round: Round) -> Result<(), ConversationError> {
        let round = match self.continued()? {
            Some(paused) => round.continuing(paused),
            None => round,
        };
        self.append(Item::Round(round));
        Ok(())
    }

    /// Whether a request made of this conversation would carry tool results that the model has not seen.
    #[must_use]
    pub fn has_results_due(&self) -> bool {
        matches!(self.last().map(AsRef::as_ref), Some(Item::Round(_)))
    }

    /// Whether the last answer was paused by the provider and waits to be continued.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        matches!(self.last().map(AsRef::as_ref), Some(Item::Answer(answer)) if answer.is_paused())
    }

    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether nothing has been said yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.len() == 0
    }

    /// The newest item.
    #[must_use]
    pub fn last(&self) -> Option<&Arc<Item>> {
        self.items.last()
    }

    /// The items, oldest first. Items are immutable and shared: a provider may cache what it made of one by its pointer.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Item>> {
        self.items.iter()
    }

    /// Size of all texts in bytes, and what the pictures are worth in bytes, kept up to date as items are appended.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Rough size in tokens: four bytes a token, plus a little per item.
    #[must_use]
    pub fn estimated_tokens(&self) -> u64 {
        self.bytes / 4 + self.items.len() as u64 * 4
    }

    /// Whether it ends with something that the model must say more to: what a user said, results, or an answer that the provider paused.
    #[must_use]
    pub fn awaits_answer(&self) -> bool {
        match self.last().map(AsRef::as_ref) {
            Some(Item::Input(_) | Item::Round(_) | Item::Summary(_)) => true,
            Some(Item::Answer(answer)) => answer.is_paused(),
            None => false,
        }
    }

    /// An answer that the provider paused stays as it is: it is no longer continued.
    pub fn close_pause(&mut self) {
        if self.is_paused()
            && let Ok(Some(paused)) = self.continued()
        {
            self.append(Item::Answer(paused.closed()));
        }
    }

    fn append(&mut self, item: Item) {
        self.bytes = self.bytes.saturating_add(item.bytes());
        self.items.push(Arc::new(item));
    }

    /// Appends an item that another conversation holds too. An answer with tool calls must be a [`Round`].
    ///
    /// # Errors
    /// [`ConversationError`], as when it is made and appended; an answer never continues a paused one here.
    pub fn push_shared(&mut self, item: Arc<Item>) -> Result<(), ConversationError> {
        let after_user =
            matches!(self.last().map(AsRef::as_ref), Some(Item::Input(_) | Item::Round(_) | Item::Summary(_)));
        match item.as_ref() {
            Item::Answer(answer) if answer.calls().next().is_some() => {
                return Err(ConversationError::OpenCalls);
            }
            Item::Answer(_) | Item::Round(_) if !after_user => {
                return Err(ConversationError::NoUserContent);
            }
            Item::Input(_) | Item::Answer(_) | Item::Round(_) | Item::Summary(_) => {}
        }
        self.bytes = self.bytes.saturating_add(item.bytes());
        self.items.push(item);
        Ok(())
    }

    /// Takes the paused answer that an answer continues off the history; `None` when the answer follows user content.
    fn continued(&mut self) -> Result<Option<Answer>, ConversationError> {
        match self.last().map(AsRef::as_ref) {
            Some(Item::Input(_) | Item::Round(_) | Item::Summary(_)) => Ok(None),
            Some(Item::Answer(paused)) if paused.is_paused() => {
                let paused = paused.clone();
                if let Some(old) = self.items.pop() {
                    self.bytes = self.bytes.saturating_sub(old.bytes());
                }
                Ok(Some(paused))
            }
            Some(Item::Answer(_)) | None => Err(ConversationError::NoUserContent),
        }
    }
}

impl TryFrom<Vec<Arc<Item>>> for Conversation {
    type Error = ConversationError;

    fn try_from(items: Vec<Arc<Item>>) -> Result<Self, ConversationError> {
        let mut conversation = Self::new();
        for item in items {
            conversation.push_shared(item)?;
        }
        Ok(conversation)
    }
}

impl From<Conversation> for Vec<Arc<Item>> {
    fn from(conversation: Conversation) -> Self {
        conversation.iter().cloned().collect()
    }
}

/// Why something cannot be appended to a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConversationError {
    /// Two answers in a row, or an answer that opens the conversation.
    #[error("append an answer: there is no user content before it")]
    NoUserContent,
    /// An answer with tool calls that nothing answers.
    #[error("append an answer: its tool calls have no results")]
    OpenCalls,
}

/// The text in place of an empty tool result: providers refuse empty content.
pub const NO_OUTPUT: &str = "(no output)";

/// Whether a text says something: more than blanks.
#[must_use]
pub fn non_blank(text: &str) -> bool {
    !text.trim_start().is_empty()
}

/// What is left of a text that is longer than about `limit_bytes`: the head, and how much was cut. `None` if it is not longer.
#[must_use]
pub fn cut(text: &str, limit_bytes: usize) -> Option<String> {
    if text.len() <= limit_bytes {
        return None;
    }
    let end = text.floor_char_boundary(limit_bytes);
    let head = text.get(..end).unwrap_or_default();
    Some(alloc::format!("{head}\n[{} bytes left out]", text.len() - end))
}

/// What a tool result says when the tool said nothing.
pub(crate) fn or_no_output(text: String) -> String {
    if non_blank(&text) { text } else { String::from(NO_OUTPUT) }
}

#[cfg(test)]
mod tests;
