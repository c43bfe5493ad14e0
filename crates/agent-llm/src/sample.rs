//! What the tests of all formats ask for.

use agent_types::conversation::Conversation;
use agent_types::llm::{LlmRequest, Purpose};
use agent_types::tool::ToolSpec;
use serde_json::json;
use std::sync::Arc;

/// A request with a system prompt and one tool.
pub(crate) fn request(model: &str, conversation: &Conversation) -> LlmRequest {
    LlmRequest {
        purpose: Purpose::Turn,
        model: Arc::from(model),
        system: Arc::from("Be brief."),
        tools: Arc::from([ToolSpec {
            name: Arc::from("read"),
            description: Arc::from("Reads a file."),
            input_schema: Arc::new(json!({"type": "object"})),
        }]),
        conversation: conversation.clone(),
        max_output_tokens: 100,
        effort: None,
    }
}
