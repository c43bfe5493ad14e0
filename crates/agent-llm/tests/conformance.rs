//! All providers hold what every provider has to.

use agent_core::ports::LlmProvider;
use agent_llm::{AnthropicProvider, OpenAiProvider, OpenAiResponsesProvider, ProviderConfig};
use agent_testkit::conformance::{HttpBackend, assert_conforms};
use agent_testkit::http::ScriptedServer;
use std::sync::Arc;

fn config(base_url: String) -> ProviderConfig {
    ProviderConfig { base_url, api_key: Some(String::from("sk-test-0123456789")), ..ProviderConfig::default() }
}

#[tokio::test]
async fn anthropic_messages() {
    let connect = |server: &ScriptedServer| -> Arc<dyn LlmProvider> {
        Arc::new(AnthropicProvider::new(config(server.url())).unwrap())
    };
    assert_conforms(&HttpBackend::new(connect)).await;
}

#[tokio::test]
async fn openai_chat() {
    let connect = |server: &ScriptedServer| -> Arc<dyn LlmProvider> {
        Arc::new(OpenAiProvider::new(config(server.openai_url())).unwrap())
    };
    assert_conforms(&HttpBackend::new(connect)).await;
}

#[tokio::test]
async fn openai_responses() {
    let connect = |server: &ScriptedServer| -> Arc<dyn LlmProvider> {
        Arc::new(OpenAiResponsesProvider::new(config(server.openai_url())).unwrap())
    };
    assert_conforms(&HttpBackend::new(connect)).await;
}
