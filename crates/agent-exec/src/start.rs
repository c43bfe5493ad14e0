//! Starts a program with its pipes, its clean environment and its marker.

use crate::environment::Environment;
use crate::error::StartError;
use crate::fence::Fence;
#[cfg(target_os = "linux")]
use crate::helper::keep::Leash;
use crate::helper::{Helper, watch};
use crate::lasting::on_lasting_thread;
use crate::program;
use crate::pump::{Drain, Feeder, OnOutput, Pump};
use crate::run::Streams;
use crate::sandbox::{Input, Sandbox, StatusFile};
use crate::search_path::SearchPath;
use crate::tree::{MARKER, ProcessTree, Unkept};
use agent_types::ports::Command;
use std::ffi::OsStr;
use std::io::{ErrorKind, PipeReader, PipeWriter, pipe};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command as StdCommand, Stdio};
use tokio::process::{Child, ChildStdin};

/// Nowhere else there is a keeper.
#[cfg(not(target_os = "linux"))]
type Leash = std::convert::Infallible;

/// A program that runs.
pub(crate) struct Started<'a> {
    pub(crate) pump: Pump<'a>,
    pub(crate) child: Child,
    pub(crate) tree: ProcessTree,
    /// What was started.
    pub(crate) program: PathBuf,
    /// Where its end is reported, if its process does not report it.
    pub(crate) status: Option<StatusFile>,
}

/// In what a program is started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'a> {
    pub(crate) environment: &'a Environment,
    /// The program that starts another one without a controlling terminal, where that is wanted.
    pub(crate) new_session: Option<&'a Path>,
    pub(crate) sandbox: Option<&'a Sandbox>,
    /// Behind what it is started, where no sandbox holds it.
    pub(crate) fence: Option<&'a Fence>,
    /// Where its program is found, if not by the environment.
    pub(crate) programs: Option<&'a SearchPath>,
    /// Who keeps the processes of a command together where no sandbox does, and no other command runs that is not kept.
    pub(crate) helper: Option<&'a Helper>,
    /// Whether input and output are another's to write and to read for as long as the program runs.
    pub(crate) is_talked_to: bool,
}

impl<'a> Surroundings<'a> {
    /// Who keeps the processes of the command together. If that is impossible, it is run all the same.
    #[cfg(target_os = "linux")]
    fn keeper(&self) -> Option<&'a Helper> {
        self.helper.filter(|helper| self.sandbox.is_none() && helper.is_there())
    }

    #[cfg(not(target_os = "linux"))]
    fn keeper(&self) -> Option<&'a Helper> {
        None
    }
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
    let search_path = own_path.or_else(|| environment.value("PATH"));
    let program = program::find_in(surroundings.programs, &command.program, search_path)?;
    // The watch ends it if this process is killed. Until the watch runs, a keeper is needed for that.
    let unkept = surroundings.keeper().filter(|_| watch::is_there()).and_then(|_| Unkept::claim());
    let surroundings = if unkept.is_some() { Surroundings { helper: None, ..surroundings } } else { surroundings };
    let marker = crate::tree::new_marker();
    let status = sandbox.and_then(Sandbox::status_file);
    let prepared = prepare(command, &program, surroundings, status.as_ref())?;
    let Kept { command: mut prepared, keeper, input } = keep(prepared, command, surroundings, &marker)?;
    prepared.env_clear().envs(environment.iter()).envs(command.environment.iter().map(|(name, value)| (name, value)));
    if keeper.is_none() {
        prepared.env(MARKER, &marker);
    }
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
    let prepares_itself = sandbox.is_some() || keeper.is_some();
    let spawned = ProcessTree::spawn(marker, unkept, keeper.is_some(), holds_namespace, || {
        let from = if sandbox.is_some() { From::LastingThread } else { surroundings.from() };
        spawn(prepared, from, prepares_itself)
    });
    let (mut child, tree) = spawned.map_err(|error| classify(error, program.clone(), &command.directory))?;
    let (tree, input) = begin(tree, keeper, input)?;

    let limit = command.output_limit_bytes;
    let drain = |reader| drain(reader, limit);
    Ok(Started {
        pump: Pump {
            feeder: Feeder::new(child.stdin.take().or(input), &command.stdin),
            stdout: drain(stdout)?,
            stderr: stderr.map(drain).transpose()?,
            on_output,
        },
        child,
        tree,
        program,
        status,
    })
}

/// A command as it is to be spawned, perhaps with a keeper in its place.
struct Kept {
    command: StdCommand,
    keeper: Option<Leash>,
    /// Both ends of the pipe to the program's input, where a keeper hands it over.
    input: Option<(PipeReader, PipeWriter)>,
}

#[cfg(target_os = "linux")]
fn keep(
    prepared: StdCommand,
    command: &Command,
    surroundings: Surroundings<'_>,
    marker: &str,
) -> Result<Kept, StartError> {
    let Some(helper) = surroundings.keeper() else {
        return Ok(Kept { command: prepared, keeper: None, input: None });
    };
    // What is prepared hides it.
    if command.arguments.iter().any(|argument| argument.contains('\0')) {
        return Err(StartError::NulByte);
    }
    let (prepared, leash) = crate::helper::keep::command(helper, &prepared, marker)?;
    let input = match input_of(command, surroundings) {
        Input::Nothing => None,
        Input::Piped => Some(pipe()?),
    };
    Ok(Kept { command: prepared, keeper: Some(leash), input })
}

#[cfg(not(target_os = "linux"))]
fn keep(command: StdCommand, _: &Command, _: Surroundings<'_>, _: &str) -> Result<Kept, StartError> {
    Ok(Kept { command, keeper: None, input: None })
}

/// Lets a keeper start its program; gives the writing end of the program's input.
#[cfg(target_os = "linux")]
fn begin(
    tree: ProcessTree,
    keeper: Option<Leash>,
    input: Option<(PipeReader, PipeWriter)>,
) -> Result<(ProcessTree, Option<ChildStdin>), StartError> {
    let (reader, writer) = input.unzip();
    if let Some(keeper) = &keeper {
        keeper.hand_over(reader.map(OwnedFd::from).as_ref())?;
    }
    let writer = writer.map(|writer| ChildStdin::from_std(std::process::ChildStdin::from(OwnedFd::from(writer))));
    Ok((tree.kept_by(keeper), writer.transpose()?))
}

#[cfg(not(target_os = "linux"))]
fn begin(
    tree: ProcessTree,
    _: Option<Leash>,
    _: Option<(PipeReader, PipeWriter)>,
) -> Result<(ProcessTree, Option<ChildStdin>), StartError> {
    Ok((tree, None))
}

/// Spawns it and lets go of the writing ends in here, or the pipes would never end. What prepares itself limits itself, too.
fn spawn(mut prepared: tokio::process::Command, from: From, prepares_itself: bool) -> std::io::Result<Child> {
    let child = match from {
        From::Here => prepared.spawn()?,
        From::LastingThread => return on_lasting_thread(in_runtime(prepared)?)?,
        From::Fence(fence) => fence.within(in_runtime(prepared)?)??,
    };
    // It runs already; these hold from now on, and for what it starts.
    if let Some(pid) = child.id().and_then(|pid| i32::try_from(pid).ok()).filter(|_| !prepares_itself) {
        crate::limits::limit(pid);
    }
    Ok(child)
}

/// The thread that starts a process.
enum From {
    Here,
    /// The process ends with the thread that started it.
    LastingThread,
    /// The process inherits what holds the thread.
    Fence(Fence),
}

impl Surroundings<'_> {
    fn from(&self) -> From {
        self.fence.map_or(From::Here, |fence| From::Fence(fence.clone()))
    }
}

/// The spawning, for another thread.
fn in_runtime(
    mut prepared: tokio::process::Command,
) -> std::io::Result<impl FnOnce() -> std::io::Result<Child> + Send + 'static> {
    let runtime = tokio::runtime::Handle::try_current().map_err(std::io::Error::other)?;
    Ok(move || {
        let _entered = runtime.enter();
        prepared.spawn()
    })
}

fn prepare(
    command: &Command,
    program: &Path,
    surroundings: Surroundings<'_>,
    status: Option<&StatusFile>,
) -> Result<StdCommand, StartError> {
    // A helper begins a session by itself.
    let new_session = surroundings.new_session.filter(|_| surroundings.keeper().is_none());
    let mut prepared = match (surroundings.sandbox, new_session) {
        (Some(sandbox), _) => {
            let directory = Path::new(&command.directory);
            sandbox
                .command(program, directory, surroundings.environment, status, input_of(command, surroundings))
                .map_err(|why| StartError::NotPrepared(why.to_string()))?
        }
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
    prepared.args(&command.arguments).current_dir(&command.directory);
    match input_of(command, surroundings) {
        Input::Piped => prepared.stdin(Stdio::piped()),
        // There it is set: it may lead to something else than the program's.
        Input::Nothing if surroundings.sandbox.is_some() => &mut prepared,
        Input::Nothing => prepared.stdin(Stdio::null()),
    };
    Ok(prepared)
}

fn input_of(command: &Command, surroundings: Surroundings<'_>) -> Input {
    if command.stdin.is_empty() && !surroundings.is_talked_to { Input::Nothing } else { Input::Piped }
}

fn drain(reader: PipeReader, limit: usize) -> Result<Drain, StartError> {
    let pipe = ChildStdout::from(OwnedFd::from(reader));
    Ok(Drain::new(tokio::process::ChildStdout::from_std(pipe)?, limit))
}

/// Why a program could not be started, as the system said it.
pub(crate) fn classify(error: std::io::Error, program: PathBuf, directory: &str) -> StartError {
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
