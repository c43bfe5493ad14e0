//! Starts servers: each in a sandbox of its own, with the environment that its configuration names; and makes what asks those that run
//! elsewhere.

use crate::config::project;
use crate::config::settings::Settings;
use crate::mcp::{logins, place_of};
use crate::model::secrets::redactor;
use crate::walls::own_programs;
use crate::walls::sandbox;
use agent_core::ports::Command;
use agent_core::redact::Redactor;
use agent_exec::{Access, Doors, Policy, Sandbox, SearchPath};
use agent_mcp::{
    Account, Clients, Endpoint, Identity, Launched, Launcher, Program, Reach, ServerConfig, WorkspaceAccess,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Starts servers for a session in a directory.
pub(crate) struct InSandbox {
    directory: PathBuf,
    programs: SearchPath,
    /// What commands run in; where they run in none, servers do not either.
    commands: Option<Sandbox>,
    /// What is in no record of a server.
    secrets: Redactor,
    /// The root of the repository, for the logins at servers that it names.
    root: PathBuf,
}

impl InSandbox {
    pub(crate) fn of(settings: &Settings) -> Self {
        Self {
            directory: settings.directory.clone(),
            programs: settings.programs.clone(),
            commands: settings.sandbox.clone(),
            secrets: redactor(),
            root: project::root(&settings.directory),
        }
    }

    /// The program, and where it runs.
    fn look(&self, launch: &Program) -> Result<(PathBuf, PathBuf), String> {
        let directory = launch.cwd.as_ref().map_or_else(|| self.directory.clone(), |cwd| self.directory.join(cwd));
        if !directory.is_dir() {
            return Err(format!("its directory {} is not there", directory.to_string_lossy()));
        }
        let program = match launch.command.contains('/') {
            true => directory.join(&launch.command),
            // Where commands cannot put one.
            false => self.programs.find(&launch.command).map_err(|error| error.to_string())?,
        };
        Ok((program, directory))
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
        match reach(config)? {
            Reach::Program(launch) => {
                let (program, directory) = self.look(&launch)?;
                let identity = Identity::of(&program, &launch.args, &directory, &launch.env, known)
                    .map_err(|error| format!("cannot read its program {}: {error}", program.to_string_lossy()))?;
                let written = match &config.reach {
                    Reach::Program(program) => program.args.as_slice(),
                    Reach::Url(_) => &[],
                };
                let identity = identity.as_written(written, &self.secrets);
                Ok(if launch.cwd.is_some() { identity } else { identity.anywhere() })
            }
            Reach::Url(endpoint) => {
                let login = account(config, &endpoint, &self.root).and_then(|account| account.login());
                Ok(Identity::of_url(&endpoint).with_issuer(login.map(|login| login.issuer)))
            }
        }
    }

    fn launch(&self, config: &ServerConfig) -> Result<Launched, String> {
        match reach(config)? {
            Reach::Program(launch) => self.program(config, launch),
            Reach::Url(endpoint) => {
                let account = account(config, &endpoint, &self.root);
                let has_secrets =
                    !endpoint.headers.is_empty() || account.as_ref().is_some_and(|own| own.login().is_some());
                let made = agent_llm::http_client(&endpoint.url, has_secrets, CONNECT);
                Ok(Launched::Url(made.map_err(|error| format!("cannot {error}"))?, endpoint, account))
            }
        }
    }

    fn roots(&self) -> Vec<PathBuf> {
        vec![self.directory.clone()]
    }
}

impl InSandbox {
    fn program(&self, config: &ServerConfig, launch: Program) -> Result<Launched, String> {
        let (program, directory) = self.look(&launch)?;
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
        Ok(Launched::Program(processes, command))
    }
}

pub(crate) fn reach(config: &ServerConfig) -> Result<Reach, String> {
    config.launch(&|name| std::env::var(name).ok()).map_err(|error| error.found)
}

/// The login at a server, if there may be one. What gives tokens is asked as models are.
pub(crate) fn account(config: &ServerConfig, endpoint: &Endpoint, root: &Path) -> Option<Account> {
    // Codes and tokens are sent to what is asked, whatever it is.
    let clients: Clients =
        Arc::new(|url| agent_llm::http_client(url, true, CONNECT).map_err(|error| format!("cannot {error}")));
    Account::of(endpoint, logins()?, &place_of(config, root), &config.name, clients)
}

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(10);

/// What is kept of a server's errors by the process; what people see of them is kept elsewhere.
const LOG_LIMIT_BYTES: usize = 4 * 1024;
