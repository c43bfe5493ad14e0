//! Where hooks run: the user's as the user does, if their command is understood and names nothing that commands of the model can change; a
//! repository's in the sandbox, unless the user said otherwise and nothing but a script that was checked is run.

use crate::config::entries::Named;
use crate::config::file::{HookEntry, UserConfig, state_home};
use crate::config::project;
use crate::config::repository::RepositoryConfig;
use crate::failure::Failure;
use crate::hooks::programs::{self, Trust};
use crate::hooks::reach::Reach;
use crate::hooks::{self, hook};
use crate::screen::terminal::shown_path;
use crate::walls::hidden;
use crate::walls::search_path;
use agent_hooks::{Grounds, OnFailure, PinnedScript, Runs, Script, UserHook};
use std::path::{Path, PathBuf};

/// Hooks, and what there is to say about where they run.
#[derive(Default)]
pub(crate) struct Placed {
    pub(crate) hooks: Vec<UserHook>,
    /// What runs otherwise than its entry says by itself.
    pub(crate) told: Vec<String>,
    /// What does not run.
    pub(crate) left_out: Vec<String>,
}

/// What places are judged by.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub(crate) directory: &'a Path,
    pub(crate) user: &'a UserConfig,
    /// Whether commands of the model run in a sandbox.
    pub(crate) has_sandbox: bool,
}

/// The hooks of the user's configuration.
pub(crate) fn of_user(ground: Ground<'_>) -> Result<Placed, Failure> {
    let mut placed = Placed::default();
    if ground.user.hooks.is_empty() {
        return Ok(placed);
    }
    let reach = reach(ground)?;
    for (index, entry) in ground.user.hooks.iter().enumerate() {
        let hook = usable(ground.user, index, entry)?;
        let understood = reach.check(&entry.command);
        let what = format!("the hook `{}` at {}", entry.command, entry.event);
        match (entry.sandbox, understood) {
            (Some(false), _) | (None, Ok(())) => placed.hooks.push(hook),
            (Some(true), Ok(())) => placed.hooks.push(hook.run(Runs::Sandboxed)),
            (Some(true), Err(_)) => placed.hooks.push(hook.run(Runs::Sandboxed).without_allowing()),
            (None, Err(why)) if ground.has_sandbox => {
                placed.told.push(format!("{what} runs in the sandbox: {why} ({AS_USER})"));
                placed.hooks.push(hook.run(Runs::Sandboxed).without_allowing());
            }
            (None, Err(why)) => placed.leave_out(hook, &what, format!("{why}, and there is no sandbox ({AS_USER})")),
        }
    }
    Ok(placed)
}

/// Fails at the first hook of the user's configuration that cannot be used.
pub(crate) fn check_of_user(user: &UserConfig) -> Result<(), Failure> {
    user.hooks.iter().enumerate().try_for_each(|(index, entry)| usable(user, index, entry).map(drop))
}

fn usable(user: &UserConfig, index: usize, entry: &HookEntry) -> Result<UserHook, Failure> {
    hook(entry).map_err(|error| {
        let place = user.places.entry("hooks", index, hooks::key_of(&error));
        Failure::config(format!("cannot use the hook, {place}: {error}"))
    })
}

/// What hooks of the user's must not come to run as the user.
fn reach(ground: Ground<'_>) -> Result<Reach, Failure> {
    let repository = project::repository(ground.directory).map(Path::to_path_buf);
    let mut writable = vec![ground.directory.to_path_buf(), project::root(ground.directory)];
    writable.extend(repository);
    writable.extend(hidden::absolute("sandbox_writable", &ground.user.sandbox_writable)?);
    let programs = search_path::of(ground.directory, ground.user);
    Ok(Reach::new(ground.directory, writable, programs.directories().to_os_string()))
}

/// Those of a trusted workspace. What a script has to be is what was compared with the record, not what it is by now.
pub(crate) fn of_workspace(config: &RepositoryConfig, trust: &Trust, ground: Ground<'_>) -> Result<Placed, Failure> {
    let mut placed = Placed::default();
    let root = project::root(ground.directory);
    for named in &config.hooks {
        let hook = hooks::check(named).map_err(Failure::config)?;
        let content = |path: &Path| programs::content(&trust.programs, path, &root);
        let place = place(&named.entry, trust.is_outside, ground, &root);
        match place {
            Ok(pinned) => {
                let content = content(pinned.script().path()).unwrap_or_default();
                placed.hooks.push(hook.run(Runs::Pinned(Box::new(pinned.with_content(&content)))));
            }
            Err(why) if ground.has_sandbox => {
                if trust.is_outside && !named.entry.sandbox.unwrap_or(false) {
                    let what = format!("the hook `{}` of {}", named.entry.command, named.place());
                    placed.told.push(format!("{what} runs in the sandbox: {why}"));
                }
                let script = Script::named(&hook.command, ground.directory, &root);
                let script = script.map(|script| match content(script.path()) {
                    Some(content) => script.expecting(content),
                    None => script,
                });
                placed.hooks.push(hook.run(Runs::Sandboxed).with_script(script).without_allowing());
            }
            Err(why) => {
                let what = format!("the hook `{}` of {}", named.entry.command, named.place());
                placed.leave_out(hook, &what, format!("there is no sandbox, and {why}"));
            }
        }
    }
    Ok(placed)
}

/// For people: what a trusted workspace runs, and where.
pub(crate) fn shown(config: &RepositoryConfig, is_outside: bool, ground: Ground<'_>) -> Vec<String> {
    let root = project::root(ground.directory);
    let shown = config.hooks.iter().map(|named| {
        let Named { entry, file, .. } = named;
        let place = match place(entry, is_outside, ground, &root) {
            Ok(pinned) => {
                let script = pinned.script();
                let path = script.path().strip_prefix(&root).unwrap_or(script.path());
                let content = script.content();
                format!(
                    "it runs as you, outside the sandbox, from a copy of {} as it is now ({content})",
                    shown_path(path)
                )
            }
            Err(why) => format!("it runs in the sandbox, and does not run without one: {why}"),
        };
        format!("the hook `{}` at {}, of {}; {place}", entry.command, entry.event, shown_path(file))
    });
    shown.collect()
}

/// The script that a repository's hook could be pinned to.
pub(crate) fn script(entry: &HookEntry, ground: Ground<'_>, root: &Path) -> Option<Script> {
    let grounds = Grounds { directory: ground.directory.to_path_buf(), ..grounds(ground, root).ok()? };
    PinnedScript::of(&entry.command, grounds).ok().map(|pinned| pinned.script().clone())
}

/// The script that a repository's hook is, outside of the sandbox; or why it is not run there.
fn place(entry: &HookEntry, is_outside: bool, ground: Ground<'_>, root: &Path) -> Result<PinnedScript, String> {
    if entry.sandbox == Some(true) {
        return Err(String::from("its entry says so"));
    }
    if !is_outside {
        return Err(String::from("`agent trust --outside-sandbox` was not given"));
    }
    let not_pinned = |why: String| format!("it cannot be pinned: {why}");
    PinnedScript::of(&entry.command, grounds(ground, root).map_err(not_pinned)?).map_err(not_pinned)
}

fn grounds(ground: Ground<'_>, root: &Path) -> Result<Grounds, String> {
    let mut writable: Vec<PathBuf> = vec![root.to_path_buf(), ground.directory.to_path_buf()];
    let more = hidden::absolute("sandbox_writable", &ground.user.sandbox_writable);
    writable.extend(more.map_err(|error| error.to_string())?);
    // Interpreters read files of the home directory by themselves.
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    if home.is_some_and(|home| writable.iter().any(|place| home.starts_with(place))) {
        return Err(String::from("commands may write in your home directory"));
    }
    let copies = state_home().ok_or("there is no directory for a copy; set AGENT_STATE_HOME")?.join("hooks");
    let directory = ground.directory.to_path_buf();
    // Of links, every step counts.
    let search_path = search_path::of(ground.directory, ground.user).directories_for(INTERPRETERS);
    Ok(Grounds { directory, writable, copies, search_path: Some(search_path) })
}

impl Placed {
    /// A guard that cannot run objects each time, if that is what it is to do; another one is left out, once and for all.
    fn leave_out(&mut self, hook: UserHook, what: &str, why: String) {
        self.left_out.push(format!("{what}: {why}"));
        if hook.on_failure == OnFailure::Block {
            self.hooks.push(hook.run(Runs::Nowhere(why)));
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.hooks.extend(other.hooks);
        self.told.extend(other.told);
        self.left_out.extend(other.left_out);
    }
}

/// What a pinned script is read by.
const INTERPRETERS: [&str; 7] = ["sh", "bash", "dash", "python3", "node", "ruby", "perl"];
const AS_USER: &str = "`sandbox = false` in its entry runs it as you";
