//! The tools by which an agent has others work for it. The agent itself answers their calls; no tool runs.

use agent_types::agents::{
    AgentCall, LIST_TOOL, SEND_TOOL, SPAWN_TOOL, STOP_TOOL, SharedWorkspace, SpawnArguments, WAIT_TOOL,
};
use agent_types::conversation::{Arguments, ToolCall};
use agent_types::ports::{Tool, ToolContext};
use agent_types::tool::{Effect, Inspection, Subject, ToolOutcome, ToolSpec};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::Arc;

/// The tools for agents below this one.
#[must_use]
pub fn agent_tools() -> Vec<Arc<dyn Tool>> {
    let name = || json!({"type": "string", "description": "The agent's name."});
    let specs = [
        (SPAWN_TOOL, SPAWN, spawn_schema()),
        (
            WAIT_TOOL,
            "Waits for agents that you have begun, and gives you their outcomes and questions.",
            object(
                json!({
                    "names": {
                        "type": "array", "items": {"type": "string"},
                        "description": "For these. Without names: for all that have not ended."
                    },
                    "until": {
                        "type": "string", "enum": ["any", "all"],
                        "description": "`any` (default): until one ends or asks. `all`: until each has ended or asks."
                    }
                }),
                &[],
            ),
        ),
        (
            SEND_TOOL,
            "Sends a message to an agent that works for you, or answers its question.",
            object(json!({"name": name(), "message": {"type": "string"}}), &["name", "message"]),
        ),
        (
            STOP_TOOL,
            "Stops an agent that works for you, with all that work for it, and gives you its outcome.",
            object(json!({"name": name()}), &["name"]),
        ),
        (LIST_TOOL, "Lists the agents that you have begun, and what each does.", object(json!({}), &[])),
    ];
    let tool = |(name, description, schema): (&str, &str, Value)| {
        let (name, description) = (Arc::from(name), Arc::from(description));
        let spec = ToolSpec { name, description, input_schema: Arc::new(schema) };
        Arc::new(AboutAgents { spec }) as Arc<dyn Tool>
    };
    specs.into_iter().map(tool).collect()
}

#[expect(clippy::needless_pass_by_value, reason = "it becomes a part of the schema")]
fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn spawn_schema() -> Value {
    let count = || json!({"type": "integer", "minimum": 1});
    let budget = json!({
        "model_calls": count(), "tool_calls": count(), "tokens": count(), "minutes": count(),
        "cost_usd": {"type": "number", "exclusiveMinimum": 0},
        "agents": {"type": "integer", "minimum": 0, "description": "How many agents it may begin itself."}
    });
    let properties = json!({
        "name": {"type": "string", "pattern": "^[a-z0-9_-]{1,32}$", "description": "A name that none of your agents has had."},
        "task": {"type": "string", "description": "The whole task: the agent knows nothing else of your conversation."},
        "background": {
            "type": "boolean",
            "description": "true: you continue while it works, and get its outcome from wait_agent or at the end of your turn."
        },
        "workspace": {
            "type": "string", "enum": ["read_only", "shared", "worktree"],
            "description": "`read_only` (default): it changes nothing. `shared`: it may change files as you may; you wait for it. \
                            `worktree`: it changes files in a git worktree of its own, made from the last commit, and its outcome names \
                            the branch."
        },
        "mode": {"type": "string", "enum": ["execute", "delegate", "plan", "break_up", "unify"]},
        "tools": {"type": "array", "items": {"type": "string"}, "description": "Which of your tools it may use. Default: all."},
        "model": {"type": "string", "description": "Which of the session's models answers it. Default: yours."},
        "verify": {
            "type": "array", "items": {"type": "string"}, "maxItems": SpawnArguments::MAX_CHECKS,
            "description": "Commands that must succeed before its work counts as done; each must be allowed by the rules."
        },
        "budget": {
            "type": "object", "properties": budget, "additionalProperties": false,
            "description": "What it may spend at most. Default: a share of what you have left."
        }
    });
    object(properties, &["name", "task"])
}

struct AboutAgents {
    spec: ToolSpec,
}

#[async_trait]
impl Tool for AboutAgents {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn inspect(&self, arguments: &Arguments) -> Result<Inspection, String> {
        let call = AgentCall::read(&self.spec.name, arguments).unwrap_or_else(|| Err(String::from("no such tool")))?;
        // Only one agent at a time changes the files of a workspace, and a worktree with its branch is a change of the repository.
        let effect = match call {
            AgentCall::Spawn(spawn) => match spawn.workspace {
                SharedWorkspace::Shared | SharedWorkspace::Worktree => Effect::Changes,
                SharedWorkspace::ReadOnly => Effect::Reads,
            },
            AgentCall::Wait(_) | AgentCall::Send(_) | AgentCall::Stop(_) | AgentCall::List => Effect::Reads,
        };
        Ok(Inspection { effect, subject: Subject::None })
    }

    async fn run(&self, _call: &ToolCall, _context: &ToolContext) -> ToolOutcome {
        ToolOutcome::failed("this session has no agents below it")
    }
}

const SPAWN: &str = "Begins another agent that works for you, and gives you its outcome. Use it for work that stands on its own: several \
                     searches at a time, a review, a long task whose details you do not need. It sees nothing of your conversation.";

#[cfg(test)]
mod tests {
    use super::*;

    fn inspect(tool: &str, arguments: &str) -> Result<Inspection, String> {
        let tool = agent_tools().into_iter().find(|known| &*known.spec().name == tool).unwrap();
        tool.inspect(&Arguments::parse(arguments).unwrap())
    }

    #[test]
    fn every_tool_is_one_that_the_agent_answers() {
        for tool in agent_tools() {
            assert!(AgentCall::is_tool(&tool.spec().name), "{}", tool.spec().name);
        }
        assert_eq!(agent_tools().len(), 5);
    }

    #[test]
    fn an_agent_that_may_change_files_is_a_change() {
        let effect = |arguments| inspect(SPAWN_TOOL, arguments).map(|found| found.effect);
        assert_eq!(effect(r#"{"name":"a","task":"t"}"#), Ok(Effect::Reads));
        assert_eq!(effect(r#"{"name":"a","task":"t","workspace":"shared"}"#), Ok(Effect::Changes));
        assert_eq!(effect(r#"{"name":"a","task":"t","workspace":"worktree"}"#), Ok(Effect::Changes));
        assert!(effect(r#"{"name":"a"}"#).unwrap_err().contains("task"));
        assert!(inspect(WAIT_TOOL, r#"{"until":"never"}"#).is_err());
    }
}
