//! All providers hold what every provider has to, and a recording of one holds it too.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use agent_llm::{
    AnthropicProvider, Cassette, Matching, OpenAiProvider, OpenAiResponsesProvider, ProviderConfig, Recorder,
    ReplayProvider,
};
use agent_testkit::conformance::{HttpBackend, assert_conforms};
use agent_testkit::http::ScriptedServer;
use agent_types::llm::{LlmError, LlmRequest};
use agent_types::ports::{LlmProvider, LlmStream};
use async_trait::async_trait;
use futures_util::StreamExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;

fn config(base_url: String) -> ProviderConfig {
    ProviderConfig { base_url, api_key: Some(String::from("sk-test-0123456789")), ..ProviderConfig::default() }
}

fn anthropic(config: ProviderConfig) -> Arc<dyn LlmProvider> {
    Arc::new(AnthropicProvider::new(config).unwrap())
}

fn openai(config: ProviderConfig) -> Arc<dyn LlmProvider> {
    Arc::new(OpenAiProvider::new(config).unwrap())
}

fn openai_responses(config: ProviderConfig) -> Arc<dyn LlmProvider> {
    Arc::new(OpenAiResponsesProvider::new(config).unwrap())
}

#[tokio::test]
async fn anthropic_messages() {
    assert_conforms(&HttpBackend::new(|server: &ScriptedServer| anthropic(config(server.url())))).await;
}

#[tokio::test]
async fn openai_chat() {
    assert_conforms(&HttpBackend::new(|server: &ScriptedServer| openai(config(server.openai_url())))).await;
}

#[tokio::test]
async fn openai_responses_api() {
    assert_conforms(&HttpBackend::new(|server: &ScriptedServer| openai_responses(config(server.openai_url())))).await;
}

/// What is played is what was there: nothing is lost or made up between the network and the file, failures included.
#[tokio::test]
async fn recordings() {
    let formats: [(Make, BaseUrl); 3] = [
        (anthropic, ScriptedServer::url),
        (openai, ScriptedServer::openai_url),
        (openai_responses, ScriptedServer::openai_url),
    ];
    for (make, url) in formats {
        let played = |server: &ScriptedServer| -> Arc<dyn LlmProvider> {
            Arc::new(Played {
                make,
                base_url: url(server),
                directory: tempfile::tempdir().unwrap(),
                calls: AtomicUsize::new(0),
            })
        };
        assert_conforms(&HttpBackend::new(played)).await;
    }
}

type BaseUrl = fn(&ScriptedServer) -> String;
type Make = fn(ProviderConfig) -> Arc<dyn LlmProvider>;

/// Makes and records every call to its end, and answers with the recording.
struct Played {
    make: Make,
    base_url: String,
    directory: TempDir,
    calls: AtomicUsize,
}

#[async_trait]
impl LlmProvider for Played {
    fn dialect(&self) -> &str {
        "played"
    }

    async fn stream(&self, request: LlmRequest) -> Result<LlmStream, LlmError> {
        let path = self.directory.path().join(self.calls.fetch_add(1, Ordering::Relaxed).to_string());
        let recorder = Recorder::create(&path, &[]).unwrap();
        let recorded = (self.make)(ProviderConfig { recorder: Some(recorder), ..config(self.base_url.clone()) });
        // What came of it is in the recording. A server that has fallen silent is left after a moment.
        let _ = tokio::time::timeout(PATIENCE, async {
            if let Ok(mut stream) = recorded.stream(request.clone()).await {
                while stream.next().await.is_some() {}
            }
        })
        .await;
        drop(recorded);
        let cassette = Cassette::read(&path).unwrap();
        ReplayProvider::new(cassette, Matching::Exact).stream(request).await
    }
}

const PATIENCE: Duration = Duration::from_millis(500);
