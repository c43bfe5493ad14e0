//! Starts a program with its pipes, its clean environment and its marker.

use crate::environment::Environment;
use crate::error::StartError;
use crate::lasting::on_lasting_thread;
use crate::program;
use crate::pump::{Drain, Feeder, OnOutput, Pump};
use crate::run::Streams;
use crate::sandbox::Sandbox;
use crate::tree::{MARKER, ProcessTree};
use agent_core::ports::Command;
use std::ffi::OsStr;
use std::io::{ErrorKind, PipeReader, pipe};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command as StdCommand, Stdio};
use tokio::process::Child;

/// A program that runs.
pub(crate) struct Started<'a> {
    pub(crate) pump: Pump<'a>,
    pub(crate) child: Child,
    pub(crate) tree: ProcessTree,
}

/// In what a program is started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'a> {
    pub(crate) environment: &'a Environment,
    /// The program that starts another one without a controlling terminal, where that is wanted.
    pub(crate) new_session: Option<&'a Path>,
    pub(crate) sandbox: Option<&'a Sandbox>,
}

/// Starts it.
pub(crate) fn start<'a>(
    command: &'a Command,
    surroundings: Surroundings<'_>,
    streams: Streams,
    on_output: OnOutput<'a>,
) -> Result<Started<'a>, StartError> {
    let Surroundings { environment, sandbox, .. } = surroundings;
    let own_path = command.environment.iter().rev();
    let own_path = own_path.filter_map(|(name, value)| (name == "PATH").then_some(OsStr::new(value))).next();
    let program = program::find(&command.program, own_path.or_else(|| environment.value("PATH")))?;
    let marker = crate::tree::new_marker();
    let mut prepared = prepare(command, &program, surroundings);
    prepared
        .env_clear()
        .envs(environment.iter())
        .envs(command.environment.iter().map(|(name, value)| (name, value)))
        .env(MARKER, &marker);
    if let Some(sandbox) = sandbox {
        prepared.env("TMPDIR", sandbox.scratch());
    }

    let (stdout, writer) = pipe()?;
    let stderr = match streams {
        Streams::Merged => {
            prepared.stderr(writer.try_clone()?);
            None
        }
        Streams::Separate => {
            let (reader, writer) = pipe()?;
            prepared.stderr(writer);
            Some(reader)
        }
    };
    prepared.stdout(writer);

    let prepared = tokio::process::Command::from(prepared);
    let holds_namespace = sandbox.is_some_and(Sandbox::has_namespace);
    let spawned = ProcessTree::spawn(marker, holds_namespace, || spawn(prepared, sandbox.is_some()));
    let (mut child, tree) = spawned.map_err(|error| classify(error, program, &command.directory))?;

    let limit = command.output_limit_bytes;
    let drain = |reader| drain(reader, limit);
    Ok(Started {
        pump: Pump {
            feeder: Feeder::new(child.stdin.take(), &command.stdin),
            stdout: drain(stdout)?,
            stderr: stderr.map(drain).transpose()?,
            on_output,
        },
        child,
        tree,
    })
}

/// Spawns it and lets go of the writing ends in here, or the pipes would never end.
fn spawn(mut prepared: tokio::process::Command, hangs_on_us: bool) -> std::io::Result<Child> {
    if !hangs_on_us {
        let child = prepared.spawn()?;
        // It runs already; these hold from now on, and for what it starts.
        if let Some(pid) = child.id().and_then(|pid| i32::try_from(pid).ok()) {
            crate::limits::limit(pid);
        }
        return Ok(child);
    }
    let runtime = tokio::runtime::Handle::try_current().map_err(std::io::Error::other)?;
    on_lasting_thread(move || {
        let _entered = runtime.enter();
        prepared.spawn()
    })?
}

fn prepare(command: &Command, program: &Path, surroundings: Surroundings<'_>) -> StdCommand {
    let mut prepared = match (surroundings.sandbox, surroundings.new_session) {
        // The helper begins a session by itself.
        (Some(sandbox), _) => sandbox.command(program, Path::new(&command.directory), surroundings.environment),
        // It does not fork, because the new process leads no group yet: process id and group are as without it.
        (None, Some(new_session)) => {
            let mut prepared = StdCommand::new(new_session);
            prepared.arg(program);
            prepared
        }
        (None, None) => {
            let mut prepared = StdCommand::new(program);
            prepared.process_group(0);
            prepared
        }
    };
    prepared.args(&command.arguments).current_dir(&command.directory).stdin(if command.stdin.is_empty() {
        Stdio::null()
    } else {
        Stdio::piped()
    });
    prepared
}

fn drain(reader: PipeReader, limit: usize) -> Result<Drain, StartError> {
    let pipe = ChildStdout::from(OwnedFd::from(reader));
    Ok(Drain::new(tokio::process::ChildStdout::from_std(pipe)?, limit))
}

fn classify(error: std::io::Error, program: PathBuf, directory: &str) -> StartError {
    match error.kind() {
        ErrorKind::ArgumentListTooLong => StartError::TooLong,
        ErrorKind::InvalidInput => StartError::NulByte,
        ErrorKind::NotFound | ErrorKind::NotADirectory if !Path::new(directory).is_dir() => {
            StartError::NoDirectory { directory: PathBuf::from(directory) }
        }
        // The program itself was found before, so what is missing is what it needs to start.
        ErrorKind::NotFound => StartError::WrongFormat { file: program },
        _ if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => {
            StartError::WrongFormat { file: program }
        }
        _ => StartError::System(error),
    }
}
