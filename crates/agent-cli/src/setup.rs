//! Wires a session: tools, hooks, journal, runner.

use crate::args::Options;
use crate::config_file::{config_home, state_home};
use crate::failure::Failure;
use crate::instructions::system_prompt;
use crate::provider::Chosen;
use crate::settings::Settings;
use crate::terminal::say;
use agent_core::budget::Ledger;
use agent_core::conversation::{Conversation, ToolCall};
use agent_core::hook::{Changes, CommitReport, FormatReport, GitReport, HookError};
use agent_core::journal::{Rebuilt, ToolPrint};
use agent_core::permission::{Rule, RuleSource};
use agent_core::ports::{Approver, CancelSignal, Hook, Tool};
use agent_core::session::{Action, Outstanding, Session, SessionConfig, State};
use agent_core::tool::{HookVerdict, Inspection};
use agent_exec::{Helper, Processes};
use agent_hooks::{HooksConfig, RepositoryHooks};
use agent_runner::journal::{FileJournal, OpenError, SessionStore, StoreError};
use agent_runner::{Builder, Handle, Notices, Runner};
use agent_tools::{Workspace, signal_tool, standard_tools};
use async_trait::async_trait;
use std::path::Path;
use std::sync::Arc;

/// A session that is ready to run.
pub(crate) struct Opened {
    pub(crate) runner: Runner,
    pub(crate) handle: Handle,
    pub(crate) notices: Notices,
    pub(crate) id: String,
    pub(crate) model: String,
    pub(crate) tool_names: Vec<String>,
    /// What had been used and said before, in a session that is gone on with.
    pub(crate) before: Before,
    /// What runs commands besides the tools, as the tools run theirs.
    pub(crate) processes: Processes,
    /// Is told where turns begin, for `agent undo`.
    pub(crate) repository: Arc<RepositoryHooks>,
}

/// A session as it was left.
#[derive(Default)]
pub(crate) struct Before {
    pub(crate) ledger: Ledger,
    pub(crate) conversation: Conversation,
}

impl Before {
    /// A call of the model that was not answered is made again, and belongs to what comes.
    fn of(session: &Session) -> Self {
        let mut ledger = *session.ledger();
        let is_open = |open: &Outstanding| matches!(open.action, Action::SendLlmRequest { .. }) && !open.is_cancelled;
        ledger.model_calls -= u64::from(session.outstanding().iter().any(is_open));
        Self { ledger, conversation: session.conversation().clone() }
    }
}

/// Opens a new session, or the one that the options name.
pub(crate) fn open(
    settings: &Settings,
    options: &Options,
    chosen: Chosen,
    approver: Option<Arc<dyn Approver>>,
) -> Result<Opened, Failure> {
    // Where nobody sits in front, the agent has to say by itself when it is done or stuck.
    let with_signal = approver.is_none();
    let Made { builder, model, tool_names, processes, repository } =
        make(settings, options, chosen, approver, with_signal)?;
    let kept = Kept::find(settings, options)?;
    let mut config = builder.effective_config();
    let (builder, id, resumed) = kept.attach(builder, &settings.directory);
    let (runner, handle, notices) = builder.build().map_err(Failure::internal)?;
    let before = match resumed {
        Some(old) => {
            // What was answered for the session holds for as long as the session does.
            let answered = old.config.permissions.allow.iter().filter(|rule| rule.source() == RuleSource::Session);
            config.permissions.allow.extend(answered.cloned());
            if old.config != config {
                say_differences(&old.config, &config);
                handle.reconfigure(config);
            }
            old.before
        }
        None => Before::default(),
    };
    Ok(Opened { runner, handle, notices, id, model, tool_names, before, processes, repository })
}

/// A new session that is not begun, with its id: an attempt of a job.
pub(crate) fn builder(settings: &Settings, options: &Options, chosen: Chosen) -> Result<(Builder, String), Failure> {
    // A job has no lifecycle that would hear a signal.
    let made = make(settings, options, chosen, None, false)?;
    let (builder, id, _) = Kept::find(settings, options)?.attach(made.builder, &settings.directory);
    Ok((builder, id))
}

/// A session without a place to be kept in.
struct Made {
    builder: Builder,
    model: String,
    tool_names: Vec<String>,
    processes: Processes,
    repository: Arc<RepositoryHooks>,
}

fn make(
    settings: &Settings,
    options: &Options,
    chosen: Chosen,
    approver: Option<Arc<dyn Approver>>,
    with_signal: bool,
) -> Result<Made, Failure> {
    let workspace = Workspace::open(&settings.directory).map_err(Failure::input)?;
    // Where these lie in the workspace (a home directory, say), no tool writes them.
    let own = [config_home(), state_home()].into_iter().flatten();
    let workspace = Arc::new(workspace.protecting(own).protecting_hooks(&settings.hooks));
    let unconfined = Processes::new().watched_by(Helper::own_program());
    let processes = match &settings.sandbox {
        Some(sandbox) => unconfined.clone().in_sandbox(sandbox.clone()),
        None => unconfined.clone(),
    };
    let mut tools = standard_tools(&workspace, processes.clone());
    if with_signal {
        tools.push(signal_tool());
    }
    let config = SessionConfig {
        system: Arc::from(system_prompt(options, &settings.directory)),
        limits: settings.limits,
        permissions: settings.permissions.clone(),
        models: chosen.models,
        ..SessionConfig::default()
    };
    let model = config.models.first().map(|model| model.id.to_string()).unwrap_or_default();
    let hooks_config = HooksConfig {
        auto_commit: settings.auto_commit,
        formatters: settings.formatters.clone(),
        ..HooksConfig::new(settings.directory.clone())
    };
    // Git runs nothing of the repository and writes in `.git`; a formatter may run whatever it finds.
    let scratch = settings.sandbox.as_ref().map(|sandbox| sandbox.scratch().to_path_buf());
    let repository = RepositoryHooks::new(hooks_config, Arc::new(unconfined));
    let repository = Arc::new(repository.formatting_with(Arc::new(processes.clone()), scratch));
    let hooks = Hooks { repository: repository.clone(), workspace };
    let tool_names: Vec<String> = tools.iter().map(|tool: &Arc<dyn Tool>| tool.spec().name.to_string()).collect();
    check_rules(settings, &tool_names)?;
    let mut builder = Builder::new(config).provider(chosen.provider).tools(tools).hook(Arc::new(hooks));
    for secret in chosen.secrets {
        builder = builder.secret(secret);
    }
    if let Some(approver) = approver {
        builder = builder.approver(approver);
    }
    Ok(Made { builder, model, tool_names, processes, repository })
}

/// A rule for a tool that does not exist is a slip of the pen: what it was meant to forbid would run.
fn check_rules(settings: &Settings, tool_names: &[String]) -> Result<(), Failure> {
    // A tool that some sessions have and this one lacks is none that does not exist.
    let signal = signal_tool();
    let is_known =
        |rule: &Rule| *signal.spec().name == *rule.tool() || tool_names.iter().any(|name| name == rule.tool());
    let all = settings.permissions.allow.iter().chain(&settings.permissions.deny);
    for rule in all.filter(|rule| !is_known(rule)) {
        let text = format!("the rule `{rule}` names no tool; the tools are {}", tool_names.join(", "));
        if rule.source() == RuleSource::CommandLine {
            return Err(Failure::config(format!("use the rules: {text}")));
        }
        say(&format!("agent: {text}"));
    }
    Ok(())
}

/// Tells what is different from when the session was last used, where that changes what may happen.
fn say_differences(old: &SessionConfig, new: &SessionConfig) {
    let id = |config: &SessionConfig| config.models.first().map(|model| model.id.to_string()).unwrap_or_default();
    if id(old) != id(new) {
        let text = format!("agent: going on with the model {} (before: {})", id(new), id(old));
        say(&text);
    }
    let changed = ToolChanges::between(old, new);
    for (word, names) in [("new", changed.new), ("gone", changed.gone), ("changed", changed.other)] {
        if !names.is_empty() {
            say(&format!("agent: tools that are {word} since: {}", names.join(", ")));
        }
    }
    if old.limits != new.limits {
        say("agent: going on with other limits than before");
    }
    if old.permissions.mode != new.permissions.mode {
        say(&format!("agent: permission mode {} (before: {})", new.permissions.mode, old.permissions.mode));
    }
}

/// Which tools are not what they were.
struct ToolChanges {
    new: Vec<String>,
    gone: Vec<String>,
    other: Vec<String>,
}

impl ToolChanges {
    fn between(old: &SessionConfig, new: &SessionConfig) -> Self {
        let prints = |config: &SessionConfig| config.tools.iter().map(ToolPrint::of).collect::<Vec<_>>();
        let (before, now) = (prints(old), prints(new));
        let lacks = |tools: &[ToolPrint], tool: &ToolPrint| tools.iter().all(|other| other.name != tool.name);
        let names = |tools: &[ToolPrint], differs: &dyn Fn(&ToolPrint) -> bool| {
            tools.iter().filter(|tool| differs(tool)).map(|tool| tool.name.clone()).collect()
        };
        Self {
            new: names(&now, &|tool| lacks(&before, tool)),
            gone: names(&before, &|tool| lacks(&now, tool)),
            other: names(&now, &|tool| !lacks(&before, tool) && !before.contains(tool)),
        }
    }
}

/// Where the session is kept.
enum Kept {
    /// Nowhere.
    No,
    New {
        id: String,
        journal: FileJournal,
    },
    Old {
        id: String,
        journal: FileJournal,
        rebuilt: Box<Rebuilt>,
    },
}

/// What a session that is gone on with was.
struct Resumed {
    config: SessionConfig,
    before: Before,
}

impl Kept {
    fn find(settings: &Settings, options: &Options) -> Result<Self, Failure> {
        if options.no_session {
            return Ok(Self::No);
        }
        let store = store(&settings.directory)?;
        let id = if options.continue_newest {
            let newest = store.newest().map_err(|error| failed(&error))?;
            let newest = newest.ok_or_else(|| {
                Failure::input(format!("go on with a session: there is none for {}", settings.directory.display()))
            })?;
            Some(newest.id)
        } else {
            options.session_id.clone()
        };
        let Some(id) = id else {
            let id = SessionStore::new_id();
            let journal = store.create(&id).map_err(|error| failed(&error))?;
            return Ok(Self::New { id, journal });
        };
        if options.fork_session {
            let fork = SessionStore::new_id();
            store.branch(&id, None, &fork).map_err(|error| failed(&error))?;
            say(&format!("agent: going on with {id} in a new session, {fork}"));
            return Self::resume(&store, fork, true);
        }
        let path = store.path(&id).map_err(|error| failed(&error))?;
        if !options.continue_newest && !options.must_exist && !path.exists() {
            let journal = store.create(&id).map_err(|error| failed(&error))?;
            return Ok(Self::New { id, journal });
        }
        Self::resume(&store, id, options.must_exist)
    }

    fn resume(store: &SessionStore, id: String, must_exist: bool) -> Result<Self, Failure> {
        let (journal, recovered) = store.resume(&id).map_err(|error| failed(&error))?;
        if recovered.torn_bytes > 0 {
            say(&format!(
                "agent: the last record of the session was cut by a crash; its {} bytes are kept beside the journal",
                recovered.torn_bytes
            ));
        }
        let is_empty = recovered.records.is_empty();
        if is_empty && !must_exist {
            // Cut before its first record: there is nothing to lose and nothing to go on with.
            return Ok(Self::New { id, journal });
        }
        if is_empty {
            return Err(Failure::input(format!("resume the session {id}: its journal is empty")));
        }
        let rebuilt =
            recovered.rebuild().map_err(|error| Failure::input(format!("resume the session {id}: {error}")))?;
        if rebuilt.session.state() == State::ShuttingDown {
            return Err(Failure::input(format!(
                "resume the session {id}: it was ended for good; `--fork-session` goes on in a new one"
            )));
        }
        Ok(Self::Old { id, journal, rebuilt: Box::new(rebuilt) })
    }

    fn attach(self, builder: Builder, directory: &Path) -> (Builder, String, Option<Resumed>) {
        let identify = |builder: Builder, id: &str| {
            let program = concat!("agent ", env!("CARGO_PKG_VERSION"));
            builder.identity(id, directory.display().to_string(), program)
        };
        match self {
            Self::No => (identify(builder, ""), String::new(), None),
            Self::New { id, journal } => (identify(builder, &id).journal(Box::new(journal)), id, None),
            Self::Old { id, journal, rebuilt } => {
                let Rebuilt { session, next_seq, begun, .. } = *rebuilt;
                let before = Before::of(&session);
                let resumed = Resumed { config: session.config().clone(), before };
                let builder = identify(builder, &id).journal(Box::new(journal));
                (builder.resume(session, next_seq).begun(begun), id, Some(resumed))
            }
        }
    }
}

/// The sessions of a directory.
pub(crate) fn store(directory: &Path) -> Result<SessionStore, Failure> {
    let home = state_home().ok_or_else(|| {
        Failure::config("keep the session: there is no home directory; set AGENT_STATE_HOME or say `--no-session`")
    })?;
    Ok(SessionStore::new(&home.join("sessions"), directory))
}

fn failed(error: &StoreError) -> Failure {
    match error {
        StoreError::BadId { .. } | StoreError::NoSuchSession { .. } => Failure::input(error),
        StoreError::Open(OpenError::InUse { .. } | OpenError::Read(_)) => Failure::input(error),
        StoreError::Open(_) => Failure::internal(format!(
            "{error}; set AGENT_STATE_HOME to a directory that can be written, or say `--no-session`"
        )),
        _ => Failure::internal(error),
    }
}

/// The repository's hooks; what a formatter changed is known to the tools afterwards.
struct Hooks {
    repository: Arc<RepositoryHooks>,
    workspace: Arc<Workspace>,
}

#[async_trait]
impl Hook for Hooks {
    fn acts_before_tools(&self) -> bool {
        self.repository.acts_before_tools()
    }

    async fn before_tool(&self, call: &ToolCall, inspection: &Inspection) -> HookVerdict {
        self.repository.before_tool(call, inspection).await
    }

    async fn check_git(&self, changes: &Changes, cancel: &dyn CancelSignal) -> Result<GitReport, HookError> {
        self.repository.check_git(changes, cancel).await
    }

    async fn format(&self, changes: &Changes, cancel: &dyn CancelSignal) -> Result<FormatReport, HookError> {
        let report = self.repository.format(changes, cancel).await?;
        report.changed_paths.iter().for_each(|path| self.workspace.note_changed(path));
        Ok(report)
    }

    async fn commit(&self, changes: &Changes, cancel: &dyn CancelSignal) -> Result<CommitReport, HookError> {
        self.repository.commit(changes, cancel).await
    }
}
