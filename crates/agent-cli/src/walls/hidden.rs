//! What commands in a sandbox cannot read: keys, tokens, histories, browsers, the agent's own configuration and sessions.
//!
//! 1. The usual places are hidden without being asked for. What is missing on this list can be read; `sandbox_hidden` adds to it.
//! 2. `sandbox_readable` of the user's configuration shows what the list hides. Nothing of a repository does.
//! 3. A repository hides what lies in it, and nothing else: it must not decide what commands see of the system.

mod places;

use crate::config::file::{UserConfig, config_home, state_home};
use crate::failure::Failure;
use crate::model::keys;
use crate::screen::terminal::shown_path;
use places::{BASES, BY_VARIABLE, IN_HOME, SYSTEM};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Component, Path, PathBuf};

/// What is hidden, and what can be read although it lies in something hidden.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hidden {
    pub(crate) paths: Vec<PathBuf>,
    /// Those of them that somebody asked for by name.
    pub(crate) asked: Vec<PathBuf>,
    pub(crate) readable: Vec<PathBuf>,
}

/// What is hidden where nobody said anything.
pub(crate) fn usual() -> Hidden {
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let own: Vec<PathBuf> = [config_home(), state_home()].into_iter().flatten().collect();
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    Hidden {
        paths: usual_paths(home.as_deref(), variable).into_iter().chain(own).collect(),
        asked: Vec::new(),
        // Hooks of the user's that are to run in the sandbox.
        readable: config_home().map(|home| home.join("hooks")).into_iter().collect(),
    }
}

/// The same with what the user and the repository say.
pub(crate) fn of(user: &UserConfig, repository: &[PathBuf]) -> Result<Hidden, Failure> {
    let readable = absolute("sandbox_readable", &user.sandbox_readable)?;
    let mut asked = absolute("sandbox_hidden", &user.sandbox_hidden)?;
    if let Some(path) = asked.iter().find(|path| path.parent().is_none()) {
        return Err(Failure::config(format!(
            "cannot hide `{}` (`sandbox_hidden`): no program runs without it",
            shown_path(path)
        )));
    }
    asked.extend(repository.iter().cloned());
    asked.extend(keys::files(user)?);
    let mut hidden = usual();
    // To show a directory shows what the list hides in it.
    hidden.paths.retain(|path| !readable.iter().any(|readable| path.starts_with(readable)));
    hidden.paths.extend(asked.iter().cloned());
    hidden.asked = asked;
    hidden.readable.extend(readable);
    Ok(hidden)
}

/// Where the agent keeps how files were before it changed them: commands must not read there what is hidden from them elsewhere, or denied.
/// In the repository of a directory it is made, because what is not there cannot be hidden; in those within it is looked for.
pub(crate) fn copies(directory: &Path, within: &[PathBuf]) -> Vec<PathBuf> {
    let own = agent_git::kept_in(directory);
    if let Some(folder) = own.first() {
        // Where it cannot be made, the agent keeps nothing there either.
        let _ = DirBuilder::new().mode(0o700).create(folder);
    }
    let others = within.iter().flat_map(|folder| agent_git::kept_in(folder));
    own.iter().cloned().chain(others).filter(|folder| folder.is_dir()).collect()
}

/// The paths of a user's setting. `~/` is the home directory.
pub(crate) fn absolute(key: &str, paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let wrong = |path: &Path| {
        let path = shown_path(path);
        Failure::config(format!("cannot use `{key}`: `{path}` is neither an absolute path nor begins with `~/`"))
    };
    let one = |path: &PathBuf| {
        let whole = match (path.strip_prefix("~"), std::env::home_dir()) {
            (Ok(within), Some(home)) => home.join(within),
            _ => path.clone(),
        };
        if whole.is_absolute() { Ok(whole) } else { Err(wrong(path)) }
    };
    paths.iter().map(one).collect()
}

/// The paths of a repository's setting, which stands in `.agent/config.toml`.
pub(crate) fn of_repository(file: &Path, paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let root = file.ancestors().nth(2).unwrap_or(file);
    let is_within = |path: &Path| {
        let mut parts = path.components().filter(|part| *part != Component::CurDir).peekable();
        parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
    };
    match paths.iter().find(|path| !is_within(path)) {
        Some(path) => Err(format!("`{}` is not a path in the repository", shown_path(path))),
        None => Ok(paths.iter().map(|path| root.join(path)).collect()),
    }
}

/// Below the home directory, and where variables of the environment say.
fn usual_paths(home: Option<&Path>, variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    if let Some(home) = home {
        paths.extend(IN_HOME.iter().map(|name| home.join(name)));
    }
    for &(name, usual) in BASES {
        if let Some(base) = variable(name).filter(|base| base.is_absolute()) {
            paths.extend(IN_HOME.iter().filter_map(|path| Some(base.join(Path::new(path).strip_prefix(usual).ok()?))));
        }
    }
    for &(name, below) in BY_VARIABLE {
        // Some of them are lists, of kubectl for instance.
        let values = variable(name).map(|value| std::env::split_paths(&value).collect::<Vec<_>>()).unwrap_or_default();
        for value in values.into_iter().filter(|value| value.is_absolute()) {
            match below {
                [] => paths.push(value),
                below => paths.extend(below.iter().map(|name| value.join(name))),
            }
        }
    }
    paths.retain(|path| may_be_hidden(path, home));
    paths
}

/// What a variable names must hide neither the system nor the whole home; and `/dev/null` in one means "none".
fn may_be_hidden(path: &Path, home: Option<&Path>) -> bool {
    let is_of_the_system = ["/dev", "/proc", "/sys"].iter().any(|place| path.starts_with(place));
    let is_at_the_top = path.parent().is_none_or(|parent| parent.parent().is_none()) && path.is_dir();
    !is_of_the_system && !is_at_the_top && !home.is_some_and(|home| home.starts_with(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_places_are_hidden_wherever_the_environment_puts_them() {
        let variable = |name: &str| match name {
            "CARGO_HOME" => Some(PathBuf::from("/c")),
            "KUBECONFIG" => Some(PathBuf::from("/k/one:/k/two:relative:")),
            "AWS_CONFIG_FILE" => Some(PathBuf::from("/")),
            "GNUPGHOME" => Some(PathBuf::from("/usr")),
            "HISTFILE" => Some(PathBuf::from("/dev/null")),
            "CODEX_HOME" => Some(PathBuf::from("/users")),
            "CLAUDE_CONFIG_DIR" => Some(PathBuf::from("/users/me")),
            "XDG_CONFIG_HOME" => Some(PathBuf::from("/x/config")),
            "XDG_DATA_HOME" => Some(PathBuf::from("relative")),
            "XDG_CACHE_HOME" => Some(PathBuf::from("/x/cache")),
            "ZDOTDIR" => Some(PathBuf::from("/users/me/.config/zsh")),
            _ => None,
        };
        let paths = usual_paths(Some(Path::new("/users/me")), variable);
        for path in [
            "/users/me/.ssh",
            "/users/me/.config/gh",
            "/etc/shadow",
            "/etc/krb5.keytab",
            "/users/me/.config/filezilla",
            "/c/credentials.toml",
            "/k/one",
            "/k/two",
            "/x/config/gh",
            "/x/config/Signal",
            "/users/me/.config/Signal",
            "/x/cache/huggingface/token",
            "/users/me/.config/zsh/.zsh_history",
        ] {
            assert!(paths.contains(&PathBuf::from(path)), "{path}");
        }
        assert!(paths.iter().all(|path| path.is_absolute()), "{paths:?}");
        for path in ["/", "/usr", "/users/me", "/users/me/.cargo", "/dev/null", "/x/config", "/x/cache"] {
            assert!(!paths.contains(&PathBuf::from(path)), "{path}");
        }
    }

    /// A path within another one would be looked for in vain; and what programs need to build stays readable.
    #[test]
    fn each_place_is_on_the_list_once_and_no_place_of_a_build_is() {
        for (at, path) in IN_HOME.iter().enumerate() {
            let is_fine =
                !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
            assert!(is_fine, "{path}");
            let others = IN_HOME.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other);
            for other in others {
                assert!(!Path::new(path).starts_with(other), "{path} and {other}");
            }
            for needed in [
                ".gitconfig",
                ".config/git/config",
                ".cargo/bin",
                ".cargo/config.toml",
                ".cargo/registry",
                ".rustup",
                ".local/bin",
                ".local/lib",
                ".local/share/uv/tools",
                ".nvm",
                ".npm",
                ".cache/pip",
                ".cache/go-build",
                "go",
                ".m2/settings.xml",
                ".m2/repository",
                ".gradle/gradle.properties",
                ".config/pip/pip.conf",
                ".bundle/config",
                ".conda",
                ".pyenv",
                ".asdf",
                ".local/share/mise",
                ".config/mise",
                ".nix-profile",
                ".bashrc",
                ".config/fish/config.fish",
            ] {
                assert!(!Path::new(needed).starts_with(path), "{path} hides {needed}");
            }
        }
    }

    #[test]
    fn a_user_adds_and_shows_and_a_repository_adds_what_is_its_own() {
        let home = std::env::home_dir().unwrap();
        let paths = |texts: &[&str]| texts.iter().map(PathBuf::from).collect::<Vec<_>>();
        let user = UserConfig {
            sandbox_hidden: paths(&["/secret", "~/mine"]),
            sandbox_readable: paths(&["~/.config", "~/.ssh/known_hosts"]),
            ..UserConfig::default()
        };
        let hidden = of(&user, &paths(&["/repo/.env"])).unwrap();
        let has = |path: PathBuf| hidden.paths.contains(&path);
        assert!(has("/secret".into()) && has(home.join("mine")) && has("/repo/.env".into()) && has(home.join(".ssh")));
        assert!(!has(home.join(".config/gh")));
        assert!(hidden.readable.contains(&home.join(".ssh/known_hosts")));
        for wrong in ["relative", "/"] {
            let user = UserConfig { sandbox_hidden: paths(&[wrong]), ..UserConfig::default() };
            assert!(of(&user, &[]).is_err(), "{wrong}");
        }

        let file = Path::new("/repo/.agent/config.toml");
        let said = |path: &str| of_repository(file, &paths(&[path]));
        assert_eq!(said("a/.env"), Ok(paths(&["/repo/a/.env"])));
        for wrong in ["/etc", "../x", "a/../../x", ".", "", "~/x/.."] {
            assert!(said(wrong).is_err(), "{wrong}");
        }
    }
}
