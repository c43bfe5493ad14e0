//! A real server that speaks all three formats, such as `llama-server`, where one is at hand.
//!
//! `AGENT_PEER_URL=http://127.0.0.1:8080 cargo nextest run -p agent-llm --test peer`. What a small model says is of no interest: what is
//! asserted is that both sides understand each other.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use agent_llm::{AnthropicProvider, OpenAiProvider, OpenAiResponsesProvider};
use agent_types::conversation::{Answer, Arguments, Block, CallId, Conversation, Input, Round, ToolCall, ToolResult};
use agent_types::llm::{LlmChunk, LlmErrorKind, LlmRequest, LlmResponse, Purpose, ResponseBlock};
use agent_types::ports::LlmProvider;
use agent_types::tool::ToolSpec;
use futures_util::StreamExt;
use serde_json::json;
use std::sync::Arc;
use support::config;

async fn answer(provider: &dyn LlmProvider, conversation: &Conversation) -> LlmResponse {
    let read = ToolSpec {
        name: Arc::from("read_file"),
        description: Arc::from("Reads a file."),
        input_schema: Arc::new(json!({
            "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"],
        })),
    };
    let request = LlmRequest {
        purpose: Purpose::Turn,
        model: Arc::from("local"),
        system: Arc::from("You are a coding agent. Use the tools."),
        tools: Arc::from([read]),
        conversation: conversation.clone(),
        max_output_tokens: 48,
        effort: None,
    };
    let mut stream = provider.stream(request).await.unwrap();
    while let Some(chunk) = stream.next().await {
        if let LlmChunk::Completed(response) = chunk.unwrap() {
            return response;
        }
    }
    panic!("no answer")
}

#[tokio::test]
async fn all_three_formats_are_understood() {
    let Ok(url) = std::env::var("AGENT_PEER_URL") else {
        eprintln!("SKIPPED: set AGENT_PEER_URL to the URL of a llama-server");
        return;
    };
    let openai = format!("{url}/v1");
    let providers: [Box<dyn LlmProvider>; 3] = [
        Box::new(AnthropicProvider::new(config(&url)).unwrap()),
        Box::new(OpenAiProvider::new(config(&openai)).unwrap()),
        Box::new(OpenAiResponsesProvider::new(config(&openai)).unwrap()),
    ];
    for provider in &providers {
        let mut conversation = Conversation::new();
        conversation.push_input(Input::new(vec!["Read the file src/main.rs.".into()]).unwrap());
        let first = answer(&**provider, &conversation).await;
        eprintln!("{}: {first:?}", provider.dialect());
        assert!(first.usage.unwrap().context_tokens() > 0);
        assert!(!first.blocks.is_empty());

        // Whatever it said: a round and what it said last must be taken back.
        let call = Block::Call(ToolCall {
            id: CallId::new("call_of_ours"),
            name: Arc::from("read_file"),
            arguments: Arguments::parse("{\"path\":\"src/main.rs\"}").unwrap(),
        });
        let said = first.blocks.iter().filter_map(|block| match block {
            ResponseBlock::Text(text) => Some(Block::Text(text.clone())),
            ResponseBlock::Opaque { dialect, json } => {
                Some(Block::Opaque { dialect: dialect.clone(), json: json.clone() })
            }
            _ => None,
        });
        let blocks: Vec<Block> = said.chain([call]).collect();
        let result = ToolResult::new(CallId::new("call_of_ours"), "fn main() {}", false);
        conversation.push_round(Round::new(Answer::new(blocks).unwrap(), vec![result]).unwrap()).unwrap();
        let second = answer(&**provider, &conversation).await;
        assert!(second.usage.unwrap().context_tokens() > first.usage.unwrap().context_tokens());

        let long = Input::new(vec!["word ".repeat(20_000).into()]).unwrap();
        conversation.push_input(long);
        let request = LlmRequest {
            purpose: Purpose::Turn,
            model: Arc::from("local"),
            system: Arc::from(""),
            tools: Arc::from([]),
            conversation,
            max_output_tokens: 16,
            effort: None,
        };
        let error = provider.stream(request).await.err().unwrap();
        assert_eq!(error.kind, LlmErrorKind::ContextOverflow, "{error}");
        let facts = error.facts.unwrap();
        assert!(facts.requested_tokens > facts.limit_tokens && facts.limit_tokens.is_some(), "{facts:?}");
    }
}
