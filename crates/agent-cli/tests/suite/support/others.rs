//! What others wrote and the tests try the program with.

use std::path::PathBuf;

/// Where `cargo xtask mcp-servers` puts it.
pub(crate) fn of_others() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = || variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    variable("AGENT_MCP_SERVERS").or_else(|| Some(cache()?.join("agent-mcp-servers")))
}
