//! A host in one file: its own model, its own tool, a terminal for a user interface. Needs neither key nor network.
//!
//! `cargo run -p agent-runner --example embed`
//!
//! The runner asks `Parrot` for an answer, runs the tool that it calls, sends the result back, and ends with the second answer. Everything
//! that happens meanwhile comes as notices, in order.
#![expect(clippy::print_stdout, reason = "the terminal is this host's user interface")]

use agent_core::conversation::{Arguments, Item, ToolCall};
use agent_core::llm::{LlmChunk, LlmError, LlmRequest, LlmResponse, RawCall, ResponseBlock};
use agent_core::ports::{LlmProvider, LlmStream, Tool, ToolContext};
use agent_core::session::{ModelConfig, SessionConfig};
use agent_core::tool::{Effect, Inspection, Subject, ToolOutcome, ToolSpec};
use agent_runner::{Agent, Builder};
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A model that knows one thing: to count words, call the tool and repeat what it says.
struct Parrot;

#[async_trait]
impl LlmProvider for Parrot {
    fn dialect(&self) -> &str {
        "parrot"
    }

    async fn stream(&self, request: LlmRequest) -> Result<LlmStream, LlmError> {
        let answer = match request.conversation.last().map(AsRef::as_ref) {
            Some(Item::Round(round)) => LlmResponse::text(&format!("{} words.", round.results()[0].content())),
            _ => {
                let arguments = String::from(r#"{"text":"the quick brown fox"}"#);
                let call = RawCall { id: String::new(), name: "count_words".into(), arguments, complete: true };
                LlmResponse { blocks: vec![ResponseBlock::Call(call)], ..LlmResponse::text("") }
            }
        };
        Ok(Box::pin(futures_util::stream::iter([Ok(LlmChunk::Completed(answer))])))
    }
}

struct CountWords(ToolSpec);

fn words(arguments: &Arguments) -> Result<usize, String> {
    let texts: BTreeMap<String, String> = arguments.read().map_err(|error| error.to_string())?;
    Ok(texts.values().flat_map(|text| text.split_whitespace()).count())
}

#[async_trait]
impl Tool for CountWords {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn inspect(&self, arguments: &Arguments) -> Result<Inspection, String> {
        words(arguments)?;
        Ok(Inspection { effect: Effect::Reads, subject: Subject::None })
    }

    async fn run(&self, call: &ToolCall, _: &ToolContext) -> ToolOutcome {
        words(&call.arguments).map_or_else(ToolOutcome::failed, |count| ToolOutcome::ok(count.to_string()))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema =
        serde_json::json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    let count =
        ToolSpec { name: "count_words".into(), description: "Counts words.".into(), input_schema: Arc::new(schema) };
    let config = SessionConfig::new(ModelConfig::new("parrot"));
    let builder = Builder::new(config).provider(Arc::new(Parrot)).tool(Arc::new(CountWords(count)));
    let mut agent = Agent::start(builder)?;
    let outcome = agent.ask("How many words has that sentence?", |notice| println!("{notice:?}")).await?;
    println!("{:?}: {}", outcome.kind, outcome.text);
    Ok(())
}
