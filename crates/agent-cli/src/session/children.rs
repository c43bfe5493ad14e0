//! What an agent below the session's own is made of: the same workspace, provider and sandbox, tools and hooks of its own.

use crate::config::settings::Settings;
use crate::hooks::ChildHooks;
use crate::model::provider::Chosen;
use crate::session::above::Above;
use crate::session::instructions_below::reporting;
use crate::skills::{ForModel, Skill, activate_skill};
use agent_core::agent::Birth;
use agent_core::journal::Rebuilt;
use agent_core::ports::{Approver, Hook, LlmProvider, Tool};
use agent_exec::Processes;
use agent_runner::journal::{OpenError, Reopened, SessionStore, StoreError, descendant_id};
use agent_runner::{AgentName, Builder, Found, Nursery};
use agent_tools::{Workspace, agent_tools, signal_tool, standard_tools};
use async_trait::async_trait;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// What all agents of a session share.
#[derive(Clone)]
pub(crate) struct Shared {
    workspace: Arc<Workspace>,
    processes: Processes,
    provider: Arc<dyn LlmProvider>,
    approver: Option<Arc<dyn Approver>>,
    hooks: ChildHooks,
    skills: Vec<Skill>,
    above: Above,
    secrets: Vec<String>,
    directory: PathBuf,
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
        workspace: &Arc<Workspace>,
        processes: &Processes,
        approver: Option<Arc<dyn Approver>>,
        hooks: ChildHooks,
    ) -> Self {
        Self {
            workspace: workspace.clone(),
            processes: processes.clone(),
            provider: chosen.provider.clone(),
            approver,
            hooks,
            skills: skills.to_vec(),
            above: settings.above.clone(),
            secrets: chosen.secrets.clone(),
            directory: settings.directory.clone(),
        }
    }

    /// A builder for an agent with what its parent lets it have.
    fn builder(&self, birth: &Birth) -> Builder {
        let mut tools = standard_tools(&self.workspace, self.processes.clone());
        tools = reporting(tools, &self.workspace, &birth.config.permissions, &self.above);
        let for_model = ForModel::new(&self.workspace, &birth.config.permissions, &self.above);
        tools.extend(activate_skill(&for_model.skills(&self.skills, |_| {}), for_model));
        tools.extend(agent_tools());
        let has = |tool: &Arc<dyn Tool>| birth.config.tools.iter().any(|spec| spec.name == tool.spec().name);
        tools.retain(has);
        // By it an agent asks, whatever its parent has.
        if !tools.iter().any(|tool| tool.spec().name == signal_tool().spec().name) {
            tools.push(signal_tool());
        }
        let hook: Arc<dyn Hook> = Arc::new(self.hooks.clone());
        let program = concat!("agent ", env!("CARGO_PKG_VERSION"));
        let builder = Builder::new(birth.config.clone())
            .provider(self.provider.clone())
            .tools(tools)
            .hook(hook)
            .commands(Arc::new(self.processes.clone()))
            .identity("", self.directory.display().to_string(), program);
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
        let builder = self.shared.builder(birth);
        let Some(store) = self.store.clone() else { return Ok(builder) };
        let id = agent.id.clone();
        let made = spawn_blocking(move || store.create_below(&id)).await.map_err(|error| error.to_string())?;
        Ok(builder.journal(Box::new(made.map_err(|error| error.to_string())?)))
    }

    async fn find(&self, agent: &AgentName, birth: &Birth) -> Found {
        let Some(store) = self.store.clone() else { return Found::Lost(String::from("the session has no journals")) };
        let id = agent.id.clone();
        let reopened = spawn_blocking(move || store.rebuild(&id)).await;
        match reopened.unwrap_or_else(|_| Err(StoreError::BadId { id: agent.id.clone() })) {
            Ok(Reopened { journal, rebuilt: Some(rebuilt), .. }) => {
                let Rebuilt { agent, next_seq, begun, .. } = rebuilt;
                let builder = self.shared.builder(birth).journal(Box::new(journal));
                Found::Kept(Box::new(builder.resume(agent, next_seq).begun(begun)))
            }
            // A crash cut it before its first record: it had not begun.
            Ok(Reopened { journal, rebuilt: None, .. }) => {
                Found::Kept(Box::new(self.shared.builder(birth).journal(Box::new(journal))))
            }
            Err(StoreError::NoSuchSession { .. }) => Found::Nothing,
            Err(StoreError::Open(OpenError::InUse { .. })) => {
                Found::Lost(String::from("another program writes its journal"))
            }
            Err(error) => Found::Lost(error.to_string()),
        }
    }
}
