//! The record that every finished job leaves, whatever became of it.

use super::routing::AgentConfig;
use super::table::State;
use super::time;
use super::verdict::FailureKind;
use crate::llm::Usage;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// What became of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AuditRecord {
    /// Version of this form: [`AuditRecord::FORMAT_VERSION`].
    pub format_version: u32,
    /// The job's id.
    pub job_id: String,
    /// The description of the work.
    pub description: String,
    /// What became of it.
    pub status: JobStatus,
    /// The states that the job went through, in order, the wait before a retry among them.
    pub state_transitions: Vec<State>,
    /// The agent that worked on it; `None` if it did not get so far.
    pub agent: Option<AgentConfig>,
    /// Attempts after the first that were started.
    pub retry_count: u32,
    /// Most of them that were allowed.
    pub max_retries: u32,
    /// Cost of everything in billionths of a US dollar, written in US dollars; `None` if a model's price is unknown.
    #[serde(rename = "cost_usd", with = "usd")]
    pub cost_nano_usd: Option<u64>,
    /// The model's last text.
    pub llm_response: Option<String>,
    /// When the job was started, or when it was made if it never was; in milliseconds since the Unix epoch, written as RFC 3339.
    #[serde(rename = "started_at", with = "time")]
    pub started_at_ms: u64,
    /// When it was finished; in milliseconds since the Unix epoch, written as RFC 3339.
    #[serde(rename = "completed_at", with = "time")]
    pub completed_at_ms: u64,
    /// How long that took, in milliseconds.
    pub duration_ms: u64,

    /// The failure that ended it, if one did.
    pub failure: Option<FailureKind>,
    /// Tokens of all attempts, and of a routing call.
    pub usage: Usage,
    /// Model calls of all attempts, and a routing call.
    pub model_calls: u64,
    /// The session of each attempt, in order, where one is kept.
    pub session_ids: Vec<String>,
}

impl AuditRecord {
    /// The version that this crate writes.
    pub const FORMAT_VERSION: u32 = 1;
}

/// What has become of a job so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum JobStatus {
    /// It was not started.
    Pending,
    /// It is being worked on.
    InProgress,
    /// The work is done.
    Completed,
    /// The work is not done.
    Failed,
    /// It was stopped before the work was done.
    Cancelled,
}

/// Billionths of a dollar as a JSON number of dollars.
mod usd {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(nano: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
        nano.map(|nano| nano as f64 / 1e9).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
        // The conversion saturates, and half a billionth rounds.
        Ok(Option::<f64>::deserialize(deserializer)?.map(|usd| (usd * 1e9 + 0.5) as u64))
    }
}
