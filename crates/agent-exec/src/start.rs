//! Starts a program with its pipes, its clean environment and its marker.

use crate::environment::Environment;
use crate::error::StartError;
use crate::program;
use crate::pump::{Drain, Feeder, OnOutput, Pump};
use crate::run::Streams;
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

/// Starts it. `new_session` is the program that starts another one without a controlling terminal, where that is wanted.
pub(crate) fn start<'a>(
    command: &'a Command,
    environment: &Environment,
    new_session: Option<&Path>,
    streams: Streams,
    on_output: OnOutput<'a>,
) -> Result<Started<'a>, StartError> {
    let own_path = command.environment.iter().rev();
    let own_path = own_path.filter_map(|(name, value)| (name == "PATH").then_some(OsStr::new(value))).next();
    let program = program::find(&command.program, own_path.or_else(|| environment.value("PATH")))?;
    let marker = crate::tree::new_marker();
    let mut prepared = prepare(command, &program, new_session);
    prepared
        .env_clear()
        .envs(environment.iter())
        .envs(command.environment.iter().map(|(name, value)| (name, value)))
        .env(MARKER, &marker);

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

    let mut prepared = tokio::process::Command::from(prepared);
    let (mut child, tree) = ProcessTree::spawn(marker, || prepared.spawn())
        .map_err(|error| classify(error, program, &command.directory))?;
    // The writing ends in here must go, or the pipes would never end.
    drop(prepared);

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

fn prepare(command: &Command, program: &Path, new_session: Option<&Path>) -> StdCommand {
    let mut prepared = match new_session {
        // It does not fork, because the new process leads no group yet: process id and group are as without it.
        Some(new_session) => {
            let mut prepared = StdCommand::new(new_session);
            prepared.arg(program);
            prepared
        }
        None => {
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
