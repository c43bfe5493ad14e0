//! The command lines of what is done with agents that run or have run.

use clap::Args;
use std::path::PathBuf;

/// Whose sessions.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// Use the sessions of this directory.
    #[arg(short = 'C', long = "cd", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Ps {
    /// The session, by its id or the beginning of it. Default: the newest of this directory.
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Write JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// One agent.
#[derive(Debug, Args)]
pub(crate) struct One {
    /// The agent: its id, how its session's id begins with its numbers behind it (`1a20.2.1`), or its name in the newest session.
    #[arg(value_name = "AGENT")]
    pub(crate) agent: String,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct Send {
    #[command(flatten)]
    pub(crate) one: One,
    /// The message; `-` reads it from standard input.
    #[arg(value_name = "MESSAGE", required = true)]
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Fleet {
    /// Write a line whenever what an agent does changes, and draw nothing anew.
    #[arg(long)]
    pub(crate) plain: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}
