//! Whether the user trusts a workspace: there programs are used that the repository names or configures, and nowhere else.
//!
//! What is trusted is where a project begins, the root of the repository that the directory lies in, or the directory itself; and what is
//! named there at the time. Other programs, or a script with other content, are not, until the user was shown them.

use crate::config::file::{UserConfig, state_home};
use crate::config::project;
use crate::config::repository::RepositoryConfig;
use crate::failure::Failure;
use crate::hooks::formatters::program_of;
use crate::hooks::places::{self, Ground};
use crate::hooks::programs::{self, Trust, line, name};
use crate::mcp::files;
use crate::skills::{self, Found};
use agent_hooks::{Place, Programs, Script, Standing, TrustStore};
use agent_mcp::ServerConfig;
use std::path::Path;

/// Whether the user trusts the project that a directory lies in, with what it names.
///
/// # Errors
/// Where the user trusts it, or did before it changed, and what it names cannot be used.
pub(crate) fn of(directory: &Path, config: &RepositoryConfig) -> Result<Trust, Failure> {
    let known = store().zip(Place::at(&project::root(directory)).ok());
    let skills = skills::of_project(directory);
    let servers = files::of_repository(directory);
    let programs = named(directory, config, &skills, &servers);
    let standing = known.as_ref().map_or(Standing::Untrusted, |(store, place)| store.standing(place, &programs));
    let is_given = standing == Standing::Trusted;
    let is_outside = is_given && known.as_ref().is_some_and(|(store, place)| is_outside(store, place));
    let mut told = Vec::new();
    match standing {
        Standing::Trusted | Standing::Changed | Standing::Outdated => config.check_programs()?,
        _ => told.extend(config.unusable.iter().cloned()),
    }
    match standing {
        Standing::Trusted => {}
        Standing::Changed => {
            told.push(format!("the repository's hooks, formatters, skills and MCP servers: {CHANGED}"));
            let trusted = known.and_then(|(store, place)| store.programs(&place)).unwrap_or_default();
            told.extend(programs::differences(&trusted, &programs));
        }
        Standing::Outdated => {
            told.push(format!("the repository's hooks, formatters, skills and MCP servers: {OUTDATED}"));
        }
        _ => {
            let named = [
                ("formatters", config.formatters.is_empty()),
                ("hooks", config.hooks.is_empty()),
                ("skills", skills.skills.is_empty()),
                ("MCP servers", servers.servers.is_empty()),
            ];
            let named = named.into_iter().filter(|(_, is_empty)| !is_empty);
            told.extend(named.map(|(key, _)| format!("`{key}` of the repository: it is not trusted ({SHOWS})")));
        }
    }
    Ok(Trust { is_given, is_outside, programs, skills, servers, told })
}

/// What a project runs where it is trusted, as a session in this directory reads it: the entries of each file, and the scripts that they
/// begin with.
pub(crate) fn named(directory: &Path, config: &RepositoryConfig, skills: &Found, servers: &files::Found) -> Programs {
    let root = project::root(directory);
    let file_of = |folder: &Path| folder.join(".agent").join("config.toml");
    // A file that names nothing, or is absent, differs from one that did.
    let mut programs: Programs =
        project::folders(directory).into_iter().map(|folder| (name(&file_of(folder), &root), Vec::new())).collect();
    let mut add = |file: &Path, line: String| programs.entry(name(file, &root)).or_default().push(line);
    for hook in &config.hooks {
        add(&hook.file, line("hook", &hook.entry));
    }
    for formatter in &config.formatters {
        add(&formatter.file, line("formatter", &formatter.entry));
    }
    // With a line for each, or none: a file that is gone differs from one that named servers.
    let servers = servers.servers.iter().map(ServerConfig::line).collect();
    programs.insert(name(&files::repository_path(directory), &root), servers);
    let of_hooks = config.hooks.iter().filter_map(|hook| Script::named(&hook.entry.command, directory, &root));
    let of_formatters = config.formatters.iter().filter_map(|formatter| Script::at(&program_of(formatter), &root));
    // What may be pinned is found by other rules than what a shell begins with.
    let ground = Ground { directory, user: &UserConfig::default(), has_sandbox: false };
    let pinned = config.hooks.iter().filter_map(|hook| places::script(&hook.entry, ground, &root));
    let of_skills = skills.skills.iter().filter_map(|skill| Script::at(&skill.file, &root));
    for script in of_hooks.chain(of_formatters).chain(pinned).chain(of_skills) {
        programs.insert(name(script.path(), &root), vec![programs::content_line(script.content())]);
    }
    programs
}

/// Whether the user let its programs run outside of the sandbox.
pub(crate) fn is_outside(store: &TrustStore, place: &Place) -> bool {
    store.programs(place).is_some_and(|programs| programs::is_outside(&programs))
}

/// In the user's own files: nothing in a repository can make it trusted.
pub(crate) fn store() -> Option<TrustStore> {
    state_home().map(|home| TrustStore::new(home.join("trust")))
}

const SHOWS: &str = "`agent trust --show`";
pub(crate) const CHANGED: &str = "they have changed since they were trusted; `agent trust` asks again";
pub(crate) const OUTDATED: &str =
    "an older version of the agent recorded the trust without its content; `agent trust` asks again";
