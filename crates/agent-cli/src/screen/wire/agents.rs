//! What programs read of the agents below a session.

use agent_core::child::lease::Spent;
use agent_core::child::{Left, Outcome};
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
    /// Its task, as it reads it. The call that began it has all of it; here it is cut after 4,000 bytes, and ends in `[cut]` then.
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
    /// The worktree of its own in which it left changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    worktree: Option<String>,
    /// The branch that is checked out there.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    /// Why it is not known what is left in the worktree of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    worktree_error: Option<String>,
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
        Self { session_id, name, task: cut(task), model: model.to_owned() }
    }
}

fn cut(task: &str) -> String {
    if task.len() <= MAX_TASK_BYTES {
        return task.to_owned();
    }
    let end = task.floor_char_boundary(MAX_TASK_BYTES);
    [task.get(..end).unwrap_or_default(), "\n[cut]"].concat()
}

/// How much of a task a line has. A task may be megabytes, and the line of the call has it.
const MAX_TASK_BYTES: usize = 4_000;

impl AgentReport {
    pub(crate) fn of(agent: &AgentName, outcome: &Outcome, spent: &Spent) -> Self {
        let (mut worktree, mut branch, mut worktree_error) = (None, None, None);
        match outcome.left.as_deref() {
            None | Some(Left::Nothing) => {}
            Some(Left::Changes { path, branch: its, .. }) => {
                (worktree, branch) = (Some(path.clone()), Some(its.clone()));
            }
            Some(Left::Unknown { found }) => worktree_error = Some(found.clone()),
        }
        Self {
            session_id: agent.id.clone(),
            name: agent.name.clone(),
            outcome: outcome.word.to_string(),
            reason: outcome.reason.clone(),
            verification: outcome.evidence().words(),
            worktree,
            branch,
            worktree_error,
            model_calls: spent.model_calls,
            tool_calls: spent.tool_calls,
            tokens: spent.tokens,
            cost_usd: spent.cost_nano_usd as f64 / 1e9,
        }
    }
}
