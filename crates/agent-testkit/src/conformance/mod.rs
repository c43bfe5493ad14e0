//! What every provider must hold, as checks that anybody can run over one of their own. [`tools`] has those for tools, [`journals`] those
//! for journals.
//!
//! A provider is judged by what comes out of its port while a service does something to it. The service is a [`Backend`]: it plays
//! [`Scene`]s, one a request, in whatever protocol the provider speaks. For the protocols of the [`ScriptedServer`](crate::http) there is
//! [`HttpBackend`]; a host with another protocol writes its own.
//!
//! ```no_run
//! # use agent_core::ports::LlmProvider;
//! # use agent_testkit::conformance::{HttpBackend, assert_conforms};
//! # use agent_testkit::http::ScriptedServer;
//! # use std::sync::Arc;
//! # fn my_provider(base_url: String) -> Arc<dyn LlmProvider> { unimplemented!() }
//! # async fn test() {
//! assert_conforms(&HttpBackend::new(|server: &ScriptedServer| my_provider(server.url()))).await;
//! # }
//! ```

pub mod journals;
pub mod tools;

mod backend;
mod checks;
mod failures;

pub use backend::{Backend, HttpBackend, Scene, Stage};

use agent_core::conversation::{Conversation, Input, ItemError};
use agent_core::llm::{Delta, LlmChunk, LlmError, LlmRequest, LlmResponse, Purpose};
use agent_core::ports::LlmProvider;
use agent_core::tool::ToolSpec;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// One thing that a provider must hold.
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// What it demands, in one sentence.
    pub demands: &'static str,
    run: for<'a> fn(&'a dyn Backend) -> BoxFuture<'a, Result<(), String>>,
}

impl Check {
    /// Holds a provider to it. Ends within a minute whatever the provider does.
    ///
    /// # Errors
    /// What was expected and what happened instead.
    pub async fn run(&self, backend: &dyn Backend) -> Result<(), String> {
        let ended = tokio::time::timeout(PATIENCE, (self.run)(backend)).await;
        ended.unwrap_or_else(|_| Err(format!("no end within {} s", PATIENCE.as_secs())))
    }
}

/// All of them.
#[must_use]
pub fn checks() -> Vec<Check> {
    checks::all().into_iter().chain(failures::all()).collect()
}

/// Holds a provider to all of them.
///
/// # Panics
/// When it does not hold one, with all that it does not hold.
pub async fn assert_conforms(backend: &dyn Backend) {
    let mut broken = Vec::new();
    for check in checks() {
        if let Err(found) = check.run(backend).await {
            broken.push(format!("{}: {}\n    but {found}", check.name, check.demands));
        }
    }
    assert!(broken.is_empty(), "the provider does not hold:\n{}", broken.join("\n"));
}

/// The output of a provider.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) text: String,
    pub(crate) thinking: String,
    pub(crate) answer: Option<LlmResponse>,
}

/// Hears one call out, to the end of its stream.
pub(crate) async fn hear(provider: &Arc<dyn LlmProvider>, request: LlmRequest) -> Result<Heard, LlmError> {
    let mut stream = provider.stream(request).await?;
    let mut heard = Heard::default();
    while let Some(chunk) = stream.next().await {
        match chunk? {
            LlmChunk::Delta(Delta::Text(text)) => heard.text.push_str(&text),
            LlmChunk::Delta(Delta::Thinking(text)) => heard.thinking.push_str(&text),
            LlmChunk::Completed(answer) => heard.answer = Some(answer),
        }
    }
    Ok(heard)
}

/// A request that every service takes.
pub(crate) fn request(words: &str) -> Result<LlmRequest, ItemError> {
    let mut conversation = Conversation::new();
    conversation.push_input(Input::new(vec![words.into()])?);
    Ok(LlmRequest {
        purpose: Purpose::Turn,
        model: Arc::from(crate::DEFAULT_MODEL),
        system: Arc::from("Be brief."),
        tools: Arc::from([ToolSpec {
            name: Arc::from("read_file"),
            description: Arc::from("Reads a file."),
            input_schema: Arc::new(json!({"type": "object", "properties": {"path": {"type": "string"}}})),
        }]),
        conversation,
        max_output_tokens: 1_000,
        effort: None,
    })
}

const PATIENCE: Duration = Duration::from_secs(60);
