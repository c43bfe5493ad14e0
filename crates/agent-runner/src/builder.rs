//! Puts a runner together: a session's configuration and the ports a host brings.

use crate::checks::Checker;
use crate::clock::SystemClock;
use crate::grounds::Grounds;
use crate::hooks::Verdicts;
use crate::inbox::{Handle, Inbox};
use crate::member::Member;
use crate::notice::{AgentName, Notices, Teller};
use crate::nursery::Nursery;
use crate::oversight::Oversight;
use crate::perform::Performer;
use crate::redact::Redactor;
use crate::runner::Runner;
use crate::tool_calls::Toolbox;
use agent_core::agent::{Agent, Birth, Doing, Event};
use agent_core::budget::Limits;
use agent_core::journal::{Begun, ChildOf, Entry, Header, Record};
use agent_core::lifecycle::LifecycleConfig;
use agent_core::ports::{Approver, Clock, CommandRunner, Hook, Journal, LlmProvider, Observer, Tool};
use agent_core::retry::RetryPolicy;
use agent_core::session::table::TABLE;
use agent_core::session::{Session, SessionConfig, SessionTable, Step};
use async_trait::async_trait;
use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

/// Collects what a runner needs. Only a provider is needed; everything else has a default: no tools, no hooks, no approver, no journal.
pub struct Builder {
    config: SessionConfig,
    provider: Option<Arc<dyn LlmProvider>>,
    tools: Vec<Arc<dyn Tool>>,
    hook: Arc<dyn Hook>,
    hook_timeout_ms: u64,
    approver: Option<Arc<dyn Approver>>,
    journal: Option<Box<dyn Journal>>,
    clock: Option<Arc<dyn Clock>>,
    observers: Vec<Box<dyn Observer>>,
    secrets: Vec<String>,
    session_id: String,
    directory: String,
    program: String,
    resumed: Option<(Agent, u64)>,
    binding: Option<Event>,
    commands: Option<Arc<dyn CommandRunner>>,
    begun: Begun,
    table: &'static SessionTable,
    chance: Option<Box<dyn FnMut() -> u16 + Send>>,
    nursery: Option<Arc<dyn Nursery>>,
    /// Whose child the agent is.
    child: Option<ChildOf>,
}

impl Builder {
    /// A runner for a session with this configuration. Its list of tools is replaced by those that are added here.
    #[must_use]
    pub fn new(config: SessionConfig) -> Self {
        Self {
            config,
            provider: None,
            tools: Vec::new(),
            hook: Arc::new(NoHook),
            hook_timeout_ms: 60_000,
            approver: None,
            journal: None,
            clock: None,
            observers: Vec::new(),
            secrets: Vec::new(),
            session_id: String::new(),
            directory: String::new(),
            program: format!("agent-runner {}", env!("CARGO_PKG_VERSION")),
            resumed: None,
            binding: None,
            commands: None,
            begun: Begun::unknown(),
            table: &TABLE,
            chance: None,
            nursery: None,
            child: None,
        }
    }

    /// The provider that answers model calls.
    #[must_use]
    pub fn provider(mut self, provider: Arc<dyn LlmProvider>) -> Self {
        self.provider = Some(provider);
        self
    }

    /// A tool; tools are offered in the order in which they are added.
    #[must_use]
    pub fn tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Several tools.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Work around the tools, such as commits and formatting.
    #[must_use]
    pub fn hook(mut self, hook: Arc<dyn Hook>) -> Self {
        self.hook = hook;
        self
    }

    /// How long one step of the hook may take, in milliseconds. Default: 60,000. A verdict on a call that is not there by then is a denial.
    #[must_use]
    pub const fn hook_timeout_ms(mut self, timeout_ms: u64) -> Self {
        self.hook_timeout_ms = timeout_ms;
        self
    }

    /// Who approves calls. Without an approver, calls that need approval are denied.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Where records are kept. Without a journal a session ends with the program.
    #[must_use]
    pub fn journal(mut self, journal: Box<dyn Journal>) -> Self {
        self.journal = Some(journal);
        self
    }

    /// Replaces the system's clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// An observer that sees every step, on its own thread: however slow, it delays nothing.
    #[must_use]
    pub fn observer(mut self, observer: Box<dyn Observer>) -> Self {
        self.observers.push(observer);
        self
    }

    /// A value that must not appear in the journal, the history or the output, such as an API key. Values shorter than 8 bytes are not
    /// replaced.
    #[must_use]
    pub fn secret(mut self, secret: impl Into<String>) -> Self {
        self.secrets.push(secret.into());
        self
    }

    pub(crate) fn secrets(&self) -> &[String] {
        &self.secrets
    }

    /// What the journal's header says: the session's id, the directory it works in, the program that writes it.
    #[must_use]
    pub fn identity(
        mut self,
        session_id: impl Into<String>,
        directory: impl Into<String>,
        program: impl Into<String>,
    ) -> Self {
        self.session_id = session_id.into();
        self.directory = directory.into();
        self.program = program.into();
        self
    }

    /// Resumes an agent that was rebuilt from a journal, whose next record has this number. It keeps its own configuration and what
    /// binds it; use [`Runner::reconfigured`], [`bind`](Self::bind) or [`release`](Self::release) to change that.
    #[must_use]
    pub fn resume(mut self, agent: impl Into<Agent>, next_seq: u64) -> Self {
        self.resumed = Some((agent.into(), next_seq));
        self
    }

    /// Binds the agent to commitments, in place of those that it may have: they are checked whenever it says that it is done.
    /// [`commands`](Self::commands) says who checks them.
    #[must_use]
    pub fn bind(mut self, config: LifecycleConfig) -> Self {
        self.binding = Some(Event::Bound(Box::new(config)));
        self
    }

    /// Releases a resumed agent from what binds it.
    #[must_use]
    pub fn release(mut self) -> Self {
        self.binding = Some(Event::Released);
        self
    }

    /// A person attends a resumed agent, as at a prompt: what binds it stays, and a message after its end begins another life with the same
    /// commitments.
    #[must_use]
    pub fn attend(mut self) -> Self {
        self.binding = Some(Event::Attended);
        self
    }

    /// Runs the commands that check commitments, in the directory of [`identity`](Self::identity). Without, no commitment can be
    /// checked.
    #[must_use]
    pub fn commands(mut self, commands: Arc<dyn CommandRunner>) -> Self {
        self.commands = Some(commands);
        self
    }

    /// What of the outstanding had begun, as the journal of a resumed session says. A call that may change something is
    /// reported as not run, or as interrupted if it had begun. Without this everything may have begun.
    #[must_use]
    pub fn begun(mut self, begun: Begun) -> Self {
        self.begun = begun;
        self
    }

    /// Where numbers from 0 to 1000 for the jitter of retries come from. Default: chance.
    #[must_use]
    pub fn chance(mut self, chance: Box<dyn FnMut() -> u16 + Send>) -> Self {
        self.chance = Some(chance);
        self
    }

    /// Another table for the session, for tests that take rows out and look for the difference.
    #[doc(hidden)]
    #[must_use]
    pub const fn table(mut self, table: &'static SessionTable) -> Self {
        self.table = table;
        self
    }

    /// The session's configuration with the added tools, as a resumed session needs it.
    #[must_use]
    pub fn effective_config(&self) -> SessionConfig {
        let tools = Toolbox::new(self.tools.clone()).specs();
        SessionConfig { tools, ..self.config.clone() }
    }

    /// The session of a job's attempt: the job repeats, so the session does not, and it gets what is left of the job's limits.
    pub(crate) const fn attempt(mut self, retry: RetryPolicy, limits: Limits) -> Self {
        (self.config.retry, self.config.limits) = (retry, limits);
        self
    }

    /// Makes the agents below the session's own. Without, none is begun.
    #[must_use]
    pub fn nursery(mut self, nursery: Arc<dyn Nursery>) -> Self {
        self.nursery = Some(nursery);
        self
    }

    /// The agent as a child: what it is, and under whose policy.
    pub(crate) fn born(mut self, name: &AgentName, birth: &Birth) -> Self {
        let root = self.session_id.split('.').next().unwrap_or_default().to_owned();
        self.session_id.clone_from(&name.id);
        self.child = Some(ChildOf {
            root,
            place: name.place.clone(),
            name: name.name.clone(),
            changes_files: birth.changes_files,
        });
        self
    }

    /// Puts the runner together. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// [`BuildError::NoProvider`] without a provider, [`BuildError::RepeatedTool`] when two tools have one name,
    /// [`BuildError::NoThread`] when the system gives the observers no thread.
    pub fn build(mut self) -> Result<(Runner, Handle, Notices), BuildError> {
        let (sender, inbox) = mpsc::unbounded_channel();
        let own = Inbox::new(sender);
        let (handle, host_gone) = Handle::new(own.clone());
        let (notices, notices_receiver) = mpsc::unbounded_channel();
        let nursery = self.nursery.take();
        let root = self.member(&own, &Teller::new(notices))?;
        let grounds = Grounds::default();
        let runner = Runner { root, below: BTreeMap::new(), nursery, grounds, inbox, host_gone };
        Ok((runner, handle, notices_receiver))
    }

    /// Puts one agent of a tree together.
    pub(crate) fn member(self, inbox: &Inbox, notices: &Teller) -> Result<Member, BuildError> {
        let redactor = Redactor::new(&self.secrets);
        let mut config = self.effective_config();
        redactor.config(&mut config);
        let provider = self.provider.ok_or(BuildError::NoProvider)?;
        for (i, tool) in config.tools.iter().enumerate() {
            if config.tools.iter().take(i).any(|other| other.name == tool.name) {
                return Err(BuildError::RepeatedTool { name: tool.name.to_string() });
            }
        }
        let clock = self.clock.unwrap_or_else(|| Arc::new(SystemClock::new()));
        let mut checker = Checker::new(&clock, self.hook.clone());
        checker.commands = self.commands;
        if !self.directory.is_empty() {
            checker.directory.clone_from(&self.directory);
        }
        let mut header = Header::new(self.session_id, self.program, self.directory, config.clone());
        let changes_files = self.child.as_ref().map(|child| child.changes_files);
        header.child = self.child;
        let header = Record { seq: 0, at_ms: clock.now_ms(), entry: Entry::Header(Box::new(header)) };
        let (agent, next_seq, header) = match self.resumed {
            Some((agent, next_seq)) => (agent, next_seq, None),
            None => {
                let agent = Agent::over(Session::with_table(config, self.table));
                (changes_files.map_or(agent.clone(), |changes| agent.of_parent(changes)), 0, Some(header))
            }
        };
        let tasks = TaskTracker::new();
        let toolbox = Arc::new(Toolbox::new(self.tools));
        let verdicts =
            Verdicts { hook: self.hook.clone(), users: false, clock: clock.clone(), timeout_ms: self.hook_timeout_ms };
        let oversight =
            Oversight::new(checker, toolbox.clone(), verdicts, inbox.clone(), notices.clone(), tasks.clone());
        let performer = Performer {
            provider,
            toolbox,
            hook: self.hook,
            hook_timeout_ms: self.hook_timeout_ms,
            approver: self.approver,
            clock,
            chance: self.chance.unwrap_or_else(|| Box::new(chance)),
            redactor: redactor.clone(),
            inbox: inbox.clone(),
            notices: notices.clone(),
            flights: HashMap::new(),
            tasks,
        };
        Ok(Member {
            agent,
            performer,
            oversight,
            notices: notices.clone(),
            journal: self.journal,
            next_seq,
            begun: self.begun,
            redactor,
            observers: observe(self.observers)?,
            header,
            reconfigured: None,
            binding: self.binding,
            taken: 0,
            shown: (Doing::Working, 0),
            waiting: Default::default(),
            configured: None,
            is_left: false,
        })
    }
}

/// Why a runner cannot be put together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// There is no provider to answer model calls.
    #[error("build the runner: it has no provider")]
    NoProvider,
    /// Two tools have one name.
    #[error("build the runner: two tools are named `{name}`")]
    RepeatedTool {
        /// The name.
        name: String,
    },
    /// The system gives the observers no thread.
    #[error("start the observers: {found}")]
    NoThread {
        /// What the system said.
        found: String,
    },
}

/// Observers run on a thread of their own, which ends with the runner.
fn observe(mut observers: Vec<Box<dyn Observer>>) -> Result<Option<std::sync::mpsc::Sender<Step>>, BuildError> {
    if observers.is_empty() {
        return Ok(None);
    }
    let (sender, steps) = std::sync::mpsc::channel();
    let watch = move || {
        for step in steps {
            observers.iter_mut().for_each(|observer| observer.on_step(&step));
        }
    };
    let thread = std::thread::Builder::new().name(String::from("agent-observers")).spawn(watch);
    thread.map_err(|error| BuildError::NoThread { found: error.to_string() })?;
    Ok(Some(sender))
}

/// A number from 0 to 1000 out of the hasher's random seed: good enough to keep clients from retrying in step.
fn chance() -> u16 {
    u16::try_from(RandomState::new().hash_one(0_u8) % 1_001).unwrap_or_default()
}

struct NoHook;

#[async_trait]
impl Hook for NoHook {
    fn acts_before_tools(&self) -> bool {
        false
    }
}
