//! OpenAI Chat Completions, and the many servers that speak it with an accent.

mod answer;
mod calls;
mod request;
mod wire;

use crate::client::{Client, Flavour};
use crate::config::{ConfigError, ProviderConfig};
use crate::history::Fragments;
use crate::reader;
use agent_core::llm::{LlmError, LlmErrorKind, LlmRequest};
use agent_core::ports::{LlmProvider, LlmStream};
use answer::Assembly;
use async_trait::async_trait;
use request::LimitName;

/// Talks to `POST {base}/chat/completions`.
///
/// Thinking is shown and not sent back: the format has no place for it. A failed tool result says so in its text.
#[derive(Debug)]
pub struct OpenAiProvider {
    client: Client,
    fragments: Fragments,
    limit_name: LimitName,
}

impl OpenAiProvider {
    /// A provider for this server; nothing is sent yet.
    ///
    /// # Errors
    /// [`ConfigError`] when the configuration cannot be used.
    pub fn new(config: ProviderConfig) -> Result<Self, ConfigError> {
        let client = Client::new(config, &FLAVOUR)?;
        Ok(Self {
            limit_name: LimitName::for_host(client.host()),
            client,
            fragments: Fragments::new(request::fragment, request::head),
        })
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
        let body = request::body(&request, self.limit_name, &self.fragments).map_err(|error| {
            let found = format!("write the request for {}: {error}", request.model);
            LlmError::new(LlmErrorKind::InvalidRequest, found)
        })?;
        let answered = self.client.post("/chat/completions", body).await?;
        reader::read(answered, Assembly::default()).await
    }
}

const DIALECT: &str = "openai";

const FLAVOUR: Flavour = Flavour {
    default_base_url: "https://api.openai.com/v1",
    superfluous: &["/chat/completions"],
    key_variable: "OPENAI_API_KEY",
    key_header: ("authorization", "Bearer "),
    headers: &[],
};
