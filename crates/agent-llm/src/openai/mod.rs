//! OpenAI Chat Completions, and the many servers that speak it with quirks.

mod answer;
mod calls;
mod details;
mod quirks;
mod request;
mod wire;

use crate::client::{ApiSpec, Client};
use crate::config::{ConfigError, ProviderConfig};
use crate::history::Fragments;
use crate::pictures::Gallery;
use crate::reader;
use agent_types::llm::{LlmError, LlmRequest};
use agent_types::ports::{LlmProvider, LlmStream};
pub(crate) use answer::Assembly;
use async_trait::async_trait;
pub(crate) use quirks::{CallIds, Quirks};
pub(crate) use request::body;

/// Talks to `POST {base}/chat/completions`.
///
/// Thinking is shown and goes back only to servers that have a place for it. A failed tool result says so in its text. What a server
/// wants otherwise than most is known by its host.
#[derive(Debug)]
pub struct OpenAiProvider {
    client: Client,
    fragments: Fragments,
    quirks: Quirks,
}

impl OpenAiProvider {
    /// A provider for this server; nothing is sent yet.
    ///
    /// # Errors
    /// [`ConfigError`] when the configuration cannot be used.
    pub fn new(config: ProviderConfig) -> Result<Self, ConfigError> {
        let client = Client::new(config, &SPEC)?;
        let quirks = Quirks::of_host(client.host());
        Ok(Self { client, fragments: fragments(quirks), quirks })
    }

    /// The ids of the models that the server offers, in its order.
    ///
    /// # Errors
    /// [`LlmError`], classified as for a model call.
    pub async fn list_models(&self) -> Result<Vec<String>, LlmError> {
        crate::models::list(&self.client, "/models").await
    }
}

#[async_trait]
impl LlmProvider for OpenAiProvider {
    fn dialect(&self) -> &str {
        DIALECT
    }

    async fn stream(&self, request: LlmRequest) -> Result<LlmStream, LlmError> {
        let gallery = Gallery::of(&request, self.client.pictures()).await;
        let body = body(&request, self.quirks, &self.fragments, &gallery);
        reader::ask(&self.client, "/chat/completions", &request.model, body, Assembly::default()).await
    }
}

/// Keeps what was written of conversations in this format.
pub(crate) fn fragments(quirks: Quirks) -> Fragments {
    Fragments::new(move |item| request::fragment(item, &quirks), request::head)
}

const DIALECT: &str = "openai";

/// What the frames of calls and of messages are named.
const CALL_FRAME: &str = "tool_call";
const MESSAGE_FRAME: &str = "message";

pub(crate) const SPEC: ApiSpec = ApiSpec {
    dialect: DIALECT,
    default_base_url: "https://api.openai.com/v1",
    superfluous: &["/chat/completions"],
    key_variable: "OPENAI_API_KEY",
    key_header: ("authorization", "Bearer "),
    headers: &[],
};
