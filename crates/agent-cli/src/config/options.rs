//! The options of a run, as flags and configuration set them.

use crate::config::providers::{ChoiceParser, ProviderChoice};
use crate::config::units::{DurationMs, NanoUsd};
use crate::failure::Failure;
use crate::model::effort::Wish;
use agent_core::budget::Limits;
use agent_core::lifecycle::Commitment;
use agent_core::permission::{PermissionMode, Rule};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Headings of the options in `--help`.
const MODEL: &str = "Model";
const LIMITS: &str = "Limits";
const PERMISSIONS: &str = "Permissions";
const CHECKS: &str = "Checks";
const CHANGES: &str = "Changes";
const SESSION: &str = "Session";
const OUTPUT: &str = "Output";

/// Options of `run`, the prompt and `resume`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Options {
    /// The provider: one of these, or a name under `[providers]` in the configuration. Default: that of the model, or the only one whose
    /// key is set.
    #[arg(help_heading = MODEL, long, value_name = "NAME", value_parser = ChoiceParser)]
    pub(crate) provider: Option<ProviderChoice>,
    /// Model id, or an alias of the configuration. Default: the configured one, or the only one that the provider lists.
    #[arg(help_heading = MODEL, short, long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// The provider's URL; on its own it implies `--provider openai`. OpenAI URLs end in `/v1`, Anthropic URLs do not.
    #[arg(help_heading = MODEL, long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// How much the model is to think. Which of these it knows depends on the model; with `default` its server decides. Default: the
    /// configured effort, or the model's usual one.
    #[arg(help_heading = MODEL, long, value_enum, value_name = "LEVEL")]
    pub(crate) effort: Option<Wish>,
    /// Environment variable that holds the key for this server; `-` sends no key. Without this option, a provider's usual key goes only
    /// to that provider's own hosts.
    #[arg(help_heading = MODEL, long, value_name = "NAME")]
    pub(crate) api_key_env: Option<String>,
    /// Longest wait for the start of an answer, such as `90s`, `5m`. Default: the configured value, or `2m`.
    #[arg(help_heading = MODEL, long, value_name = "DURATION", value_parser = crate::config::units::parse_wait)]
    pub(crate) first_byte_timeout: Option<DurationMs>,
    /// Longest pause within an answer. Default: the configured value, or `2m`.
    #[arg(help_heading = MODEL, long, value_name = "DURATION", value_parser = crate::config::units::parse_wait)]
    pub(crate) idle_timeout: Option<DurationMs>,
    /// Record the model calls in this new file, for `--replay`. It contains no keys.
    #[arg(help_heading = MODEL, long, value_name = "FILE", conflicts_with = "replay")]
    pub(crate) record: Option<PathBuf>,
    /// Play the model calls of a recording, without a key or network. Default model: the recorded one.
    #[arg(help_heading = MODEL, long, value_name = "FILE", conflicts_with = "base_url", required_if_eq("provider", "replay"))]
    pub(crate) replay: Option<PathBuf>,
    /// How closely a request must match the recorded one.
    #[arg(help_heading = MODEL, long, value_enum, value_name = "HOW", default_value = "exact", requires = "replay")]
    pub(crate) replay_match: ReplayMatch,
    /// Model that takes over when the first one is overloaded or exhausted; repeatable.
    #[arg(help_heading = MODEL, long, value_name = "ID")]
    pub(crate) fallback_model: Vec<String>,
    /// Limit on the session's model calls.
    #[arg(help_heading = LIMITS, long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) max_turns: Option<u64>,
    /// Limit on the session's cost, in US dollars.
    #[arg(help_heading = LIMITS, long, value_name = "X", allow_negative_numbers = true, value_parser = crate::config::units::parse_usd)]
    pub(crate) max_budget_usd: Option<NanoUsd>,
    /// Limit on the session's tokens.
    #[arg(help_heading = LIMITS, long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) max_total_tokens: Option<u64>,
    /// Limit on the session's tool calls.
    #[arg(help_heading = LIMITS, long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) max_tool_calls: Option<u64>,
    /// Time limit of a turn, such as `90s`, `10m`, `1h`.
    #[arg(help_heading = LIMITS, long, value_name = "DURATION", value_parser = crate::config::units::parse_duration)]
    pub(crate) max_wall_time: Option<DurationMs>,
    /// Let the model begin other agents that work for it. `[agents]` in the configuration says how many.
    #[arg(help_heading = LIMITS, long)]
    pub(crate) agents: bool,
    /// What the agent may do without asking.
    #[arg(help_heading = PERMISSIONS, long, value_enum)]
    pub(crate) permission_mode: Option<Mode>,
    /// Calls that run without asking, such as `bash(git status:*)` or `edit_file(src/**)`; repeatable.
    #[arg(help_heading = PERMISSIONS, long, value_name = "RULE")]
    pub(crate) allow: Vec<Rule>,
    /// Calls that never run, whatever else allows them; repeatable.
    #[arg(help_heading = PERMISSIONS, long, value_name = "RULE")]
    pub(crate) deny: Vec<Rule>,
    /// What commands may touch. Default: `workspace-write`. If the default cannot be enforced, `run` fails; the prompt warns and runs
    /// commands as you.
    #[arg(help_heading = PERMISSIONS, long, value_enum)]
    pub(crate) sandbox: Option<Sandbox>,
    /// Allow work in your home directory, a parent of it, or the agent's own directories. Without this, `run` fails there and the prompt
    /// asks.
    #[arg(help_heading = PERMISSIONS, long)]
    pub(crate) allow_home: bool,
    /// Commit the agent's changes after each batch.
    #[arg(help_heading = CHANGES, long, conflicts_with = "no_auto_commit")]
    pub(crate) auto_commit: bool,
    /// Do not commit.
    #[arg(help_heading = CHANGES, long)]
    pub(crate) no_auto_commit: bool,
    /// Run the configured formatters on files that the agent changed.
    #[arg(help_heading = CHANGES, long)]
    pub(crate) format_on_edit: bool,
    /// Format of standard output.
    #[arg(help_heading = OUTPUT, long, value_enum)]
    pub(crate) output_format: Option<OutputFormat>,
    /// With `stream-json`: also write pieces of answers as they arrive.
    #[arg(help_heading = OUTPUT, long)]
    pub(crate) include_partial_messages: bool,
    /// Replaces the built-in system prompt.
    #[arg(help_heading = MODEL, long, value_name = "TEXT")]
    pub(crate) system_prompt: Option<String>,
    /// Text after the system prompt.
    #[arg(help_heading = MODEL, long, value_name = "TEXT")]
    pub(crate) append_system_prompt: Option<String>,
    /// Work in this directory.
    #[arg(help_heading = SESSION, short = 'C', long = "cd", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Resume the newest session in this directory.
    #[arg(help_heading = SESSION, short, long = "continue", conflicts_with = "session_id")]
    pub(crate) continue_newest: bool,
    /// Session id: resumes the session if it exists, otherwise starts a new one with this id.
    #[arg(help_heading = SESSION, long, value_name = "ID")]
    pub(crate) session_id: Option<String>,
    /// Continue in a new session that begins with the old one's records; the old one stays as it is.
    #[arg(help_heading = SESSION, long)]
    pub(crate) fork_session: bool,
    /// Limits of the session that is resumed for which there is no option.
    #[arg(skip)]
    pub(crate) raised: Limits,
    /// Whether the named session has to exist; set by `resume`.
    #[arg(skip)]
    pub(crate) must_exist: bool,
    /// Keep no journal.
    #[arg(help_heading = SESSION, long, conflicts_with_all = ["continue_newest", "session_id"])]
    pub(crate) no_session: bool,
    /// At the prompt, read whole lines and write plain ones, without the line editor.
    #[arg(help_heading = OUTPUT, long)]
    pub(crate) plain: bool,
    /// Print only data and errors.
    #[arg(help_heading = OUTPUT, short, long)]
    pub(crate) quiet: bool,
    /// Also print the machine's transitions.
    #[arg(help_heading = OUTPUT, short, long)]
    pub(crate) verbose: bool,
}

/// Who sits in front: limits differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seat {
    Headless,
    Interactive,
    /// A person in an editor: limits are those of the prompt, and nothing is asked at a terminal.
    Editor,
    /// As `Headless`, and nothing will run.
    Looking,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ProviderName {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions and compatible servers.
    #[value(name = "openai")]
    #[serde(rename = "openai")]
    OpenAi,
    /// OpenAI Responses.
    #[value(name = "openai-responses")]
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// No provider: plays the recording given with `--replay`.
    #[serde(skip)]
    Replay,
}

impl ProviderName {
    /// As users write it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::Replay => "replay",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReplayMatch {
    /// The request must be identical.
    #[default]
    Exact,
    /// The same messages and calls; prompts, tools, ids and results may differ.
    Lenient,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Mode {
    /// Reads run; everything else asks.
    Default,
    /// Reads and file edits run; everything else asks.
    AcceptEdits,
    /// Only reads run.
    Plan,
    /// Everything runs unless a rule denies it.
    Bypass,
}

impl From<Mode> for PermissionMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Default => Self::Default,
            Mode::AcceptEdits => Self::AcceptEdits,
            Mode::Plan => Self::Plan,
            Mode::Bypass => Self::Bypass,
        }
    }
}

impl From<PermissionMode> for Mode {
    fn from(mode: PermissionMode) -> Self {
        match mode {
            PermissionMode::Default => Self::Default,
            PermissionMode::AcceptEdits => Self::AcceptEdits,
            PermissionMode::Plan => Self::Plan,
            PermissionMode::Bypass => Self::Bypass,
        }
    }
}

/// What commands may touch, from the strictest to the loosest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Sandbox {
    /// Commands can write only to a temporary directory and have no network.
    ReadOnly,
    /// Commands can also write to the workspace; no network.
    WorkspaceWrite,
    /// No sandbox: commands run as you.
    Off,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The final answer.
    #[default]
    Text,
    /// One object at the end.
    Json,
    /// One object per line, as things happen.
    StreamJson,
}

/// What has to hold before the work counts as done.
#[derive(Clone, Debug, Args)]
pub(crate) struct Verification {
    /// A shell command that must exit with 0 before the work counts as done; repeatable. If one fails, the model gets a report and
    /// continues, at most three times for each message.
    #[arg(help_heading = CHECKS, long, value_name = "CMD", value_parser = verify_command)]
    pub(crate) verify: Vec<String>,
    /// Time limit of each of these commands, such as `90s`, `10m`.
    #[arg(help_heading = CHECKS, long, value_name = "DURATION", default_value = "10m", value_parser = crate::config::units::parse_duration)]
    pub(crate) verify_timeout: DurationMs,
}

impl Verification {
    pub(crate) fn commitments(&self) -> Vec<Commitment> {
        let commitment = |command: &String| Commitment::of_command(command, self.verify_timeout.0);
        self.verify.iter().map(commitment).collect()
    }
}

/// `-p` in the place of a message: refused with a word about where it belongs.
#[derive(Debug, Default, Args)]
pub(crate) struct Misplaced {
    #[arg(short, long, value_name = "PROMPT", hide = true)]
    prompt: Option<String>,
}

impl Misplaced {
    pub(crate) fn refuse_at_prompt(&self) -> Result<(), Failure> {
        self.refuse(
            "`-p` belongs to `agent run`: `agent run -p PROMPT`, with `--continue` or `--session-id ID` to resume a session",
        )
    }

    pub(crate) fn refuse_for_job(&self) -> Result<(), Failure> {
        self.refuse("`-p` belongs to `agent run`; a job takes its task as words: `agent job run DESC`")
    }

    fn refuse(&self, why: &str) -> Result<(), Failure> {
        if self.prompt.is_some() { Err(Failure::usage(why)) } else { Ok(()) }
    }
}

fn verify_command(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() { Err("the command is empty") } else { Ok(text.to_owned()) }
}
