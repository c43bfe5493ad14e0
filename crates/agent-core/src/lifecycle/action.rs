//! What the driver is asked to do, and the outcomes of an agent.

use super::commitment::{Check, CheckEnd, CommitmentId};
use super::{State, Ticket};
use crate::conversation::UserMessage;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// One thing to do. Those with a ticket expect the answer that is named with them; the others are done when they are done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Give the message to the session.
    SendInput {
        /// The message.
        text: UserMessage,
    },
    /// Give the session, as a message, the report of what is missing.
    SendGapReport {
        /// The report.
        text: String,
        /// How many gap reports there were since the last message, this one included.
        round: u32,
        /// What is left of the time that the message may take, in milliseconds; `None` if no limit is set.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        time_left_ms: Option<u64>,
    },
    /// Check every commitment. Answers: `CheckCompleted`, one a check.
    RunChecks {
        /// For the answers.
        ticket: Ticket,
        /// The checks.
        checks: Vec<Check>,
    },
    /// Stop the checks; no answer is expected any more.
    CancelChecks {
        /// Of the checks.
        ticket: Ticket,
    },
    /// Stop the session's turn. `TurnEnded` still comes.
    CancelTurn,
    /// Wait, then report `TimedOut`.
    StartTimer {
        /// For the answer.
        ticket: Ticket,
        /// How long to wait, in milliseconds.
        delay_ms: u64,
    },
    /// Forget the timer; no answer is expected any more, and one that comes all the same changes nothing.
    StopTimer {
        /// Of the timer.
        ticket: Ticket,
    },
    /// Report the outcome to the host.
    ReportOutcome {
        /// The outcome.
        outcome: Outcome,
    },
    /// End everything that the agent started. Answer: `CleanupCompleted`.
    CleanUp {
        /// For the answer.
        ticket: Ticket,
    },
    /// Let go of the session; nothing of it is needed any more.
    ReleaseSession,
}

impl Action {
    /// Whether it is for the session to do. Where an [`Agent`](crate::agent::Agent) joins both, the session has done it when the driver
    /// sees it.
    #[must_use]
    pub const fn is_command(&self) -> bool {
        matches!(self, Self::SendInput { .. } | Self::SendGapReport { .. } | Self::CancelTurn)
    }
}

/// The outcome of an agent when it last rested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Outcome {
    /// It is done.
    Done {
        /// How many commitments were checked and kept: all.
        kept: usize,
    },
    /// Its turn ended and nothing is claimed.
    TurnEnded,
    /// Its turn failed; the session says why.
    TurnFailed,
    /// It was cancelled.
    Cancelled,
    /// It needs an answer to continue.
    Waiting {
        /// What it said with the signal.
        summary: String,
    },
    /// A commitment is not kept.
    NotKept {
        /// What is not kept.
        gaps: Vec<Gap>,
        /// How many commitments there are.
        commitments: usize,
        /// How many gap reports the agent got, each with another try.
        rounds: u32,
    },
    /// Not one commitment could be checked.
    Uncheckable {
        /// What is not known to be kept: all.
        gaps: Vec<Gap>,
    },
    /// It was too long in one state.
    TimedOut {
        /// The state.
        state: State,
    },
    /// A limit ended its turn; the session says which.
    TurnOutOfBudget,
    /// Its budget is spent.
    BudgetExceeded,
    /// Its session has ended.
    SessionEnded,
    /// It was dismissed.
    Dismissed,
}

/// A commitment that is not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Gap {
    /// Which.
    pub commitment: CommitmentId,
    /// The promise.
    pub promise: String,
    /// How its check ended.
    pub end: CheckEnd,
}

impl Gap {
    /// A commitment whose check ended so.
    #[must_use]
    pub const fn new(commitment: CommitmentId, promise: String, end: CheckEnd) -> Self {
        Self { commitment, promise, end }
    }
}
