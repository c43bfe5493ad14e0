//! Where hooks run: the user's as the user does, unless they name what commands of the model can change; a repository's in the sandbox, unless
//! the user said otherwise and nothing but a script that was checked is run.

use crate::config_file::{HookEntry, UserConfig, state_home};
use crate::failure::Failure;
use crate::hooks::hook;
use crate::programs::{self, Named};
use crate::project;
use crate::repository_config::RepositoryConfig;
use crate::trust::Trust;
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
    let root = project::root(ground.directory);
    for entry in &ground.user.hooks {
        let hook = hook(entry).map_err(|error| Failure::config(format!("use the hooks: {error}")))?;
        let named = workspace_word(&entry.command, ground.directory, &root);
        let what = format!("the hook `{}` at {}", entry.command, entry.event);
        match (entry.sandbox, named) {
            (Some(false), _) | (None, None) => placed.hooks.push(hook),
            (Some(true), None) => placed.hooks.push(hook.run(Runs::Sandboxed)),
            (Some(true), Some(_)) => placed.hooks.push(hook.run(Runs::Sandboxed).without_allowing()),
            (None, Some(word)) if ground.has_sandbox => {
                placed.told.push(format!("{what} runs in the sandbox: it names `{word}` of the workspace ({AS_USER})"));
                placed.hooks.push(hook.run(Runs::Sandboxed).without_allowing());
            }
            (None, Some(word)) => {
                let why = format!("it names `{word}` of the workspace, and there is no sandbox ({AS_USER})");
                placed.leave_out(hook, &what, why);
            }
        }
    }
    Ok(placed)
}

/// Those of a trusted workspace. What a script has to be is what was compared with the record, not what it is by now.
pub(crate) fn of_workspace(config: &RepositoryConfig, trust: &Trust, ground: Ground<'_>) -> Result<Placed, Failure> {
    let mut placed = Placed::default();
    let root = project::root(ground.directory);
    for named in &config.hooks {
        let hook = crate::hooks::check(named).map_err(Failure::config)?;
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
                    "it runs as you, outside of the sandbox, from a copy of {} as it is now ({content})",
                    path.display()
                )
            }
            Err(why) => format!("it runs in the sandbox, and not where there is none: {why}"),
        };
        format!("the hook `{}` at {}, of {}; {place}", entry.command, entry.event, file.display())
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
        return Err(String::from("`agent trust --outside-sandbox` was not said"));
    }
    let not_pinned = |why: String| format!("it cannot be pinned: {why}");
    PinnedScript::of(&entry.command, grounds(ground, root).map_err(not_pinned)?).map_err(not_pinned)
}

fn grounds(ground: Ground<'_>, root: &Path) -> Result<Grounds, String> {
    let mut writable: Vec<PathBuf> = vec![root.to_path_buf(), ground.directory.to_path_buf()];
    writable.extend(ground.user.sandbox_writable.iter().cloned());
    // Interpreters read files of the home directory by themselves.
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    if home.is_some_and(|home| writable.iter().any(|place| home.starts_with(place))) {
        return Err(String::from("commands may write in your home directory"));
    }
    let copies = state_home().ok_or("there is no place for a copy; set AGENT_STATE_HOME")?.join("hooks");
    let directory = ground.directory.to_path_buf();
    Ok(Grounds { directory, writable, copies, search_path: std::env::var_os("PATH") })
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

/// What of a command names something of the workspace, as far as can be seen. Said rather once too often: the sandbox is no harm to most hooks.
fn workspace_word(command: &str, directory: &Path, root: &Path) -> Option<String> {
    if let Some(variable) = ["AGENT_PROJECT_DIR", "PWD", "pwd"].into_iter().find(|name| command.contains(name)) {
        return Some(variable.to_owned());
    }
    let between = |sign: char| sign.is_ascii_whitespace() || "\"'`;|&<>(){}=:,$".contains(sign);
    let names = |word: &&str| {
        let path = directory.join(word);
        let first = Path::new(word).components().next();
        // One that is not there yet can be made.
        let is_relative = word.contains('/') && Path::new(word).is_relative() && !word.starts_with('~');
        let begins_here = first.is_some_and(|first| directory.join(first).symlink_metadata().is_ok());
        let is_ours = |path: &Path| path.starts_with(root);
        (is_relative && begins_here)
            || (Path::new(word).is_absolute() && is_ours(&path))
            || (path.is_file() && path.canonicalize().is_ok_and(|path| is_ours(&path)))
    };
    command.split(between).filter(|word| !word.is_empty()).find(names).map(str::to_owned)
}

const AS_USER: &str = "`sandbox = false` in its entry runs it as you";

#[cfg(test)]
mod tests {
    use super::workspace_word;
    use std::fs;

    #[test]
    fn what_names_the_workspace_is_noticed() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir(root.join("tools")).unwrap();
        fs::write(root.join("check.py"), "").unwrap();
        let names = |command: &str| workspace_word(command, &root, &root).is_some();
        for command in [
            "./x",
            "sh tools/not-yet-there",
            "cd tools/ && ./x",
            "timeout 5 ./x>/dev/null",
            "python3 -W ignore check.py",
            "../other/x",
            "\"$AGENT_PROJECT_DIR\"/x",
            "\"$(pwd)/x\"",
            "X=./tools/x",
            &format!("sh {}/x", root.display()),
        ] {
            assert!(names(command), "{command}");
        }
        for command in
            ["true", "~/bin/guard", "/usr/bin/notify-send done", "cat >> /elsewhere/told", "sed s/a/b/", "jq -r .x"]
        {
            assert!(!names(command), "{command}");
        }
    }
}
