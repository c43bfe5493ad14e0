//! Wires a session: tools, hooks, journal, runner.

use crate::LEFTOVERS;
use crate::config::file::state_home;
use crate::config::options::Options;
use crate::config::rule_patterns;
use crate::config::settings::Settings;
use crate::failure::Failure;
use crate::hooks::{self, Hooks};
use crate::mcp::session::{Awaiting, Mcp};
use crate::model::effort::Reach;
use crate::model::provider::Chosen;
use crate::screen::terminal::{inline, say};
use crate::session::attached::{Kept, Resumed};
use crate::session::binding;
use crate::session::children::{Children, Shared};
use crate::session::differences::say_differences;
use crate::session::door::Door;
use crate::session::instructions::{system_prompt, with_environment_of};
use crate::session::instructions_below::reporting;
use crate::session::kept::store;
use crate::session::limits::{self, Raise};
use crate::session::own;
use crate::session::parts::{formatters, hooks_config, users_hooks, workspace};
use crate::session::pictured::Attaching;
use crate::session::worktrees::Ground;
use crate::skills::{ForModel, Skill, activate_skill, catalogue};
use crate::walls::own_git::OwnGit;
use crate::walls::own_programs;
use agent_core::budget::{Ledger, LimitReached};
use agent_core::conversation::{Answer, Conversation};
use agent_core::hook::HookPoint;
use agent_core::journal::Begun;
use agent_core::lifecycle::{Commitment, Lifecycle, LifecycleConfig};
use agent_core::permission::{Permissions, RuleSource};
use agent_core::ports::{Approver, LlmProvider, Tool};
use agent_core::session::{Action, KeptResults, ModelConfig, Outstanding, Session, SessionConfig, Summaries};
use agent_exec::{Processes, leftovers};
use agent_git::RepositoryHooks;
use agent_hooks::UserHooks;
use agent_runner::journal::SessionStore;
use agent_runner::{Builder, Handle, Notices, Runner};
use agent_tools::{BackgroundCommands, Workspace, agent_tools, signal_tool, standard_tools_seen};
use std::sync::Arc;

/// A session that is ready to run.
pub(crate) struct Opened {
    pub(crate) runner: Runner,
    pub(crate) handle: Handle,
    pub(crate) notices: Notices,
    pub(crate) id: String,
    /// The first of its models, and the server that all are asked through.
    pub(crate) model: ModelConfig,
    pub(crate) reach: Reach,
    pub(crate) tool_names: Vec<String>,
    /// What had been used and said before, in a session that is gone on with.
    pub(crate) before: Before,
    /// What binds the agent and was left before it came to rest; it continues.
    pub(crate) unfinished: Option<Lifecycle>,
    /// Whether it was left at work at all.
    pub(crate) was_unfinished: bool,
    /// The limit that ended its last turn and still holds, and what raises it.
    pub(crate) reached: Option<(LimitReached, Raise)>,
    /// Is told where turns begin, for `agent undo`.
    pub(crate) repository: Arc<RepositoryHooks>,
    /// What its tools run in the background.
    pub(crate) background: BackgroundCommands,
    /// Attaches pictures to messages.
    pub(crate) attaching: Attaching,
    /// The servers whose tools it has, where there are any.
    pub(crate) mcp: Option<Mcp>,
    /// Its skills: those of the settings, but for what deny rules keep from the model.
    pub(crate) skills: Vec<Skill>,
    /// Where other programs reach its agents.
    pub(crate) doorway: Doorway,
}

/// Where the door of a session is to be; nowhere for one that has no agents below it and begins none, or is not kept.
pub(crate) struct Doorway(Option<SessionStore>);

impl Doorway {
    /// Lets other programs of the user reach the agents. That it cannot be done is said.
    pub(crate) fn open(&self, id: &str, handle: &Handle) -> Option<Door> {
        Door::open(self.0.as_ref()?, id, handle).inspect_err(|failure| say(&format!("agent: {failure}"))).ok()
    }
}

/// A session as it was left.
#[derive(Default)]
pub(crate) struct Before {
    pub(crate) ledger: Ledger,
    pub(crate) conversation: Conversation,
    /// What was said last, where no answered request holds it.
    pub(crate) unanswered: Option<String>,
    /// The answer whose calls have no results yet.
    pub(crate) open: Option<Answer>,
}

impl Before {
    /// A call of the model that was asked for and had not begun is made now, and belongs to what comes.
    pub(super) fn of(session: &Session, begun: &Begun) -> Self {
        let mut ledger = *session.ledger();
        let is_to_come = |open: &Outstanding| match open.action {
            Action::SendLlmRequest { ticket, .. } => !open.is_cancelled && !begun.has(ticket),
            _ => false,
        };
        ledger.model_calls -= u64::from(session.outstanding().iter().any(is_to_come));
        let unanswered = session.pending_input().last().map(str::to_owned);
        let open = session.open_answer().cloned();
        Self { ledger, conversation: session.conversation().clone(), unanswered, open }
    }
}

/// Opens a new session, or the one that the options name.
pub(crate) fn open(
    settings: &Settings,
    options: &Options,
    chosen: Chosen,
    approver: Option<Arc<dyn Approver>>,
    commitments: Vec<Commitment>,
) -> Result<Opened, Failure> {
    let is_attended = approver.is_some();
    // Without a person to ask, the agent has to say by itself when it is done or stuck.
    let with_signal = !is_attended || !commitments.is_empty();
    clear_leftovers(settings.is_quiet);
    let reach = chosen.reach;
    let mut attaching = chosen.attaching.clone();
    let servers = Mcp::start(settings, chosen.attaching.keeper.clone());
    let existing = Kept::existing(settings, options)?;
    let permissions = existing.as_ref().map_or_else(|| settings.permissions.clone(), |kept| kept.permissions(settings));
    attaching.permissions.clone_from(&permissions);
    let made = make(settings, options, chosen, permissions, approver, with_signal, servers);
    let (made, kept) = made_and_kept(made, existing, settings, options)?;
    let Made { builder, model, tool_names, processes, repository, users, background, workspace, shared, mcp, skills } =
        made;
    (attaching.model, attaching.workspace) = (model.id.to_string(), Some(workspace));
    let (builder, id, mut resumed) = kept.attach(builder, &settings.directory, &attaching.keeper);
    let mut tool_names = tool_names;
    let builder = builder.tools(found_before(mcp.as_ref(), resumed.as_ref(), &mut tool_names));
    let config = builder.effective_config();
    users.is_of(&id);
    let builder = builder.nursery(children(shared, settings, &id)?);
    let has_agents = settings.agents.is_some() || resumed.as_ref().is_some_and(|old| old.has_agents);
    let left = resumed.as_mut().and_then(|old| old.left.take());
    let was_unfinished = left.as_ref().is_some_and(Lifecycle::is_busy);
    let (builder, unfinished) = binding::bind(builder.commands(Arc::new(processes)), commitments, left, is_attended)?;
    let (runner, handle, notices) = builder.build().map_err(Failure::internal)?;
    let (runner, before, reached) = match resumed {
        Some(old) => carry_over(runner, config, old),
        None => (runner, Before::default(), None),
    };
    let store = (!id.is_empty()).then(|| store(&settings.directory)).transpose()?;
    if let Some(store) = &store {
        own::note(store, &id, settings);
    }
    Ok(Opened {
        reached,
        runner,
        handle,
        notices,
        id,
        model,
        reach,
        tool_names,
        before,
        unfinished,
        was_unfinished,
        repository,
        background,
        attaching,
        mcp,
        skills,
        doorway: Doorway(store.filter(|_| has_agents)),
    })
}

/// What a session is made of, and where it is kept: in a new journal, if it does not continue. A copy of one for which nothing can be made
/// goes.
fn made_and_kept(
    made: Result<Made, Failure>,
    existing: Option<Kept>,
    settings: &Settings,
    options: &Options,
) -> Result<(Made, Kept), Failure> {
    match (made, existing) {
        (Ok(made), Some(kept)) => Ok((made, kept)),
        (Ok(made), None) => Ok((made, Kept::new(settings, options)?)),
        (Err(failure), existing) => {
            existing.into_iter().for_each(|kept| kept.take_back(settings, options));
            Err(failure)
        }
    }
}

/// The tools of servers that the model of a session that continues had found by searching; their names are added.
fn found_before(mcp: Option<&Mcp>, resumed: Option<&Resumed>, names: &mut Vec<String>) -> Vec<Arc<dyn Tool>> {
    let (Some(mcp), Some(old)) = (mcp, resumed) else { return Vec::new() };
    let declared: Vec<&str> = old.config.tools.iter().map(|tool| &*tool.name).collect();
    let found = mcp.servers.found_before(&declared);
    names.extend(found.iter().map(|tool| tool.spec().name.to_string()));
    found
}

/// A session that continues has what was answered for it, and is told what is different now.
fn carry_over(
    mut runner: Runner,
    mut config: SessionConfig,
    old: Resumed,
) -> (Runner, Before, Option<(LimitReached, Raise)>) {
    // What was answered for the session holds for as long as the session does.
    let answered = old.config.permissions.allow.iter().filter(|rule| rule.source() == RuleSource::Session);
    config.permissions.allow.extend(answered.cloned());
    // What the model was told of its surroundings stays as it was: a request begins with the bytes of the one before.
    config.system = Arc::from(with_environment_of(&old.config.system, &config.system));
    // What works below continues, whether or not more may begin.
    if config.agents.is_none() && old.has_agents {
        config.agents = old.config.agents;
    }
    let limited = config.limits;
    let differs = old.config != config;
    // A session that was imported had no configuration of ours.
    if differs && !old.config.models.is_empty() {
        say_differences(&old.config, &config);
    }
    // To be configured is what makes a session begin anew for the hooks of its start.
    if differs || config.hooks.contains(&HookPoint::SessionStart) {
        runner = runner.reconfigured(config);
    }
    let reached = old.reached.filter(|(reached, _)| limits::of(reached.kind, &limited) == Some(reached.limit));
    (runner, old.before, reached)
}

/// Makes the agents below the session.
fn children(shared: Shared, settings: &Settings, id: &str) -> Result<Arc<Children>, Failure> {
    let kept = (!id.is_empty()).then(|| store(&settings.directory)).transpose()?;
    Ok(Arc::new(Children { shared, root: id.to_owned(), store: kept }))
}

/// A new session that is not begun, with its id: an attempt of a job.
pub(crate) fn builder(
    settings: &Settings,
    options: &Options,
    chosen: Chosen,
    commitments: Vec<Commitment>,
) -> Result<(Builder, String), Failure> {
    clear_leftovers(settings.is_quiet);
    // An attempt without commitments has no one to signal to.
    let is_bound = !commitments.is_empty();
    let keeper = chosen.attaching.keeper.clone();
    let permissions = settings.permissions.clone();
    let made = make(settings, options, chosen, permissions, None, is_bound, None)?;
    let (builder, id, _) = Kept::find(settings, options)?.attach(made.builder, &settings.directory, &keeper);
    made.users.is_of(&id);
    let builder = builder.commands(Arc::new(made.processes)).nursery(children(made.shared, settings, &id)?);
    Ok((if is_bound { builder.bind(LifecycleConfig::headless(commitments)) } else { builder }, id))
}

/// Removes what agents that were killed have left. What has such a name and is something else stays, and is said.
pub(crate) fn clear_leftovers(is_quiet: bool) {
    let Some(home) = state_home() else { return };
    let cleared = leftovers::clear(&home.join(LEFTOVERS));
    for path in cleared.removed.iter().filter(|_| !is_quiet) {
        say(&format!("agent: removed {}, left by an agent that was killed", inline(&path.display().to_string())));
    }
    for (path, why) in &cleared.left {
        say(&format!(
            "agent: {} may be left from an agent that was killed: {why}",
            inline(&path.display().to_string())
        ));
    }
}

/// A session without a place to be kept in.
struct Made {
    builder: Builder,
    model: ModelConfig,
    tool_names: Vec<String>,
    processes: Processes,
    repository: Arc<RepositoryHooks>,
    users: Arc<UserHooks>,
    background: BackgroundCommands,
    workspace: Arc<Workspace>,
    shared: Shared,
    mcp: Option<Mcp>,
    skills: Vec<Skill>,
}

fn make(
    settings: &Settings,
    options: &Options,
    chosen: Chosen,
    permissions: Permissions,
    approver: Option<Arc<dyn Approver>>,
    with_signal: bool,
    servers: Option<(Mcp, Vec<Arc<dyn Tool>>)>,
) -> Result<Made, Failure> {
    let workspace = workspace(settings, chosen.attaching.keeper.clone())?;
    let own = own_programs::processes(&settings.programs);
    let commands = own_programs::processes_of_commands(&settings.programs);
    let processes = match &settings.sandbox {
        Some(sandbox) => commands.in_sandbox(sandbox.clone()),
        None => commands,
    };
    let (tools, background) = standard_tools_seen(&workspace, processes.clone());
    let mut tools = reporting(tools, &workspace, &permissions, &settings.above);
    let for_model = ForModel::new(&workspace, &permissions, &settings.above);
    let skills = for_model.skills(&settings.skills, |told| say(&format!("agent: {}", inline(told))));
    tools.extend(activate_skill(&skills, for_model));
    tools.extend(with_signal.then(signal_tool));
    if settings.agents.is_some() {
        tools.extend(agent_tools());
    }
    let (mcp, of_servers) = servers.unzip();
    tools.extend(of_servers.into_iter().flatten());
    let users = users_hooks(settings, &own, &processes)?;
    let (prompt, instructions) = system_prompt(options, settings, &permissions, &workspace, approver.is_some());
    let config = SessionConfig {
        hooks: Hooks::points(&users, settings.auto_commit),
        system: Arc::from(prompt + &catalogue(&skills)),
        instructions,
        limits: settings.limits,
        agents: settings.agents,
        permissions,
        models: chosen.models.clone(),
        summaries: summaries(),
        ..SessionConfig::default()
    };
    let model = config.models.first().cloned().unwrap_or_else(|| ModelConfig::new(""));
    let hooks_config = hooks_config(settings);
    // Git runs nothing of the repository and writes in its directory only; a formatter may run whatever it finds.
    let git = OwnGit::new(&settings.directory, own.clone());
    let formatters = formatters(settings, own)?;
    let repository = RepositoryHooks::new(hooks_config, Arc::new(git)).formatting_with(Arc::new(formatters));
    let repository = Arc::new(repository);
    let hooks = Hooks { users: users.clone(), repository: repository.clone(), workspace: workspace.clone() };
    let tool_names: Vec<String> = tools.iter().map(|tool: &Arc<dyn Tool>| tool.spec().name.to_string()).collect();
    let families = settings.servers.iter().map(|server| server.family.clone());
    let known: Vec<String> = tool_names.iter().cloned().chain(families).collect();
    rule_patterns::check(&settings.permissions, &settings.user, &known)?;
    for unknown in hooks::unknown_names(&settings.hooks, &tool_names) {
        say(&format!("agent: {unknown}, which is not a tool; the tools are {}", tool_names.join(", ")));
    }
    let root = Ground::of_session(settings, &workspace, &processes, &users, &repository);
    let shared = Shared::of(settings, &skills, &chosen, approver.clone(), root);
    let provider: Arc<dyn LlmProvider> = match &mcp {
        Some(mcp) => Arc::new(Awaiting::new(chosen.provider, mcp.servers.clone())),
        None => chosen.provider,
    };
    let builder = Builder::new(config).provider(provider).tools(tools).hook(Arc::new(hooks));
    let builder = chosen.secrets.into_iter().fold(builder, |builder, secret| builder.secret(secret));
    let builder = approver.into_iter().fold(builder, Builder::approver);
    Ok(Made { builder, model, tool_names, processes, repository, users, background, workspace, shared, mcp, skills })
}

/// What says where the work stands, and how it is to be done, is not left to the model that summarises.
fn summaries() -> Summaries {
    let kept = [("todo_write", KeptResults::Newest), ("activate_skill", KeptResults::Each)];
    let kept_results = kept.map(|(tool, which)| (Arc::from(tool), which)).into();
    Summaries { kept_results, ..Summaries::default() }
}
