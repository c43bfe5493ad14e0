//! OpenAI Responses.

mod answer;
mod items;
mod request;
mod wire;

use crate::client::{ApiSpec, Client};
use crate::config::{ConfigError, ProviderConfig};
use crate::history::Fragments;
use crate::openai::CallIds;
use crate::pictures::Gallery;
use crate::reader;
use agent_types::llm::{LlmError, LlmRequest};
use agent_types::ports::{LlmProvider, LlmStream};
pub(crate) use answer::Assembly;
use async_trait::async_trait;
pub(crate) use request::body;

/// Talks to `POST {base}/responses`, without having anything stored there.
///
/// Reasoning goes back as the item it came as, sealed by the server; messages with their ids, phases and annotations; items of the
/// server's own tools as they came. A failed tool result says so in its text.
#[derive(Debug)]
pub struct OpenAiResponsesProvider {
    client: Client,
    fragments: Fragments,
}

impl OpenAiResponsesProvider {
    /// A provider for this server; nothing is sent yet.
    ///
    /// # Errors
    /// [`ConfigError`] when the configuration cannot be used.
    pub fn new(config: ProviderConfig) -> Result<Self, ConfigError> {
        let client = Client::new(config, &SPEC)?;
        let fragments = fragments(client.host());
        Ok(Self { client, fragments })
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
impl LlmProvider for OpenAiResponsesProvider {
    fn dialect(&self) -> &str {
        DIALECT
    }

    async fn stream(&self, request: LlmRequest) -> Result<LlmStream, LlmError> {
        let gallery = Gallery::of(&request, self.client.pictures()).await;
        let body = body(&request, &self.fragments, &gallery);
        let assembly = Assembly::within(request.max_output_tokens);
        reader::ask(&self.client, "/responses", &request.model, body, assembly).await
    }
}

/// Keeps what was written of conversations in this format, for the server of this name.
pub(crate) fn fragments(host: &str) -> Fragments {
    let ids = CallIds::of_responses(host);
    Fragments::new(move |item| request::fragment(item, ids), request::head)
}

/// Marks opaque blocks as this format's.
const DIALECT: &str = "openai-responses";

pub(crate) const SPEC: ApiSpec = ApiSpec {
    dialect: DIALECT,
    default_base_url: "https://api.openai.com/v1",
    superfluous: &["/chat/completions", "/responses"],
    key_variable: "OPENAI_API_KEY",
    key_header: ("authorization", "Bearer "),
    headers: &[],
};
