//! Calls git so that nothing of the repository is run.

use crate::config::HooksConfig;
use crate::users_files::odd_users_file;
use agent_types::git_programs;
use agent_types::hook::HookError;
use agent_types::ports::{CancelSignal, Command, CommandOutput, CommandRunner, Exit, NeverCancelled};
use std::path::Path;

/// Output kept of one call.
const OUTPUT_LIMIT_BYTES: usize = 32 * 1024 * 1024;

/// Calls git in one directory.
#[derive(Clone)]
pub(crate) struct Git<'a> {
    /// How.
    pub(crate) config: &'a HooksConfig,
    /// By whom.
    pub(crate) runner: &'a dyn CommandRunner,
    /// Where: the root of the working tree.
    pub(crate) directory: &'a Path,
    /// Until when.
    pub(crate) cancel: &'a dyn CancelSignal,
    /// The index to use instead of the user's, and other variables.
    pub(crate) environment: Vec<(String, String)>,
}

/// Why a call of git failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GitError {
    /// It could not be started.
    #[error("{0}")]
    Start(#[from] agent_types::ports::CommandError),
    /// It ended with an error.
    #[error("git {subcommand}: {found}")]
    Failed {
        /// What was called.
        subcommand: String,
        /// The last line it wrote, or how it ended.
        found: String,
    },
    /// The repository belongs to another user and git refuses to work in it.
    #[error("git refuses this repository because it belongs to another user (see safe.directory in `git help config`)")]
    DubiousOwnership,
    /// The hook is to stop.
    #[error("stopped: cancelled")]
    Cancelled,
}

impl From<GitError> for HookError {
    fn from(error: GitError) -> Self {
        Self::Failed { message: error.to_string() }
    }
}

impl<'a> Git<'a> {
    /// The same git with one more variable.
    pub(crate) fn with_variable(&self, name: &str, value: &str) -> Self {
        let mut environment = self.environment.clone();
        environment.push((name.to_owned(), value.to_owned()));
        Self { environment, ..*self }
    }

    /// The same git, which is not stopped any more: for the steps that belong together.
    pub(crate) fn uninterrupted(&self) -> Self {
        Self { cancel: &NeverCancelled, environment: self.environment.clone(), ..*self }
    }

    /// Runs git and returns what it wrote.
    pub(crate) async fn run(&self, arguments: &[&str], stdin: Vec<u8>) -> Result<Vec<u8>, GitError> {
        let output = self.call(arguments, stdin).await?;
        match output.exit {
            Exit::Code(0) => Ok(output.stdout),
            _ => Err(failure(arguments, &output)),
        }
    }

    /// Runs git and returns what it wrote, or nothing when it ended with status 1, which means "no" for the caller's question.
    pub(crate) async fn ask(&self, arguments: &[&str], stdin: Vec<u8>) -> Result<Option<Vec<u8>>, GitError> {
        let output = self.call(arguments, stdin).await?;
        match output.exit {
            Exit::Code(0) => Ok(Some(output.stdout)),
            Exit::Code(1) => Ok(None),
            _ => Err(failure(arguments, &output)),
        }
    }

    /// Runs git and returns the one line it wrote.
    pub(crate) async fn line(&self, arguments: &[&str], stdin: Vec<u8>) -> Result<String, GitError> {
        let output = self.run(arguments, stdin).await?;
        Ok(String::from_utf8_lossy(&output).trim_end().to_owned())
    }

    async fn call(&self, arguments: &[&str], stdin: Vec<u8>) -> Result<CommandOutput, GitError> {
        if let Some(why) = odd_users_file(self.config.home.as_deref(), self.config.config_home.as_deref(), &[]) {
            return Err(failed(arguments, &why));
        }
        let mut environment: Vec<(String, String)> = ENVIRONMENT
            .iter()
            .copied()
            .chain(variables())
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let places = [("HOME", &self.config.home), ("XDG_CONFIG_HOME", &self.config.config_home)];
        for (name, place) in places.into_iter().filter_map(|(name, place)| Some((name, place.as_ref()?))) {
            environment.push((name.to_owned(), place.to_string_lossy().into_owned()));
        }
        // Where `.git` is gone in this moment, no repository above is taken instead.
        if let Some(above) = self.directory.parent().filter(|_| self.directory.is_absolute()) {
            environment.push(("GIT_CEILING_DIRECTORIES".to_owned(), above.to_string_lossy().into_owned()));
        }
        environment.extend(self.environment.iter().cloned());
        let command = Command {
            program: self.config.git_program.clone(),
            arguments: hardening().chain(arguments.iter().map(|argument| (*argument).to_owned())).collect(),
            directory: self.directory.to_string_lossy().into_owned(),
            environment,
            stdin,
            timeout_ms: self.config.git_timeout_ms,
            output_limit_bytes: OUTPUT_LIMIT_BYTES,
        };
        let output = self.runner.run(&command, self.cancel).await?;
        if output.exit == Exit::Cancelled {
            return Err(GitError::Cancelled);
        }
        if output.dropped_bytes > 0 {
            return Err(failed(arguments, "its output is too long"));
        }
        Ok(output)
    }
}

fn failure(arguments: &[&str], output: &CommandOutput) -> GitError {
    let stderr = String::from_utf8_lossy(&output.stderr);
    if stderr.contains("detected dubious ownership") {
        return GitError::DubiousOwnership;
    }
    let line = stderr.lines().find(|line| line.starts_with("fatal:") || line.starts_with("error:"));
    match (output.exit, line) {
        (Exit::TimedOut, _) => failed(arguments, "it took too long"),
        (_, Some(line)) => failed(arguments, line),
        (exit, None) => failed(arguments, &format!("it ended with {exit:?}")),
    }
}

fn hardening() -> impl Iterator<Item = String> {
    let values = git_programs::values().flat_map(|(key, value)| [String::from("-c"), format!("{key}={value}")]);
    HARDENING.iter().map(|argument| (*argument).to_owned()).chain(values)
}

fn variables() -> impl Iterator<Item = (&'static str, &'static str)> {
    // A program that fails is as good as none, and says so.
    git_programs::variables().map(|(name, value)| (name, if value == "ssh" { "false" } else { value }))
}

fn failed(arguments: &[&str], found: &str) -> GitError {
    let subcommand = arguments.iter().copied().find(|argument| !argument.starts_with('-'));
    GitError::Failed { subcommand: subcommand.unwrap_or_default().to_owned(), found: found.to_owned() }
}

/// Each of these takes a way to run a program, or to reach another repository, from the repository's configuration. Those of
/// [`git_programs`] come after them.
const HARDENING: &[&str] = &[
    "--no-optional-locks",
    "--no-replace-objects",
    "--no-pager",
    "-c",
    "diff.external=",
    "-c",
    "protocol.allow=never",
    "-c",
    "safe.bareRepository=explicit",
    "-c",
    "i18n.commitEncoding=UTF-8",
    "-c",
    "i18n.logOutputEncoding=UTF-8",
];

/// On top of the runner's clean environment, which has no `GIT_` variables.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // A partial clone would fetch what it misses, by the programs that the repository's remote names.
    ("GIT_NO_LAZY_FETCH", "1"),
];
