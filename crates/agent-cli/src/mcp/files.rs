//! Where servers are configured: `mcp.json` in the user's directory, and `.mcp.json` at the root of a repository that the user trusts.

use crate::config::file::{config_home, read_capped};
use crate::config::project;
use crate::failure::Failure;
use crate::screen::terminal::shown_path;
use agent_mcp::{ConfigError, ServerConfig, Source, parse};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What a file says.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) servers: Vec<ServerConfig>,
    /// What of it cannot be used, each with its place.
    pub(crate) faults: Vec<String>,
}

impl Found {
    fn of((servers, faults): (Vec<ServerConfig>, Vec<ConfigError>), path: &Path) -> Self {
        let faults = faults.iter().map(|fault| format!("{}: {fault}", shown_path(path))).collect();
        Self { servers, faults }
    }

    /// The same with those of another file, where the names are free.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.faults.extend(other.faults);
        for server in other.servers {
            match self.servers.iter().find(|own| own.name == server.name || own.family == server.family) {
                None => self.servers.push(server),
                Some(own) => self.faults.push(format!(
                    "the repository's MCP server `{}` is not used: yours is called `{}`",
                    server.name, own.name
                )),
            }
        }
        self
    }
}

/// The user's file.
pub(crate) fn user_path() -> Option<PathBuf> {
    config_home().map(|home| home.join("mcp.json"))
}

/// The servers of the user.
///
/// # Errors
/// When the file cannot be read as one of servers: nobody knows then what it says.
pub(crate) fn of_user() -> Result<Found, Failure> {
    let Some(path) = user_path() else { return Ok(Found::default()) };
    let Some(text) = text_of(&path)? else { return Ok(Found::default()) };
    let parsed = parse(&text, Source::User).map_err(|error| unreadable(&path, &error))?;
    Ok(Found::of(parsed, &path))
}

/// The repository's file.
pub(crate) fn repository_path(directory: &Path) -> PathBuf {
    project::root(directory).join(".mcp.json")
}

/// The servers that a repository names, whether they are trusted or not. A file that cannot be read names none, and is told.
pub(crate) fn of_repository(directory: &Path) -> Found {
    if project::of_another_user(directory).is_some() {
        return Found::default();
    }
    let path = repository_path(directory);
    match text_of(&path).and_then(|text| {
        let Some(text) = text else { return Ok(Found::default()) };
        let parsed = parse(&text, Source::Repository).map_err(|error| unreadable(&path, &error))?;
        Ok(Found::of(parsed, &path))
    }) {
        Ok(found) => found,
        Err(failure) => Found { servers: Vec::new(), faults: vec![failure.message] },
    }
}

/// What is trusted of a repository's file: a line for each server, with all that the file says of it.
pub(crate) fn lines_of_repository(directory: &Path) -> Vec<String> {
    let servers = of_repository(directory).servers;
    let text = text_of(&repository_path(directory)).ok().flatten().unwrap_or_default();
    let whole: Value = serde_json::from_str(&text).unwrap_or_default();
    let said = |server: &ServerConfig| format!("MCP server {}: {}", server.name, whole["mcpServers"][&server.name]);
    servers.iter().map(said).collect()
}

fn text_of(path: &Path) -> Result<Option<String>, Failure> {
    read_capped(path).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::config(format!("cannot read the MCP servers of {}: {error}", shown_path(path)))
}
