//! What the user's environment tells git. The agent's own programs get none of it; what git would read and run for the user it decides.

/// What a variable says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A file of settings.
    File,
    /// A directory that is copied into new repositories.
    Template,
    /// A command.
    Program,
    /// A setting, or its name.
    Setting,
}

/// The variables of this process that say which configuration git reads, and what it runs.
pub(super) fn of_user() -> Vec<(String, String)> {
    let of_git =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    of_git.filter(|(name, _)| is_asked(name)).collect()
}

pub(super) fn meaning(name: &str) -> Meaning {
    match name {
        "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM" => Meaning::File,
        "GIT_TEMPLATE_DIR" => Meaning::Template,
        name if PROGRAMS.contains(&name) => Meaning::Program,
        _ => Meaning::Setting,
    }
}

fn is_asked(name: &str) -> bool {
    let is_numbered = name.starts_with("GIT_CONFIG_KEY_") || name.starts_with("GIT_CONFIG_VALUE_");
    is_numbered || SETTINGS.contains(&name) || meaning(name) != Meaning::Setting
}

const SETTINGS: &[&str] = &["GIT_CONFIG_COUNT", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_PARAMETERS", "XDG_CONFIG_HOME"];
const PROGRAMS: &[&str] = &[
    "GIT_ASKPASS",
    "GIT_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "EDITOR",
    "PAGER",
    "SSH_ASKPASS",
    "VISUAL",
];
