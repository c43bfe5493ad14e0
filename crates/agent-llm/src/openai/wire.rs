//! The wire format's own types: what is sent, and what comes.

use agent_core::tool::ToolSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A tool call of an assistant's message.
#[derive(Serialize)]
pub(super) struct CallOut<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) r#type: &'static str,
    pub(super) function: FunctionOut<'a>,
}

/// What is called.
#[derive(Serialize)]
pub(super) struct FunctionOut<'a> {
    pub(super) name: Cow<'a, str>,
    /// As the model wrote it; a string in this format.
    pub(super) arguments: &'a str,
}

/// The message that answers a tool call.
#[derive(Serialize)]
pub(super) struct ToolMessageOut<'a> {
    pub(super) role: &'static str,
    pub(super) tool_call_id: Cow<'a, str>,
    pub(super) content: Cow<'a, str>,
}

/// A tool that is offered.
#[derive(Serialize)]
pub(super) struct ToolOut<'a> {
    r#type: &'static str,
    function: OfferedOut<'a>,
}

#[derive(Serialize)]
struct OfferedOut<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

impl<'a> ToolOut<'a> {
    pub(super) fn of(tool: &'a ToolSpec) -> Self {
        Self {
            r#type: "function",
            function: OfferedOut { name: &tool.name, description: &tool.description, parameters: &tool.input_schema },
        }
    }
}

/// A chunk of a stream, or a whole answer. Members are left unread where servers differ in what they put there.
#[derive(Deserialize)]
pub(super) struct ChunkIn<'a> {
    #[serde(borrow, default)]
    pub(super) model: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<ChoiceIn<'a>>>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
    /// `error` for an error that is not wrapped in a member.
    #[serde(borrow, default)]
    pub(super) object: Option<&'a RawValue>,
}

/// One of several answers; only the first was asked for.
#[derive(Deserialize)]
pub(super) struct ChoiceIn<'a> {
    #[serde(borrow, default)]
    pub(super) index: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) delta: Option<MessageIn<'a>>,
    /// In place of `delta` when the server does not stream.
    #[serde(borrow, default)]
    pub(super) message: Option<MessageIn<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Option<&'a RawValue>,
}

/// A message, or a piece of one.
#[derive(Deserialize)]
pub(super) struct MessageIn<'a> {
    /// A text, or a list of parts.
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) refusal: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reasoning_content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reasoning: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reasoning_details: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<Vec<CallIn<'a>>>,
    /// Where a text comes from, and what came with it that is no text.
    #[serde(borrow, default)]
    pub(super) annotations: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) images: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) audio: Option<&'a RawValue>,
}

impl MessageIn<'_> {
    /// Whether it has something beside texts that are shown.
    pub(super) fn says_more(&self) -> bool {
        self.tool_calls.as_ref().is_some_and(|calls| !calls.is_empty()) || self.reasoning_details.is_some()
    }
}

/// A part of a list of parts.
#[derive(Deserialize)]
pub(super) struct PartIn<'a> {
    #[serde(borrow, default)]
    pub(super) text: Option<&'a RawValue>,
    /// A list of parts in turn.
    #[serde(borrow, default)]
    pub(super) thinking: Option<&'a RawValue>,
}

/// A tool call, or a piece of one.
#[derive(Deserialize)]
pub(super) struct CallIn<'a> {
    #[serde(borrow, default)]
    pub(super) index: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) function: Option<CalledIn<'a>>,
}

/// What is called.
#[derive(Deserialize)]
pub(super) struct CalledIn<'a> {
    #[serde(borrow, default)]
    pub(super) name: Option<&'a RawValue>,
    /// A text; some servers write the object itself.
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
}

/// Token counts, as far as given.
#[derive(Deserialize)]
pub(super) struct UsageIn<'a> {
    #[serde(borrow, default)]
    pub(super) prompt_tokens: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) completion_tokens: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) total_tokens: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) prompt_cache_hit_tokens: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) prompt_tokens_details: Option<PromptDetailsIn<'a>>,
    #[serde(borrow, default)]
    pub(super) completion_tokens_details: Option<CompletionDetailsIn<'a>>,
}

/// Where the input came from.
#[derive(Deserialize)]
pub(super) struct PromptDetailsIn<'a> {
    #[serde(borrow, default)]
    pub(super) cached_tokens: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) cache_write_tokens: Option<&'a RawValue>,
}

/// What the output consists of.
#[derive(Deserialize)]
pub(super) struct CompletionDetailsIn<'a> {
    #[serde(borrow, default)]
    pub(super) reasoning_tokens: Option<&'a RawValue>,
}
