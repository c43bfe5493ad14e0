//! Where the agents below come from.

use super::kept::{Kept, Records};
use super::ports;
use agent_core::agent::Birth;
use agent_core::ports::{LlmProvider, Tool};
use agent_runner::journal::{SessionStore, descendant_id};
use agent_runner::{AgentName, Builder, Found, Nursery};
use async_trait::async_trait;
use std::sync::Arc;

pub(super) struct Cradle {
    pub(super) provider: Arc<dyn LlmProvider>,
    pub(super) tools: Vec<Arc<dyn Tool>>,
    pub(super) store: Option<SessionStore>,
    pub(super) root: String,
    /// Of which agents the records are kept in memory.
    pub(super) kept: Vec<(Vec<u32>, Records)>,
}

impl Cradle {
    pub(super) fn new(provider: Arc<dyn LlmProvider>, store: Option<SessionStore>) -> Self {
        Self { provider, tools: ports::tools(), store, root: SessionStore::new_id(), kept: Vec::new() }
    }
}

#[async_trait]
impl Nursery for Cradle {
    fn id(&self, place: &[u32]) -> String {
        descendant_id(&self.root, place)
    }

    async fn begin(&self, agent: &AgentName, birth: &Birth) -> Result<Builder, String> {
        let has = |tool: &&Arc<dyn Tool>| birth.config.tools.iter().any(|spec| spec.name == tool.spec().name);
        let tools = self.tools.iter().filter(has).cloned();
        let builder = Builder::new(birth.config.clone()).provider(self.provider.clone()).tools(tools);
        let made = self.store.as_ref().map(|store| store.create_below(&agent.id)).transpose();
        let file = made.map_err(|error| error.to_string())?;
        let kept = self.kept.iter().find(|(place, _)| *place == agent.place);
        Ok(match (kept, file) {
            (Some((_, records)), file) => {
                let beside = file.map(|file| Box::new(file) as _);
                builder.journal(Box::new(Kept { records: records.clone(), beside }))
            }
            (None, Some(file)) => builder.journal(Box::new(file)),
            (None, None) => builder,
        })
    }

    async fn find(&self, _: &AgentName, _: &Birth) -> Found {
        Found::Nothing
    }
}
