//! The wire format's own types: what is sent, and what comes. One `borrow` ties a whole struct to the text it is read from.

use agent_types::tool::ToolSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// An item of a request's input, as far as it is made here; items of the server's own go back as they came.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ItemOut<'a> {
    Message {
        role: &'static str,
        content: &'a str,
    },
    FunctionCall {
        call_id: Cow<'a, str>,
        name: Cow<'a, str>,
        /// As the model wrote it; a string in this format.
        arguments: &'a str,
    },
    FunctionCallOutput {
        call_id: Cow<'a, str>,
        output: Cow<'a, str>,
    },
}

/// A part of what the user said.
#[derive(Serialize)]
pub(super) struct InputTextOut<'a> {
    pub(super) r#type: &'static str,
    pub(super) text: &'a str,
}

/// A tool that is offered.
#[derive(Serialize)]
pub(super) struct ToolOut<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
    /// The strict mode takes only a part of JSON Schema, and would be on by default.
    strict: bool,
}

impl<'a> ToolOut<'a> {
    pub(super) fn of(tool: &'a ToolSpec) -> Self {
        Self {
            r#type: "function",
            name: &tool.name,
            description: &tool.description,
            parameters: &tool.input_schema,
            strict: false,
        }
    }
}

/// An event. The members are left unread until the type says what they are: an unknown event may have anything in them.
#[derive(Deserialize)]
pub(super) struct EventIn<'a> {
    #[serde(borrow)]
    pub(super) r#type: Option<Cow<'a, str>>,
    pub(super) output_index: Option<&'a RawValue>,
    pub(super) item_id: Option<&'a RawValue>,
    pub(super) summary_index: Option<&'a RawValue>,
    pub(super) item: Option<&'a RawValue>,
    pub(super) delta: Option<&'a RawValue>,
    pub(super) response: Option<&'a RawValue>,
    pub(super) error: Option<&'a RawValue>,
}

/// The response object: at the start and at the end of a stream, or a whole answer.
#[derive(Deserialize)]
pub(super) struct ResponseIn<'a> {
    #[serde(borrow)]
    pub(super) status: Option<&'a RawValue>,
    pub(super) model: Option<&'a RawValue>,
    pub(super) output: Option<Vec<&'a RawValue>>,
    pub(super) usage: Option<&'a RawValue>,
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) incomplete_details: Option<IncompleteIn<'a>>,
}

/// Why an answer is not complete.
#[derive(Deserialize)]
pub(super) struct IncompleteIn<'a> {
    #[serde(borrow)]
    pub(super) reason: Option<&'a RawValue>,
}

/// What distinguishes one item from another.
#[derive(Deserialize)]
pub(super) struct ItemHeadIn<'a> {
    #[serde(borrow)]
    pub(super) r#type: Option<Cow<'a, str>>,
    pub(super) id: Option<&'a RawValue>,
    pub(super) status: Option<&'a RawValue>,
    pub(super) call_id: Option<&'a RawValue>,
    pub(super) name: Option<&'a RawValue>,
    pub(super) arguments: Option<&'a RawValue>,
    /// In place of the arguments, where what is called is no function.
    pub(super) input: Option<&'a RawValue>,
    pub(super) action: Option<&'a RawValue>,
    pub(super) operation: Option<&'a RawValue>,
}

/// Token counts, as far as given.
#[derive(Deserialize)]
pub(super) struct UsageIn<'a> {
    #[serde(borrow)]
    pub(super) input_tokens: Option<&'a RawValue>,
    pub(super) output_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) input_tokens_details: Option<InputDetailsIn<'a>>,
    #[serde(borrow)]
    pub(super) output_tokens_details: Option<OutputDetailsIn<'a>>,
    pub(super) total_tokens: Option<&'a RawValue>,
}

/// What the output consists of.
#[derive(Deserialize)]
pub(super) struct OutputDetailsIn<'a> {
    #[serde(borrow)]
    pub(super) reasoning_tokens: Option<&'a RawValue>,
}

/// Where the input came from.
#[derive(Deserialize)]
pub(super) struct InputDetailsIn<'a> {
    #[serde(borrow)]
    pub(super) cached_tokens: Option<&'a RawValue>,
    pub(super) cache_write_tokens: Option<&'a RawValue>,
}
