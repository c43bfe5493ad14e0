//! Where servers are configured: `mcp.json` in the user's directory, and `.mcp.json` at the root of a repository that the user trusts.

use crate::config::file::{config_home, read_capped};
use crate::config::project;
use crate::failure::Failure;
use crate::screen::terminal::shown_path;
use agent_mcp::{ConfigError, ServerConfig, Source, family, parse};
use std::path::{Path, PathBuf};

/// What a file says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) servers: Vec<ServerConfig>,
    /// Names of entries that cannot be used: nobody else has them.
    pub(crate) held: Vec<String>,
    /// What of it cannot be used, each with its place.
    pub(crate) faults: Vec<String>,
}

impl Found {
    fn of((servers, faults): (Vec<ServerConfig>, Vec<ConfigError>), path: &Path) -> Self {
        // A fault may be about a part of an entry that is used all the same.
        let is_used = |name: &String| servers.iter().any(|server| server.name == *name);
        let held = faults.iter().filter_map(|fault| fault.server.clone()).filter(|name| !is_used(name)).collect();
        let faults = faults.iter().map(|fault| format!("{}: {fault}", shown_path(path))).collect();
        Self { servers, held, faults }
    }

    /// The same with those of another file, where the names are free.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.faults.extend(other.faults);
        for server in other.servers {
            match holder(&self.servers, &self.held, &server) {
                None => self.servers.push(server),
                Some(own) => {
                    self.faults.push(format!("the repository's MCP server `{}` is not used: {own}", server.name));
                }
            }
        }
        self
    }
}

/// Who has the name of a server already, in words: another server, or an entry of the user's that cannot be used (`held`). What was meant
/// for one server is not called on another because of a slip of the pen.
pub(crate) fn holder(servers: &[ServerConfig], held: &[String], server: &ServerConfig) -> Option<String> {
    if let Some(own) = servers.iter().find(|own| own.name == server.name || own.family == server.family) {
        return Some(format!("yours is called `{}`", own.name));
    }
    let is_same = |name: &&String| **name == server.name || family(name).is_some_and(|family| family == server.family);
    let own = held.iter().find(is_same)?;
    Some(format!("your entry `{own}`, which cannot be used, has its name"))
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
        Err(failure) => Found { faults: vec![failure.message], ..Found::default() },
    }
}

fn text_of(path: &Path) -> Result<Option<String>, Failure> {
    read_capped(path).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::config(format!("cannot read the MCP servers of {}: {error}", shown_path(path)))
}
