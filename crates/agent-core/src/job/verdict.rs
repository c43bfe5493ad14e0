//! The result of an attempt.

use alloc::string::String;
use serde::{Deserialize, Serialize};

/// Why something failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", content = "message", rename_all = "snake_case")]
pub enum FailureKind {
    /// Wrong output, a validation that failed: the work is at fault.
    #[error("{0}")]
    Business(String),
    /// A time-out, a rate limit, the network: the world is at fault.
    #[error("{0}")]
    System(String),
}

/// The result of an attempt. [`verdict`](super::verdict) makes one from a session's outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The work is done.
    Success {
        /// What the model said at the end.
        response: String,
    },
    /// It is not, and another attempt may do it.
    Failure(FailureKind),
    /// It is not, and another attempt is no use: a refused key, a limit that holds for the whole job.
    FailureForGood(FailureKind),
    /// It was stopped.
    Stopped,
}
