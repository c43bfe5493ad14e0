//! What holds for a session: built-in defaults, the user's file, the repository's file, environment, flags, in this order.

use crate::config::options::{Options, Sandbox, Seat};

use crate::config::file::{self, UserConfig, Wait};
use crate::config::places::Places;
use crate::config::project::{self, working_directory};
use crate::config::providers::ProviderChoice;
use crate::config::repository::RepositoryConfig;
use crate::config::server_rules;
use crate::config::units::DurationMs;
use crate::failure::Failure;
use crate::hooks::formatters;
use crate::hooks::places::{self, Ground};
use crate::hooks::programs::Trust;
use crate::hooks::trust;
use crate::mcp::files::{self, Found as Servers};
use crate::model::effort::Wish;
use crate::model::tape::Tape;
use crate::screen::terminal::{inline, say, shown_path};
use crate::session::above::Above;
use crate::session::own::{HEADLESS_FAILURES_IN_ROW, HEADLESS_MODEL_CALLS, HEADLESS_REPETITIONS, HEADLESS_TOOL_CALLS};
use crate::skills::{self, Skill, Users};
use crate::walls::protected::{GitSettings, Protection, git_settings};
use crate::walls::sandbox::{self, Place};
use crate::walls::search_path;
use crate::walls::whole_home;
use agent_core::agents::AgentLimits;
use agent_core::budget::Limits;
use agent_core::permission::{PermissionMode, Permissions, Rule, RuleSource};
use agent_exec::SearchPath;
use agent_hooks::{FormatterConfig, UserHook};
use agent_llm::Timeouts;
use agent_mcp::ServerConfig;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Everything resolved but the provider's answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) directory: PathBuf,
    /// As the flag says; what follows from the model and from the configuration is seen when one is asked.
    pub(crate) provider: Option<ProviderChoice>,
    /// As the flag says; the environment and then the configuration come after it.
    pub(crate) base_url: Option<String>,
    /// As the flag says.
    pub(crate) api_key_env: Option<String>,
    pub(crate) is_quiet: bool,
    /// As the flag says, and the provider that an alias in its place names.
    pub(crate) model: Option<String>,
    pub(crate) alias_provider: Option<ProviderChoice>,
    /// As they were written: some may be aliases.
    pub(crate) fallback_models: Vec<String>,
    /// What the flag says of the effort, or the alias.
    pub(crate) effort: Option<Wish>,
    pub(crate) tape: Tape,
    pub(crate) limits: Limits,
    /// How many agents may work below the session's own, if any.
    pub(crate) agents: Option<AgentLimits>,
    /// How long answers of the provider are waited for.
    pub(crate) timeouts: Timeouts,
    pub(crate) permissions: Permissions,
    /// What the repository forbids above the working directory.
    pub(crate) above: Above,
    /// The loosest permission mode that the repository's configuration lets the user have.
    pub(crate) loosest: PermissionMode,
    /// What commands run in, where they do.
    pub(crate) sandbox: Option<agent_exec::Sandbox>,
    /// Where the agent finds the programs that it runs by itself.
    pub(crate) programs: SearchPath,
    /// What git's configuration names in the working directory: hooks, besides `.git`, for instance.
    pub(crate) git_settings: GitSettings,
    /// What else no tool writes: repositories by whatever name, files that git's configuration names.
    pub(crate) protected: Vec<PathBuf>,
    /// The same: what links with protected names lead to.
    pub(crate) linked: Vec<PathBuf>,
    pub(crate) auto_commit: bool,
    pub(crate) formatters: Vec<FormatterConfig>,
    pub(crate) hooks: Vec<UserHook>,
    pub(crate) skills: Vec<Skill>,
    /// Servers of tools: the user's, and those of a trusted repository.
    pub(crate) servers: Vec<ServerConfig>,
    /// Names of the user's entries that cannot be used: no other server is called so.
    pub(crate) held_servers: Vec<String>,
    pub(crate) user: UserConfig,
}

impl Settings {
    pub(crate) fn resolve(options: &Options, seat: Seat) -> Result<Self, Failure> {
        let directory = working_directory(options.directory.as_deref())?;
        let user = users_config()?;
        let (repository, trust) = repository_config(&directory)?;
        let reading = reading_skills();
        whole_home::check(&directory, options, seat)?;
        let limits = effective_limits(options, seat, &user, &repository)?;
        let programs = search_path::of(&directory, &user);
        let protection = Protection::find(&directory, &programs);
        let git_settings = git_settings(&directory, &programs, &protection.folders());
        let protected = protection.repositories().into_iter().chain(git_settings.files.iter().cloned()).collect();
        let linked = protection.linked();
        let place = Place { directory: &directory, git: git_settings.clone(), protection };
        let sandbox = sandbox::for_session(options, &user, &repository, place, seat)?;
        let is_wanted = |flag: bool, config: Option<bool>| flag || config.unwrap_or(false);
        let mut formatters = Vec::new();
        if is_wanted(options.format_on_edit, user.format_on_edit) {
            formatters = formatters::of_user(&user)?;
            if trust.is_given {
                let root = project::root(&directory);
                let used = formatters::of_workspace(&repository, &root, &programs);
                formatters.extend(formatters::confined(used, &root, sandbox.is_some(), trust.is_outside));
            }
        }
        let ground = Ground { directory: &directory, user: &user, has_sandbox: sandbox.is_some() };
        let hooks = hooks(&repository, &trust, ground, options)?;
        let Servers { mut servers, held, .. } = servers(&trust)?;
        let loosest = repository.modes.iter().fold(PermissionMode::Bypass, |mode, wanted| mode.stricter(*wanted));
        let above = repository.above.clone();
        let permissions = permissions(options, &user, repository, &directory, &mut servers);
        let skills = skills(reading, trust)?;
        let tape = Tape::of(options)?;
        let meant = options.model.as_deref().map(|name| user.meant(name));
        say_without_formatters(options, &formatters);
        Ok(Self {
            provider: options.provider.clone(),
            base_url: options.base_url.clone(),
            api_key_env: options.api_key_env.clone(),
            is_quiet: options.quiet,
            model: meant.as_ref().map(|meant| meant.model.clone()),
            alias_provider: meant.as_ref().and_then(|meant| meant.provider.clone()),
            // A recording stands above the configuration: it was made with its models.
            fallback_models: match options.fallback_model.is_empty() && !tape.is_played() {
                true => user.fallback_models.clone(),
                false => options.fallback_model.clone(),
            },
            effort: options.effort.or_else(|| meant.as_ref()?.effort),
            tape,
            limits,
            agents: user.agents.limits(options.agents),
            timeouts: timeouts(options, &user),
            permissions,
            above,
            loosest,
            sandbox,
            programs,
            git_settings,
            protected,
            linked,
            auto_commit: !options.no_auto_commit && is_wanted(options.auto_commit, user.auto_commit),
            formatters,
            skills,
            servers,
            held_servers: held,
            hooks,
            directory,
            user,
        })
    }
}

fn say_without_formatters(options: &Options, formatters: &[FormatterConfig]) {
    if options.format_on_edit && formatters.is_empty() && !options.quiet {
        say("agent: no formatter is configured, so nothing is formatted");
    }
}

impl Settings {
    /// The same for an agent in a worktree of the same repository: with its own walls, and commits on a branch that is its own.
    pub(crate) fn in_worktree(&self, directory: PathBuf) -> Result<Self, Failure> {
        let protection = Protection::find(&directory, &self.programs);
        let git_settings = git_settings(&directory, &self.programs, &protection.folders());
        let protected = protection.repositories().into_iter().chain(git_settings.files.iter().cloned()).collect();
        let linked = protection.linked();
        let tree = |directory: &Path| agent_git::working_tree(directory).unwrap_or_else(|| directory.to_path_buf());
        let (from, to) = (tree(&self.directory), tree(&directory));
        let place = Place { directory: &directory, git: git_settings.clone(), protection };
        let sandbox = match &self.sandbox {
            Some(sandbox) => Some(sandbox::in_worktree(sandbox, &self.user, (&from, &to), place)?),
            None => None,
        };
        let above = self.above.also_in(&from, &to);
        Ok(Self { directory, git_settings, protected, linked, sandbox, above, auto_commit: true, ..self.clone() })
    }
}

/// How often the same call may give the same result in a row at the prompt; at half of that the model is warned.
pub(crate) const AT_THE_PROMPT: u32 = 6;

/// Those of the seat, then the user's, the flags', what was raised in the session, and what the repository narrows.
fn effective_limits(
    options: &Options,
    seat: Seat,
    user: &UserConfig,
    repository: &RepositoryConfig,
) -> Result<Limits, Failure> {
    let mut limits = match seat {
        Seat::Headless | Seat::Looking => Limits {
            max_model_calls: Some(HEADLESS_MODEL_CALLS),
            max_tool_calls: Some(HEADLESS_TOOL_CALLS),
            // No person is there to see that it gets nowhere.
            max_failures_in_row: Some(HEADLESS_FAILURES_IN_ROW),
            // Far off: what waits for something asks the same again and again, and gets nowhere on purpose.
            max_repetitions: Some(HEADLESS_REPETITIONS),
            ..Limits::default()
        },
        // A person is there: the model is warned halfway, and then the turn waits for a word.
        Seat::Interactive | Seat::Editor => Limits { max_repetitions: Some(AT_THE_PROMPT), ..Limits::default() },
    };
    overlay(&mut limits, &limits_of_user(user)?);
    overlay(&mut limits, &from_options(options));
    each(&mut limits, &options.raised, |now, raised| now.map(|now| raised.map_or(now, |raised| now.max(raised))));
    // A repository may narrow what everybody else said, and nothing else.
    looser(repository, options, user, &limits).iter().for_each(|key| {
        say(&format!("agent: ignored `{key}` from the repository: it would loosen the settings"));
    });
    repository.limits.iter().for_each(|wanted| narrow(&mut limits, wanted));
    Ok(limits)
}

/// The user's hooks, and then those of a trusted repository. What does not run is reported even with `--quiet`: it was to guard something.
fn hooks(
    repository: &RepositoryConfig,
    trust: &Trust,
    ground: Ground<'_>,
    options: &Options,
) -> Result<Vec<UserHook>, Failure> {
    let mut placed = places::of_user(ground)?;
    if trust.is_given {
        placed.add(places::of_workspace(repository, trust, ground)?);
    }
    placed.told.iter().filter(|_| !options.quiet).for_each(|told| say(&format!("agent: {}", inline(told))));
    placed.left_out.iter().for_each(|told| say(&format!("agent: not run: {}", inline(told))));
    Ok(placed.hooks)
}

/// The user's servers, and then those of a trusted repository. What cannot be used is told.
fn servers(trust: &Trust) -> Result<Servers, Failure> {
    let mut found = files::of_user()?;
    if trust.is_given {
        found = found.and(trust.servers.clone());
    }
    found.faults.iter().for_each(|fault| say(&format!("agent: ignored: {}", inline(fault))));
    Ok(found)
}

/// The user's skills are being read: there may be hundreds, and meanwhile the sandbox is tried. Nothing where there is no thread for it.
fn reading_skills() -> Option<JoinHandle<Users>> {
    thread::Builder::new().name(String::from("agent-skills")).spawn(skills::users).ok()
}

/// The user's skills, and those of a trusted repository. What is none is told.
fn skills(reading: Option<JoinHandle<Users>>, trust: Trust) -> Result<Vec<Skill>, Failure> {
    let users = match reading {
        Some(reading) => reading.join().map_err(|_| Failure::internal("reading the skills panicked"))?,
        None => skills::users(),
    };
    let found = users.with(trust.is_given.then_some(trust.skills));
    found.notes.iter().for_each(|note| say(&format!("agent: {}", inline(note))));
    Ok(found.skills)
}

pub(crate) fn users_config() -> Result<UserConfig, Failure> {
    file::check_places()?;
    let Some(file) = file::user_config_path() else { return Ok(UserConfig::default()) };
    let Some(text) = file::text_of(&file)? else { return Ok(UserConfig::default()) };
    let user: UserConfig = file::parse(&file, &text)?;
    let user = UserConfig { places: Places { file, text }, ..user };
    user.check_providers()?;
    Ok(user)
}

/// What a repository may not say is left out loudly; an unreadable part that may forbid something is an error. And whether its programs are
/// used.
pub(crate) fn repository_config(directory: &Path) -> Result<(RepositoryConfig, Trust), Failure> {
    let config = RepositoryConfig::find(directory);
    config.check()?;
    for refused in &config.refused {
        say(&format!("agent: ignored: {}", inline(refused)));
    }
    if let Some(root) = project::of_another_user(directory) {
        let root = inline(&root.display().to_string());
        say(&format!(
            "agent: ignored: the instructions and configuration of {root}: it belongs to another user \
             (`git config --global --add safe.directory {root}` lets git and this program work with it)"
        ));
    }
    let trust = trust::of(directory, &config)?;
    trust.told.iter().for_each(|told| say(&format!("agent: ignored: {}", inline(told))));
    Ok((config, trust))
}

/// The user's rules and mode, and the flags; then what the repository adds, which cannot loosen them.
fn permissions(
    options: &Options,
    user: &UserConfig,
    repository: RepositoryConfig,
    directory: &Path,
    servers: &mut [ServerConfig],
) -> Permissions {
    let said = |rules: &[Rule], source| rules.iter().cloned().map(|rule| rule.said_by(source)).collect::<Vec<_>>();
    let both = |by_user: &[Rule], by_flag: &[Rule]| {
        [said(by_user, RuleSource::User), said(by_flag, RuleSource::CommandLine)].concat()
    };
    let permissions = Permissions {
        mode: users_mode(options, user),
        allow: both(&allowed(user, directory, servers), &options.allow),
        deny: both(&user.deny, &options.deny),
        ..Permissions::default()
    };
    let modes = repository.modes.into_iter().fold(permissions, |all, mode| all.tightened(Some(mode), []));
    let mut permissions = modes.tightened(None, said(&repository.deny, RuleSource::Repository));
    server_rules::settle(&mut permissions, servers);
    permissions
}

/// What the user allows here. What is allowed in every directory is about no server of a repository, which is left out loudly.
fn allowed(user: &UserConfig, directory: &Path, servers: &[ServerConfig]) -> Vec<Rule> {
    let everywhere = user.allow.iter().filter(|rule| {
        let server = server_rules::of_repository(rule, servers);
        server.iter().for_each(|server| {
            let (server, directory) = (inline(&server.name), shown_path(directory));
            say(&format!(
                "agent: ignored: the allow rule `{rule}` of every directory: `{server}` is a server of the repository here; to allow it, add \
                 the rule to `[projects.\"{directory}\"]`"
            ));
        });
        server.is_none()
    });
    everywhere.chain(user.allowed_here(directory)).cloned().collect()
}

/// What the user says of the permission mode.
pub(crate) fn users_mode(options: &Options, user: &UserConfig) -> PermissionMode {
    options.permission_mode.map(PermissionMode::from).or(user.permission_mode).unwrap_or_default()
}

/// What of a repository's settings is looser than what the user said, and so changes nothing.
fn looser(repository: &RepositoryConfig, options: &Options, user: &UserConfig, limits: &Limits) -> Vec<&'static str> {
    let mode = users_mode(options, user);
    let is_looser = |wanted: &PermissionMode| *wanted != mode && mode.stricter(*wanted) == mode;
    let mut said = Vec::new();
    said.extend(repository.modes.iter().any(is_looser).then_some("permission_mode"));
    let sandbox = options.sandbox.or(user.sandbox).unwrap_or(Sandbox::WorkspaceWrite);
    said.extend(repository.sandbox.is_some_and(|wanted| wanted > sandbox).then_some("sandbox"));
    for wanted in &repository.limits {
        let wide = |small: Option<u32>| small.map(u64::from);
        let pairs = [
            ("max_turns", limits.max_model_calls, wanted.max_model_calls),
            ("max_tool_calls", limits.max_tool_calls, wanted.max_tool_calls),
            ("max_total_tokens", limits.max_total_tokens, wanted.max_total_tokens),
            ("max_budget_usd", limits.max_cost_nano_usd, wanted.max_cost_nano_usd),
            ("max_wall_time", limits.max_wall_time_ms, wanted.max_wall_time_ms),
            ("max_failures_in_row", wide(limits.max_failures_in_row), wide(wanted.max_failures_in_row)),
            ("max_repetitions", wide(limits.max_repetitions), wide(wanted.max_repetitions)),
        ];
        let is_looser = |(_, limit, wanted): &(_, Option<u64>, Option<u64>)| limit.is_some() && wanted > limit;
        said.extend(pairs.into_iter().filter(is_looser).map(|(key, ..)| key));
    }
    said
}

pub(crate) fn from_options(options: &Options) -> Limits {
    Limits {
        max_model_calls: options.max_turns,
        max_tool_calls: options.max_tool_calls,
        max_total_tokens: options.max_total_tokens,
        max_cost_nano_usd: options.max_budget_usd.map(|usd| usd.0),
        max_wall_time_ms: options.max_wall_time.map(|duration| duration.0),
        ..Limits::default()
    }
}

/// The limits that the user's configuration sets.
pub(crate) fn limits_of_user(user: &UserConfig) -> Result<Limits, Failure> {
    user.limits.limits().map_err(|what| {
        let key = if user.limits.max_wall_time_ms().is_err() { "max_wall_time" } else { "max_budget_usd" };
        Failure::config(format!("cannot read the limits, {}: {what}", user.places.limit(key)))
    })
}

fn timeouts(options: &Options, user: &UserConfig) -> Timeouts {
    let wait = |flag: Option<DurationMs>, user: Option<Wait>, otherwise: Duration| {
        flag.or(user.map(|wait| wait.0)).map_or(otherwise, |DurationMs(ms)| Duration::from_millis(ms))
    };
    let built_in = Timeouts::default();
    let first_byte = wait(options.first_byte_timeout, user.timeouts.first_byte, built_in.first_byte);
    let idle = wait(options.idle_timeout, user.timeouts.idle, built_in.idle);
    // A user who waits so long for a piece waits for the whole.
    Timeouts { first_byte, idle, total: built_in.total.max(first_byte).max(idle), ..built_in }
}

/// What is said replaces what was said before.
fn overlay(limits: &mut Limits, by: &Limits) {
    each(limits, by, |old, new| new.or(old));
}

/// The lower of both holds.
fn narrow(limits: &mut Limits, by: &Limits) {
    each(limits, by, |old, new| match (old, new) {
        (Some(old), Some(new)) => Some(old.min(new)),
        (one, other) => one.or(other),
    });
}

fn each(limits: &mut Limits, by: &Limits, choose: impl Fn(Option<u64>, Option<u64>) -> Option<u64>) {
    limits.max_model_calls = choose(limits.max_model_calls, by.max_model_calls);
    limits.max_tool_calls = choose(limits.max_tool_calls, by.max_tool_calls);
    limits.max_total_tokens = choose(limits.max_total_tokens, by.max_total_tokens);
    limits.max_cost_nano_usd = choose(limits.max_cost_nano_usd, by.max_cost_nano_usd);
    limits.max_wall_time_ms = choose(limits.max_wall_time_ms, by.max_wall_time_ms);
    // Both are smaller numbers, so what is chosen of them fits again.
    let small = |old: Option<u32>, new: Option<u32>| {
        choose(old.map(u64::from), new.map(u64::from)).and_then(|chosen| u32::try_from(chosen).ok())
    };
    limits.max_failures_in_row = small(limits.max_failures_in_row, by.max_failures_in_row);
    limits.max_repetitions = small(limits.max_repetitions, by.max_repetitions);
}
