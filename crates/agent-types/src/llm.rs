//! What a model is asked and what it answers, in one normalised form for every provider.

use crate::conversation::Conversation;
use crate::tool::ToolSpec;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

/// One model call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LlmRequest {
    /// What the answer is for.
    pub purpose: Purpose,
    /// Model id as the provider knows it.
    pub model: Arc<str>,
    /// System prompt; empty for none.
    pub system: Arc<str>,
    /// The tools in a stable order.
    pub tools: Arc<[ToolSpec]>,
    /// Everything said so far, ending with user content or with a paused answer that is to be continued.
    pub conversation: Conversation,
    /// Most tokens the answer may have.
    pub max_output_tokens: u32,
    /// How much the model is to think; without it the server decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
}

/// How much a model is to think before it answers, from the least to the most. Which of these a model knows is the provider's matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Not at all.
    None,
    /// As little as it can.
    Minimal,
    /// Little.
    Low,
    /// Moderately.
    Medium,
    /// Much.
    High,
    /// More than that.
    Xhigh,
    /// As much as it can.
    Max,
}

impl Effort {
    /// All of them, from the least to the most.
    pub const ALL: [Self; 7] = [Self::None, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// Its name, as configurations and wire formats write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// The effort of this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.name() == name)
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a model call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// The next answer of the conversation.
    Turn,
    /// A summary of the conversation, to make room. Tools are listed only because the history mentions them.
    Compaction,
}

/// A complete answer, as it arrived: the session decides what of it can be used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LlmResponse {
    /// The parts of the answer in order.
    pub blocks: Vec<ResponseBlock>,
    /// Why the model stopped.
    pub stop: StopReason,
    /// What was used, when the provider said it.
    pub usage: Option<Usage>,
    /// The model that answered, as the provider named it; empty when it did not.
    pub model: String,
}

impl LlmResponse {
    /// An answer of one text that ends the turn. For tests and scripted providers.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let blocks = alloc::vec![ResponseBlock::Text(String::from(text))];
        Self { blocks, stop: StopReason::EndTurn, usage: None, model: String::new() }
    }
}

/// One part of an answer, as it arrived.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ResponseBlock {
    /// Text for the user.
    Text(String),
    /// The model's reasoning.
    Thinking {
        /// The reasoning, as far as the provider shows it.
        text: String,
        /// The provider's seal over it, without which it cannot be sent back.
        signature: Option<String>,
    },
    /// Reasoning that the provider keeps to itself.
    RedactedThinking {
        /// The provider's sealed data.
        data: String,
    },
    /// A tool call.
    Call(RawCall),
    /// A block that only the provider understands.
    Opaque {
        /// Which wire format it belongs to.
        dialect: String,
        /// The block as JSON text.
        json: String,
    },
}

/// A tool call as it arrived: the id may be empty or repeated, the arguments anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawCall {
    /// The model's id for the call.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as text, complete or not.
    pub arguments: String,
    /// Whether the provider closed this call. False when the stream or the output limit cut it.
    pub complete: bool,
}

/// Why the model stopped, over all providers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopReason {
    /// It finished its answer.
    EndTurn,
    /// It wants its tool calls answered.
    ToolUse,
    /// The output limit cut it.
    MaxTokens,
    /// It wrote a stop sequence.
    StopSequence,
    /// The provider paused a long turn; sending the answer back continues it.
    Paused,
    /// It, or the provider's filter, refused.
    Refusal,
    /// The context window was full.
    ContextWindow,
    /// An unknown reason, as the provider spelt it; empty if it gave none.
    Other(String),
}

impl StopReason {
    /// What the provider said in words of its own, where there is no variant for it.
    #[must_use]
    pub const fn other_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Other(words) => Some(words),
            Self::EndTurn
            | Self::ToolUse
            | Self::MaxTokens
            | Self::StopSequence
            | Self::Paused
            | Self::Refusal
            | Self::ContextWindow => None,
        }
    }
}

/// Tokens used by one model call. The four parts do not overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens read at full price, without those below.
    pub input_tokens: u64,
    /// Tokens written, reasoning included.
    pub output_tokens: u64,
    /// Input tokens read from the provider's cache.
    pub cache_read_tokens: u64,
    /// Input tokens written to the provider's cache.
    pub cache_write_tokens: u64,
}

impl Usage {
    /// All tokens.
    #[must_use]
    pub const fn total_tokens(&self) -> u64 {
        self.context_tokens().saturating_add(self.output_tokens)
    }

    /// All tokens of the input, cached or not: how full the context window was.
    #[must_use]
    pub const fn context_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.cache_read_tokens).saturating_add(self.cache_write_tokens)
    }

    /// Part by part the sum of both.
    #[must_use]
    pub const fn plus(&self, other: &Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cache_read_tokens: self.cache_read_tokens.saturating_add(other.cache_read_tokens),
            cache_write_tokens: self.cache_write_tokens.saturating_add(other.cache_write_tokens),
        }
    }
}

/// Why a model call failed. Retrying is the machine's decision; the provider only classifies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct LlmError {
    /// The class of the failure.
    pub kind: LlmErrorKind,
    /// What was attempted and what was found, for people. Carries no secrets.
    pub message: String,
    /// HTTP status, when there was an answer.
    pub status: Option<u16>,
    /// How long the provider asked to wait, in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// What else is known of it. Nothing of this decides what the session does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Box<LlmErrorFacts>>,
    /// What had come of the answer before it broke off: it is paid for. `None` if the call was refused, or nothing came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Box<PartialAnswer>>,
}

impl LlmError {
    /// An error of this kind without status, waiting time, facts and any beginning of an answer.
    pub fn new(kind: LlmErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), status: None, retry_after_ms: None, facts: None, partial: None }
    }
}

/// How much of an answer had come when it broke off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PartialAnswer {
    /// The tokens that the provider had stated by then. Those of the output are often stated at the end only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Bytes of the text, the thinking and the arguments of calls.
    pub bytes: u64,
}

impl PartialAnswer {
    /// What the call used, with so many tokens of the request where the provider has not stated them. Four bytes are a token.
    #[must_use]
    pub fn usage_or(&self, context_tokens: u64) -> Usage {
        let stated = self.usage.unwrap_or(Usage { input_tokens: context_tokens, ..Usage::default() });
        Usage { output_tokens: stated.output_tokens.max(self.bytes / 4), ..stated }
    }
}

/// What a provider knows of a failure beyond its class, for hosts that show or measure it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmErrorFacts {
    /// Of a [`Timeout`](LlmErrorKind::Timeout): which wait was too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
    /// Of a [`ContextOverflow`](LlmErrorKind::ContextOverflow): the tokens of the request, when the server gave the number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_tokens: Option<u64>,
    /// Of a [`ContextOverflow`](LlmErrorKind::ContextOverflow): the most tokens there may be, when the server gave the number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_tokens: Option<u64>,
    /// The provider's limits, as its headers gave them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rate_limits: Vec<RateLimit>,
}

impl LlmErrorFacts {
    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The waits of a model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Wait {
    /// For the connection to be made.
    Connect,
    /// For the first byte of the answer.
    FirstByte,
    /// Between two pieces of the answer that say something; keep-alive signs do not count.
    Idle,
    /// For the whole answer.
    Total,
}

/// One of a provider's limits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateLimit {
    /// What is limited, in the provider's word: `requests`, `tokens`, `input-tokens`.
    pub name: String,
    /// How much there is in a period.
    pub limit: Option<u64>,
    /// How much of it is left.
    pub remaining: Option<u64>,
    /// When it is full again, in milliseconds from the answer.
    pub reset_ms: Option<u64>,
}

/// Classes of failed model calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum LlmErrorKind {
    /// No key, or a key that was refused (401).
    Authentication,
    /// The key may not do this (403).
    Permission,
    /// The account has no credit left.
    Billing,
    /// No such model or path (404).
    NotFound,
    /// The request is wrong (400, 422).
    InvalidRequest,
    /// The request is too large for the model's context window or for the server.
    ContextOverflow,
    /// Too many requests (429).
    RateLimited,
    /// The provider is overloaded (529, 503).
    Overloaded,
    /// The provider failed (500 and the like).
    Server,
    /// Nothing came in time.
    Timeout,
    /// The connection could not be made or broke.
    Network,
    /// The response does not follow the protocol, or was cut.
    Protocol,
}

impl LlmErrorKind {
    /// Whether the same request may succeed later.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        match self {
            Self::RateLimited | Self::Overloaded | Self::Server | Self::Timeout | Self::Network | Self::Protocol => {
                true
            }
            Self::Authentication
            | Self::Permission
            | Self::Billing
            | Self::NotFound
            | Self::InvalidRequest
            | Self::ContextOverflow => false,
        }
    }
}

/// What a provider streams: pieces to show, then the whole answer once.
#[derive(Clone, Debug, PartialEq)]
pub enum LlmChunk {
    /// A piece of what is being written.
    Delta(Delta),
    /// The complete answer; the last chunk of every successful stream.
    Completed(LlmResponse),
}

/// A piece of an answer while it is being written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Delta {
    /// Text for the user.
    Text(String),
    /// Reasoning.
    Thinking(String),
}

#[cfg(test)]
mod tests {
    use super::{Effort, LlmErrorFacts, Wait};

    #[test]
    fn efforts_are_in_order_and_are_written_by_their_names() {
        assert!(Effort::ALL.is_sorted());
        for effort in Effort::ALL {
            assert_eq!(serde_json::to_string(&effort).unwrap(), alloc::format!("\"{effort}\""));
            assert_eq!(Effort::of_name(effort.name()), Some(effort));
        }
        assert_eq!(Effort::of_name("High"), None);
    }

    #[test]
    fn one_fact_is_something_known() {
        assert!(LlmErrorFacts::default().is_empty());
        assert!(!LlmErrorFacts { wait: Some(Wait::Connect), ..LlmErrorFacts::default() }.is_empty());
    }
}
