//! Commitments: what an agent has promised, and how that is found out.

use agent_types::quote::in_one_line;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

/// A promise that can be checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commitment {
    /// What is promised, in words.
    pub promise: String,
    /// How it is checked.
    pub assertion: Assertion,
    /// Who made it. Those of both sides must be kept.
    pub origin: Origin,
}

impl Commitment {
    /// A commitment made by the host, described by its command alone.
    #[must_use]
    pub fn of_command(command: &str, timeout_ms: u64) -> Self {
        Self {
            promise: String::from(command),
            assertion: Assertion { command: String::from(command), timeout_ms },
            origin: Origin::Starter,
        }
    }
}

/// A shell command that ends with exit code 0 when the promise is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assertion {
    /// The command.
    pub command: String,
    /// How long it may take, in milliseconds. One that takes longer has failed.
    pub timeout_ms: u64,
}

/// Who made a commitment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// The host that started the agent.
    Starter,
    /// The agent that began it.
    Parent,
    /// The agent itself.
    Agent,
}

/// Names a commitment: its position among those of the agent, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommitmentId(pub usize);

/// One check to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The commitment.
    pub commitment: CommitmentId,
    /// What to run.
    pub assertion: Assertion,
}

/// How a check ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport {
    /// How it ended.
    pub end: CheckEnd,
    /// What it printed, as far as kept.
    pub output: String,
    /// The files that it was about; nothing where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FilesChecked>,
}

/// How the files were that a check was about. Marks are equal where no file differs, and tell nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesChecked {
    /// Their mark when the check began.
    pub before: String,
    /// Their mark when it had ended.
    pub after: String,
    /// Some of the files that changed in between, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
}

impl CheckReport {
    /// A check that ended so, with what it printed. Its files are not known.
    #[must_use]
    pub const fn new(end: CheckEnd, output: String) -> Self {
        Self { end, output, files: None }
    }

    /// Whether the commitment is kept: only a command that ended by itself with exit code 0 says so.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        matches!(self.end, CheckEnd::Exited { code: 0 })
    }
}

/// How a check ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CheckEnd {
    /// By itself.
    Exited {
        /// With this exit code.
        code: i32,
    },
    /// By a signal.
    Killed {
        /// The signal's number.
        signal: i32,
    },
    /// Its time was up.
    TimedOut,
    /// It ended before it had an answer.
    Broke {
        /// What was found.
        found: String,
    },
    /// It could not be started.
    NotStarted {
        /// What was found.
        found: String,
    },
    /// It ended by itself with exit code 0, and then files changed, or while it ran. Only the machine says so.
    Stale {
        /// Some of the files, by path.
        changed: Vec<String>,
    },
}

impl fmt::Display for CheckEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited { code } => write!(f, "ended with exit code {code}"),
            Self::Killed { signal } => write!(f, "was ended by signal {signal}"),
            Self::TimedOut => f.write_str("was not done in time"),
            Self::Broke { found } => write!(f, "broke: {found}"),
            Self::NotStarted { found } => write!(f, "could not be started: {found}"),
            Self::Stale { changed } if changed.is_empty() => f.write_str("passed, but files changed since it began"),
            Self::Stale { changed } => {
                write!(f, "passed, but files changed since it began: {}", in_one_line(&changed.join(", ")))
            }
        }
    }
}
