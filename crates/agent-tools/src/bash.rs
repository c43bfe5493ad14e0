//! `bash`: a shell command in the workspace.
//!
//! ```text
//! touches nothing          no question     the sandbox that commands have
//! only reads               no question     a sandbox in which nothing but temporary files can be written; without one it is as any other
//! anything else            a question      the sandbox that commands have
//! asks for open doors      its own one     the sandbox that commands have, with these doors open, for this call
//! ```

mod doors;
mod hint;
mod records;

use crate::arguments::read_arguments;
use crate::background::Background;
use crate::file_tool;
use crate::plain_commands::Plain;
use crate::spec::tool_spec;
use crate::text::{join_cut, lossy, split_incomplete};
use crate::workspace::Workspace;
use agent_exec::{Finished, Processes, Streams};
use agent_types::conversation::{Arguments, ToolCall};
use agent_types::ports::{Command, Exit, ProgressSink, Tool, ToolContext};
use agent_types::tool::{Effect, Inspection, Opening, Subject, ToolOutcome, ToolSpec, Walls};
use async_trait::async_trait;
use doors::SandboxArguments;
pub(crate) use hint::Around;
use records::Records;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub(crate) struct Bash {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
    processes: Processes,
    /// What runs commands that only read, where they can be held to that and programs of the workspace are passed over.
    reading: Option<Processes>,
    background: Background,
}

/// A call that was looked at.
struct Looked {
    arguments: BashArguments,
    plain: Option<Plain>,
    walls: Walls,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BashArguments {
    /// The command, for `bash -c`.
    command: String,
    /// Milliseconds after which it is ended, with everything it started. Default: 120000; at most 600000. In the background: 14400000 for
    /// both.
    timeout_ms: Option<u64>,
    /// Do not wait for its end: the answer is an id for `bash_output` and `bash_kill`. Default: false.
    run_in_background: Option<bool>,
    /// Opens the sandbox for this one call, which the user is asked about: only when the task needs it, as after a call that the sandbox
    /// made fail.
    #[serde(default)]
    #[schemars(with = "SandboxArguments")]
    sandbox: Option<SandboxArguments>,
}

impl BashArguments {
    fn is_background(&self) -> bool {
        self.run_in_background.unwrap_or(false)
    }

    /// Whether it is waited for, and not for long.
    fn is_short(&self) -> bool {
        !self.is_background() && self.timeout_ms().0 <= DEFAULT_TIMEOUT_MS
    }

    /// The one that holds, and the longest there may be.
    fn timeout_ms(&self) -> (u64, u64) {
        let (default, longest) = match self.is_background() {
            true => (LONGEST_BACKGROUND_MS, LONGEST_BACKGROUND_MS),
            false => (DEFAULT_TIMEOUT_MS, LONGEST_TIMEOUT_MS),
        };
        (self.timeout_ms.unwrap_or(default), longest)
    }
}

impl Bash {
    pub(crate) fn new(workspace: Arc<Workspace>, processes: Processes, background: Background) -> Self {
        let reading = processes.programs().and_then(|_| processes.reading());
        Self { spec: tool_spec::<BashArguments>(NAME, DESCRIPTION), workspace, processes, reading, background }
    }

    /// # Errors
    /// What is wrong with the arguments, or why the sandbox cannot be opened so; for the model.
    fn look(&self, arguments: &Arguments) -> Result<Looked, String> {
        let arguments: BashArguments = read_arguments(&self.spec, arguments)?;
        check(&arguments)?;
        let plain = Plain::of(&arguments.command);
        let walls = match &arguments.sandbox {
            Some(wanted) => Walls::Opened(Box::new(self.opening(wanted, &arguments, plain.as_ref())?)),
            None if self.is_held_to_reading(&arguments, plain.as_ref()) => {
                Walls::Reading { akin: file_tool::SHOWING.iter().map(ToString::to_string).collect() }
            }
            None => Walls::Usual,
        };
        Ok(Looked { arguments, plain, walls })
    }

    fn opening(
        &self,
        wanted: &SandboxArguments,
        arguments: &BashArguments,
        plain: Option<&Plain>,
    ) -> Result<Opening, String> {
        wanted.opening((&arguments.command, plain), arguments.is_background(), self.workspace.root(), &self.processes)
    }

    fn is_held_to_reading(&self, arguments: &BashArguments, plain: Option<&Plain>) -> bool {
        let only_reads = |plain: &Plain| plain.only_reads() && !plain.touches_nothing();
        self.reading.is_some() && arguments.is_short() && plain.is_some_and(only_reads)
    }

    /// What runs it.
    ///
    /// # Errors
    /// Why the sandbox cannot be opened any more, for the model.
    fn processes(&self, looked: &Looked) -> Result<Processes, String> {
        match (&looked.walls, &self.reading) {
            (Walls::Opened(opening), _) => doors::opened(opening, self.workspace.root(), &self.processes),
            (Walls::Reading { .. }, Some(reading)) => Ok(reading.clone()),
            (Walls::Reading { .. }, None) | (Walls::Usual, _) => Ok(self.processes.clone()),
        }
    }

    fn command(&self, looked: &Looked) -> Command {
        let Looked { arguments, .. } = looked;
        Command {
            program: NAME.into(),
            // A command may begin with a dash.
            arguments: vec!["-c".into(), "--".into(), arguments.command.clone()],
            directory: self.workspace.root().to_string_lossy().into_owned(),
            environment: self.environment(looked),
            stdin: Vec::new(),
            timeout_ms: arguments.timeout_ms().0,
            output_limit_bytes: OUTPUT_LIMIT_BYTES,
        }
    }

    /// A command that runs because of the names of its programs (unasked, or by a rule that opens the sandbox) gets the programs that the
    /// user has under these names, and none of the workspace's, by a link either.
    fn environment(&self, looked: &Looked) -> Vec<(String, String)> {
        let Looked { plain, walls, .. } = looked;
        let by_name = plain.as_ref().filter(|plain| !walls.is_usual() || plain.touches_nothing());
        let programs = by_name.and_then(|plain| Some((self.processes.programs()?, plain)));
        let directories = programs.map(|(programs, plain)| programs.directories_for(plain.programs()));
        let path = directories.map(|path| (String::from("PATH"), path.to_string_lossy().into_owned()));
        let of_git = doors::git_environment(self.records(looked).is_some()).filter(|_| !walls.is_usual());
        // What is only looked at need not be refreshed.
        let locks = (String::from("GIT_OPTIONAL_LOCKS"), String::from("0"));
        let locks = matches!(walls, Walls::Reading { .. }).then_some(locks);
        path.into_iter().chain(of_git).chain(locks).collect()
    }

    /// What to say where the user wants signatures: their keys are hidden from commands.
    async fn unsigned(&self, looked: &Looked, context: &ToolContext) -> Option<String> {
        looked.plain.as_ref().filter(|plain| doors::makes_commits(plain))?;
        let mut command = self.command(looked);
        command.program = "git".into();
        command.arguments = ["config", "--type=bool", "commit.gpgSign"].map(String::from).to_vec();
        command.environment.clear();
        let processes = self.reading.as_ref()?;
        let finished = processes.run_streaming(&command, Streams::Merged, &*context.cancel, &|_| {}).await.ok()?;
        (finished.stdout.head.trim_ascii() == b"true").then(|| UNSIGNED.to_owned())
    }

    fn records(&self, looked: &Looked) -> Option<PathBuf> {
        doors::records(looked.opening()?, self.workspace.root())
    }

    fn start(&self, looked: &Looked) -> ToolOutcome {
        let started = self.processes(looked).and_then(|processes| {
            let around = Around::of(&processes, looked.opening());
            self.background.start(processes, self.command(looked), around)
        });
        match started {
            Ok(id) => ToolOutcome::ok(format!(
                "started in the background as `{id}`: read it with `bash_output`, end it with `bash_kill`\n"
            )),
            Err(message) => ToolOutcome::failed(message),
        }
    }

    async fn finish(&self, looked: &Looked, context: &ToolContext) -> ToolOutcome {
        // Before the sandbox is opened, which seals what is there then.
        let records = match self.records(looked).map(Records::begin).transpose() {
            Ok(records) => records,
            Err(message) => return ToolOutcome::failed(message),
        };
        let processes = match self.processes(looked) {
            Ok(processes) => processes,
            Err(message) => return ToolOutcome::failed(message),
        };
        let command = self.command(looked);
        let progress = Progress::new(&*context.progress);
        let report = |chunk: &[u8]| progress.push(chunk);
        match processes.run_streaming(&command, Streams::Merged, &*context.cancel, &report).await {
            Ok(mut finished) => {
                finished.remarks.extend(records.iter().flat_map(Records::settle));
                if records.is_some() && finished.exit == Exit::Code(0) {
                    finished.remarks.extend(self.unsigned(looked, context).await);
                }
                outcome(&finished, &looked.arguments, &Around::of(&processes, looked.opening()))
            }
            Err(error) => ToolOutcome::failed(format!("the command could not be started: {error}")),
        }
    }
}

impl Looked {
    const fn opening(&self) -> Option<&Opening> {
        match &self.walls {
            Walls::Opened(opening) => Some(opening),
            Walls::Usual | Walls::Reading { .. } => None,
        }
    }

    /// The same with no other doors than were decided about.
    ///
    /// # Errors
    /// That others were, for the model.
    fn decided(self, context: &ToolContext) -> Result<Self, String> {
        let Walls::Opened(opening) = &self.walls else { return Ok(self) };
        let walls = Walls::Opened(Box::new(doors::decided(opening, context.opening.as_ref())?));
        Ok(Self { walls, ..self })
    }

    /// Why it is not run unasked, as a sentence for a person. What is opened has a reason of its own, which the policy gives.
    fn beyond_reading(&self) -> String {
        match &self.plain {
            None => String::from("it is more than plain commands, so it is not known what it does"),
            Some(plain) => plain.beyond_reading_said().unwrap_or_else(|| match self.arguments.is_short() {
                true => String::from("there is no sandbox here that holds a command to reading"),
                false => String::from("it may run for more than two minutes"),
            }),
        }
    }

    /// A command that is not known to be harmless may change anything, and one that runs for long holds a place and a process.
    fn effect(&self) -> Effect {
        let touches_nothing = || self.arguments.is_short() && self.plain.as_ref().is_some_and(Plain::touches_nothing);
        match self.walls {
            Walls::Reading { .. } => Effect::Reads,
            Walls::Usual if touches_nothing() => Effect::Reads,
            Walls::Usual | Walls::Opened(_) => Effect::Changes,
        }
    }
}

#[async_trait]
impl Tool for Bash {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn inspect(&self, arguments: &Arguments) -> Result<Inspection, String> {
        let looked = self.look(arguments)?;
        let effect = looked.effect();
        let beyond_reading = (effect == Effect::Changes).then(|| looked.beyond_reading());
        let Looked { arguments, plain, walls } = looked;
        let carries_over = plain.as_ref().is_some_and(Plain::carries_over);
        let plain = plain.map(Plain::into_texts);
        let text = arguments.command;
        Ok(Inspection { effect, subject: Subject::Command { text, plain, carries_over, beyond_reading, walls } })
    }

    async fn run(&self, call: &ToolCall, context: &ToolContext) -> ToolOutcome {
        let looked = match self.look(&call.arguments).and_then(|looked| looked.decided(context)) {
            Ok(looked) => looked,
            Err(message) => return ToolOutcome::failed(message),
        };
        if context.effect == Effect::Reads && looked.effect() != Effect::Reads {
            return ToolOutcome::not_run(CHANGED);
        }
        if looked.arguments.is_background() && !context.cancel.is_cancelled() {
            return self.start(&looked);
        }
        self.finish(&looked, context).await
    }
}

fn check(arguments: &BashArguments) -> Result<(), String> {
    let command = &arguments.command;
    if command.trim().is_empty() {
        return Err("the command is empty".into());
    }
    if command.contains('\0') {
        return Err("the command contains a NUL byte".into());
    }
    if command.len() > LONGEST_COMMAND_BYTES {
        return Err(format!(
            "the command has {} bytes, more than the system's limit of {LONGEST_COMMAND_BYTES}: write a script to a file and run that",
            command.len()
        ));
    }
    let (timeout_ms, longest) = arguments.timeout_ms();
    if (1..=longest).contains(&timeout_ms) {
        return Ok(());
    }
    Err(format!("`timeout_ms` must be between 1 and {longest}"))
}

fn outcome(finished: &Finished, arguments: &BashArguments, around: &Around) -> ToolOutcome {
    let mut text = output_text(finished);
    if text.is_empty() {
        text.push_str(NO_OUTPUT);
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let (timeout_ms, _) = arguments.timeout_ms();
    ending(text, finished, &format!("it reached its time limit of {timeout_ms} ms"), around)
}

/// An output with how the command ended, and perhaps why.
pub(crate) fn ending(mut text: String, finished: &Finished, timed_out: &str, around: &Around) -> ToolOutcome {
    let hint = around.hint(&text);
    let incomplete = if text.trim_end() == NO_OUTPUT { "" } else { "; the output above may be incomplete" };
    let mut note = |note: &str| {
        let _ = writeln!(text, "[{note}]");
    };
    if finished.left_behind > 0 && matches!(finished.exit, Exit::Code(_) | Exit::Signal(_)) {
        note(&format!(
            "{} background processes were still running and were killed: nothing outlives a command",
            finished.left_behind
        ));
    }
    if finished.survivors > 0 {
        note(&format!("{} processes could not be killed", finished.survivors));
    }
    finished.remarks.iter().for_each(|remark| note(remark));
    match finished.exit {
        Exit::Code(0) => return ToolOutcome::ok(text),
        Exit::Code(code) => note(&format!("exit status {code}")),
        Exit::Signal(signal) => note(&format!("killed by signal {}", signal_name(signal))),
        Exit::TimedOut => note(&format!("killed because {timed_out}{incomplete}")),
        Exit::Cancelled => {
            note(&format!("killed on request{incomplete}"));
            return ToolOutcome::interrupted(text);
        }
    }
    hint.iter().for_each(|hint| note(hint));
    ToolOutcome::failed(text)
}

fn output_text(finished: &Finished) -> String {
    let output = &finished.stdout;
    let (mut head, mut tail) = (&*output.head, &*output.tail);
    if matches!(finished.exit, Exit::TimedOut | Exit::Cancelled) {
        // Killed in the middle of a character: that is our doing, not the command's.
        let end = if tail.is_empty() { &mut head } else { &mut tail };
        *end = split_incomplete(end).0;
    }
    join_cut(head, output.dropped_bytes, tail)
}

/// In the place of what a command wrote.
const NO_OUTPUT: &str = "(no output)";

fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return signal.to_string(),
    };
    format!("{signal} ({name})")
}

/// Reports output at most so often, and of much output only the end.
struct Progress<'a> {
    sink: &'a dyn ProgressSink,
    state: Mutex<ProgressState>,
}

struct ProgressState {
    waiting: Vec<u8>,
    last_report: Option<Instant>,
}

impl<'a> Progress<'a> {
    fn new(sink: &'a dyn ProgressSink) -> Self {
        Self { sink, state: Mutex::new(ProgressState { waiting: Vec::new(), last_report: None }) }
    }

    fn push(&self, chunk: &[u8]) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.waiting.extend_from_slice(chunk);
        let excess = state.waiting.len().saturating_sub(PROGRESS_BYTES);
        if excess > 0 {
            state.waiting.drain(..excess);
            // What is left of a secret is looked for beside it.
            state.waiting.splice(..0, "…".bytes());
        }
        let is_due = state.last_report.is_none_or(|last| last.elapsed() >= PROGRESS_PAUSE);
        if is_due {
            let (whole, rest) = split_incomplete(&state.waiting);
            let rest = rest.to_vec();
            self.sink.report(&lossy(whole));
            state.waiting = rest;
            state.last_report = Some(Instant::now());
        }
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !state.waiting.is_empty() {
            self.sink.report(&lossy(&state.waiting));
        }
    }
}

const NAME: &str = "bash";
const DESCRIPTION: &str = "Runs a shell command with `bash -c` in the root of the workspace. Standard input is empty and there is no \
    terminal, so it must not ask for anything. Standard output and error come together; beyond 30000 bytes only the beginning and the \
    end are shown. When the command ends, its background processes are killed too; anything that must keep running, such as a server, \
    needs `run_in_background`. Prefer the \
    other tools for reading, searching and editing files.";
const CHANGED: &str = "not run: it was judged as a command that only reads, and there is no sandbox any more that holds it to that: \
    call it again";
const UNSIGNED: &str = "commits of this call are not signed, although `commit.gpgSign` is set: the keys are hidden from commands. The user can \
                        sign the last one with `git commit --amend --no-edit -S`";
const DEFAULT_TIMEOUT_MS: u64 = 120_000;
const LONGEST_TIMEOUT_MS: u64 = 600_000;
const LONGEST_BACKGROUND_MS: u64 = 4 * 60 * 60 * 1_000;
const OUTPUT_LIMIT_BYTES: usize = 30_000;
/// Linux takes 128 KiB for one argument, with its end mark.
const LONGEST_COMMAND_BYTES: usize = 128 * 1024 - 1;
const PROGRESS_PAUSE: Duration = Duration::from_millis(50);
const PROGRESS_BYTES: usize = 4 * 1024;
