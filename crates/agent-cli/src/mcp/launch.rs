//! Starts servers: each in a sandbox of its own, with the environment that its configuration names.

use crate::config::settings::Settings;
use crate::walls::own_programs;
use crate::walls::sandbox;
use agent_core::ports::Command;
use agent_exec::{Access, Doors, Policy, Processes, Sandbox, SearchPath};
use agent_mcp::{Identity, Launch, Launcher, ServerConfig, WorkspaceAccess};
use std::path::{Path, PathBuf};

/// Starts servers for a session in a directory.
pub(crate) struct InSandbox {
    directory: PathBuf,
    programs: SearchPath,
    /// What commands run in; where they run in none, servers do not either.
    commands: Option<Sandbox>,
}

impl InSandbox {
    pub(crate) fn of(settings: &Settings) -> Self {
        Self {
            directory: settings.directory.clone(),
            programs: settings.programs.clone(),
            commands: settings.sandbox.clone(),
        }
    }

    /// The program, what it is called with, and where it runs.
    fn look(&self, config: &ServerConfig) -> Result<(PathBuf, Launch, PathBuf), String> {
        let launch = config.launch(&|name| std::env::var(name).ok()).map_err(|error| error.found)?;
        let directory = launch.cwd.as_ref().map_or_else(|| self.directory.clone(), |cwd| self.directory.join(cwd));
        if !directory.is_dir() {
            return Err(format!("its directory {} is not there", directory.to_string_lossy()));
        }
        let program = match launch.command.contains('/') {
            true => directory.join(&launch.command),
            // Where commands cannot put one.
            false => self.programs.find(&launch.command).map_err(|error| error.to_string())?,
        };
        Ok((program, launch, directory))
    }

    /// A sandbox that lets a server do what its configuration says, and no more than commands may.
    fn sandbox(&self, config: &ServerConfig, commands: &Sandbox) -> Result<Sandbox, String> {
        let of_commands = commands.policy();
        let writes = config.policy.workspace == WorkspaceAccess::Write && of_commands.access == Access::WorkspaceWrite;
        let policy = Policy {
            access: if writes { Access::WorkspaceWrite } else { Access::ReadOnly },
            writable: config.policy.write.clone(),
            ..of_commands.clone()
        };
        let made = sandbox::of_policy(policy).map_err(|why| format!("it cannot be put in a sandbox: {why}"))?;
        if !config.policy.network {
            return Ok(made);
        }
        let doors = Doors { network: true, ..Doors::default() };
        made.opened(&doors).map_err(|error| error.to_string())
    }
}

impl Launcher for InSandbox {
    fn identity(&self, config: &ServerConfig, known: Option<&Identity>) -> Result<Identity, String> {
        let (program, launch, directory) = self.look(config)?;
        Identity::of(&program, &launch.args, &directory, &launch.env, known)
            .map_err(|error| format!("cannot read its program {}: {error}", program.to_string_lossy()))
    }

    fn launch(&self, config: &ServerConfig) -> Result<(Processes, Command), String> {
        let (program, launch, directory) = self.look(config)?;
        let processes = own_programs::processes_of_commands(&self.programs);
        let processes = match &self.commands {
            Some(commands) => processes.in_sandbox(self.sandbox(config, commands)?),
            None => processes,
        };
        let text =
            |path: &Path| path.to_str().map(str::to_owned).ok_or_else(|| format!("the path {path:?} is no text"));
        let command = Command {
            program: text(&program)?,
            arguments: launch.args,
            directory: text(&directory)?,
            environment: launch.env.into_iter().collect(),
            stdin: Vec::new(),
            timeout_ms: u64::MAX,
            output_limit_bytes: LOG_LIMIT_BYTES,
        };
        Ok((processes, command))
    }
}

/// What is kept of a server's errors by the process; what people see of them is kept elsewhere.
const LOG_LIMIT_BYTES: usize = 4 * 1024;
