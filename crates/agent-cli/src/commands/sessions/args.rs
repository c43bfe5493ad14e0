//! The command line of everything that looks at kept sessions.

use super::import::From;
use crate::config::units::{Bytes, DurationMs, parse_age, parse_size};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Sessions {
    #[command(subcommand)]
    pub(crate) command: SessionsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List the sessions of this directory, newest first.
    List(List),
    /// Search in what was said in sessions. Exit code 0 if something was found, 1 if not.
    Search(Search),
    /// Show a session: its state and its conversation.
    Show(One),
    /// Write a session as a document.
    Export(Export),
    /// Read and replay a session's whole journal, and report whether it is intact. Changes nothing.
    Verify(One),
    /// Give a session a name, which the lists show; without a name, take it away.
    Rename(Rename),
    /// Remove a session for good.
    Rm(One),
    /// Remove old sessions for good: shows which, and asks.
    ///
    /// Sessions in use, those that cannot be read, and those with a name stay. Without an option, those go that were not used for 90 days,
    /// or as `[sessions]` in your configuration says.
    Gc(Gc),
    /// Make a session from one of Claude Code, Codex or pi, which `agent resume` resumes with any provider.
    Import(Import),
    /// Find problems in a session file: a journal, or a session of Claude Code, Codex or pi. Changes nothing.
    ///
    /// Exit code 0 if there are no problems, 1 if there are, 42 if the file is not a known kind of session.
    Lint(Lint),
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// List at most this many sessions.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) number: usize,
    /// Include sessions without a message, which `--continue` skips.
    #[arg(long)]
    pub(crate) all: bool,
    /// Print one JSON array.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// What a line must have: every one of these words, or phrases in quotes.
    #[arg(value_name = "WORDS", required = true)]
    pub(crate) words: Vec<String>,
    /// Search the sessions of all directories.
    #[arg(long, conflicts_with = "directory")]
    pub(crate) all: bool,
    /// Tell `Word` from `word`.
    #[arg(long)]
    pub(crate) case_sensitive: bool,
    /// Show at most this many lines.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct One {
    /// The session's id, or its beginning. Default: the newest session in the directory.
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct Rename {
    /// The session's id, or its beginning.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The name, in one or more words.
    #[arg(value_name = "NAME")]
    pub(crate) name: Vec<String>,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct Gc {
    /// Remove sessions that were last used longer ago, such as `90d`, `12w` or `36h`.
    #[arg(long, value_name = "AGE", value_parser = parse_age)]
    pub(crate) older_than: Option<DurationMs>,
    /// Keep the newest N sessions of each directory in any case. With no other limit, remove all others.
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<usize>,
    /// Remove the oldest sessions until the others have at most this size, such as `500MB`.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) max_size: Option<Bytes>,
    /// Remove sessions with a name, too.
    #[arg(long)]
    pub(crate) named: bool,
    /// Do it in the sessions of all directories.
    #[arg(long, conflicts_with = "directory")]
    pub(crate) all: bool,
    /// Do not ask. Without this and without a terminal, nothing is removed.
    #[arg(short, long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file; with `--from`, the session's id there.
    #[arg(value_name = "FILE|ID")]
    pub(crate) which: Option<String>,
    /// The program to look for the session at.
    #[arg(long, value_enum, value_name = "PROGRAM")]
    pub(crate) from: Option<From>,
    /// The newest session of this directory.
    #[arg(long, requires = "from", conflicts_with = "which")]
    pub(crate) last: bool,
    /// Import it although it was imported before.
    #[arg(long)]
    pub(crate) again: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct Lint {
    /// The file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Write a repaired copy to this file, which must not exist yet. The exit code then describes the copy.
    #[arg(long, value_name = "OUT")]
    pub(crate) repair: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) session: One,
    /// Output format. Default: as the file's name ends (`.html` or not), and Markdown on standard output.
    #[arg(long, value_enum)]
    pub(crate) format: Option<ExportFormat>,
    /// Where to write it. Default: standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// For reading and pasting.
    Markdown,
    /// One file for a browser, no network needed; includes the transitions and the machine's diagram at each step.
    Html,
}

#[derive(Debug, Args)]
pub(crate) struct Replay {
    #[command(flatten)]
    pub(crate) session: One,
    /// Stop after this record and show the session's state.
    #[arg(long, value_name = "N")]
    pub(crate) to: Option<u64>,
    /// Show only the last N records.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "against_current")]
    pub(crate) last: Option<u32>,
    /// List only decisions in which this program's tables differ from the program that wrote the journal.
    #[arg(long)]
    pub(crate) against_current: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) session: One,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Branch {
    /// The session's id, or its beginning.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The last record to copy into the new session.
    #[arg(long, value_name = "N")]
    pub(crate) at: u64,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct Rewind {
    /// The session's id, or its beginning.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The last record to keep. Default: at a terminal, the record before a message that you choose from a list.
    #[arg(long, value_name = "N")]
    pub(crate) to: Option<u64>,
    /// Also restore files that later turns of this session changed, unless they changed again since. Asks first.
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
    /// Use the sessions of this directory.
    #[arg(short = 'C', long = "cd", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}
