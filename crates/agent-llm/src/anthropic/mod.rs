//! Anthropic Messages.

mod answer;
mod request;
mod server_tools;
mod thinking;
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
pub(crate) use request::body;

/// Talks to `POST {base}/v1/messages`.
///
/// Thinking goes back to the server only with its signature; citations, callers of tools and blocks of the server's own tools as they came.
/// Prompt caching is asked for at the system prompt (or the last tool) and at the last two user messages.
#[derive(Debug)]
pub struct AnthropicProvider {
    client: Client,
    fragments: Fragments,
}

impl AnthropicProvider {
    /// A provider for this server; nothing is sent yet.
    ///
    /// # Errors
    /// [`ConfigError`] when the configuration cannot be used.
    pub fn new(config: ProviderConfig) -> Result<Self, ConfigError> {
        let client = Client::new(config, &SPEC)?;
        Ok(Self { client, fragments: fragments() })
    }

    /// The ids of the models that the server offers, in its order.
    ///
    /// # Errors
    /// [`LlmError`], classified as for a model call.
    pub async fn list_models(&self) -> Result<Vec<String>, LlmError> {
        crate::models::list(&self.client, "/v1/models?limit=1000").await
    }
}

#[async_trait]
impl LlmProvider for AnthropicProvider {
    fn dialect(&self) -> &str {
        DIALECT
    }

    async fn stream(&self, request: LlmRequest) -> Result<LlmStream, LlmError> {
        let gallery = Gallery::of(&request, self.client.pictures()).await;
        let body = body(&request, &self.fragments, &gallery);
        reader::ask(&self.client, "/v1/messages", &request.model, body, Assembly::default()).await
    }
}

/// Keeps what was written of conversations in this format.
pub(crate) fn fragments() -> Fragments {
    Fragments::new(request::fragment, request::head)
}

/// Marks opaque blocks as this format's.
const DIALECT: &str = "anthropic";

/// What the frame of an answer is named, with what belongs to no block of it.
const MESSAGE_FRAME: &str = "message";

/// Its member, and a request's, that names where the server runs code.
const CONTAINER: &str = "container";

pub(crate) const SPEC: ApiSpec = ApiSpec {
    dialect: DIALECT,
    default_base_url: "https://api.anthropic.com",
    superfluous: &["/v1/messages", "/v1"],
    key_variable: "ANTHROPIC_API_KEY",
    key_header: ("x-api-key", ""),
    headers: &[("anthropic-version", "2023-06-01")],
};
