//! What the driver reports.

use super::commitment::{CheckReport, Commitment, CommitmentId};
use super::{Signal, TaskMode, Ticket};
use crate::conversation::UserMessage;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// A fact. Answers carry the ticket of the action they answer; an answer whose ticket is not open is refused. Only a timer may be late:
/// that changes nothing and is not an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A message to the agent. Blank ones are refused.
    InputReceived {
        /// The message.
        text: UserMessage,
    },
    /// A commitment was added. One without a command is refused.
    CommitmentAdded {
        /// The commitment.
        commitment: Commitment,
    },
    /// The agent's mode changed.
    ModeChanged {
        /// The mode.
        mode: TaskMode,
    },
    /// The agent called the `signal` tool. The last signal of a turn counts.
    Signalled {
        /// What it signalled.
        signal: Signal,
        /// What it said with it.
        summary: String,
    },
    /// A turn of the session ended.
    TurnEnded {
        /// How.
        end: TurnEnd,
        /// What is left of the time that the message may take, in milliseconds; `None` if no limit is set. The checks and the turns
        /// that follow share it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        time_left_ms: Option<u64>,
    },
    /// The session resumed interrupted work without a message: the limit that had stopped it was raised.
    WorkResumed,
    /// A check ended.
    CheckCompleted {
        /// Of the checks.
        ticket: Ticket,
        /// The commitment.
        commitment: CommitmentId,
        /// How it ended.
        report: CheckReport,
    },
    /// The user or host asked to stop the turn or the checks.
    CancelRequested,
    /// The time of a timer is up.
    TimedOut {
        /// Of the timer.
        ticket: Ticket,
    },
    /// The agent's budget is spent.
    BudgetExceeded,
    /// The agent's session has ended, for whatever reason.
    SessionEnded,
    /// The agent is no longer needed.
    Dismissed,
    /// Nothing that the agent started is left.
    CleanupCompleted {
        /// Of the cleanup.
        ticket: Ticket,
    },
}

impl Event {
    /// Whether the event follows from the session. Where an [`Agent`](crate::agent::Agent) joins both, it comes from there alone.
    #[must_use]
    pub const fn is_derived(&self) -> bool {
        match self {
            Self::InputReceived { .. }
            | Self::Signalled { .. }
            | Self::TurnEnded { .. }
            | Self::WorkResumed
            | Self::SessionEnded => true,
            Self::CommitmentAdded { .. }
            | Self::ModeChanged { .. }
            | Self::CheckCompleted { .. }
            | Self::CancelRequested
            | Self::TimedOut { .. }
            | Self::BudgetExceeded
            | Self::Dismissed
            | Self::CleanupCompleted { .. } => false,
        }
    }

    /// The event's name, for refusals and traces.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::InputReceived { .. } => "InputReceived",
            Self::CommitmentAdded { .. } => "CommitmentAdded",
            Self::ModeChanged { .. } => "ModeChanged",
            Self::Signalled { .. } => "Signalled",
            Self::TurnEnded { .. } => "TurnEnded",
            Self::WorkResumed => "WorkResumed",
            Self::CheckCompleted { .. } => "CheckCompleted",
            Self::CancelRequested => "CancelRequested",
            Self::TimedOut { .. } => "TimedOut",
            Self::BudgetExceeded => "BudgetExceeded",
            Self::SessionEnded => "SessionEnded",
            Self::Dismissed => "Dismissed",
            Self::CleanupCompleted { .. } => "CleanupCompleted",
        }
    }
}

/// How a turn of the session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TurnEnd {
    /// The model ended it.
    Completed,
    /// It failed.
    Failed,
    /// It was cancelled.
    Cancelled,
    /// A limit ended it.
    OutOfBudget,
}
