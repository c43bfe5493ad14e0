//! Servers of the Model Context Protocol in a session: which are configured, what they are started in, and where their results go.

pub(crate) mod files;
pub(crate) mod launch;
mod results;
mod secrets;
pub(crate) mod session;

use crate::config::file::state_home;
use crate::model::secrets::redactor;
use agent_mcp::{LoginStore, ServerConfig, Source, TrustStore};
use std::path::{Path, PathBuf};

pub(crate) use secrets::of_servers;

/// Where it is kept what was trusted of servers, without the secrets that are known by now.
pub(crate) fn store() -> Option<TrustStore> {
    state_home().map(|home| TrustStore::new(home.join("mcp")).without(redactor()))
}

/// Where logins are kept: with the keys, where no command reads.
pub(crate) fn logins() -> Option<LoginStore> {
    state_home().map(|home| LoginStore::new(home.join("mcp/logins")))
}

/// Whose configuration names a server, for what is kept of it.
pub(crate) fn place_of(config: &ServerConfig, root: &Path) -> PathBuf {
    match config.source {
        Source::User => PathBuf::new(),
        Source::Repository => root.to_path_buf(),
    }
}
