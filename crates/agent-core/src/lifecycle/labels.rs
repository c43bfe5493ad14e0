//! The words of the lifecycle's table: its states, triggers and actions.

use crate::labels;
use serde::{Deserialize, Serialize};

labels! {
    /// Where an agent stands.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum State {
        /// There is nothing to do; a message starts work.
        Idle,
        /// The agent's session is at work.
        Working,
        /// The agent said that it cannot go on without an answer.
        Waiting,
        /// The agent says that it is done, and its commitments are checked.
        Verifying,
        /// The work is done and every commitment was kept.
        Done,
        /// The agent was given up; what it started is being cleaned up.
        Reaped,
        /// Nothing of the agent is left.
        Ended,
    }
}

labels! {
    /// What happened, with its guards already decided.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum Trigger {
        /// Somebody sent the agent a message.
        InputReceived,
        /// A commitment was added.
        CommitmentAdded,
        /// The agent works in another mode.
        ModeChanged,
        /// The agent called the signal tool.
        Signalled,
        /// The session went on with work that had been left.
        WorkResumed,
        /// A turn of the session ended and nothing is claimed.
        TurnEnded,
        /// A turn of the session failed or was cancelled.
        TurnFailed,
        /// A limit of the session ended its turn.
        TurnOutOfBudget,
        /// The turn ended after the signal that the agent waits.
        WaitingSignalled,
        /// The agent says that it is done, and there are commitments.
        CompletionClaimed,
        /// The agent says that it is done, and there are no commitments.
        CompletionClaimedUnbound,
        /// A check ended, others are to follow.
        CheckCompletedMoreLeft,
        /// Every check ended and every commitment is kept.
        ChecksPassed,
        /// Every check ended, a commitment is not kept, and the agent may try again.
        ChecksFailed,
        /// The same, and it is for others to decide how to go on.
        ChecksFailedResting,
        /// The same, and the agent had all the tries it gets.
        ChecksFailedForGood,
        /// Not one check could be run.
        ChecksImpossible,
        /// Somebody asked to stop the turn or the checks.
        CancelRequested,
        /// The agent was too long in one state.
        TimedOut,
        /// The agent's budget is spent.
        BudgetExceeded,
        /// The agent's session has ended.
        SessionEnded,
        /// The agent is not wanted any more.
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
        /// Give the session the report of what is missing.
        SendGapReport,
        /// Check every commitment.
        RunChecks,
        /// Stop the checks.
        CancelChecks,
        /// Stop the session's turn.
        CancelTurn,
        /// Report back when the agent was idle for too long.
        StartIdleTimer,
        /// Report back when the agent was at work for too long.
        StartWorkTimer,
        /// Report back when the agent waited for too long.
        StartWaitTimer,
        /// Report back when the time that the message may take is up.
        StartCheckTimer,
        /// Forget the time.
        StopTimer,
        /// Tell whoever started the agent what it came to.
        ReportOutcome,
        /// End what the agent started, and report back.
        CleanUp,
        /// Let go of the session.
        ReleaseSession,
    }
}
