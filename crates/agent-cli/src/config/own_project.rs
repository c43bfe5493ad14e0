//! What a user's configuration says of one directory.

use crate::config::file::UserConfig;
use agent_core::permission::Rule;
use serde::Deserialize;
use std::path::Path;

/// What a user allows where the session's directory is this one: paths in such rules begin there.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ProjectConfig {
    pub(crate) allow: Vec<Rule>,
}

impl UserConfig {
    /// The rules that allow something in this directory: those for every directory, and its own.
    pub(crate) fn allowed_in(&self, directory: &Path) -> Vec<Rule> {
        [&self.allow, self.allowed_here(directory)].concat()
    }

    /// The rules that allow something in this directory alone.
    pub(crate) fn allowed_here(&self, directory: &Path) -> &[Rule] {
        self.projects.get(directory).map(|project| project.allow.as_slice()).unwrap_or_default()
    }
}
