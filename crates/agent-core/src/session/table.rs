//! The session machine as data: every state, every trigger, every row.
//!
//! Everything that affects transitions stands here. What does *not*: which trigger an event is (`classify`), what happens to its data
//! (`absorb`), what an action carries (`render`). Rows of a waiting state that begin with the same four triggers mean the same in each:
//! input is queued, limits and configuration are data, a cancel stops what is in flight and waits for its answer, a shutdown ends.

use crate::table::Table;
use crate::{labels, prove, rows};

/// The session's table.
pub type SessionTable = Table<State, Trigger, ActionKind>;

labels! {
    /// Where a session stands.
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
        /// A cancel is pending.
        AutoCancelled,
        /// A limit allows no further model call.
        AutoBudgetSpent,
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
        /// Nothing is queued.
        AutoQueueEmpty,
        /// Nothing is to be decided.
        AutoAlways,
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

/// All triggers of events, as a pattern: for matches over the automatic ones that must not shrug.
macro_rules! event_triggers {
    () => {
        Trigger::Started
            | Trigger::UserInput
            | Trigger::BudgetRaised
            | Trigger::BudgetRaisedWorkDue
            | Trigger::Reconfigured
            | Trigger::CompactionRequested
            | Trigger::CancelRequested
            | Trigger::ShutdownRequested
            | Trigger::LlmDelta
            | Trigger::LlmCompleted
            | Trigger::LlmFailedRetryable
            | Trigger::LlmFailedFallback
            | Trigger::LlmFailedForGood
            | Trigger::ContextOverflowed
            | Trigger::LlmAborted
            | Trigger::RetryTimeout
            | Trigger::ToolsPrepared
            | Trigger::ApprovalPartial
            | Trigger::ApprovalsGranted
            | Trigger::ApprovalsAllDenied
            | Trigger::ToolProgress
            | Trigger::ToolCompletedMoreLeft
            | Trigger::ToolGroupCompleted
            | Trigger::ToolsAllCompleted
            | Trigger::ToolsAllCompletedMutating
            | Trigger::ToolsStopped
            | Trigger::GitChecked
            | Trigger::GitCheckedFormattingDue
            | Trigger::GitCheckedCommitDue
            | Trigger::FormattersFinished
            | Trigger::FormattersFinishedCommitDue
            | Trigger::ChangesCommitted
            | Trigger::HookFailed
            | Trigger::HooksStoppedTurn
            | Trigger::CompactionCompletedWorkDue
            | Trigger::CompactionCompleted
            | Trigger::CompactionFailedForGood
    };
}
pub(super) use event_triggers;

labels! {
    /// What the driver is asked to do, without its data.
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

/// The table that drives every session.
pub const TABLE: SessionTable = Table {
    name: "session",
    initial: State::Ready,
    terminal: &[State::ShuttingDown],
    passing: &[
        State::PreparingRequest,
        State::ProcessingLlmResponse,
        State::EndOfTurn,
        State::ToolUseRequested,
        State::CheckingForCancellation,
        State::CheckingBudget,
        State::GatheringAdditionalMessages,
        State::Cancelled,
        State::BudgetExceeded,
    ],
    rows: ROWS,
};

#[rustfmt::skip]
const ROWS: &[crate::table::Row<State, Trigger, ActionKind>] = rows! { State, Trigger, ActionKind;
    Ready + Started           => WaitingForUserInput [PromptForInput];
    Ready + ShutdownRequested => ShuttingDown        [Shutdown];

    WaitingForUserInput + UserInput           => PreparingRequest    [StartDeadline];
    WaitingForUserInput + BudgetRaised        => WaitingForUserInput [];
    WaitingForUserInput + BudgetRaisedWorkDue => PreparingRequest    [StartDeadline];
    WaitingForUserInput + Reconfigured        => WaitingForUserInput [];
    WaitingForUserInput + CancelRequested     => WaitingForUserInput [];
    WaitingForUserInput + ShutdownRequested   => ShuttingDown        [ReturnQueuedInput, Shutdown];
    WaitingForUserInput + CompactionRequested => PreparingRequest    [StartDeadline];

    PreparingRequest + AutoCancelled     => Cancelled          [];
    PreparingRequest + AutoBudgetSpent   => BudgetExceeded     [DisplayError];
    PreparingRequest + AutoCompactionDue => Compacting         [SendLlmRequest];
    PreparingRequest + AutoResultsDue    => SendingToolResults [SendLlmRequest];
    PreparingRequest + AutoMessageDue    => CallingLlm         [SendLlmRequest];

    CallingLlm + UserInput          => CallingLlm            [];
    CallingLlm + BudgetRaised       => CallingLlm            [StartDeadline];
    CallingLlm + Reconfigured       => CallingLlm            [];
    CallingLlm + CancelRequested    => CallingLlm            [CancelLlmRequest];
    CallingLlm + ShutdownRequested  => ShuttingDown          [CancelLlmRequest, ReturnQueuedInput, Shutdown];
    CallingLlm + LlmDelta           => CallingLlm            [DisplayText];
    CallingLlm + LlmCompleted       => ProcessingLlmResponse [DisplayMessage];
    CallingLlm + LlmFailedRetryable => Error                 [DiscardPartial, ScheduleRetry];
    CallingLlm + LlmFailedFallback  => PreparingRequest      [DiscardPartial, DisplayError];
    CallingLlm + LlmFailedForGood   => WaitingForUserInput   [DiscardPartial, DisplayError, PromptForInput];
    CallingLlm + ContextOverflowed  => PreparingRequest      [DiscardPartial];
    CallingLlm + LlmAborted         => Cancelled             [];

    SendingToolResults + UserInput          => SendingToolResults    [];
    SendingToolResults + BudgetRaised       => SendingToolResults    [StartDeadline];
    SendingToolResults + Reconfigured       => SendingToolResults    [];
    SendingToolResults + CancelRequested    => SendingToolResults    [CancelLlmRequest];
    SendingToolResults + ShutdownRequested  => ShuttingDown          [CancelLlmRequest, ReturnQueuedInput, Shutdown];
    SendingToolResults + LlmDelta           => SendingToolResults    [DisplayText];
    SendingToolResults + LlmCompleted       => ProcessingLlmResponse [DisplayMessage];
    SendingToolResults + LlmFailedRetryable => Error                 [DiscardPartial, ScheduleRetry];
    SendingToolResults + LlmFailedFallback  => PreparingRequest      [DiscardPartial, DisplayError];
    SendingToolResults + LlmFailedForGood   => WaitingForUserInput   [DiscardPartial, DisplayError, PromptForInput];
    SendingToolResults + ContextOverflowed  => PreparingRequest      [DiscardPartial];
    SendingToolResults + LlmAborted         => Cancelled             [];

    ProcessingLlmResponse + AutoCancelled               => Cancelled           [];
    ProcessingLlmResponse + AutoToolCalls               => ToolUseRequested    [];
    ProcessingLlmResponse + AutoResponsePaused          => PreparingRequest    [];
    ProcessingLlmResponse + AutoResponseUnusable        => Error               [DiscardPartial, ScheduleRetry];
    ProcessingLlmResponse + AutoResponseUnusableForGood => WaitingForUserInput [DisplayError, PromptForInput];
    ProcessingLlmResponse + AutoNoToolCalls             => EndOfTurn           [];

    EndOfTurn + AutoQueuedInput => PreparingRequest    [StartDeadline];
    EndOfTurn + AutoQueueEmpty  => WaitingForUserInput [PromptForInput];

    ToolUseRequested + AutoAlways => PreparingTools [PrepareTools];

    PreparingTools + UserInput         => PreparingTools          [];
    PreparingTools + BudgetRaised      => PreparingTools          [StartDeadline];
    PreparingTools + Reconfigured      => PreparingTools          [];
    PreparingTools + CancelRequested   => PreparingTools          [CancelHooks];
    PreparingTools + ShutdownRequested => ShuttingDown            [CancelHooks, ReturnQueuedInput, Shutdown];
    PreparingTools + ToolsPrepared     => CheckingForCancellation [];

    CheckingForCancellation + AutoCancelled     => Cancelled        [];
    CheckingForCancellation + AutoNeedsApproval => AwaitingApproval [HoldDeadline, RequestApproval];
    CheckingForCancellation + AutoNothingToRun  => CheckingBudget   [];
    CheckingForCancellation + AutoClear         => ExecutingTools   [ExecuteTools];

    AwaitingApproval + UserInput          => AwaitingApproval [];
    AwaitingApproval + BudgetRaised       => AwaitingApproval [];
    AwaitingApproval + Reconfigured       => AwaitingApproval [];
    AwaitingApproval + CancelRequested    => Cancelled        [WithdrawApproval];
    AwaitingApproval + ShutdownRequested  => ShuttingDown     [WithdrawApproval, ReturnQueuedInput, Shutdown];
    AwaitingApproval + ApprovalPartial    => AwaitingApproval [];
    AwaitingApproval + ApprovalsGranted   => ExecutingTools   [StartDeadline, ExecuteTools];
    AwaitingApproval + ApprovalsAllDenied => CheckingBudget   [StartDeadline];

    ExecutingTools + UserInput                 => ExecutingTools     [];
    ExecutingTools + BudgetRaised              => ExecutingTools     [StartDeadline];
    ExecutingTools + Reconfigured              => ExecutingTools     [];
    ExecutingTools + CancelRequested           => ExecutingTools     [CancelTools];
    ExecutingTools + ShutdownRequested         => ShuttingDown       [CancelTools, ReturnQueuedInput, Shutdown];
    ExecutingTools + ToolProgress              => ExecutingTools     [DisplayText];
    ExecutingTools + ToolCompletedMoreLeft     => ExecutingTools     [];
    ExecutingTools + ToolGroupCompleted        => ExecutingTools     [ExecuteTools];
    ExecutingTools + ToolsAllCompleted         => CheckingBudget     [];
    ExecutingTools + ToolsAllCompletedMutating => CheckingGitCommits [CheckGitCommits];
    ExecutingTools + ToolsStopped              => Cancelled          [];

    CheckingGitCommits + UserInput               => CheckingGitCommits    [];
    CheckingGitCommits + BudgetRaised            => CheckingGitCommits    [StartDeadline];
    CheckingGitCommits + Reconfigured            => CheckingGitCommits    [];
    CheckingGitCommits + CancelRequested         => CheckingGitCommits    [CancelHooks];
    CheckingGitCommits + ShutdownRequested       => ShuttingDown          [CancelHooks, ReturnQueuedInput, Shutdown];
    CheckingGitCommits + GitChecked              => CheckingBudget        [];
    CheckingGitCommits + GitCheckedFormattingDue => RunningAutoformatters [RunAutoformatters];
    CheckingGitCommits + GitCheckedCommitDue     => CommittingChanges     [CommitChanges];
    CheckingGitCommits + HookFailed              => CheckingBudget        [DisplayError];
    CheckingGitCommits + HooksStoppedTurn        => WaitingForUserInput   [DisplayError, PromptForInput];

    RunningAutoformatters + UserInput                   => RunningAutoformatters [];
    RunningAutoformatters + BudgetRaised                => RunningAutoformatters [StartDeadline];
    RunningAutoformatters + Reconfigured                => RunningAutoformatters [];
    RunningAutoformatters + CancelRequested             => RunningAutoformatters [CancelHooks];
    RunningAutoformatters + ShutdownRequested           => ShuttingDown          [CancelHooks, ReturnQueuedInput, Shutdown];
    RunningAutoformatters + FormattersFinished          => CheckingBudget        [];
    RunningAutoformatters + FormattersFinishedCommitDue => CommittingChanges     [CommitChanges];
    RunningAutoformatters + HookFailed                  => CheckingBudget        [DisplayError];
    RunningAutoformatters + HooksStoppedTurn            => WaitingForUserInput   [DisplayError, PromptForInput];

    CommittingChanges + UserInput         => CommittingChanges   [];
    CommittingChanges + BudgetRaised      => CommittingChanges   [StartDeadline];
    CommittingChanges + Reconfigured      => CommittingChanges   [];
    CommittingChanges + CancelRequested   => CommittingChanges   [CancelHooks];
    CommittingChanges + ShutdownRequested => ShuttingDown        [CancelHooks, ReturnQueuedInput, Shutdown];
    CommittingChanges + ChangesCommitted  => CheckingBudget      [];
    CommittingChanges + HookFailed        => CheckingBudget      [DisplayError];
    CommittingChanges + HooksStoppedTurn  => WaitingForUserInput [DisplayError, PromptForInput];

    CheckingBudget + AutoCancelled    => Cancelled                   [];
    CheckingBudget + AutoBudgetSpent  => BudgetExceeded              [DisplayError];
    CheckingBudget + AutoLoopDetected => WaitingForUserInput         [DisplayError, PromptForInput];
    CheckingBudget + AutoBudgetLeft   => GatheringAdditionalMessages [];

    GatheringAdditionalMessages + AutoInputGathered => PreparingRequest [];

    Compacting + UserInput                  => Compacting          [];
    Compacting + BudgetRaised               => Compacting          [StartDeadline];
    Compacting + Reconfigured               => Compacting          [];
    Compacting + CancelRequested            => Compacting          [CancelLlmRequest];
    Compacting + ShutdownRequested          => ShuttingDown        [CancelLlmRequest, ReturnQueuedInput, Shutdown];
    Compacting + LlmDelta                   => Compacting          [];
    Compacting + CompactionCompletedWorkDue => PreparingRequest    [];
    Compacting + CompactionCompleted        => WaitingForUserInput [PromptForInput];
    Compacting + CompactionFailedForGood    => WaitingForUserInput [DisplayError, PromptForInput];
    Compacting + LlmFailedRetryable         => Error               [ScheduleRetry];
    Compacting + LlmFailedFallback          => PreparingRequest    [DisplayError];
    Compacting + LlmAborted                 => Cancelled           [];

    Error + UserInput         => Error            [];
    Error + BudgetRaised      => Error            [StartDeadline];
    Error + Reconfigured      => Error            [];
    Error + CancelRequested   => Cancelled        [CancelRetry];
    Error + ShutdownRequested => ShuttingDown     [CancelRetry, ReturnQueuedInput, Shutdown];
    Error + RetryTimeout      => PreparingRequest [];

    Cancelled      + AutoCancelSettled => WaitingForUserInput [DisplayError, ReturnQueuedInput, PromptForInput];
    BudgetExceeded + AutoAlways        => WaitingForUserInput [PromptForInput];
};

prove! { TABLE: State, Trigger, ActionKind;
    action SendLlmRequest only from [PreparingRequest];
    action ExecuteTools only from [CheckingForCancellation, AwaitingApproval, ExecutingTools];
    action RequestApproval only from [CheckingForCancellation];
    action CommitChanges only from [CheckingGitCommits, RunningAutoformatters];
    action RunAutoformatters only from [CheckingGitCommits];
    order SendLlmRequest in PreparingRequest after [AutoCancelled, AutoBudgetSpent];
    order ExecuteTools in CheckingForCancellation after [AutoCancelled, AutoNeedsApproval];
    state ExecutingTools only through CheckingForCancellation;
    state CommittingChanges only through CheckingGitCommits;
    state CallingLlm only through PreparingRequest;
}
