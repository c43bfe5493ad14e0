//! The agent's own git: outside of the commands' sandbox, because it writes in `.git`, and in one of its own, in which that is all it can write.

use agent_core::ports::{CancelSignal, Command, CommandError, CommandOutput, CommandRunner};
use agent_exec::{Access, Environment, Helper, Mechanism, Policy, Processes, Sandbox, SearchPath};
use agent_hooks::GitDirectories;
use async_trait::async_trait;
use std::path::Path;
use std::sync::OnceLock;

/// Runs git for one repository. The sandbox is made when git runs first.
pub(crate) struct OwnGit {
    processes: Processes,
    programs: SearchPath,
    directories: Option<GitDirectories>,
    confined: OnceLock<Processes>,
}

impl OwnGit {
    /// For the repository that a directory lies in now.
    pub(crate) fn new(directory: &Path, processes: Processes, programs: SearchPath) -> Self {
        let directories = agent_hooks::git_directories(directory);
        Self { processes, programs, directories, confined: OnceLock::new() }
    }

    /// As strictly as this machine can: where it cannot, git runs as the user does, and what it writes is checked before (see `agent_hooks`).
    fn confined(&self) -> Processes {
        let sandbox = self.directories.as_ref().filter(|found| found.can_be_confined()).and_then(|found| {
            let policy = policy(found);
            let environment = Environment::inherited().with_programs(&self.programs);
            // Landlock first: it costs a third, and this program needs no network and sees no secrets.
            let with = |mechanism| Sandbox::with(mechanism, policy.clone(), Helper::own_program(), &environment).ok();
            with(Mechanism::Landlock).or_else(|| with(Mechanism::Bubblewrap))
        });
        match sandbox {
            Some(sandbox) => self.processes.clone().in_sandbox(sandbox),
            None => self.processes.clone(),
        }
    }
}

#[async_trait]
impl CommandRunner for OwnGit {
    async fn run(&self, command: &Command, cancel: &dyn CancelSignal) -> Result<CommandOutput, CommandError> {
        self.confined.get_or_init(|| self.confined()).run(command, cancel).await
    }
}

fn policy(directories: &GitDirectories) -> Policy {
    let home = std::env::var_os("HOME").map(Into::into);
    Policy {
        access: Access::WorkspaceWrite,
        workspace: directories.common_dir.clone(),
        protected: Vec::new(),
        kept: Vec::new(),
        placeholders: Vec::new(),
        writable: vec![directories.git_dir.clone()],
        hidden: Vec::new(),
        // The user's configuration, and the files that are compared.
        readable: [directories.top.clone()].into_iter().chain(home).collect(),
    }
}
