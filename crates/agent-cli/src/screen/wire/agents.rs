//! What programs read of the agents below a session.

use agent_core::child::lease::Spent;
use agent_core::child::{Outcome, Verified};
use agent_runner::AgentName;
use serde::Serialize;

/// An agent below the session's own, when it begins.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct AgentBegun {
    /// Its session's id: that of the root, and where it stands below.
    session_id: String,
    /// Its name.
    name: String,
    /// Its task, as it reads it.
    task: String,
    /// The model that answers it.
    model: String,
}

/// An agent below the session's own, with its outcome.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct AgentReport {
    /// Its session's id: that of the root, and where it stands below.
    session_id: String,
    /// Its name.
    name: String,
    /// How it ended.
    #[cfg_attr(test, schemars(extend("enum" = ["done", "asks", "commitments not kept", "failed", "out of budget", "timed out", "cancelled", "not begun", "lost"])))]
    outcome: String,
    /// Why, where the outcome alone does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Whether its work was checked: `verified` with all checks passed, `partly verified`, or `unverified`.
    #[cfg_attr(test, schemars(extend("enum" = ["verified", "partly verified", "unverified"])))]
    verification: &'static str,
    /// Model calls, its own and those of the agents below it.
    model_calls: u64,
    /// Tool calls, the same.
    tool_calls: u64,
    /// Tokens, the same.
    tokens: u64,
    /// Cost in US dollars, the same, as far as prices are known.
    cost_usd: f64,
}

impl AgentBegun {
    pub(super) fn of(agent: &AgentName, task: &str, model: &str) -> Self {
        let (session_id, name) = (agent.id.clone(), agent.name.clone());
        Self { session_id, name, task: task.to_owned(), model: model.to_owned() }
    }
}

impl AgentReport {
    pub(crate) fn of(agent: &AgentName, outcome: &Outcome, spent: &Spent) -> Self {
        let verification = match outcome.verified {
            Some(Verified { kept, of }) if kept == of => "verified",
            Some(Verified { kept, .. }) if kept > 0 => "partly verified",
            Some(_) | None => "unverified",
        };
        Self {
            session_id: agent.id.clone(),
            name: agent.name.clone(),
            outcome: outcome.word.to_string(),
            reason: outcome.reason.clone(),
            verification,
            model_calls: spent.model_calls,
            tool_calls: spent.tool_calls,
            tokens: spent.tokens,
            cost_usd: spent.cost_nano_usd as f64 / 1e9,
        }
    }
}
