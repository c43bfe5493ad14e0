//! The command line: what users and scripts may say.

use crate::config::options::{Misplaced, Options, Verification};
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

/// What to do; without a command an interactive session in the current directory.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Do one task without asking, and exit with what came of it.
    Run(Run),
    /// Do a job with retries and an audit record, or look at the records.
    Job(crate::commands::job::args::Job),
    /// Show the whole loop without key or network, on a small repository made for it.
    Demo(Demo),
    /// Go on with a session at the prompt; without an id with the newest of this directory.
    Resume(Resume),
    /// Look at kept sessions: list, show, export, verify, remove.
    Sessions(crate::commands::sessions::args::Sessions),
    /// Tell a session again from its journal, record by record.
    Replay(crate::commands::sessions::args::Replay),
    /// Tell why a session stopped, and what it took.
    Explain(crate::commands::sessions::args::Explain),
    /// Make a new session of the first records of another one.
    Branch(crate::commands::sessions::args::Branch),
    /// Go back in a session: a new one with its first records. The original stays.
    Rewind(crate::commands::sessions::args::Rewind),
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
    Completions(Completions),
    /// Write the manual page of a command, of `agent` itself by default, to standard output.
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

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Where to make the repository; an empty or missing directory. Default: a new temporary directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Write only the verdict.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell that reads them.
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The command, such as `sessions show`.
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}
