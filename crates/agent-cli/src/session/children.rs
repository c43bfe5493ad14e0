//! What an agent below the session's own is made of: the same provider, the workspace and sandbox that it works in, tools and hooks of its
//! own.

use crate::config::settings::Settings;
use crate::hooks::OfSubagent;
use crate::model::provider::Chosen;
use crate::session::instructions::moved;
use crate::session::instructions_below::reporting;
use crate::session::worktrees::{Ground, Worktrees};
use crate::skills::{ForModel, Skill, activate_skill};
use agent_core::agent::Birth;
use agent_core::child::Left;
use agent_core::journal::Rebuilt;
use agent_core::ports::{Approver, CancelSignal, LlmProvider, Tool};
use agent_runner::journal::{OpenError, Reopened, SessionStore, StoreError, descendant_id};
use agent_runner::{AgentName, Builder, Found, Nursery};
use agent_tools::{agent_tools, signal_tool, standard_tools};
use async_trait::async_trait;
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// What all agents of a session share.
#[derive(Clone)]
pub(crate) struct Shared {
    worktrees: Arc<Worktrees>,
    provider: Arc<dyn LlmProvider>,
    approver: Option<Arc<dyn Approver>>,
    skills: Vec<Skill>,
    secrets: Vec<String>,
}

/// Makes the agents below a session.
pub(crate) struct Children {
    pub(crate) shared: Shared,
    /// The session's id; empty without a journal.
    pub(crate) root: String,
    /// Where their journals are kept; nothing without a journal.
    pub(crate) store: Option<SessionStore>,
}

impl Shared {
    /// Of a session.
    pub(crate) fn of(
        settings: &Settings,
        skills: &[Skill],
        chosen: &Chosen,
        approver: Option<Arc<dyn Approver>>,
        root: Ground,
    ) -> Self {
        Self {
            worktrees: Arc::new(Worktrees::new(settings, chosen.attaching.keeper.clone(), root)),
            provider: chosen.provider.clone(),
            approver,
            skills: skills.to_vec(),
            secrets: chosen.secrets.clone(),
        }
    }

    /// A builder for an agent with what its parent lets it have.
    fn builder(&self, agent: &AgentName, birth: &Birth) -> Builder {
        let ground = self.worktrees.ground(&agent.place);
        let mut tools = standard_tools(&ground.workspace, ground.processes.clone());
        tools = reporting(tools, &ground.workspace, &birth.config.permissions, &ground.above);
        let for_model = ForModel::new(&ground.workspace, &birth.config.permissions, &ground.above);
        tools.extend(activate_skill(&for_model.skills(&self.skills, |_| {}), for_model));
        tools.extend(agent_tools());
        let has = |tool: &Arc<dyn Tool>| birth.config.tools.iter().any(|spec| spec.name == tool.spec().name);
        tools.retain(has);
        // By it an agent asks, whatever its parent has.
        if !tools.iter().any(|tool| tool.spec().name == signal_tool().spec().name) {
            tools.push(signal_tool());
        }
        let (hooks, id, name) = (ground.hooks(birth.is_apart), agent.id.clone(), agent.name.clone());
        let hooks = OfSubagent { hooks, id, name };
        let program = concat!("agent ", env!("CARGO_PKG_VERSION"));
        let mut config = birth.config.clone();
        if let Some((_, above)) = agent.place.split_last().filter(|_| birth.is_apart) {
            config.system = moved(&config.system, &self.worktrees.ground(above).directory, &ground.directory).into();
        }
        let builder = Builder::new(config)
            .provider(self.provider.clone())
            .tools(tools)
            .hook(Arc::new(hooks))
            .commands(Arc::new(ground.processes.clone()))
            .identity("", ground.directory.display().to_string(), program);
        let builder = self.secrets.iter().fold(builder, Builder::secret);
        self.approver.iter().cloned().fold(builder, Builder::approver)
    }
}

#[async_trait]
impl Nursery for Children {
    fn id(&self, place: &[u32]) -> String {
        descendant_id(&self.root, place)
    }

    async fn begin(&self, agent: &AgentName, birth: &Birth) -> Result<Builder, String> {
        if birth.is_apart {
            self.shared.worktrees.open_for(&agent.id, &agent.place).await?;
        }
        let builder = self.shared.builder(agent, birth);
        let Some(store) = self.store.clone() else { return Ok(builder) };
        let id = agent.id.clone();
        let made = spawn_blocking(move || store.create_below(&id)).await.map_err(|error| error.to_string())?;
        Ok(builder.journal(Box::new(made.map_err(|error| error.to_string())?)))
    }

    async fn prepare(&self, agent: &AgentName, stop: &dyn CancelSignal) -> Result<(), String> {
        let made = self.shared.worktrees.make(&agent.id, &agent.place, stop).await;
        made.map_err(|found| format!("no worktree: {found}"))
    }

    async fn clear(&self, agent: &AgentName, stop: &dyn CancelSignal) -> Left {
        self.shared.worktrees.clear(&agent.id, &agent.place, stop).await
    }

    async fn find(&self, agent: &AgentName, birth: &Birth) -> Found {
        let Some(store) = self.store.clone() else { return Found::Lost(String::from("the session has no journals")) };
        let id = agent.id.clone();
        let reopened = spawn_blocking(move || store.rebuild(&id)).await;
        let reopened = reopened.unwrap_or_else(|_| Err(StoreError::BadId { id: agent.id.clone() }));
        if birth.is_apart
            && reopened.is_ok()
            && let Err(found) = self.shared.worktrees.open_for(&agent.id, &agent.place).await
        {
            return Found::Lost(format!("its worktree cannot be used: {found}"));
        }
        match reopened {
            Ok(Reopened { journal, rebuilt: Some(rebuilt), .. }) => {
                let Rebuilt { agent: kept, next_seq, begun, .. } = rebuilt;
                let builder = self.shared.builder(agent, birth).journal(Box::new(journal));
                Found::Kept(Box::new(builder.resume(kept, next_seq).begun(begun)))
            }
            // A crash cut it before its first record: it had not begun.
            Ok(Reopened { journal, rebuilt: None, .. }) => {
                Found::Kept(Box::new(self.shared.builder(agent, birth).journal(Box::new(journal))))
            }
            Err(StoreError::NoSuchSession { .. }) => Found::Nothing,
            Err(StoreError::Open(OpenError::InUse { .. })) => {
                Found::Lost(String::from("another program writes its journal"))
            }
            Err(error) => Found::Lost(error.to_string()),
        }
    }
}
