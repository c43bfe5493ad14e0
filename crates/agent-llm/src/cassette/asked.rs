//! How the model was asked in a recording, so that a replay asks in the same way.

use super::Cassette;
use crate::format::Writer;
use agent_types::conversation::Conversation;
use agent_types::llm::{Effort, LlmRequest, Purpose};
use reqwest::Url;
use serde_json::Value;
use std::sync::Arc;

/// What a recorded call asked of its model, beside the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The most tokens that the answer may have.
    pub max_output_tokens: u32,
    /// How much the model is to think, if the request says so.
    pub effort: Option<Effort>,
}

impl Cassette {
    /// How this model was asked, in the first call of it.
    #[must_use]
    pub fn asked(&self, model: &str) -> Option<Asked> {
        let body = self.calls.iter().map(|call| &call.body).find(|body| body["model"] == model)?;
        let limit = LIMITS.iter().find_map(|name| body[*name].as_u64());
        let max_output_tokens = limit.and_then(|tokens| u32::try_from(tokens).ok())?;
        let url = Url::parse(&self.head.base_url).ok();
        let writer = Writer::new(self.format, url.as_ref().and_then(Url::host_str).unwrap_or_default());
        let is_so = |effort: &Option<Effort>| {
            let written = writer.write(&empty(model, max_output_tokens, *effort)).ok();
            let written: Option<Value> = written.and_then(|body| serde_json::from_slice(&body).ok());
            written.is_some_and(|written| EFFORTS.iter().all(|name| written[*name] == body[*name]))
        };
        // Written as a request would, whatever the format and the model.
        let efforts = std::iter::once(None).chain(USUAL_FIRST.into_iter().map(Some));
        Some(Asked { max_output_tokens, effort: efforts.into_iter().find(is_so).flatten() })
    }
}

/// A request in which nothing is said.
fn empty(model: &str, max_output_tokens: u32, effort: Option<Effort>) -> LlmRequest {
    LlmRequest {
        purpose: Purpose::Turn,
        model: Arc::from(model),
        system: Arc::from(""),
        tools: Arc::from([]),
        conversation: Conversation::new(),
        max_output_tokens,
        effort,
    }
}

/// Some are written alike: then it is the one that every model knows.
const USUAL_FIRST: [Effort; Effort::ALL.len()] =
    [Effort::None, Effort::Low, Effort::Medium, Effort::High, Effort::Minimal, Effort::Xhigh, Effort::Max];
/// What a request calls the limit on its answer.
const LIMITS: [&str; 3] = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
/// Where it says how much the model is to think.
const EFFORTS: [&str; 4] = ["thinking", "output_config", "reasoning_effort", "reasoning"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;

    #[test]
    fn limit_and_effort_are_read_as_they_were_written() {
        for (format, dialect, model) in [
            (Format::Anthropic, "anthropic", "claude-opus-4-8"),
            (Format::Anthropic, "anthropic", "claude-sonnet-4-5"),
            (Format::OpenAiChat, "openai", "some-model"),
            (Format::OpenAiResponses, "openai-responses", "gpt-5.5"),
        ] {
            for effort in [None, Some(Effort::Low), Some(Effort::High)] {
                let body = Writer::new(format, "h").write(&empty(model, 64_000, effort)).unwrap();
                let body: Value = serde_json::from_slice(&body).unwrap();
                let head = serde_json::json!({"cassette": {
                    "version": 1, "dialect": dialect, "base_url": "http://h/v1", "key_variable": "K", "has_key": false,
                }});
                let request = serde_json::json!({"request": {"call": 1, "url": "http://h/v1/x", "body": body}});
                let cassette = Cassette::parse(format!("{head}\n{request}\n").as_bytes(), "c").unwrap();
                let asked = Some(Asked { max_output_tokens: 64_000, effort });
                assert_eq!(cassette.asked(model), asked, "{dialect} {model} {effort:?}");
                assert_eq!(cassette.asked("other"), None);
            }
        }
    }
}
