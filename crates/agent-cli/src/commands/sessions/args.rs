//! The command line of everything that looks at kept sessions.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Sessions {
    #[command(subcommand)]
    pub(crate) command: SessionsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List the sessions of this directory, the one that was used last first.
    List(List),
    /// Show a session: what was said, and where it stands.
    Show(One),
    /// Write a session as a document.
    Export(Export),
    /// Read a session's journal from end to end, replay it, and say whether it is whole. Changes nothing.
    Verify(One),
    /// Remove a session for good.
    Rm(One),
    /// Look for what is wrong in a session file: a journal, or a session of Claude Code, Codex or pi. Changes nothing.
    ///
    /// Exit code 0 when nothing is, 1 when something is, 42 when the file is no session that is known.
    Lint(Lint),
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Most sessions to list.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) number: usize,
    /// Also those in which nothing was said, with which `--continue` does not go on.
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct One {
    /// The session's id; without it the newest of the directory.
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct Lint {
    /// The file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Write a repaired copy to this file, which must not be there yet. The exit code is about the copy then.
    #[arg(long, value_name = "OUT")]
    pub(crate) repair: Option<PathBuf>,
    /// As one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) session: One,
    /// In which form.
    #[arg(long, value_enum, default_value = "markdown")]
    pub(crate) format: ExportFormat,
    /// Where to write it. Default: standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ExportFormat {
    /// To read and to paste.
    Markdown,
    /// One file for a browser, without network: also the transitions, with the diagram of the machine at each step.
    Html,
}

#[derive(Debug, Args)]
pub(crate) struct Replay {
    #[command(flatten)]
    pub(crate) session: One,
    /// Stop behind this record and show where the session stood.
    #[arg(long, value_name = "N")]
    pub(crate) to: Option<u64>,
    /// List only what this program's tables decide otherwise than the program that wrote the journal.
    #[arg(long)]
    pub(crate) against_current: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) session: One,
    /// As one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Branch {
    /// The session's id.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The last record that the new session has of it.
    #[arg(long, value_name = "N")]
    pub(crate) at: u64,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct Rewind {
    /// The session's id.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The last record that stays.
    #[arg(long, value_name = "N")]
    pub(crate) to: u64,
    /// Take back what the session's turns behind there changed in files, too, where nobody changed it since. Asks first.
    #[arg(long)]
    pub(crate) files: bool,
    /// Do not ask.
    #[arg(long, requires = "files")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct Place {
    /// The sessions of this directory.
    #[arg(short = 'C', long = "cd", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}
