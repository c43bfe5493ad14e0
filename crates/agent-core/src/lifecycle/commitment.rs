//! Commitments: what an agent has promised, and how that is found out.

use alloc::string::String;
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
}

impl CheckReport {
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
}

impl fmt::Display for CheckEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited { code } => write!(f, "ended with exit code {code}"),
            Self::Killed { signal } => write!(f, "was ended by signal {signal}"),
            Self::TimedOut => f.write_str("was not done in time"),
            Self::Broke { found } => write!(f, "broke: {found}"),
            Self::NotStarted { found } => write!(f, "could not be started: {found}"),
        }
    }
}
