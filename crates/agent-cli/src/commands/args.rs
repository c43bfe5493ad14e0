//! The command line: what users and scripts may say.

use crate::commands::agents::args as agents;
use crate::commands::examples;
use crate::config::options::{Misplaced, Options, Sandbox, Verification};
use crate::config::providers::{ChoiceParser, ProviderChoice};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// A coding agent driven by a state machine.
#[derive(Debug, Parser)]
#[command(
    name = "agent",
    version,
    max_term_width = 100,
    override_usage = "agent [OPTIONS]\n       agent [OPTIONS] \"TASK IN WORDS\"\n       agent <COMMAND>",
    args_conflicts_with_subcommands = true,
    args_override_self = true,
    after_help = examples::AGENT
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

/// What to do; without a command, an interactive session in the current directory.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Do one task without asking; the exit code reports the outcome.
    #[command(after_help = examples::RUN)]
    Run(Run),
    /// Do a job with retries and an audit record, or show the records.
    #[command(after_help = examples::JOB)]
    Job(crate::commands::job::args::Job),
    /// Show the whole loop on a small sample repository, without a key or network.
    #[command(after_help = examples::DEMO)]
    Demo(Demo),
    /// Resume a session at the prompt (default: the newest in this directory).
    #[command(after_help = examples::RESUME)]
    Resume(Resume),
    /// List, search, show, export, verify, import or remove sessions, or check a session file.
    #[command(after_help = examples::SESSIONS)]
    Sessions(crate::commands::sessions::args::Sessions),
    /// Replay a session's journal, record by record.
    #[command(after_help = examples::REPLAY)]
    Replay(crate::commands::sessions::args::Replay),
    /// Explain why a session stopped and what it used.
    #[command(after_help = examples::EXPLAIN)]
    Explain(crate::commands::sessions::args::Explain),
    /// Start a new session from the first records of another.
    #[command(after_help = examples::BRANCH)]
    Branch(crate::commands::sessions::args::Branch),
    /// Go back in a session: start a new one from its first records. The original stays as it is.
    #[command(after_help = examples::REWIND)]
    Rewind(crate::commands::sessions::args::Rewind),
    /// List a session's agents: its own and those below it.
    #[command(after_help = examples::PS)]
    Ps(agents::Ps),
    /// Show one agent: its task, where it stands, what it may use and what it said last.
    #[command(after_help = examples::SHOW)]
    Show(agents::One),
    /// Watch an agent at work, and send it what you type.
    #[command(after_help = examples::ATTACH)]
    Attach(agents::One),
    /// Send a message to an agent at work; it answers a question that the agent waits with.
    #[command(after_help = examples::SEND)]
    Send(agents::Send),
    /// Stop an agent at work, with all that work for it.
    #[command(after_help = examples::STOP)]
    Stop(agents::One),
    /// Watch all agents that run now, of all sessions.
    #[command(after_help = examples::FLEET)]
    Fleet(agents::Fleet),
    /// Restore the files that the agent changed in its last turns; commits and later changes stay.
    #[command(after_help = examples::UNDO)]
    Undo(Undo),
    /// Let this repository's hooks and formatters run; lists them first.
    #[command(after_help = examples::TRUST)]
    Trust(Trust),
    /// List, add, remove, test and review servers of the Model Context Protocol, which bring tools.
    #[command(after_help = examples::MCP)]
    Mcp(crate::commands::mcp::args::McpArguments),
    /// Work in an editor: an agent of the Agent Client Protocol on standard input and output.
    #[command(after_help = examples::ACP)]
    Acp(Acp),
    /// Draw a machine from its table.
    #[command(after_help = examples::DIAGRAM)]
    Diagram(Diagram),
    /// Check this machine and the configuration for problems.
    #[command(after_help = examples::DOCTOR)]
    Doctor(Doctor),
    /// List the models that are configured and those that the servers offer.
    #[command(after_help = examples::MODELS)]
    Models(Models),
    /// List the commands at the prompt.
    #[command(after_help = examples::COMMANDS)]
    Commands(Commands),
    /// List the skills of this directory, and what is wrong with those that cannot be used.
    #[command(after_help = examples::SKILLS)]
    Skills(Skills),
    /// List the tools with their parameters.
    #[command(after_help = examples::TOOLS)]
    Tools,
    /// Show the configuration in effect.
    #[command(after_help = examples::CONFIG)]
    Config(ConfigArguments),
    /// Check what confines commands on this machine.
    #[command(after_help = examples::SANDBOX)]
    Sandbox(SandboxArguments),
    /// Write a shell's completion script to standard output.
    #[command(after_help = examples::COMPLETIONS)]
    Completions(Completions),
    /// Write the manual page of a command (default: `agent` itself) to standard output.
    #[command(after_help = examples::MAN)]
    Man(Man),
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The task; `-` reads it from standard input.
    #[arg(short, long = "prompt", value_name = "PROMPT")]
    pub(crate) prompt: Option<String>,
    /// The task, as words.
    #[arg(value_name = "PROMPT", conflicts_with = "prompt")]
    pub(crate) words: Vec<String>,
    /// Send this picture (PNG, JPEG, GIF or WebP) with the task. May be repeated.
    #[arg(long = "image", value_name = "FILE")]
    pub(crate) images: Vec<PathBuf>,
    /// Format of standard input. With `stream-json` each line is a message, an answer or a stop of a conversation; it needs
    /// `--output-format stream-json`.
    #[arg(help_heading = "Output", long, value_enum, value_name = "FORMAT", default_value = "text")]
    pub(crate) input_format: InputFormat,
    #[command(flatten)]
    pub(crate) verification: Verification,
    #[command(flatten)]
    pub(crate) options: Options,
}

/// What standard input has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum InputFormat {
    /// The task, or what goes with it.
    Text,
    /// What a program says in a conversation, an object a line.
    StreamJson,
}

#[derive(Debug, Args)]
pub(crate) struct Acp {
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Debug, Args)]
pub(crate) struct Undo {
    /// Number of turns to undo. An undo counts as a turn: `agent undo` after an undo reverses it.
    #[arg(value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) turns: u32,
    /// Use the repository of this directory.
    #[arg(short = 'C', long = "cd", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// Only show what trust enables; exit code 0 if the repository is trusted, 1 if not.
    #[arg(long, conflicts_with_all = ["revoke", "yes"])]
    pub(crate) show: bool,
    /// Withdraw the trust.
    #[arg(long, conflicts_with = "yes")]
    pub(crate) revoke: bool,
    /// Let hooks run as you if they are a single script that can be checked, and formatters if there is no sandbox.
    #[arg(long, conflicts_with = "revoke")]
    pub(crate) outside_sandbox: bool,
    /// Do not ask.
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Use the project in this directory.
    #[arg(short = 'C', long = "cd", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Also ask the provider for its models, which tries key and server. `--base-url` implies it.
    #[arg(long)]
    pub(crate) online: bool,
    #[command(flatten)]
    pub(crate) server: Server,
}

#[derive(Debug, Args)]
pub(crate) struct Models {
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) server: Server,
}

/// Which server is asked, and from where, as a run would have it.
#[derive(Debug, Args)]
pub(crate) struct Server {
    /// The provider, as for `agent run`.
    #[arg(long, value_name = "NAME", value_parser = ChoiceParser)]
    pub(crate) provider: Option<ProviderChoice>,
    /// The provider's URL, as for `agent run`.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Environment variable that holds the key for this server; `-` sends no key.
    #[arg(long, value_name = "NAME")]
    pub(crate) api_key_env: Option<String>,
    /// The model that a run would ask for.
    #[arg(short, long, value_name = "ID")]
    pub(crate) model: Option<String>,
    /// Use this directory.
    #[arg(short = 'C', long = "cd", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

impl Server {
    /// The options of a run that would ask it.
    pub(crate) fn options(&self) -> Options {
        Options {
            provider: self.provider.clone(),
            base_url: self.base_url.clone(),
            api_key_env: self.api_key_env.clone(),
            model: self.model.clone(),
            directory: self.directory.clone(),
            quiet: true,
            // No command of a model runs.
            sandbox: Some(Sandbox::Off),
            allow_home: true,
            ..Options::default()
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print the settings that a run here with these options would use, and where each one comes from. Keys are not shown.
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
    /// Try what a sandbox should refuse, inside and outside it, and print what is really enforced; exit code 0 if everything is.
    Check(SandboxCheck),
}

#[derive(Debug, Args)]
pub(crate) struct SandboxCheck {
    /// Check this sandbox instead of the strongest one that works.
    #[arg(long, value_enum)]
    pub(crate) with: Option<SandboxKind>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SandboxKind {
    /// Namespaces made by the program `bwrap`, and a system call filter.
    Bubblewrap,
    /// Landlock and a system call filter: weaker.
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
pub(crate) struct Commands {
    /// Print one JSON array.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Skills {
    /// Print one JSON array.
    #[arg(long)]
    pub(crate) json: bool,
    /// Use the skills of this directory.
    #[arg(short = 'C', long = "cd", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Diagram {
    /// The machine to draw.
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
    /// The life of an agent with commitments.
    Lifecycle,
    /// A child agent as its parent knows it.
    Child,
    /// One piece of work from its description to its audit record.
    Job,
    /// A server of tools as the agent that uses it knows it.
    Server,
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

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Where to create the repository: an empty or new directory. Default: a new temporary directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Print only the verdict.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The command, such as `sessions show`.
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}
