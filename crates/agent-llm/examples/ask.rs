//! Asks a model one question and shows the answer as it is written.
//!
//! ```text
//! cargo run -p agent-llm --example ask -- anthropic http://127.0.0.1:8080    some-model "Why is the sky blue?"
//! cargo run -p agent-llm --example ask -- openai    http://127.0.0.1:8080/v1 some-model "Why is the sky blue?"
//! ```
//!
//! The key is taken from the variable `API_KEY`, if there is one.

#![expect(clippy::print_stdout, reason = "it is a program for the terminal")]

use agent_llm::{AnthropicProvider, OpenAiProvider, ProviderConfig};
use agent_types::conversation::{Conversation, Input};
use agent_types::llm::{Delta, LlmChunk, LlmRequest, Purpose};
use agent_types::ports::LlmProvider;
use futures_util::StreamExt;
use std::error::Error;
use std::sync::Arc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dialect, base_url, model, question] = arguments.as_slice() else {
        return Err("expected: anthropic|openai BASE_URL MODEL QUESTION".into());
    };
    let config = ProviderConfig {
        base_url: base_url.clone(),
        api_key: std::env::var("API_KEY").ok(),
        key_variable: "API_KEY".to_owned(),
        ..ProviderConfig::default()
    };
    let provider: Box<dyn LlmProvider> = match dialect.as_str() {
        "anthropic" => Box::new(AnthropicProvider::new(config)?),
        "openai" => Box::new(OpenAiProvider::new(config)?),
        other => return Err(format!("expected `anthropic` or `openai`, found `{other}`").into()),
    };

    let mut conversation = Conversation::new();
    conversation.push_input(Input::new(vec![question.clone().into()])?);
    let request = LlmRequest {
        purpose: Purpose::Turn,
        model: Arc::from(model.as_str()),
        system: Arc::from(""),
        tools: Arc::from([]),
        conversation,
        max_output_tokens: 1024,
        effort: None,
    };
    let mut answer = provider.stream(request).await?;
    while let Some(chunk) = answer.next().await {
        match chunk? {
            LlmChunk::Delta(Delta::Text(text)) => print!("{text}"),
            LlmChunk::Completed(response) => {
                println!("\n\n{:?}, {:?}", response.stop, response.usage);
            }
            _ => {}
        }
    }
    Ok(())
}
