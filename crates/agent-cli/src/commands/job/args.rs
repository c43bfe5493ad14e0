//! The command line of `agent job`.

use crate::config::options::{Misplaced, Options, Verification};

use crate::config::units::DurationMs;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Job {
    #[command(subcommand)]
    pub(crate) command: JobCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum JobCommand {
    /// Do one job: choose a skill and a model, do the work, retry what fails, and always leave an audit record.
    Run(Box<JobRun>),
    /// Refused with a word: it is known by name, and not there.
    #[command(hide = true)]
    Batch(Batch),
    /// Print the audit records of this directory's jobs, one JSON object per line.
    Audit(Records),
    /// Print the audit record of one job.
    Show(Show),
}

#[derive(Debug, Args)]
pub(crate) struct Batch {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    pub(crate) rest: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct JobRun {
    /// The task, as words.
    #[arg(value_name = "DESC", required = true)]
    pub(crate) words: Vec<String>,
    /// Number of retries. Default: the configured number, or 3.
    #[arg(long, value_name = "N")]
    pub(crate) job_max_retries: Option<u32>,
    /// Wait before the first retry; it doubles with each further one. Default: the configured value, or `1s`.
    #[arg(long, value_name = "DURATION", value_parser = crate::config::units::parse_duration)]
    pub(crate) job_base_delay: Option<DurationMs>,
    #[command(flatten)]
    pub(crate) options: Options,
    #[command(flatten)]
    pub(crate) verification: Verification,
    #[command(flatten)]
    pub(crate) misplaced: Misplaced,
}

#[derive(Debug, Args)]
pub(crate) struct Records {
    /// Use the jobs of this directory.
    #[arg(short = 'C', long = "cd", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The job's id.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) records: Records,
}
