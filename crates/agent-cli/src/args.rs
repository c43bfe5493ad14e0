//! The command line: what users and scripts may say.

use crate::failure::Failure;
use agent_core::lifecycle::Commitment;
use agent_core::permission::{PermissionMode, Rule};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// A coding agent driven by a state machine.
#[derive(Debug, Parser)]
#[command(
    name = "agent",
    version,
    max_term_width = 100,
    args_conflicts_with_subcommands = true,
    args_override_self = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) options: Options,
    #[command(flatten)]
    pub(crate) verification: Verification,
    #[command(flatten)]
    pub(crate) misplaced: Misplaced,
}

/// What has to hold before the work counts as done.
#[derive(Clone, Debug, Args)]
pub(crate) struct Verification {
    /// A shell command that has to end with 0 before the work counts as done; repeatable. When one does not, the model is told and continues,
    /// at most three times for each message.
    #[arg(long, value_name = "CMD", value_parser = verify_command)]
    pub(crate) verify: Vec<String>,
    /// How long each of these commands may take, such as `90s`, `10m`.
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = crate::units::parse_duration)]
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

/// What to do; without a command an interactive session in the current directory.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Do one task without asking, and exit with what came of it.
    Run(Run),
    /// Do a job with retries and an audit record, or look at the records.
    Job(crate::job::args::Job),
    /// Show the whole loop without key or network, on a small repository made for it.
    Demo(crate::demo::Demo),
    /// Go on with a session at the prompt; without an id with the newest of this directory.
    Resume(Resume),
    /// Look at kept sessions: list, show, export, verify, remove.
    Sessions(crate::sessions::args::Sessions),
    /// Tell a session again from its journal, record by record.
    Replay(crate::sessions::args::Replay),
    /// Tell why a session stopped, and what it took.
    Explain(crate::sessions::args::Explain),
    /// Make a new session of the first records of another one.
    Branch(crate::sessions::args::Branch),
    /// Go back in a session: a new one with its first records. The original stays.
    Rewind(crate::sessions::args::Rewind),
    /// Take back what the agent changed in its last turns; commits stay, and so does what somebody changed since.
    Undo(Undo),
    /// Trust this workspace, so that programs are used that its repository names or configures; shows first which.
    Trust(Trust),
    /// Draw a machine from its table.
    Diagram(Diagram),
    /// Look for what is missing on this machine.
    Doctor(Doctor),
    /// List the tools with their parameters.
    Tools,
    /// Look at the configuration.
    Config(ConfigArguments),
    /// Look at what holds commands back on this machine.
    Sandbox(SandboxArguments),
    /// Write the completions for a shell to standard output.
    Completions(crate::help_pages::Completions),
    /// Write the manual page of a command, of `agent` itself by default, to standard output.
    Man(crate::help_pages::Man),
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The task; `-` reads it from standard input.
    #[arg(short, long = "prompt", value_name = "PROMPT")]
    pub(crate) prompt: Option<String>,
    /// The task, as words.
    #[arg(value_name = "PROMPT", conflicts_with = "prompt")]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) verification: Verification,
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Debug, Args)]
pub(crate) struct Undo {
    /// How many turns. An undo counts as one: after an undo, 1 takes it back.
    #[arg(value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) turns: u32,
    /// In this directory's repository.
    #[arg(short = 'C', long = "cd", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// Only show what trust enables; exit code 0 when it is trusted, 1 when not.
    #[arg(long, conflicts_with_all = ["revoke", "yes"])]
    pub(crate) show: bool,
    /// Trust it no longer.
    #[arg(long, conflicts_with = "yes")]
    pub(crate) revoke: bool,
    /// Let its hooks run as you where they are one script that can be checked, and its formatters where there is no sandbox.
    #[arg(long, conflicts_with = "revoke")]
    pub(crate) outside_sandbox: bool,
    /// Do not ask.
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// The project of this directory.
    #[arg(short = 'C', long = "cd", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Look at this directory.
    #[arg(short = 'C', long = "cd", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print what would hold for a run here with these options, and who says so. Keys are not shown.
    Show(Box<ConfigShow>),
}

#[derive(Debug, Args)]
pub(crate) struct ConfigShow {
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Debug, Args)]
pub(crate) struct SandboxArguments {
    #[command(subcommand)]
    pub(crate) command: SandboxCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SandboxCommand {
    /// Try what a sandbox should refuse, inside and outside of it, and print what is really enforced; exit code 0 when all of it is.
    Check(SandboxCheck),
}

#[derive(Debug, Args)]
pub(crate) struct SandboxCheck {
    /// Check this one instead of the strongest that works.
    #[arg(long, value_enum)]
    pub(crate) with: Option<SandboxKind>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SandboxKind {
    /// Namespaces made by the program `bwrap`, and a filter of system calls.
    Bubblewrap,
    /// Landlock and a filter of system calls: weaker.
    Landlock,
}

#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// The session's id.
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) options: Options,
    #[command(flatten)]
    pub(crate) verification: Verification,
    #[command(flatten)]
    pub(crate) misplaced: Misplaced,
}

#[derive(Debug, Args)]
pub(crate) struct Diagram {
    /// Which machine.
    #[arg(value_enum)]
    pub(crate) machine: Machine,
    /// In which form.
    #[arg(long, value_enum, default_value = "mermaid")]
    pub(crate) format: DiagramFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Machine {
    /// A conversation between a user, a model and its tools.
    Session,
    /// An agent's life and the commitments it is bound to.
    Lifecycle,
    /// One piece of work from its description to its audit record.
    Job,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum DiagramFormat {
    Mermaid,
    Dot,
    Markdown,
    Grid,
    Json,
    Svg,
}

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
    #[arg(long, value_name = "DURATION", value_parser = crate::units::parse_wait)]
    pub(crate) first_byte_timeout: Option<DurationMs>,
    /// Longest wait between two pieces of an answer. Default: the configured one, else `2m`.
    #[arg(long, value_name = "DURATION", value_parser = crate::units::parse_wait)]
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
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = crate::units::parse_usd)]
    pub(crate) max_budget_usd: Option<NanoUsd>,
    /// Most tokens of the session.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) max_total_tokens: Option<u64>,
    /// Most tool calls of the session.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) max_tool_calls: Option<u64>,
    /// Most time of a turn, such as `90s`, `10m`, `1h`.
    #[arg(long, value_name = "DURATION", value_parser = crate::units::parse_duration)]
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

/// Money in billionths of a dollar, as read from the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NanoUsd(pub(crate) u64);

/// Milliseconds, as read from the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DurationMs(pub(crate) u64);

fn verify_command(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() { Err("the command is empty") } else { Ok(text.to_owned()) }
}
