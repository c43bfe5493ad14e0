//! What models of a tree answer, and what they have read.

use agent_core::agent::Agent;
use agent_core::agents::AgentLimits;
use agent_core::budget::Limits;
use agent_core::conversation::Item;
use agent_core::llm::{LlmResponse, RawCall, ResponseBlock};
use agent_core::session::{ModelConfig, SessionConfig};
use agent_core::tool::ToolSpec;
use serde_json::json;
use std::sync::Arc;

/// A tool of the test.
fn tool(name: &str) -> ToolSpec {
    let input_schema = Arc::new(json!({"type": "object"}));
    ToolSpec { name: Arc::from(name), description: Arc::from(name), input_schema }
}

/// A root's configuration: the tools of agents, one that reads, and the signal.
#[must_use]
pub fn config() -> SessionConfig {
    let names = ["spawn_agent", "wait_agent", "send_agent", "stop_agent", "list_agents", "read", "signal"];
    SessionConfig {
        tools: names.into_iter().map(tool).collect(),
        limits: Limits { max_model_calls: Some(100), ..Limits::default() },
        agents: Some(AgentLimits { depth: 2, width: 4, total: 8, per_minute: 6 }),
        ..SessionConfig::new(ModelConfig::new("some-model"))
    }
}

/// An answer that calls tools.
#[must_use]
pub fn calls(calls: &[(&str, serde_json::Value)], ids: &str) -> LlmResponse {
    let call = |(number, (name, arguments)): (usize, &(&str, serde_json::Value))| {
        let id = format!("{ids}-{number}").as_str().into();
        ResponseBlock::Call(RawCall { id, name: (*name).into(), arguments: arguments.to_string(), complete: true })
    };
    LlmResponse { blocks: calls.iter().enumerate().map(call).collect(), ..LlmResponse::text("") }
}

/// How many answers the agent has given.
#[must_use]
pub fn rounds(agent: &Agent) -> usize {
    let is_answer = |item: &&Arc<Item>| matches!(item.as_ref(), Item::Round(_) | Item::Answer(_));
    agent.session().conversation().iter().filter(is_answer).count()
}

/// All results and messages that the model has read, one a line.
#[must_use]
pub fn read_by(agent: &Agent) -> Vec<String> {
    let mut all = Vec::new();
    for item in agent.session().conversation().iter() {
        match item.as_ref() {
            Item::Input(input) => all.extend(input.messages().iter().map(|said| said.text.clone())),
            Item::Round(round) => all.extend(round.results().iter().map(|result| result.content().to_owned())),
            Item::Answer(_) | Item::Summary(_) => {}
        }
    }
    all
}
