//! The agent's own git: outside of the commands' sandbox, because it writes in `.git`, and behind a fence of its own, in which that is all
//! it can write.

use agent_core::ports::{CancelSignal, Command, CommandError, CommandOutput, CommandRunner};
use agent_exec::{Fence, Processes};
use async_trait::async_trait;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Runs git for one repository.
pub(crate) struct OwnGit {
    processes: Processes,
    /// Where the repository's own files are.
    directories: Vec<PathBuf>,
    fenced: OnceLock<Processes>,
}

impl OwnGit {
    /// For the repository that a directory lies in now.
    pub(crate) fn new(directory: &Path, processes: Processes) -> Self {
        Self { processes, directories: agent_git::git_directories(directory), fenced: OnceLock::new() }
    }

    /// The same, which also writes in other directories that are there.
    pub(crate) fn beyond(directory: &Path, processes: Processes, also: PathBuf) -> Self {
        let mut git = Self::new(directory, processes);
        git.directories.push(also);
        git
    }

    /// Where this machine has no Landlock, git runs as the user does, and what it would write is looked at before (see `agent_git`).
    fn fenced(&self) -> &Processes {
        self.fenced.get_or_init(|| match Fence::around(self.directories.iter().cloned()) {
            Ok(fence) if !self.directories.is_empty() => self.processes.clone().behind(fence),
            Ok(_) | Err(_) => self.processes.clone(),
        })
    }
}

#[async_trait]
impl CommandRunner for OwnGit {
    async fn run(&self, command: &Command, cancel: &dyn CancelSignal) -> Result<CommandOutput, CommandError> {
        self.fenced().run(command, cancel).await
    }
}
