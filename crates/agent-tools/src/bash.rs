//! `bash`: a shell command in the workspace.

use crate::plain_commands::{plain_commands, touch_nothing};
use crate::spec::tool_spec;
use crate::text::{join_cut, lossy, split_incomplete};
use crate::workspace::Workspace;
use agent_core::conversation::{Arguments, ToolCall};
use agent_core::ports::{Command, Exit, ProgressSink, Tool, ToolContext};
use agent_core::tool::{Effect, Inspection, Subject, ToolOutcome, ToolSpec};
use agent_exec::{Finished, Processes, StartError, Streams};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub(crate) struct Bash {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
    processes: Processes,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BashArguments {
    /// The command, for `bash -c`.
    command: String,
    /// Milliseconds after which it is ended, with everything it started. Default: 120000; at most 600000.
    timeout_ms: Option<u64>,
}

impl Bash {
    pub(crate) fn new(workspace: Arc<Workspace>, processes: Processes) -> Self {
        Self { spec: tool_spec::<BashArguments>(NAME, DESCRIPTION), workspace, processes }
    }

    async fn finish(&self, arguments: &BashArguments, context: &ToolContext) -> Result<Finished, StartError> {
        let command = Command {
            program: NAME.into(),
            arguments: vec!["-c".into(), arguments.command.clone()],
            directory: self.workspace.root().to_string_lossy().into_owned(),
            environment: Vec::new(),
            stdin: Vec::new(),
            timeout_ms: arguments.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS),
            output_limit_bytes: OUTPUT_LIMIT_BYTES,
        };
        let progress = Progress::new(&*context.progress);
        let report = |chunk: &[u8]| progress.push(chunk);
        self.processes.run_streaming(&command, Streams::Merged, &*context.cancel, &report).await
    }
}

#[async_trait]
impl Tool for Bash {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn inspect(&self, arguments: &Arguments) -> Result<Inspection, String> {
        let arguments = read(arguments)?;
        let plain = plain_commands(&arguments.command);
        // What is not known to touch nothing may change anything.
        let touches_nothing = plain.as_ref().is_some_and(|plain| touch_nothing(plain));
        let effect = if touches_nothing { Effect::Reads } else { Effect::Changes };
        Ok(Inspection { effect, subject: Subject::Command { plain, text: arguments.command } })
    }

    async fn run(&self, call: &ToolCall, context: &ToolContext) -> ToolOutcome {
        let arguments = match read(&call.arguments) {
            Ok(arguments) => arguments,
            Err(message) => return ToolOutcome::failed(message),
        };
        match self.finish(&arguments, context).await {
            Ok(finished) => outcome(&finished, &arguments),
            Err(error) => ToolOutcome::failed(format!("the command could not be started: {error}")),
        }
    }
}

fn read(arguments: &Arguments) -> Result<BashArguments, String> {
    let arguments: BashArguments = arguments.read().map_err(|error| error.to_string())?;
    let command = &arguments.command;
    if command.trim().is_empty() {
        return Err("the command is empty".into());
    }
    if command.contains('\0') {
        return Err("the command contains a NUL byte".into());
    }
    if command.len() > LONGEST_COMMAND_BYTES {
        return Err(format!(
            "the command has {} bytes, more than the {LONGEST_COMMAND_BYTES} that the system takes: write a script to a file and run that",
            command.len()
        ));
    }
    match arguments.timeout_ms {
        Some(timeout_ms) if !(1..=LONGEST_TIMEOUT_MS).contains(&timeout_ms) => {
            Err(format!("`timeout_ms` must be between 1 and {LONGEST_TIMEOUT_MS}"))
        }
        Some(_) | None => Ok(arguments),
    }
}

fn outcome(finished: &Finished, arguments: &BashArguments) -> ToolOutcome {
    let mut text = output_text(finished);
    if text.is_empty() {
        text.push_str("(no output)");
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let mut note = |note: &str| {
        let _ = writeln!(text, "[{note}]");
    };
    if finished.left_behind > 0 && matches!(finished.exit, Exit::Code(_) | Exit::Signal(_)) {
        note(&format!(
            "{} background processes were still running and were ended: nothing outlives a command",
            finished.left_behind
        ));
    }
    if finished.survivors > 0 {
        note(&format!("{} processes could not be ended", finished.survivors));
    }
    match finished.exit {
        Exit::Code(0) => return ToolOutcome::ok(text),
        Exit::Code(code) => note(&format!("exit status {code}")),
        Exit::Signal(signal) => note(&format!("killed by signal {}", signal_name(signal))),
        Exit::TimedOut => {
            let timeout_ms = arguments.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS);
            note(&format!("ended after {timeout_ms} ms because its time was up; the output above may be incomplete"));
        }
        Exit::Cancelled => {
            note("cancelled; the output above may be incomplete");
            return ToolOutcome::interrupted(text);
        }
        _ => note("ended in an unknown way"),
    }
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
        state.waiting.drain(..excess);
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
    terminal, so it must not ask for anything. Both outputs come together; of more than 30000 bytes the beginning and the end. When the \
    command ends, its background processes are ended, too. Prefer the other tools for reading, searching and editing files.";
const DEFAULT_TIMEOUT_MS: u64 = 120_000;
const LONGEST_TIMEOUT_MS: u64 = 600_000;
const OUTPUT_LIMIT_BYTES: usize = 30_000;
/// Linux takes 128 KiB for one argument, with its end mark.
const LONGEST_COMMAND_BYTES: usize = 128 * 1024 - 1;
const PROGRESS_PAUSE: Duration = Duration::from_millis(50);
const PROGRESS_BYTES: usize = 4 * 1024;
