//! The configuration of a lifecycle.

use super::commitment::Commitment;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Everything that shapes a lifecycle's decisions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LifecycleConfig {
    /// What the agent is bound to from the start.
    pub commitments: Vec<Commitment>,
    /// How many gap reports the agent gets, each with another try, counted from the last message to it.
    pub max_rounds: u32,
    /// Whether an agent that fell short continues by itself. If not, it rests and the host decides.
    pub continues_after_failure: bool,
    /// Whether a turn that ends without a signal claims that the work is done, as in a run without a user.
    pub unsignalled_turn_claims: bool,
    /// Whether a message after the agent's end begins another life with the same commitments, as at a prompt. Without, its end is final.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub is_renewed: bool,
    /// How long the agent may be idle, in milliseconds, before its first message too.
    pub max_idle_ms: Option<u64>,
    /// How long the agent may work before it says something, in milliseconds.
    pub max_work_ms: Option<u64>,
    /// How long the agent may wait for an answer, in milliseconds.
    pub max_wait_ms: Option<u64>,
}

impl LifecycleConfig {
    /// An agent without a user: it continues by itself, and the end of a turn is a claim.
    #[must_use]
    pub fn headless(commitments: Vec<Commitment>) -> Self {
        Self { commitments, continues_after_failure: true, unsignalled_turn_claims: true, ..Self::default() }
    }
}

impl Default for LifecycleConfig {
    fn default() -> Self {
        Self {
            commitments: Vec::new(),
            max_rounds: 3,
            continues_after_failure: false,
            unsignalled_turn_claims: false,
            is_renewed: false,
            max_idle_ms: None,
            max_work_ms: None,
            max_wait_ms: None,
        }
    }
}
