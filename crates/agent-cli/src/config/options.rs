//! The options of a run, as flags and configuration set them.

use crate::config::units::{DurationMs, NanoUsd};
use crate::failure::Failure;
use agent_core::lifecycle::Commitment;
use agent_core::permission::{PermissionMode, Rule};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Options of `run`, the prompt and `resume`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Options {
    /// Wire format of the model provider. Default: the only one whose key is set.
    #[arg(long, value_enum)]
    pub(crate) provider: Option<ProviderName>,
    /// Model id. Default: the configured one, else the only one that the provider lists.
    #[arg(short, long, value_name = "ID")]
    pub(crate) model: Option<String>,
    /// Where the provider is; alone it means `--provider openai`. OpenAI URLs end in `/v1`, Anthropic ones do not.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// The environment variable with the key for this server; `-` sends none. Without it, a provider's usual key goes to its own hosts only.
    #[arg(long, value_name = "NAME")]
    pub(crate) api_key_env: Option<String>,
    /// Longest wait for the first piece of an answer, such as `90s`, `5m`. Default: the configured one, else `2m`.
    #[arg(long, value_name = "DURATION", value_parser = crate::config::units::parse_wait)]
    pub(crate) first_byte_timeout: Option<DurationMs>,
    /// Longest wait between two pieces of an answer. Default: the configured one, else `2m`.
    #[arg(long, value_name = "DURATION", value_parser = crate::config::units::parse_wait)]
    pub(crate) idle_timeout: Option<DurationMs>,
    /// Record the model calls in this new file, for `--replay`. Keys are kept out of it.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    pub(crate) record: Option<PathBuf>,
    /// Play the model calls of a recording, without key or network; the model is the recorded one unless said otherwise.
    #[arg(long, value_name = "FILE", conflicts_with = "base_url", required_if_eq("provider", "replay"))]
    pub(crate) replay: Option<PathBuf>,
    /// When a request counts as a recorded one.
    #[arg(long, value_enum, value_name = "HOW", default_value = "exact", requires = "replay")]
    pub(crate) replay_match: ReplayMatch,
    /// Model that takes over when the first is overloaded or exhausted; repeatable.
    #[arg(long, value_name = "ID")]
    pub(crate) fallback_model: Vec<String>,
    /// Most model calls of the session.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) max_turns: Option<u64>,
    /// Most money of the session, in US dollars.
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = crate::config::units::parse_usd)]
    pub(crate) max_budget_usd: Option<NanoUsd>,
    /// Most tokens of the session.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) max_total_tokens: Option<u64>,
    /// Most tool calls of the session.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) max_tool_calls: Option<u64>,
    /// Most time of a turn, such as `90s`, `10m`, `1h`.
    #[arg(long, value_name = "DURATION", value_parser = crate::config::units::parse_duration)]
    pub(crate) max_wall_time: Option<DurationMs>,
    /// What may happen without asking.
    #[arg(long, value_enum)]
    pub(crate) permission_mode: Option<Mode>,
    /// A call that runs without asking, such as `bash(git status:*)` or `edit_file(src/**)`; repeatable.
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<Rule>,
    /// A call that never runs, whatever else is said; repeatable.
    #[arg(long, value_name = "RULE")]
    pub(crate) deny: Vec<Rule>,
    /// What commands may touch. Default: `workspace-write`. Where that cannot be enforced, a run is an error; at the prompt it is said, and commands run as you.
    #[arg(long, value_enum)]
    pub(crate) sandbox: Option<Sandbox>,
    /// Work in the home directory, in a directory that holds it, or in the agent's own. Without this a run is an error there, and the prompt asks.
    #[arg(long)]
    pub(crate) allow_home: bool,
    /// Commit what the agent changed after every batch of changes.
    #[arg(long, conflicts_with = "no_auto_commit")]
    pub(crate) auto_commit: bool,
    /// Commit nothing.
    #[arg(long)]
    pub(crate) no_auto_commit: bool,
    /// Run the configured formatters over what the agent changed.
    #[arg(long)]
    pub(crate) format_on_edit: bool,
    /// What is written to standard output.
    #[arg(long, value_enum)]
    pub(crate) output_format: Option<OutputFormat>,
    /// With `stream-json`: also the pieces of answers.
    #[arg(long)]
    pub(crate) include_partial_messages: bool,
    /// System prompt instead of the built-in one.
    #[arg(long, value_name = "TEXT")]
    pub(crate) system_prompt: Option<String>,
    /// Text behind the system prompt.
    #[arg(long, value_name = "TEXT")]
    pub(crate) append_system_prompt: Option<String>,
    /// Work in this directory.
    #[arg(short = 'C', long = "cd", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Go on with the newest session of this directory.
    #[arg(short, long = "continue", conflicts_with = "session_id")]
    pub(crate) continue_newest: bool,
    /// Id of the session: an existing one goes on, otherwise a new one gets it.
    #[arg(long, value_name = "ID")]
    pub(crate) session_id: Option<String>,
    /// Go on in a new session with the records of the old one, which stays as it is.
    #[arg(long)]
    pub(crate) fork_session: bool,
    /// Whether the named session has to exist; set by `resume`.
    #[arg(skip)]
    pub(crate) must_exist: bool,
    /// Keep no journal.
    #[arg(long, conflicts_with_all = ["continue_newest", "session_id"])]
    pub(crate) no_session: bool,
    /// Only data and errors.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Also the transitions of the machine.
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// Who sits in front: limits differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seat {
    Headless,
    Interactive,
    /// As `Headless`, and nothing will run.
    Looking,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ProviderName {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions, and everything that speaks them.
    #[value(name = "openai")]
    #[serde(rename = "openai")]
    OpenAi,
    /// OpenAI Responses.
    #[value(name = "openai-responses")]
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// None: the recording that `--replay` names.
    #[serde(skip)]
    Replay,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReplayMatch {
    /// When it says the same, word by word.
    #[default]
    Exact,
    /// When the same was said and called; prompts, tools, ids and results may differ.
    Lenient,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Mode {
    /// Reading runs, everything else is asked.
    Default,
    /// Editing files runs too.
    AcceptEdits,
    /// Nothing that may change anything runs.
    Plan,
    /// Everything runs that no rule denies.
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

/// What commands may touch, from the strictest to the loosest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Sandbox {
    /// Commands write in a temporary directory only, and have no network.
    ReadOnly,
    /// Commands write in the workspace, too.
    WorkspaceWrite,
    /// Commands run as the user.
    Off,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The final answer.
    #[default]
    Text,
    /// One object at the end.
    Json,
    /// One object a line, as things happen.
    StreamJson,
}

/// What has to hold before the work counts as done.
#[derive(Clone, Debug, Args)]
pub(crate) struct Verification {
    /// A shell command that has to end with 0 before the work counts as done; repeatable. When one does not, the model is told and continues,
    /// at most three times for each message.
    #[arg(long, value_name = "CMD", value_parser = verify_command)]
    pub(crate) verify: Vec<String>,
    /// How long each of these commands may take, such as `90s`, `10m`.
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = crate::config::units::parse_duration)]
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
            "`-p` belongs to `agent run`: `agent run -p PROMPT`, with `--continue` or `--session-id ID` to go on with a session",
        )
    }

    pub(crate) fn refuse_for_job(&self) -> Result<(), Failure> {
        self.refuse("`-p` belongs to `agent run`: say what is to be done as words, `agent job run DESC`")
    }

    fn refuse(&self, why: &str) -> Result<(), Failure> {
        if self.prompt.is_some() { Err(Failure::usage(why)) } else { Ok(()) }
    }
}

fn verify_command(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() { Err("the command is empty") } else { Ok(text.to_owned()) }
}
