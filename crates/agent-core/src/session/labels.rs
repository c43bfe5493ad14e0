//! The words of the session's table: its states, triggers and actions.

use crate::labels;
use serde::{Deserialize, Serialize};

labels! {
    /// The states of a session.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum State {
        /// Created, not started.
        Ready,
        /// Idle, ready for the user's message.
        WaitingForUserInput,
        /// Deciding whether to call the model, and with what.
        PreparingRequest,
        /// A model call is in flight.
        CallingLlm,
        /// A model call that carries tool results is in flight.
        SendingToolResults,
        /// Reading the model's answer.
        ProcessingLlmResponse,
        /// The model ended its turn.
        EndOfTurn,
        /// The model asked for tools.
        ToolUseRequested,
        /// The driver is finding out what the calls would do.
        PreparingTools,
        /// Last chance to stop before tools run.
        CheckingForCancellation,
        /// The user is being asked whether calls may run.
        AwaitingApproval,
        /// A group of tool calls is running.
        ExecutingTools,
        /// Checking for new commits and for changes to format or commit.
        CheckingGitCommits,
        /// Formatters are running on files that the agent changed.
        RunningAutoformatters,
        /// The agent's own changes are being committed.
        CommittingChanges,
        /// The user's hooks are running.
        RunningHooks,
        /// Deciding what follows the user's hooks.
        SettlingHooks,
        /// Deciding whether the limits allow another model call.
        CheckingBudget,
        /// Taking in messages that arrived meanwhile.
        GatheringAdditionalMessages,
        /// A model call that summarises the conversation is in flight.
        Compacting,
        /// A model call failed and will be retried.
        Error,
        /// The turn was cancelled.
        Cancelled,
        /// A limit was reached.
        BudgetExceeded,
        /// Ended for good.
        ShuttingDown,
    }
}

labels! {
    /// What happened, with the guards decided.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum Trigger {
        /// The host opened the session.
        Started,
        /// The user sent a message.
        UserInput,
        /// The user sent a message that waits for the end of the turn.
        InputAfterTurn,
        /// The user takes a message back that has not gone out.
        InputWithdrawn,
        /// Limits were raised.
        BudgetRaised,
        /// Limits were raised, and work that a limit had stopped can continue.
        BudgetRaisedWorkDue,
        /// Model, tools, limits or permissions were changed.
        Reconfigured,
        /// The user asked for a summary of the conversation.
        CompactionRequested,
        /// The user or a deadline asked to stop the turn.
        CancelRequested,
        /// The host is about to leave; end-of-session hooks run first.
        LeaveRequested,
        /// The user asked to end the session.
        ShutdownRequested,
        /// Another program resumed the session; what was in flight and can be repeated is.
        SessionResumed,
        /// Another program resumed the session, in which a stop was pending.
        ResumedStopped,
        /// A piece of the answer arrived.
        LlmDelta,
        /// The model call succeeded.
        LlmCompleted,
        /// The model call failed; a retry may succeed.
        LlmFailedRetryable,
        /// The model call failed; another model takes over.
        LlmFailedFallback,
        /// The model call failed, and retrying is pointless.
        LlmFailedForGood,
        /// The conversation is too long for the model and can be shortened.
        ContextOverflowed,
        /// The model call was stopped.
        LlmAborted,
        /// The program that made the model call ended; its answer can no longer arrive.
        LlmInterrupted,
        /// The wait before the retry is over.
        RetryTimeout,
        /// The driver knows what the calls would do.
        ToolsPrepared,
        /// One question was answered; others are open.
        ApprovalPartial,
        /// Every question is answered, and at least one call may run.
        ApprovalsGranted,
        /// Every question is answered, and no call may run.
        ApprovalsAllDenied,
        /// A running tool reported something.
        ToolProgress,
        /// A call ended; others in its group are running.
        ToolCompletedMoreLeft,
        /// A group ended; more groups follow.
        ToolGroupCompleted,
        /// The last call ended, and nothing can have changed.
        ToolsAllCompleted,
        /// The last call ended, and something may have changed.
        ToolsAllCompletedMutating,
        /// The last call ended, and the user's hooks run on the calls.
        ToolsAllCompletedHooksDue,
        /// The running group ended after a cancel; the remaining calls will not run.
        ToolsStopped,
        /// Repository checked; nothing to do.
        GitChecked,
        /// Repository checked; files to format.
        GitCheckedFormattingDue,
        /// Repository checked; changes to commit.
        GitCheckedCommitDue,
        /// The formatters ended; nothing to commit.
        FormattersFinished,
        /// The formatters ended; changes to commit.
        FormattersFinishedCommitDue,
        /// The agent's changes were committed.
        ChangesCommitted,
        /// The user's hooks ran.
        HooksFinished,
        /// A hook failed or timed out.
        HookFailed,
        /// A hook ended the turn.
        HooksStoppedTurn,
        /// The summary is ready, and the turn continues.
        CompactionCompletedWorkDue,
        /// The summary is ready.
        CompactionCompleted,
        /// There will be no summary.
        CompactionFailedForGood,
        /// There will be no summary; work whose limit was raised meanwhile continues.
        CompactionFailedWorkDue,
        /// A cancel is pending.
        AutoCancelled,
        /// A limit allows no further model call.
        AutoBudgetSpent,
        /// The user's hooks run before the next request.
        AutoHooksDue,
        /// The conversation must be summarised first.
        AutoCompactionDue,
        /// Tool results are waiting to be sent.
        AutoResultsDue,
        /// A message is waiting to be sent.
        AutoMessageDue,
        /// The answer asks for tools.
        AutoToolCalls,
        /// The provider paused the answer.
        AutoResponsePaused,
        /// The answer is unusable; a retry may help.
        AutoResponseUnusable,
        /// The answer is unusable, and retrying is pointless.
        AutoResponseUnusableForGood,
        /// The answer ends the turn.
        AutoNoToolCalls,
        /// A message arrived meanwhile.
        AutoQueuedInput,
        /// The user's hooks run before the turn ends.
        AutoStopHooksDue,
        /// A message waits for the end of the turn.
        AutoWaitingInput,
        /// Nothing is queued.
        AutoQueueEmpty,
        /// Always; there is nothing to decide.
        AutoAlways,
        /// Tools ran, and something may have changed.
        AutoGitCheckDue,
        /// Tools ran.
        AutoToolsAnswered,
        /// Something is waiting to be sent.
        AutoWorkDue,
        /// The limit that stopped work was raised meanwhile.
        AutoRaisedWorkDue,
        /// Messages that arrived meanwhile are sent with the results.
        AutoInputGathered,
        /// Nothing is in flight any more.
        AutoCancelSettled,
        /// The user must be asked.
        AutoNeedsApproval,
        /// No call may run.
        AutoNothingToRun,
        /// Calls may run.
        AutoClear,
        /// The model is repeating itself without progress.
        AutoLoopDetected,
        /// The limits allow another model call.
        AutoBudgetLeft,
    }
}

/// The triggers of events that answer all that was asked, as a pattern.
macro_rules! answering_triggers {
    () => {
        Trigger::LlmCompleted
            | Trigger::LlmFailedRetryable
            | Trigger::LlmFailedFallback
            | Trigger::LlmFailedForGood
            | Trigger::ContextOverflowed
            | Trigger::LlmAborted
            | Trigger::LlmInterrupted
            | Trigger::ResumedStopped
            | Trigger::RetryTimeout
            | Trigger::ToolsPrepared
            | Trigger::ApprovalsGranted
            | Trigger::ApprovalsAllDenied
            | Trigger::ToolGroupCompleted
            | Trigger::ToolsAllCompleted
            | Trigger::ToolsAllCompletedMutating
            | Trigger::ToolsAllCompletedHooksDue
            | Trigger::ToolsStopped
            | Trigger::GitChecked
            | Trigger::GitCheckedFormattingDue
            | Trigger::GitCheckedCommitDue
            | Trigger::FormattersFinished
            | Trigger::FormattersFinishedCommitDue
            | Trigger::ChangesCommitted
            | Trigger::HooksFinished
            | Trigger::HookFailed
            | Trigger::HooksStoppedTurn
            | Trigger::CompactionCompletedWorkDue
            | Trigger::CompactionCompleted
            | Trigger::CompactionFailedForGood
            | Trigger::CompactionFailedWorkDue
    };
}

/// The triggers of the other events, as a pattern: what was asked, if anything, stays open.
macro_rules! other_triggers {
    () => {
        Trigger::Started
            | Trigger::UserInput
            | Trigger::InputAfterTurn
            | Trigger::InputWithdrawn
            | Trigger::BudgetRaised
            | Trigger::BudgetRaisedWorkDue
            | Trigger::Reconfigured
            | Trigger::CompactionRequested
            | Trigger::CancelRequested
            | Trigger::LeaveRequested
            | Trigger::ShutdownRequested
            | Trigger::SessionResumed
            | Trigger::LlmDelta
            | Trigger::ApprovalPartial
            | Trigger::ToolProgress
            | Trigger::ToolCompletedMoreLeft
    };
}

/// All triggers of events, as a pattern, so that matches over the automatic ones need no catch-all.
macro_rules! event_triggers {
    () => {
        $crate::session::labels::answering_triggers!() | $crate::session::labels::other_triggers!()
    };
}
pub(super) use {answering_triggers, event_triggers, other_triggers};

impl Trigger {
    /// Whether all that was asked is answered with it, so that nothing is open until the row asks anew.
    pub(super) const fn answers_all(self) -> bool {
        matches!(self, answering_triggers!())
    }
}

labels! {
    /// What the driver is asked to do, without its data.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum ActionKind {
        /// Call the model.
        SendLlmRequest,
        /// Stop the model call.
        CancelLlmRequest,
        /// Find out what calls would do.
        PrepareTools,
        /// Ask the user.
        RequestApproval,
        /// Stop asking.
        WithdrawApproval,
        /// Run a group of calls.
        ExecuteTools,
        /// Stop the running calls.
        CancelTools,
        /// Check the repository.
        CheckGitCommits,
        /// Run the formatters.
        RunAutoformatters,
        /// Commit the agent's changes.
        CommitChanges,
        /// Run the user's hooks.
        RunHooks,
        /// Stop the running hook or preparation.
        CancelHooks,
        /// Report back after a wait.
        ScheduleRetry,
        /// Cancel the wait.
        CancelRetry,
        /// Report back when the turn's time is up.
        StartDeadline,
        /// Stop the turn's clock.
        HoldDeadline,
        /// Show a piece of text.
        DisplayText,
        /// Show a complete message.
        DisplayMessage,
        /// Show an error.
        DisplayError,
        /// Show that a summary replaced what was said before.
        DisplaySummary,
        /// Discard the pieces of text shown so far.
        DiscardPartial,
        /// Report that the session waits for input.
        PromptForInput,
        /// Give back input that was not sent.
        ReturnQueuedInput,
        /// Report that the session has ended.
        Shutdown,
    }
}
