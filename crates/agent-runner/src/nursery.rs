//! Where the agents below come from: what a host brings for each.

use crate::builder::Builder;
use crate::notice::AgentName;
use agent_core::agent::Birth;
use agent_core::child::Left;
use agent_core::ports::CancelSignal;
use async_trait::async_trait;

/// Makes the agents below the session's own. A runner without one begins none.
#[async_trait]
pub trait Nursery: Send + Sync {
    /// The session's id of the agent at a place: numbers below the root, as in [`AgentName::place`].
    fn id(&self, place: &[u32]) -> String;

    /// A new agent: its configuration, provider, tools, hooks and a new journal. The runner adds what it is bound to.
    ///
    /// # Errors
    /// Why it cannot be begun, in words for the model of its parent.
    async fn begin(&self, agent: &AgentName, birth: &Birth) -> Result<Builder, String>;

    /// Makes the workspace of its own in which an agent is to [begin](Self::begin). What an attempt before this one left there, in which no
    /// agent ever worked, is taken away.
    ///
    /// # Errors
    /// Why there is none, in words for the model of its parent.
    async fn prepare(&self, agent: &AgentName, stop: &dyn CancelSignal) -> Result<(), String> {
        let _ = (agent, stop);
        Err(String::from("this program makes no worktrees"))
    }

    /// Looks through the workspace that an agent had for itself, of which nothing runs any more, and removes it if nothing was changed
    /// there. Asked again after a program that died in it.
    async fn clear(&self, agent: &AgentName, stop: &dyn CancelSignal) -> Left {
        let _ = (agent, stop);
        Left::Nothing
    }

    /// What is kept of an agent that was begun before this program.
    async fn find(&self, agent: &AgentName, birth: &Birth) -> Found;
}

/// What is kept of an agent.
pub enum Found {
    /// Nothing: it was not begun.
    Nothing,
    /// It continues.
    Kept(Box<Builder>),
    /// Its journal cannot be read, and why.
    Lost(String),
}
