//! Servers of the Model Context Protocol in a session: which are configured, what they are started in, and where their results go.

pub(crate) mod files;
pub(crate) mod launch;
mod results;
mod secrets;
pub(crate) mod session;

use crate::config::file::state_home;
use crate::model::secrets::redactor;
use agent_mcp::TrustStore;

pub(crate) use secrets::of_servers;

/// Where it is kept what was trusted of servers, without the secrets that are known by now.
pub(crate) fn store() -> Option<TrustStore> {
    state_home().map(|home| TrustStore::new(home.join("mcp")).without(redactor()))
}
