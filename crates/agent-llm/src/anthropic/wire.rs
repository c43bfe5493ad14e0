//! The wire format's own types: what is sent, and what comes. One `borrow` ties a whole struct to the text it is read from.

use agent_types::tool::ToolSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A content block of a request.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum BlockOut<'a> {
    Text {
        text: &'a str,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        /// As the model wrote it.
        input: &'a RawValue,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        content: &'a str,
        #[serde(skip_serializing_if = "core::ops::Not::not")]
        is_error: bool,
    },
}

/// The system prompt, as the block that can carry a cache mark.
#[derive(Serialize)]
pub(super) struct SystemOut<'a> {
    r#type: &'static str,
    text: &'a str,
}

impl<'a> SystemOut<'a> {
    pub(super) const fn of(text: &'a str) -> Self {
        Self { r#type: "text", text }
    }
}

/// A tool that is offered.
#[derive(Serialize)]
pub(super) struct ToolOut<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
}

impl<'a> ToolOut<'a> {
    pub(super) fn of(tool: &'a ToolSpec) -> Self {
        Self { name: &tool.name, description: &tool.description, input_schema: &tool.input_schema }
    }
}

/// An event. The members are left unread until the type says what they are: an unknown event may have anything in them.
#[derive(Deserialize)]
pub(super) struct EventIn<'a> {
    #[serde(borrow)]
    pub(super) r#type: Option<Cow<'a, str>>,
    pub(super) index: Option<&'a RawValue>,
    pub(super) message: Option<&'a RawValue>,
    pub(super) content_block: Option<&'a RawValue>,
    pub(super) delta: Option<&'a RawValue>,
    pub(super) usage: Option<&'a RawValue>,
    pub(super) error: Option<&'a RawValue>,
}

/// A message: the opening of a stream, or a whole answer.
#[derive(Deserialize)]
pub(super) struct MessageIn<'a> {
    #[serde(borrow)]
    pub(super) model: Option<&'a RawValue>,
    pub(super) content: Option<Vec<&'a RawValue>>,
    pub(super) stop_reason: Option<&'a RawValue>,
    pub(super) usage: Option<&'a RawValue>,
    /// Where the server runs code.
    pub(super) container: Option<&'a RawValue>,
}

/// What distinguishes blocks of the server's own tools: a call has an id, its result names the call.
#[derive(Deserialize)]
pub(super) struct OpaqueIn<'a> {
    #[serde(borrow)]
    pub(super) r#type: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) tool_use_id: Option<Cow<'a, str>>,
}

/// A content block at its start, or a piece of one.
#[derive(Deserialize)]
pub(super) struct PieceIn<'a> {
    #[serde(borrow)]
    pub(super) r#type: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) id: Option<&'a RawValue>,
    pub(super) name: Option<&'a RawValue>,
    pub(super) input: Option<&'a RawValue>,
    pub(super) data: Option<&'a RawValue>,
    pub(super) text: Option<&'a RawValue>,
    pub(super) thinking: Option<&'a RawValue>,
    pub(super) signature: Option<&'a RawValue>,
    pub(super) partial_json: Option<&'a RawValue>,
    /// Where a text comes from: all places at the start of a block, one in a piece.
    pub(super) citations: Option<&'a RawValue>,
    pub(super) citation: Option<&'a RawValue>,
    /// Who calls a tool, when it is not the model itself.
    pub(super) caller: Option<&'a RawValue>,
}

/// How an answer ended.
#[derive(Deserialize)]
pub(super) struct StopIn<'a> {
    #[serde(borrow)]
    pub(super) stop_reason: Option<&'a RawValue>,
    pub(super) container: Option<&'a RawValue>,
}

/// Token counts, as far as given.
#[derive(Deserialize)]
pub(super) struct UsageIn<'a> {
    #[serde(borrow)]
    pub(super) input_tokens: Option<&'a RawValue>,
    pub(super) output_tokens: Option<&'a RawValue>,
    pub(super) cache_read_input_tokens: Option<&'a RawValue>,
    pub(super) cache_creation_input_tokens: Option<&'a RawValue>,
}
