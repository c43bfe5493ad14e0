//! The words of the lifecycle's table: its states, triggers and actions.

use crate::labels;
use serde::{Deserialize, Serialize};

labels! {
    /// The states of an agent.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum State {
        /// Nothing to do; a message starts work.
        Idle,
        /// The agent's session is at work.
        Working,
        /// The agent said that it needs an answer to continue.
        Waiting,
        /// The agent claims to be done, and its commitments are being checked.
        Verifying,
        /// The work is done and every commitment was kept.
        Done,
        /// The agent was given up; cleaning up what it started.
        Reaped,
        /// Nothing of the agent is left.
        Ended,
    }
}

labels! {
    /// What happened, with the guards decided.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum Trigger {
        /// The agent received a message.
        InputReceived,
        /// A commitment was added.
        CommitmentAdded,
        /// The agent's mode changed.
        ModeChanged,
        /// The agent called the `signal` tool.
        Signalled,
        /// The session resumed interrupted work.
        WorkResumed,
        /// A turn of the session ended without a claim.
        TurnEnded,
        /// A turn of the session failed or was cancelled.
        TurnFailed,
        /// A limit of the session ended its turn.
        TurnOutOfBudget,
        /// The turn ended after the agent signalled that it waits.
        WaitingSignalled,
        /// The agent claims to be done, and has commitments.
        CompletionClaimed,
        /// The agent claims to be done, and has no commitments.
        CompletionClaimedUnbound,
        /// A check ended; more checks follow.
        CheckCompletedMoreLeft,
        /// Every check ended; all commitments are kept.
        ChecksPassed,
        /// Every check passed, and files changed since one of them began: they are to run again.
        ChecksStale,
        /// Every check ended; a commitment is not kept, and the agent may try again.
        ChecksFailed,
        /// The same, and the user or host decides what follows.
        ChecksFailedResting,
        /// The same, and the agent has no tries left.
        ChecksFailedForGood,
        /// No check could be run.
        ChecksImpossible,
        /// The user or host asked to stop the turn or the checks.
        CancelRequested,
        /// The agent was in one state for too long.
        TimedOut,
        /// The agent's budget is spent.
        BudgetExceeded,
        /// The agent's session has ended.
        SessionEnded,
        /// The agent is no longer needed.
        Dismissed,
        /// Nothing that the agent started is left.
        CleanupCompleted,
    }
}

labels! {
    /// What the driver is asked to do, without its data.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum ActionKind {
        /// Give the message to the session.
        SendInput,
        /// Give the gap report to the session.
        SendGapReport,
        /// Check every commitment.
        RunChecks,
        /// Stop the checks.
        CancelChecks,
        /// Stop the session's turn.
        CancelTurn,
        /// Report back when the agent has been idle for too long.
        StartIdleTimer,
        /// Report back when the agent has worked for too long.
        StartWorkTimer,
        /// Report back when the agent has waited for too long.
        StartWaitTimer,
        /// Report back when the message's time limit is reached.
        StartCheckTimer,
        /// Stop the timer.
        StopTimer,
        /// Report the outcome to the host.
        ReportOutcome,
        /// End what the agent started, and report back.
        CleanUp,
        /// Release the session.
        ReleaseSession,
    }
}
