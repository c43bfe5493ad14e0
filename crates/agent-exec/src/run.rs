//! Runs a program to its end, its time-out or the signal.

use crate::capture::Captured;
use crate::environment::Environment;
use crate::error::StartError;
use crate::fence::Fence;
use crate::helper::launch::not_started;
use crate::helper::{Helper, watch};
use crate::program;
use crate::pump::OnOutput;
use crate::sandbox::{DoorError, Doors, Guarded, Sandbox};
use crate::search_path::SearchPath;
use crate::start::{Started, Surroundings, classify, start};
use crate::tree::{Ended, Said, become_subreaper};
use agent_types::ports::{CancelSignal, Command, CommandError, CommandOutput, CommandRunner, Exit};
use async_trait::async_trait;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::{Child, ChildStdin, ChildStdout};

/// Runs programs so that nothing is left of them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Processes {
    environment: Arc<Environment>,
    new_session: Option<Arc<PathBuf>>,
    helper: Option<Arc<Helper>>,
    sandbox: Option<Sandbox>,
    programs: Option<SearchPath>,
    fence: Option<Fence>,
}

/// The runner as adapters and drivers know it: [`Processes`] behind [`CommandRunner`].
pub type SystemRunner = Processes;

impl Processes {
    /// Runs programs with what is harmless in this process's own environment.
    ///
    /// From here on this process adopts orphans among its descendants (Linux), so that daemons are found. Where there is a
    /// controlling terminal, programs get a session of their own, so that they can neither ask for a password there nor change its modes.
    #[must_use]
    pub fn new() -> Self {
        Self::with_environment(Environment::inherited())
    }

    /// The same with a given environment.
    #[must_use]
    pub fn with_environment(environment: Environment) -> Self {
        become_subreaper();
        let has_terminal = std::fs::File::open("/dev/tty").is_ok();
        let mut processes = Self {
            environment: Arc::new(environment),
            new_session: None,
            helper: None,
            sandbox: None,
            programs: None,
            fence: None,
        };
        if has_terminal {
            processes = processes.in_new_sessions();
        }
        processes
    }

    /// Gives every program a session of its own, without a controlling terminal, where the system has a `setsid` program.
    #[must_use]
    pub fn in_new_sessions(mut self) -> Self {
        let setsid = program::find_in(self.programs.as_ref(), "setsid", self.environment.value("PATH"));
        self.new_session = setsid.ok().map(Arc::new);
        self
    }

    /// Finds programs by their names in these directories, whatever `PATH` programs get. What a program starts itself it finds by its
    /// `PATH`: see [`Environment::with_programs`].
    #[must_use]
    pub fn finding_programs(mut self, programs: SearchPath) -> Self {
        self.programs = Some(programs);
        if self.new_session.is_some() { self.in_new_sessions() } else { self }
    }

    /// Where programs are found by their names, if that was said.
    #[must_use]
    pub fn programs(&self) -> Option<&SearchPath> {
        self.programs.as_ref()
    }

    /// Ends what these programs leave behind also when this process is killed: the helper watches for that. Without one, they live on then.
    ///
    /// On Linux, outside of a sandbox, every program is also started by a helper of its own, which adopts what gets away from it: whose
    /// a process is that has no parents, session and environment any more is known then, also where other programs run.
    #[must_use]
    pub fn watched_by(mut self, helper: Helper) -> Self {
        self.helper = Some(Arc::new(helper));
        self
    }

    /// Runs every program in a sandbox.
    ///
    /// What a program leaves behind is then ended by the kernel, where the sandbox has a pid namespace, and not counted in
    /// [`Finished::left_behind`].
    #[must_use]
    pub fn in_sandbox(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// The same where programs can write nothing but temporary files and have no network; nothing where there is no sandbox.
    #[must_use]
    pub fn reading(&self) -> Option<Self> {
        let sandbox = self.sandbox.as_ref()?.reading();
        Some(Self { sandbox: Some(sandbox), ..self.clone() })
    }

    /// The same with doors of the sandbox open, if there is one.
    ///
    /// # Errors
    /// [`DoorError`] when one of them cannot be opened.
    pub fn opened(&self, doors: &Doors) -> Result<Self, DoorError> {
        let sandbox = self.sandbox.as_ref().map(|sandbox| sandbox.opened(doors)).transpose()?;
        Ok(Self { sandbox, ..self.clone() })
    }

    /// The same without a sandbox.
    #[must_use]
    pub fn outside(&self) -> Self {
        Self { sandbox: None, ..self.clone() }
    }

    /// Starts every program behind a fence. A program in a sandbox is held by that one alone.
    #[must_use]
    pub fn behind(mut self, fence: Fence) -> Self {
        self.fence = Some(fence);
        self
    }

    /// The sandbox that programs run in.
    #[must_use]
    pub fn sandbox(&self) -> Option<&Sandbox> {
        self.sandbox.as_ref()
    }

    /// What programs find in their environment.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Runs a command to its end, its time-out or the signal, and leaves no process behind. Dropping the future does the same at once.
    ///
    /// Background processes of a command that ended by itself are ended too; [`Finished::left_behind`] counts them. Needs a tokio runtime
    /// with I/O and time.
    ///
    /// # Errors
    /// [`StartError`] when it could not be started.
    pub async fn run_streaming(
        &self,
        command: &Command,
        streams: Streams,
        cancel: &dyn CancelSignal,
        on_output: OnOutput<'_>,
    ) -> Result<Finished, StartError> {
        self.run_until_end(command, streams, cancel, on_output, None).await
    }

    /// Runs a command that is talked to while it runs: once it is started, `begun` gets its input and its output, which are nobody else's.
    /// Its standard error goes to `on_error`, and as far as the limit allows into [`Finished::stderr`]. All else is as with
    /// [`run_streaming`](Self::run_streaming); the command's own input is not used.
    ///
    /// # Errors
    /// [`StartError`] when it could not be started; `begun` was called all the same if that was found out later, by a helper.
    pub async fn run_talking(
        &self,
        command: &Command,
        cancel: &dyn CancelSignal,
        on_error: OnOutput<'_>,
        begun: impl FnOnce(Talk) + Send,
    ) -> Result<Finished, StartError> {
        let mut begun = Some(begun);
        let mut once = |talk| {
            if let Some(begun) = begun.take() {
                begun(talk);
            }
        };
        self.run_until_end(command, Streams::Separate, cancel, on_error, Some(&mut once)).await
    }

    async fn run_until_end(
        &self,
        command: &Command,
        streams: Streams,
        cancel: &dyn CancelSignal,
        on_output: OnOutput<'_>,
        talk: Option<&mut (dyn FnMut(Talk) + Send)>,
    ) -> Result<Finished, StartError> {
        if cancel.is_cancelled() {
            return Ok(Finished::not_started());
        }
        if let Some(helper) = &self.helper {
            watch::begin(helper);
        }
        let surroundings = Surroundings {
            environment: &self.environment,
            new_session: self.new_session.as_deref().map(PathBuf::as_path),
            sandbox: self.sandbox.as_ref(),
            programs: self.programs.as_ref(),
            fence: self.fence.as_ref(),
            helper: self.helper.as_deref(),
            is_talked_to: talk.is_some(),
        };
        // The order of these matters when the future is dropped: the tree is ended before the child is given up, and what it made is looked
        // at after that.
        let guarded = Guarded::begin(self.sandbox.as_ref());
        let Started { mut pump, mut child, mut tree, program, status } =
            start(command, surroundings, streams, on_output)?;
        if let Some((begun, talk)) = talk.and_then(|begun| Some((begun, pump.talk()?))) {
            begun(talk);
        }

        let ending = first_ending(&mut child, command.timeout_ms, cancel);
        let ending = pump.alongside(ending).await;
        let (exit, ended) = match ending {
            Ending::ByItself(exit) => {
                tree.root_is_reaped();
                pump.settle(PATIENCE_FOR_EOF).await;
                let ended = match tree.said() {
                    Some(Said::Refused(error)) => return Err(classify(error, program, &command.directory)),
                    Some(Said::Ended(ended)) => ended,
                    None if tree.may_have_survivors() => pump.alongside(tree.end()).await,
                    None => Ended::default(),
                };
                (exit, ended)
            }
            Ending::Forced(exit) => {
                let ended = pump.alongside(tree.end()).await;
                // Dead by now, unless the kernel holds it; then it must not hold us.
                let _ = tokio::time::timeout(PATIENCE_FOR_EOF, child.wait()).await;
                (exit, ended)
            }
        };
        pump.settle(PATIENCE_FOR_EOF).await;
        let (stdout, stderr) = pump.finish();
        let remarks = guarded.end().await;
        let finished = Finished { exit, stdout, stderr, left_behind: ended.found, survivors: ended.survivors, remarks };
        let exit = status.as_ref().map_or(finished.exit, |status| status.exit(finished.exit));
        let finished = Finished { exit, ..finished };
        match &self.sandbox {
            Some(sandbox) => finished.of_sandboxed(sandbox.has_namespace()),
            None => Ok(finished),
        }
    }
}

impl Default for Processes {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl CommandRunner for Processes {
    async fn run(&self, command: &Command, cancel: &dyn CancelSignal) -> Result<CommandOutput, CommandError> {
        let finished = self
            .run_streaming(command, Streams::Separate, cancel, &|_| {})
            .await
            .map_err(|error| CommandError { program: command.program.clone(), found: error.to_string() })?;
        let mut stderr = finished.stderr.clone().into_bytes();
        for remark in &finished.remarks {
            stderr.extend_from_slice(format!("[{remark}]\n").as_bytes());
        }
        Ok(CommandOutput {
            exit: finished.exit,
            dropped_bytes: finished.stdout.dropped_bytes + finished.stderr.dropped_bytes,
            stdout: finished.stdout.into_bytes(),
            stderr,
        })
    }
}

/// How the two outputs of a program are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streams {
    /// Each by itself.
    Separate,
    /// Both through one pipe, in the order in which they were written; everything is in [`Finished::stdout`].
    Merged,
}

/// Input and output of a program that is talked to. Dropping the input closes it.
#[derive(Debug)]
pub struct Talk {
    /// What it reads.
    pub input: ChildStdin,
    /// What it writes.
    pub output: ChildStdout,
}

/// What a program came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub exit: Exit,
    /// Its standard output, or both outputs where they are merged.
    pub stdout: Captured,
    /// Its standard error; empty where they are merged.
    pub stderr: Captured,
    /// Processes besides the program itself that were still running and were ended.
    pub left_behind: usize,
    /// Processes that could not be ended: they belong to another user, or the kernel holds them.
    pub survivors: usize,
    /// What it made although a sandbox should keep it from that, and what was done about it; sentences for people and models.
    pub remarks: Vec<String>,
}

impl Finished {
    /// What was seen of the helper and of the namespace's first process is not the program's.
    fn of_sandboxed(mut self, has_namespace: bool) -> Result<Self, StartError> {
        let errors = if self.stderr.head.is_empty() { &self.stdout.head } else { &self.stderr.head };
        if let Exit::Code(code) = self.exit
            && let Some(why) = not_started(code, errors)
        {
            return Err(StartError::NotPrepared(why));
        }
        if has_namespace {
            self.left_behind = 0;
        }
        Ok(self)
    }

    fn not_started() -> Self {
        Self {
            exit: Exit::Cancelled,
            stdout: Captured::default(),
            stderr: Captured::default(),
            left_behind: 0,
            survivors: 0,
            remarks: Vec::new(),
        }
    }
}

enum Ending {
    ByItself(Exit),
    Forced(Exit),
}

async fn first_ending(child: &mut Child, timeout_ms: u64, cancel: &dyn CancelSignal) -> Ending {
    tokio::select! {
        biased;
        status = child.wait() => Ending::ByItself(status.map_or(Exit::Code(UNKNOWN_CODE), exit_of)),
        () = cancel.cancelled() => Ending::Forced(Exit::Cancelled),
        () = tokio::time::sleep(Duration::from_millis(timeout_ms)) => Ending::Forced(Exit::TimedOut),
    }
}

fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Code(UNKNOWN_CODE),
    }
}

/// How long a pipe may stay open after the program has ended.
const PATIENCE_FOR_EOF: Duration = Duration::from_millis(100);
/// Stands for a status that another part of the program has taken.
const UNKNOWN_CODE: i32 = -1;
