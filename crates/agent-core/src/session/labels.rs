//! The words of the session's table: its states, triggers and actions.

use crate::labels;
use serde::{Deserialize, Serialize};

labels! {
    /// Where a session stands.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum State {
        /// Made, not started.
        Ready,
        /// Idle, ready for the user's message.
        WaitingForUserInput,
        /// Deciding what the next model call is, if there may be one.
        PreparingRequest,
        /// A model call is in flight.
        CallingLlm,
        /// A model call that carries tool results is in flight.
        SendingToolResults,
        /// Looking at what the model answered.
        ProcessingLlmResponse,
        /// The model ended its turn.
        EndOfTurn,
        /// The model asked for tools.
        ToolUseRequested,
        /// The driver finds out what the calls would do.
        PreparingTools,
        /// The last moment to stop before tools run.
        CheckingForCancellation,
        /// A person is asked whether calls may run.
        AwaitingApproval,
        /// A group of tool calls is running.
        ExecutingTools,
        /// Looking for new commits and for work that hooks have to do.
        CheckingGitCommits,
        /// Formatters run over what the agent changed.
        RunningAutoformatters,
        /// The agent's own changes are being committed.
        CommittingChanges,
        /// The user's own hooks run.
        RunningHooks,
        /// Deciding where to go on after the user's hooks.
        SettlingHooks,
        /// Deciding whether the limits allow to go on.
        CheckingBudget,
        /// Taking in what the user typed meanwhile.
        GatheringAdditionalMessages,
        /// A model call that summarises the conversation is in flight.
        Compacting,
        /// A model call failed and will be repeated.
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
    /// What happened, with its guards already decided.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum Trigger {
        /// The host opened the session.
        Started,
        /// The user sent a message.
        UserInput,
        /// Limits were raised.
        BudgetRaised,
        /// Limits were raised, and work that a limit had stopped can go on.
        BudgetRaisedWorkDue,
        /// Model, tools, limits or permissions were changed.
        Reconfigured,
        /// The user asked for a summary of the conversation.
        CompactionRequested,
        /// The user or a deadline asked to stop the turn.
        CancelRequested,
        /// The host is about to leave, and hooks run at the session's end.
        LeaveRequested,
        /// The user asked to end the session.
        ShutdownRequested,
        /// A piece of the answer came.
        LlmDelta,
        /// The model call succeeded.
        LlmCompleted,
        /// The model call failed and may succeed later.
        LlmFailedRetryable,
        /// The model call failed and another model is there to take over.
        LlmFailedFallback,
        /// The model call failed and repeating it is no use.
        LlmFailedForGood,
        /// The conversation is too long for the model, and something can be done about it.
        ContextOverflowed,
        /// The model call was stopped.
        LlmAborted,
        /// The program that made the model call ended, and nobody waits for its answer any more.
        LlmInterrupted,
        /// The waiting time before a repetition is over.
        RetryTimeout,
        /// The driver knows what the calls would do.
        ToolsPrepared,
        /// A person answered, others are still asked.
        ApprovalPartial,
        /// Everything is answered and at least one call may run.
        ApprovalsGranted,
        /// Everything is answered and no call may run.
        ApprovalsAllDenied,
        /// A running tool reported something.
        ToolProgress,
        /// A call ended, others of its group are running.
        ToolCompletedMoreLeft,
        /// A group ended, others are to follow.
        ToolGroupCompleted,
        /// The last call ended and nothing can have been changed.
        ToolsAllCompleted,
        /// The last call ended and something may have been changed.
        ToolsAllCompletedMutating,
        /// The last call ended, and the user's hooks are to look at what ran.
        ToolsAllCompletedHooksDue,
        /// The running group ended under a cancel with calls that will not run.
        ToolsStopped,
        /// The repository was looked at; nothing is to be done.
        GitChecked,
        /// The repository was looked at; formatters are to run.
        GitCheckedFormattingDue,
        /// The repository was looked at; the agent's changes are to be committed.
        GitCheckedCommitDue,
        /// The formatters ended; nothing is to be committed.
        FormattersFinished,
        /// The formatters ended; the agent's changes are to be committed.
        FormattersFinishedCommitDue,
        /// The agent's changes were committed.
        ChangesCommitted,
        /// The user's hooks ran.
        HooksFinished,
        /// A hook failed or ran out of time.
        HookFailed,
        /// A hook demands that the turn ends.
        HooksStoppedTurn,
        /// The summary is there, and the turn goes on.
        CompactionCompletedWorkDue,
        /// The summary is there.
        CompactionCompleted,
        /// There will be no summary.
        CompactionFailedForGood,
        /// There will be no summary, and work whose limit was raised meanwhile goes on.
        CompactionFailedWorkDue,
        /// A cancel is pending.
        AutoCancelled,
        /// A limit allows no further model call.
        AutoBudgetSpent,
        /// The user's hooks run before the next request.
        AutoHooksDue,
        /// The conversation has to be summarised first.
        AutoCompactionDue,
        /// Tool results wait to be sent.
        AutoResultsDue,
        /// A message waits to be sent.
        AutoMessageDue,
        /// The answer asks for tools.
        AutoToolCalls,
        /// The provider paused the answer.
        AutoResponsePaused,
        /// The answer cannot be used, and another try may bring a better one.
        AutoResponseUnusable,
        /// The answer cannot be used, and another try is no use.
        AutoResponseUnusableForGood,
        /// The answer ends the turn.
        AutoNoToolCalls,
        /// The user typed ahead.
        AutoQueuedInput,
        /// The user's hooks run before the turn ends.
        AutoStopHooksDue,
        /// Nothing is queued.
        AutoQueueEmpty,
        /// Nothing is to be decided.
        AutoAlways,
        /// Tools ran, and something may have been changed.
        AutoGitCheckDue,
        /// Tools ran.
        AutoToolsAnswered,
        /// Something waits to be sent.
        AutoWorkDue,
        /// The limit that stopped work was raised meanwhile.
        AutoRaisedWorkDue,
        /// What was typed meanwhile goes out with the results.
        AutoInputGathered,
        /// Nothing is in flight any more.
        AutoCancelSettled,
        /// A person has to be asked.
        AutoNeedsApproval,
        /// No call may run.
        AutoNothingToRun,
        /// Calls may run.
        AutoClear,
        /// The model repeats itself without getting anywhere.
        AutoLoopDetected,
        /// The limits allow to go on.
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
            | Trigger::BudgetRaised
            | Trigger::BudgetRaisedWorkDue
            | Trigger::Reconfigured
            | Trigger::CompactionRequested
            | Trigger::CancelRequested
            | Trigger::LeaveRequested
            | Trigger::ShutdownRequested
            | Trigger::LlmDelta
            | Trigger::ApprovalPartial
            | Trigger::ToolProgress
            | Trigger::ToolCompletedMoreLeft
    };
}

/// All triggers of events, as a pattern: for matches over the automatic ones that must not shrug.
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
        /// Ask a person.
        RequestApproval,
        /// Stop asking.
        WithdrawApproval,
        /// Run a group of calls.
        ExecuteTools,
        /// Stop the running calls.
        CancelTools,
        /// Look at the repository.
        CheckGitCommits,
        /// Run the formatters.
        RunAutoformatters,
        /// Commit the agent's changes.
        CommitChanges,
        /// Run the user's hooks.
        RunHooks,
        /// Stop the running hook or preparation.
        CancelHooks,
        /// Report back after a waiting time.
        ScheduleRetry,
        /// Forget the waiting time.
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
        /// Text that was shown in pieces does not count.
        DiscardPartial,
        /// The session waits for input.
        PromptForInput,
        /// Give back input that was not sent.
        ReturnQueuedInput,
        /// The session has ended.
        Shutdown,
    }
}
