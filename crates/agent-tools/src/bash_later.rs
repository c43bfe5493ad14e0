//! `bash_output` and `bash_kill`: what became of a command that runs in the background.

use crate::arguments::read_arguments;
use crate::background::{Background, Look};
use crate::bash::ending;
use crate::spec::tool_spec;
use agent_types::conversation::{Arguments, ToolCall};
use agent_types::ports::{Tool, ToolContext};
use agent_types::tool::{Effect, Inspection, Subject, ToolOutcome, ToolSpec};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// Reads what a command printed.
pub(crate) struct BashOutput {
    spec: ToolSpec,
    background: Background,
}

/// Ends a command.
pub(crate) struct BashKill {
    spec: ToolSpec,
    background: Background,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OutputArguments {
    /// The id that `bash` gave.
    id: String,
    /// How many milliseconds to wait for its end, at most 600000. Default: 0.
    wait_ms: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct KillArguments {
    /// The id that `bash` gave.
    id: String,
}

impl BashOutput {
    pub(crate) fn new(background: Background) -> Self {
        Self { spec: tool_spec::<OutputArguments>(OUTPUT, OUTPUT_DESCRIPTION), background }
    }

    fn read(&self, arguments: &Arguments) -> Result<OutputArguments, String> {
        let arguments: OutputArguments = read_arguments(&self.spec, arguments)?;
        match arguments.wait_ms {
            Some(wait_ms) if wait_ms > LONGEST_WAIT_MS => Err(format!("`wait_ms` must be at most {LONGEST_WAIT_MS}")),
            Some(_) | None => Ok(arguments),
        }
    }
}

impl BashKill {
    pub(crate) fn new(background: Background) -> Self {
        Self { spec: tool_spec::<KillArguments>(KILL, KILL_DESCRIPTION), background }
    }
}

#[async_trait]
impl Tool for BashOutput {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn inspect(&self, arguments: &Arguments) -> Result<Inspection, String> {
        self.read(arguments).map(|_| OF_ITS_OWN)
    }

    async fn run(&self, call: &ToolCall, context: &ToolContext) -> ToolOutcome {
        let arguments = match self.read(&call.arguments) {
            Ok(arguments) => arguments,
            Err(message) => return ToolOutcome::failed(message),
        };
        let patience = Duration::from_millis(arguments.wait_ms.unwrap_or(0));
        match self.background.look(&arguments.id, patience, &*context.cancel).await {
            Ok(look) if look.end.is_none() && context.cancel.is_cancelled() => {
                ToolOutcome::interrupted(shown(look).content)
            }
            Ok(look) => shown(look),
            Err(message) => ToolOutcome::failed(message),
        }
    }
}

#[async_trait]
impl Tool for BashKill {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn inspect(&self, arguments: &Arguments) -> Result<Inspection, String> {
        read_arguments::<KillArguments>(&self.spec, arguments).map(|_| OF_ITS_OWN)
    }

    async fn run(&self, call: &ToolCall, context: &ToolContext) -> ToolOutcome {
        let arguments: KillArguments = match read_arguments(&self.spec, &call.arguments) {
            Ok(arguments) => arguments,
            Err(message) => return ToolOutcome::failed(message),
        };
        match self.background.end(&arguments.id, &*context.cancel).await {
            Ok(look) => ToolOutcome::ok(shown(look).content),
            Err(message) => ToolOutcome::failed(message),
        }
    }
}

fn shown(look: Look) -> ToolOutcome {
    let mut text = look.output;
    if text.is_empty() {
        text.push_str("(no new output)");
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    match look.end {
        None => ToolOutcome::ok(format!("{text}[still running after {} s]\n", look.age.as_secs())),
        Some(Ok(finished)) => ending(text, &finished, "it reached its time limit", &look.around),
        Some(Err(error)) => ToolOutcome::failed(format!("the command could not be started: {error}")),
    }
}

/// Looking at a command, and ending it, touches nothing but what the same session started with permission.
const OF_ITS_OWN: Inspection = Inspection { effect: Effect::Reads, subject: Subject::None };

const OUTPUT: &str = "bash_output";
const OUTPUT_DESCRIPTION: &str = "Shows what a background command has printed since the last look, and whether it is still running or \
                                  how it ended. Beyond 30000 bytes only the end is kept.";
const KILL: &str = "bash_kill";
const KILL_DESCRIPTION: &str =
    "Ends a background command and everything it started, and shows what it had printed since the last look.";
const LONGEST_WAIT_MS: u64 = 600_000;
