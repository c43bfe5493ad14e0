//! What the driver is asked to do.

use super::audit::AuditRecord;
use super::routing::AgentConfig;
use super::verdict::FailureKind;
use crate::budget::Limits;
use crate::retry::RetryPolicy;
use crate::session::Ticket;
use alloc::boxed::Box;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// Something to do. A ticket asks for an answer that carries it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Action {
    /// Find out whether the job can be worked on, and with which models.
    ValidateJob {
        /// To answer with.
        ticket: Ticket,
    },
    /// Choose skill and model.
    DefineAgent {
        /// To answer with.
        ticket: Ticket,
        /// The job's description.
        description: String,
        /// What the rules of routing say. A host without a router of its own answers with it.
        suggestion: AgentConfig,
    },
    /// Let an agent work on the job: one session, from its first input to its prompt.
    RunAgent {
        /// To answer with.
        ticket: Ticket,
        /// What to run.
        attempt: Box<Attempt>,
    },
    /// Stop the work in flight and answer with its result so far.
    StopWork {
        /// Of what is in flight.
        ticket: Ticket,
    },
    /// Report back after a while.
    ScheduleRetry {
        /// To answer with.
        ticket: Ticket,
        /// How long, in milliseconds.
        delay_ms: u64,
        /// Which retry this is the wait for, counted from 1.
        retry: u32,
        /// Why the attempt before it failed.
        reason: FailureKind,
    },
    /// Forget the waiting time. An answer that comes all the same changes nothing.
    CancelRetry {
        /// Of the waiting time.
        ticket: Ticket,
    },
    /// Keep the audit record.
    WriteAuditRecord {
        /// To answer with.
        ticket: Ticket,
        /// The record.
        record: Box<AuditRecord>,
    },
}

/// One whole run of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Attempt {
    /// Which attempt this is, counted from 1.
    pub number: u32,
    /// The first input of the session.
    pub task: String,
    /// The agent that was chosen.
    pub agent: AgentConfig,
    /// What is left of the job's limits.
    pub limits: Limits,
    /// How the session repeats failed model calls: not at all, because the job repeats.
    pub retry: RetryPolicy,
}
