//! Where this program keeps what is the user's: configuration, state, and what people keep.

use crate::LEFTOVERS;
use crate::failure::Failure;
use agent_runner::journal::{check_own, check_own_target};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

/// Where the user's configuration is.
pub(crate) fn user_config_path() -> Option<PathBuf> {
    config_home().map(|home| home.join("config.toml"))
}

/// `$AGENT_CONFIG_HOME`, else `~/.config/agent`.
pub(crate) fn config_home() -> Option<PathBuf> {
    from_environment("AGENT_CONFIG_HOME", CONFIG_BELOW_HOME)
}

/// `$AGENT_STATE_HOME`, else `~/.local/state/agent`.
pub(crate) fn state_home() -> Option<PathBuf> {
    from_environment("AGENT_STATE_HOME", STATE_BELOW_HOME)
}

/// `$AGENT_DATA_HOME`, else `~/.local/share/agent`: what is the user's to keep, such as worktrees of agents.
pub(crate) fn data_home() -> Option<PathBuf> {
    from_environment("AGENT_DATA_HOME", DATA_BELOW_HOME)
}

/// Makes the place of the state, which is the user's alone. It has to be there before anything runs in a sandbox: what is not there cannot
/// be hidden, and a command that runs already would see the keys and journals that come later. A session that is kept nowhere has a key,
/// too.
///
/// # Errors
/// It cannot be made.
pub(crate) fn make_state_home() -> io::Result<()> {
    state_home().map_or(Ok(()), |home| DirBuilder::new().recursive(true).mode(0o700).create(home))
}

/// The key by which the agent knows its own records of turns: commands neither read nor write there.
pub(crate) fn record_key() -> Option<PathBuf> {
    state_home().map(|home| home.join("records.key"))
}

/// Fails where the environment says a place that would be another one in every directory: what is kept there would not be found again, and
/// what is forbidden there would not hold.
pub(crate) fn check_places() -> Result<(), Failure> {
    let homes = [
        ("AGENT_CONFIG_HOME", CONFIG_BELOW_HOME),
        ("AGENT_STATE_HOME", STATE_BELOW_HOME),
        ("AGENT_DATA_HOME", DATA_BELOW_HOME),
    ];
    for (variable, below_home) in homes {
        if let Some(place) = place(variable, below_home).filter(|place| !place.is_absolute()) {
            let name = if set(variable).is_some() { variable } else { "HOME" };
            let place = place.display();
            return Err(Failure::config(format!("cannot use {place}: {name} must be an absolute path")));
        }
    }
    check_whose()
}

/// Fails where the state or the configuration is somebody else's, or could be changed by others: they would decide what is trusted, allowed
/// and gone on with. A configuration may be a link, as those are who keep theirs elsewhere; the state is the program's alone.
fn check_whose() -> Result<(), Failure> {
    if let Some(home) = state_home() {
        let kept = ["sessions", "trust", "mcp", "audit", "hooks", "history", LEFTOVERS].map(|name| home.join(name));
        let own = std::iter::once(&home).chain(&kept).try_for_each(|place| check_own(place));
        own.map_err(|error| Failure::config(format!("{error}; or set AGENT_STATE_HOME to another directory")))?;
    }
    if let Some(worktrees) = data_home().map(|home| home.join("worktrees")) {
        check_own(&worktrees)
            .map_err(|error| Failure::config(format!("{error}; or set AGENT_DATA_HOME to another directory")))?;
    }
    let config = [config_home(), user_config_path(), config_home().map(|home| home.join("mcp.json"))];
    config.iter().flatten().try_for_each(|place| check_own_target(place).map(drop)).map_err(Failure::config)
}

fn from_environment(variable: &str, below_home: &str) -> Option<PathBuf> {
    place(variable, below_home).filter(|place| place.is_absolute())
}

fn place(variable: &str, below_home: &str) -> Option<PathBuf> {
    set(variable).or_else(|| std::env::home_dir().map(|home| home.join(below_home)))
}

fn set(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

const CONFIG_BELOW_HOME: &str = ".config/agent";
const STATE_BELOW_HOME: &str = ".local/state/agent";
const DATA_BELOW_HOME: &str = ".local/share/agent";
