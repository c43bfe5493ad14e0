//! What the driver reports.

use super::routing::{AgentConfig, TierModels};
use super::spent::Spent;
use super::table::ActionKind;
use super::verdict::{FailureKind, Verdict};
use crate::session::Ticket;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// A fact. Answers carry the ticket of the action they answer; an answer whose ticket is not open is refused. Only a timer may be late:
/// that changes nothing and is not an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The host started the job.
    Started,
    /// The user asked to stop it.
    CancelRequested,
    /// The host found nothing wrong with the job. What the machine itself can see is wrong with it still fails it.
    ValidationPassed {
        /// Of the validation.
        ticket: Ticket,
        /// The models that there are.
        tiers: TierModels,
    },
    /// The host cannot work on the job.
    ValidationFailed {
        /// Of the validation.
        ticket: Ticket,
        /// Why.
        failure: FailureKind,
    },
    /// Skill and model are chosen: the suggestion, or what a host's own router made of it.
    AgentDefined {
        /// Of the routing.
        ticket: Ticket,
        /// The choice.
        agent: AgentConfig,
        /// What the choice cost, when a model was asked.
        spent: Spent,
    },
    /// A host's router failed.
    RoutingFailed {
        /// Of the routing.
        ticket: Ticket,
        /// Why.
        failure: FailureKind,
        /// What that cost, when a model was asked.
        spent: Spent,
    },
    /// An attempt ended.
    AttemptEnded {
        /// Of the attempt.
        ticket: Ticket,
        /// Its result.
        verdict: Verdict,
        /// What it cost, whatever the result.
        spent: Spent,
        /// The session that it was; empty when none is kept.
        session_id: String,
    },
    /// The waiting time of `ScheduleRetry` is over.
    RetryTimeout {
        /// Of the waiting time.
        ticket: Ticket,
    },
    /// The audit record is kept.
    RecordWritten {
        /// Of the record.
        ticket: Ticket,
    },
    /// The audit record could not be saved.
    RecordFailed {
        /// Of the record.
        ticket: Ticket,
        /// Why.
        message: String,
    },
}

impl Event {
    /// The event's name, for refusals.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Started => "Started",
            Self::CancelRequested => "CancelRequested",
            Self::ValidationPassed { .. } => "ValidationPassed",
            Self::ValidationFailed { .. } => "ValidationFailed",
            Self::AgentDefined { .. } => "AgentDefined",
            Self::RoutingFailed { .. } => "RoutingFailed",
            Self::AttemptEnded { .. } => "AttemptEnded",
            Self::RetryTimeout { .. } => "RetryTimeout",
            Self::RecordWritten { .. } => "RecordWritten",
            Self::RecordFailed { .. } => "RecordFailed",
        }
    }

    /// What an answer answers.
    pub(super) const fn answers(&self) -> Option<(Ticket, ActionKind)> {
        match self {
            Self::Started | Self::CancelRequested => None,
            Self::ValidationPassed { ticket, .. } | Self::ValidationFailed { ticket, .. } => {
                Some((*ticket, ActionKind::ValidateJob))
            }
            Self::AgentDefined { ticket, .. } | Self::RoutingFailed { ticket, .. } => {
                Some((*ticket, ActionKind::DefineAgent))
            }
            Self::AttemptEnded { ticket, .. } => Some((*ticket, ActionKind::RunAgent)),
            Self::RetryTimeout { ticket } => Some((*ticket, ActionKind::ScheduleRetry)),
            Self::RecordWritten { ticket } | Self::RecordFailed { ticket, .. } => {
                Some((*ticket, ActionKind::WriteAuditRecord))
            }
        }
    }
}
