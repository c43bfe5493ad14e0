//! The wire format's own types: what is sent, and what comes. One `borrow` ties a whole struct to the text it is read from.

use crate::wire::{Text, text};
use agent_types::tool::ToolSpec;
use core::fmt;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A tool call of an assistant's message.
#[derive(Serialize)]
pub(super) struct CallOut<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) r#type: &'static str,
    pub(super) function: FunctionOut<'a>,
    /// Members of the server's own, as they came.
    #[serde(flatten)]
    pub(super) extras: Map<String, Value>,
}

/// What is called.
#[derive(Serialize)]
pub(super) struct FunctionOut<'a> {
    pub(super) name: Cow<'a, str>,
    /// As the model wrote it; a string in this format.
    pub(super) arguments: &'a str,
    #[serde(flatten)]
    pub(super) extras: Map<String, Value>,
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
    #[serde(borrow)]
    pub(super) model: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) choices: Option<Vec<ChoiceIn<'a>>>,
    pub(super) usage: Option<&'a RawValue>,
    pub(super) error: Option<&'a RawValue>,
    /// `error` for an error that is not wrapped in a member.
    pub(super) object: Option<&'a RawValue>,
}

/// One of several answers; only the first was asked for.
#[derive(Deserialize)]
pub(super) struct ChoiceIn<'a> {
    #[serde(borrow)]
    pub(super) index: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) delta: Option<MessageIn<'a>>,
    /// In place of `delta` when the server does not stream.
    #[serde(borrow)]
    pub(super) message: Option<MessageIn<'a>>,
    pub(super) finish_reason: Option<&'a RawValue>,
    /// Where some servers give the token counts of a stream.
    pub(super) usage: Option<&'a RawValue>,
}

/// A message, or a piece of one.
#[derive(Deserialize)]
pub(super) struct MessageIn<'a> {
    /// A text, or a list of parts.
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    pub(super) refusal: Option<&'a RawValue>,
    pub(super) reasoning_content: Option<&'a RawValue>,
    pub(super) reasoning: Option<&'a RawValue>,
    pub(super) reasoning_details: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) tool_calls: Option<Vec<CallIn<'a>>>,
    /// Where a text comes from, and the data with it that is not text.
    pub(super) annotations: Option<&'a RawValue>,
    pub(super) images: Option<&'a RawValue>,
    pub(super) audio: Option<&'a RawValue>,
    /// The only call, in the form that is older than lists of calls.
    pub(super) function_call: Option<&'a RawValue>,
    /// Seals over thinking that no call carries; they go back with the message.
    pub(super) extra_content: Option<&'a RawValue>,
    pub(super) thought_signature: Option<&'a RawValue>,
}

impl MessageIn<'_> {
    /// Whether it has something beside texts that are shown.
    pub(super) fn says_more(&self) -> bool {
        let members = [self.reasoning_details, self.function_call, self.extra_content, self.thought_signature];
        self.tool_calls.as_ref().is_some_and(|calls| !calls.is_empty()) || members.iter().any(Option::is_some)
    }
}

/// A part of a list of parts.
#[derive(Deserialize)]
pub(super) struct PartIn<'a> {
    #[serde(borrow)]
    pub(super) text: Option<&'a RawValue>,
    /// A list of parts in turn.
    pub(super) thinking: Option<&'a RawValue>,
}

/// A tool call, or a piece of one.
#[derive(Default)]
pub(super) struct CallIn<'a> {
    pub(super) index: Option<&'a RawValue>,
    pub(super) id: Option<&'a RawValue>,
    pub(super) function: Option<CalledIn<'a>>,
    /// What is called, where it is no function.
    pub(super) custom: Option<CalledIn<'a>>,
    /// Members that are not known.
    pub(super) others: Members<'a>,
}

/// What is called.
#[derive(Default)]
pub(super) struct CalledIn<'a> {
    name: Option<&'a RawValue>,
    /// A text; some servers write the object itself.
    pub(super) arguments: Option<&'a RawValue>,
    /// Members that are not known.
    pub(super) others: Members<'a>,
}

/// Members of an object as they are there.
type Members<'a> = Vec<(Cow<'a, str>, &'a RawValue)>;

impl CalledIn<'_> {
    pub(super) fn name(&self) -> Option<Cow<'_, str>> {
        text(self.name)
    }

    /// Whether there is something in its arguments.
    pub(super) fn has_arguments(&self) -> bool {
        let is_blank =
            |raw: &RawValue| raw.get() == "null" || text(Some(raw)).is_some_and(|text| text.trim().is_empty());
        self.arguments.is_some_and(|raw| !is_blank(raw))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for CallIn<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut call = Self::default();
        for (name, value) in members(deserializer)? {
            match &*name {
                "index" => call.index = Some(value),
                "id" => call.id = Some(value),
                "type" => {}
                "function" => call.function = serde_json::from_str(value.get()).map_err(D::Error::custom)?,
                "custom" => call.custom = serde_json::from_str(value.get()).map_err(D::Error::custom)?,
                _ => call.others.push((name, value)),
            }
        }
        Ok(call)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for CalledIn<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut called = Self::default();
        for (name, value) in members(deserializer)? {
            match &*name {
                "name" => called.name = Some(value),
                "arguments" | "input" => called.arguments = Some(value),
                _ => called.others.push((name, value)),
            }
        }
        Ok(called)
    }
}

/// The members of an object in their order.
fn members<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Members<'de>, D::Error> {
    struct All;
    impl<'de> Visitor<'de> for All {
        type Value = Members<'de>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some((Text(name), value)) = map.next_entry()? {
                members.push((name, value));
            }
            Ok(members)
        }
    }
    deserializer.deserialize_map(All)
}

/// Token counts, as far as given.
#[derive(Deserialize)]
pub(super) struct UsageIn<'a> {
    #[serde(borrow)]
    pub(super) prompt_tokens: Option<&'a RawValue>,
    pub(super) completion_tokens: Option<&'a RawValue>,
    pub(super) total_tokens: Option<&'a RawValue>,
    pub(super) prompt_cache_hit_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) prompt_tokens_details: Option<PromptDetailsIn<'a>>,
    #[serde(borrow)]
    pub(super) completion_tokens_details: Option<CompletionDetailsIn<'a>>,
}

/// Where the input came from.
#[derive(Deserialize)]
pub(super) struct PromptDetailsIn<'a> {
    #[serde(borrow)]
    pub(super) cached_tokens: Option<&'a RawValue>,
    pub(super) cache_write_tokens: Option<&'a RawValue>,
}

/// What the output consists of.
#[derive(Deserialize)]
pub(super) struct CompletionDetailsIn<'a> {
    #[serde(borrow)]
    pub(super) reasoning_tokens: Option<&'a RawValue>,
}
