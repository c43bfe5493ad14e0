//! What a session is put together from besides its tools: what they work in, hooks, formatters.

use crate::config::file::{Author, config_home, data_home, record_key, state_home};
use crate::config::settings::Settings;
use crate::failure::Failure;
use crate::model::keys;
use crate::model::secrets;
use crate::walls::protected::{own_places, real_place};
use crate::walls::sandbox;
use agent_exec::Processes;
use agent_git::{HooksConfig, Identity};
use agent_hooks::{Formatters, Runs, UserHooks};
use agent_runner::journal::SessionPictures;
use agent_tools::Workspace;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the tools work in, and what of it they do not touch.
pub(super) fn workspace(settings: &Settings, keeper: Arc<SessionPictures>) -> Result<Arc<Workspace>, Failure> {
    let workspace = Workspace::open(&settings.directory).map_err(Failure::input)?;
    // Where these lie in the workspace (a home directory, say) or are led there, no tool writes them. The state holds the key of the
    // records.
    let own = [config_home(), state_home()].into_iter().flatten().chain(worktrees_of_others(&settings.directory));
    Ok(Arc::new(
        workspace
            .knowing(secrets::redactor())
            .keeping(keeper)
            .protecting(own)
            .closing(state_home().into_iter().chain(keys::files(&settings.user)?))
            .closing(agent_git::kept_in(&settings.directory))
            .protecting_repositories(settings.protected.iter().chain(&settings.git_settings.elsewhere))
            .protecting_linked(&settings.linked)
            .protecting_hooks(&settings.git_settings.hooks),
    ))
}

/// Where the worktrees of agents are, unless the agent works in one of them.
fn worktrees_of_others(directory: &Path) -> Option<PathBuf> {
    data_home().filter(|home| !directory.starts_with(real_place(home)))
}

/// What is to run in a sandbox by the user's own word is not left out.
pub(super) fn users_hooks(
    settings: &Settings,
    unconfined: &Processes,
    processes: &Processes,
) -> Result<Arc<UserHooks>, Failure> {
    if settings.sandbox.is_none()
        && let Some(hook) = settings.hooks.iter().find(|hook| hook.runs == Runs::Sandboxed)
    {
        let (command, point) = (&hook.command, hook.point);
        return Err(Failure::config(format!(
            "cannot run the hook `{command}` at {point} in a sandbox: there is none here"
        )));
    }
    let runners = (Arc::new(unconfined.clone()), Arc::new(processes.clone()));
    Ok(Arc::new(UserHooks::new(settings.hooks.clone(), settings.directory.clone(), runners.0, runners.1)))
}

pub(super) fn hooks_config(settings: &Settings) -> HooksConfig {
    let defaults = HooksConfig::new(settings.directory.clone());
    let commits = &settings.user.commits;
    let identity = |author: &Author| Identity { name: author.name.clone(), email: author.email.clone() };
    HooksConfig {
        auto_commit: settings.auto_commit,
        identity: commits.author.as_ref().map(identity),
        trailer: commits.trailer.as_ref().map_or(defaults.trailer, |trailer| trailer.0.clone()),
        protected: protected_of(settings),
        record_key: record_key(),
        hidden: settings.sandbox.iter().flat_map(|sandbox| sandbox.policy().hidden.iter().cloned()).collect(),
        ..defaults
    }
}

/// What is not restored or formatted besides protected names.
fn protected_of(settings: &Settings) -> Vec<PathBuf> {
    let named = settings.protected.iter().chain(&settings.linked).cloned();
    own_places()
        .into_iter()
        .chain(worktrees_of_others(&settings.directory))
        .chain(settings.git_settings.kept().cloned())
        .chain(named)
        .collect()
}

/// What formats files, in a sandbox of its own where commands run in one.
pub(super) fn formatters(settings: &Settings, own: Processes) -> Result<Formatters, Failure> {
    Ok(match &settings.sandbox {
        Some(_) if !settings.formatters.is_empty() => {
            let sandbox = sandbox::for_formatters(&settings.user, &settings.directory, settings.sandbox.as_ref())?;
            let scratch = sandbox.scratch().to_path_buf();
            Formatters::new(settings.formatters.clone(), Arc::new(own.in_sandbox(sandbox))).with_scratch(scratch)
        }
        _ => Formatters::new(settings.formatters.clone(), Arc::new(own)),
    })
}
