//! What a repository's folders above the working directory forbid to be read. The session's own rules are about files of its workspace;
//! instructions also lie above it.

use crate::session::project_instructions::kept_from_model;
use agent_core::permission::{Permissions, Rule};
use agent_tools::Workspace;
use std::path::{Path, PathBuf};

/// Deny rules of folders above the working directory, each as it is read from its folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Above(Vec<(PathBuf, Permissions)>);

impl Above {
    /// Adds what a folder forbids.
    pub(crate) fn add(&mut self, folder: &Path, deny: Vec<Rule>) {
        self.0.push((folder.to_path_buf(), Permissions { deny, ..Permissions::default() }));
    }

    /// The same in a copy of one tree of directories elsewhere, besides.
    pub(crate) fn also_in(&self, from: &Path, to: &Path) -> Self {
        let there = |(folder, permissions): &(PathBuf, Permissions)| {
            let below = folder.strip_prefix(from).ok()?;
            Some((to.join(below), permissions.clone()))
        };
        Self(self.0.iter().cloned().chain(self.0.iter().filter_map(there)).collect())
    }

    /// Why the model must not read a file, if one of the folders says so.
    pub(crate) fn keep_from_model(&self, path: &Path) -> Option<String> {
        self.0.iter().filter(|(folder, _)| path.starts_with(folder)).find_map(|(folder, permissions)| {
            match Workspace::open(folder) {
                Ok(workspace) => kept_from_model(&workspace.look(), permissions, path),
                Err(error) => Some(format!("what {} forbids cannot be looked up: {error}", folder.display())),
            }
        })
    }
}
