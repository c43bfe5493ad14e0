//! Where the agents below come from: what a host brings for each.

use crate::builder::Builder;
use crate::notice::AgentName;
use agent_core::agent::Birth;
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
