//! The session machine as data: every row. Its words are in `labels.rs`.
//!
//! Everything that affects transitions is here. What does *not*: which trigger an event is (`classify`), what happens to its data
//! (`absorb`), what an action carries (`render`). Rows of a waiting state that begin with the same six triggers mean the same in each:
//! input is queued, for the next results or for the end of the turn, and can be taken back as long as it is; limits and configuration are
//! data, a cancel stops what is in flight and waits for its answer, a shutdown ends. Then follows what it means that another program
//! resumes the session: what is in flight is repeated, unless a row says what became of it.
//!
//! Each state with its rows, wired to where they lead; dashed states decide at once, thick ones are the end, a loop stays. Generated from
//! the table, as is the full grid of states and triggers in `docs/machines`.
//!
#![doc = include_str!("table.svg")]

pub use super::labels::{ActionKind, State, Trigger};

use crate::table::{Proved, Table};
use crate::{prove, rows};

/// The session's table.
pub type SessionTable = Table<State, Trigger, ActionKind>;

/// The same with its proof: what a machine runs on.
pub type ProvedTable = Proved<State, Trigger, ActionKind>;

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
        State::SettlingHooks,
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
    WaitingForUserInput + InputAfterTurn      => PreparingRequest    [StartDeadline];
    WaitingForUserInput + InputWithdrawn      => WaitingForUserInput [ReturnQueuedInput];
    WaitingForUserInput + BudgetRaised        => WaitingForUserInput [];
    WaitingForUserInput + BudgetRaisedWorkDue => PreparingRequest    [StartDeadline];
    WaitingForUserInput + Reconfigured        => WaitingForUserInput [];
    WaitingForUserInput + CancelRequested     => WaitingForUserInput [];
    WaitingForUserInput + ShutdownRequested   => ShuttingDown        [ReturnQueuedInput, Shutdown];
    WaitingForUserInput + SessionResumed      => WaitingForUserInput [];
    WaitingForUserInput + CompactionRequested => PreparingRequest    [StartDeadline];
    WaitingForUserInput + LeaveRequested      => RunningHooks        [RunHooks];

    PreparingRequest + AutoCancelled     => Cancelled          [];
    PreparingRequest + AutoBudgetSpent   => BudgetExceeded     [DisplayError];
    PreparingRequest + AutoHooksDue      => RunningHooks       [RunHooks];
    PreparingRequest + AutoCompactionDue => Compacting         [SendLlmRequest];
    PreparingRequest + AutoResultsDue    => SendingToolResults [SendLlmRequest];
    PreparingRequest + AutoMessageDue    => CallingLlm         [SendLlmRequest];

    CallingLlm + UserInput          => CallingLlm            [];
    CallingLlm + InputAfterTurn     => CallingLlm            [];
    CallingLlm + InputWithdrawn     => CallingLlm            [ReturnQueuedInput];
    CallingLlm + BudgetRaised       => CallingLlm            [StartDeadline];
    CallingLlm + Reconfigured       => CallingLlm            [StartDeadline];
    CallingLlm + CancelRequested    => CallingLlm            [CancelLlmRequest];
    CallingLlm + ShutdownRequested  => ShuttingDown          [CancelLlmRequest, ReturnQueuedInput, Shutdown];
    CallingLlm + SessionResumed     => CallingLlm            [];
    CallingLlm + ResumedStopped     => Cancelled             [];
    CallingLlm + LlmDelta           => CallingLlm            [DisplayText];
    CallingLlm + LlmCompleted       => ProcessingLlmResponse [DisplayMessage];
    CallingLlm + LlmFailedRetryable => Error                 [DiscardPartial, ScheduleRetry];
    CallingLlm + LlmFailedFallback  => PreparingRequest      [DiscardPartial, DisplayError];
    CallingLlm + LlmFailedForGood   => WaitingForUserInput   [DiscardPartial, DisplayError, PromptForInput];
    CallingLlm + ContextOverflowed  => PreparingRequest      [DiscardPartial];
    CallingLlm + LlmAborted         => Cancelled             [];
    CallingLlm + LlmInterrupted     => PreparingRequest      [DiscardPartial];

    SendingToolResults + UserInput          => SendingToolResults    [];
    SendingToolResults + InputAfterTurn     => SendingToolResults    [];
    SendingToolResults + InputWithdrawn     => SendingToolResults    [ReturnQueuedInput];
    SendingToolResults + BudgetRaised       => SendingToolResults    [StartDeadline];
    SendingToolResults + Reconfigured       => SendingToolResults    [StartDeadline];
    SendingToolResults + CancelRequested    => SendingToolResults    [CancelLlmRequest];
    SendingToolResults + ShutdownRequested  => ShuttingDown          [CancelLlmRequest, ReturnQueuedInput, Shutdown];
    SendingToolResults + SessionResumed     => SendingToolResults    [];
    SendingToolResults + ResumedStopped     => Cancelled             [];
    SendingToolResults + LlmDelta           => SendingToolResults    [DisplayText];
    SendingToolResults + LlmCompleted       => ProcessingLlmResponse [DisplayMessage];
    SendingToolResults + LlmFailedRetryable => Error                 [DiscardPartial, ScheduleRetry];
    SendingToolResults + LlmFailedFallback  => PreparingRequest      [DiscardPartial, DisplayError];
    SendingToolResults + LlmFailedForGood   => WaitingForUserInput   [DiscardPartial, DisplayError, PromptForInput];
    SendingToolResults + ContextOverflowed  => PreparingRequest      [DiscardPartial];
    SendingToolResults + LlmAborted         => Cancelled             [];
    SendingToolResults + LlmInterrupted     => PreparingRequest      [DiscardPartial];

    ProcessingLlmResponse + AutoCancelled               => Cancelled           [];
    ProcessingLlmResponse + AutoToolCalls               => ToolUseRequested    [];
    ProcessingLlmResponse + AutoResponsePaused          => PreparingRequest    [];
    ProcessingLlmResponse + AutoResponseUnusable        => Error               [DiscardPartial, ScheduleRetry];
    ProcessingLlmResponse + AutoResponseUnusableForGood => WaitingForUserInput [DisplayError, PromptForInput];
    ProcessingLlmResponse + AutoNoToolCalls             => EndOfTurn           [];

    EndOfTurn + AutoQueuedInput  => PreparingRequest    [StartDeadline];
    EndOfTurn + AutoStopHooksDue => RunningHooks        [RunHooks];
    EndOfTurn + AutoWaitingInput => PreparingRequest    [StartDeadline];
    EndOfTurn + AutoQueueEmpty   => WaitingForUserInput [PromptForInput];

    ToolUseRequested + AutoAlways => PreparingTools [PrepareTools];

    PreparingTools + UserInput         => PreparingTools          [];
    PreparingTools + InputAfterTurn    => PreparingTools          [];
    PreparingTools + InputWithdrawn    => PreparingTools          [ReturnQueuedInput];
    PreparingTools + BudgetRaised      => PreparingTools          [StartDeadline];
    PreparingTools + Reconfigured      => PreparingTools          [StartDeadline];
    PreparingTools + CancelRequested   => PreparingTools          [CancelHooks];
    PreparingTools + ShutdownRequested => ShuttingDown            [CancelHooks, ReturnQueuedInput, Shutdown];
    PreparingTools + SessionResumed    => PreparingTools          [];
    PreparingTools + ResumedStopped    => CheckingForCancellation [];
    PreparingTools + ToolsPrepared     => CheckingForCancellation [];
    PreparingTools + HookFailed        => CheckingForCancellation [DisplayError];
    PreparingTools + HooksStoppedTurn  => WaitingForUserInput     [DisplayError, PromptForInput];

    CheckingForCancellation + AutoCancelled     => Cancelled        [];
    CheckingForCancellation + AutoNeedsApproval => AwaitingApproval [HoldDeadline, RequestApproval];
    CheckingForCancellation + AutoNothingToRun  => CheckingBudget   [];
    CheckingForCancellation + AutoClear         => ExecutingTools   [ExecuteTools];

    AwaitingApproval + UserInput          => AwaitingApproval [];
    AwaitingApproval + InputAfterTurn     => AwaitingApproval [];
    AwaitingApproval + InputWithdrawn     => AwaitingApproval [ReturnQueuedInput];
    AwaitingApproval + BudgetRaised       => AwaitingApproval [];
    AwaitingApproval + Reconfigured       => AwaitingApproval [];
    AwaitingApproval + CancelRequested    => Cancelled        [WithdrawApproval];
    AwaitingApproval + ShutdownRequested  => ShuttingDown     [WithdrawApproval, ReturnQueuedInput, Shutdown];
    AwaitingApproval + SessionResumed     => AwaitingApproval [];
    AwaitingApproval + ApprovalPartial    => AwaitingApproval [];
    AwaitingApproval + ApprovalsGranted   => ExecutingTools   [StartDeadline, ExecuteTools];
    AwaitingApproval + ApprovalsAllDenied => CheckingBudget   [StartDeadline];

    ExecutingTools + UserInput                 => ExecutingTools     [];
    ExecutingTools + InputAfterTurn            => ExecutingTools     [];
    ExecutingTools + InputWithdrawn            => ExecutingTools     [ReturnQueuedInput];
    ExecutingTools + BudgetRaised              => ExecutingTools     [StartDeadline];
    ExecutingTools + Reconfigured              => ExecutingTools     [StartDeadline];
    ExecutingTools + CancelRequested           => ExecutingTools     [CancelTools];
    ExecutingTools + ShutdownRequested         => ShuttingDown       [CancelTools, ReturnQueuedInput, Shutdown];
    ExecutingTools + SessionResumed            => ExecutingTools     [];
    ExecutingTools + ResumedStopped            => Cancelled          [];
    ExecutingTools + ToolProgress              => ExecutingTools     [DisplayText];
    ExecutingTools + ToolCompletedMoreLeft     => ExecutingTools     [];
    ExecutingTools + ToolGroupCompleted        => ExecutingTools     [ExecuteTools];
    ExecutingTools + ToolsAllCompleted         => CheckingBudget     [];
    ExecutingTools + ToolsAllCompletedMutating => CheckingGitCommits [CheckGitCommits];
    ExecutingTools + ToolsAllCompletedHooksDue => RunningHooks       [RunHooks];
    ExecutingTools + ToolsStopped              => Cancelled          [];

    CheckingGitCommits + UserInput               => CheckingGitCommits    [];
    CheckingGitCommits + InputAfterTurn          => CheckingGitCommits    [];
    CheckingGitCommits + InputWithdrawn          => CheckingGitCommits    [ReturnQueuedInput];
    CheckingGitCommits + BudgetRaised            => CheckingGitCommits    [StartDeadline];
    CheckingGitCommits + Reconfigured            => CheckingGitCommits    [StartDeadline];
    CheckingGitCommits + CancelRequested         => CheckingGitCommits    [CancelHooks];
    CheckingGitCommits + ShutdownRequested       => ShuttingDown          [CancelHooks, ReturnQueuedInput, Shutdown];
    CheckingGitCommits + SessionResumed          => CheckingGitCommits    [];
    CheckingGitCommits + ResumedStopped          => Cancelled             [];
    CheckingGitCommits + GitChecked              => CheckingBudget        [];
    CheckingGitCommits + GitCheckedFormattingDue => RunningAutoformatters [RunAutoformatters];
    CheckingGitCommits + GitCheckedCommitDue     => CommittingChanges     [CommitChanges];
    CheckingGitCommits + HookFailed              => CheckingBudget        [DisplayError];
    CheckingGitCommits + HooksStoppedTurn        => WaitingForUserInput   [DisplayError, PromptForInput];

    RunningAutoformatters + UserInput                   => RunningAutoformatters [];
    RunningAutoformatters + InputAfterTurn              => RunningAutoformatters [];
    RunningAutoformatters + InputWithdrawn              => RunningAutoformatters [ReturnQueuedInput];
    RunningAutoformatters + BudgetRaised                => RunningAutoformatters [StartDeadline];
    RunningAutoformatters + Reconfigured                => RunningAutoformatters [StartDeadline];
    RunningAutoformatters + CancelRequested             => RunningAutoformatters [CancelHooks];
    RunningAutoformatters + ShutdownRequested           => ShuttingDown          [CancelHooks, ReturnQueuedInput, Shutdown];
    RunningAutoformatters + SessionResumed              => RunningAutoformatters [];
    RunningAutoformatters + ResumedStopped              => Cancelled             [];
    RunningAutoformatters + FormattersFinished          => CheckingBudget        [];
    RunningAutoformatters + FormattersFinishedCommitDue => CommittingChanges     [CommitChanges];
    RunningAutoformatters + HookFailed                  => CheckingBudget        [DisplayError];
    RunningAutoformatters + HooksStoppedTurn            => WaitingForUserInput   [DisplayError, PromptForInput];

    CommittingChanges + UserInput         => CommittingChanges   [];
    CommittingChanges + InputAfterTurn    => CommittingChanges   [];
    CommittingChanges + InputWithdrawn    => CommittingChanges   [ReturnQueuedInput];
    CommittingChanges + BudgetRaised      => CommittingChanges   [StartDeadline];
    CommittingChanges + Reconfigured      => CommittingChanges   [StartDeadline];
    CommittingChanges + CancelRequested   => CommittingChanges   [CancelHooks];
    CommittingChanges + ShutdownRequested => ShuttingDown        [CancelHooks, ReturnQueuedInput, Shutdown];
    CommittingChanges + SessionResumed    => CommittingChanges   [];
    CommittingChanges + ResumedStopped    => Cancelled           [];
    CommittingChanges + ChangesCommitted  => CheckingBudget      [];
    CommittingChanges + HookFailed        => CheckingBudget      [DisplayError];
    CommittingChanges + HooksStoppedTurn  => WaitingForUserInput [DisplayError, PromptForInput];

    RunningHooks + UserInput         => RunningHooks        [];
    RunningHooks + InputAfterTurn    => RunningHooks        [];
    RunningHooks + InputWithdrawn    => RunningHooks        [ReturnQueuedInput];
    RunningHooks + BudgetRaised      => RunningHooks        [StartDeadline];
    RunningHooks + Reconfigured      => RunningHooks        [StartDeadline];
    RunningHooks + CancelRequested   => RunningHooks        [CancelHooks];
    RunningHooks + ShutdownRequested => ShuttingDown        [CancelHooks, ReturnQueuedInput, Shutdown];
    RunningHooks + SessionResumed    => RunningHooks        [];
    RunningHooks + ResumedStopped    => Cancelled           [];
    RunningHooks + HooksFinished     => SettlingHooks       [DisplayError];
    RunningHooks + HookFailed        => SettlingHooks       [DisplayError];
    RunningHooks + HooksStoppedTurn  => WaitingForUserInput [DisplayError, PromptForInput];

    SettlingHooks + AutoCancelled     => Cancelled           [];
    SettlingHooks + AutoGitCheckDue   => CheckingGitCommits  [CheckGitCommits];
    SettlingHooks + AutoToolsAnswered => CheckingBudget      [];
    SettlingHooks + AutoWorkDue       => PreparingRequest    [];
    SettlingHooks + AutoRaisedWorkDue => PreparingRequest    [StartDeadline];
    SettlingHooks + AutoQueuedInput   => PreparingRequest    [StartDeadline];
    SettlingHooks + AutoWaitingInput  => PreparingRequest    [StartDeadline];
    SettlingHooks + AutoQueueEmpty    => WaitingForUserInput [PromptForInput];

    CheckingBudget + AutoCancelled    => Cancelled                   [];
    CheckingBudget + AutoBudgetSpent  => BudgetExceeded              [DisplayError];
    CheckingBudget + AutoLoopDetected => WaitingForUserInput         [DisplayError, PromptForInput];
    CheckingBudget + AutoBudgetLeft   => GatheringAdditionalMessages [];

    GatheringAdditionalMessages + AutoInputGathered => PreparingRequest [];

    Compacting + UserInput                  => Compacting          [];
    Compacting + InputAfterTurn             => Compacting          [];
    Compacting + InputWithdrawn             => Compacting          [ReturnQueuedInput];
    Compacting + BudgetRaised               => Compacting          [StartDeadline];
    Compacting + Reconfigured               => Compacting          [StartDeadline];
    Compacting + CancelRequested            => Compacting          [CancelLlmRequest];
    Compacting + ShutdownRequested          => ShuttingDown        [CancelLlmRequest, ReturnQueuedInput, Shutdown];
    Compacting + SessionResumed             => Compacting          [];
    Compacting + ResumedStopped             => Cancelled           [];
    Compacting + LlmDelta                   => Compacting          [];
    Compacting + CompactionCompletedWorkDue => PreparingRequest    [DisplaySummary];
    Compacting + CompactionCompleted        => WaitingForUserInput [DisplaySummary, PromptForInput];
    Compacting + CompactionFailedForGood    => WaitingForUserInput [DisplayError, PromptForInput];
    Compacting + CompactionFailedWorkDue    => PreparingRequest    [DisplayError];
    Compacting + LlmFailedRetryable         => Error               [ScheduleRetry];
    Compacting + LlmFailedFallback          => PreparingRequest    [DisplayError];
    Compacting + LlmAborted                 => Cancelled           [];
    Compacting + LlmInterrupted             => PreparingRequest    [];

    Error + UserInput         => Error            [];
    Error + InputAfterTurn    => Error            [];
    Error + InputWithdrawn    => Error            [ReturnQueuedInput];
    Error + BudgetRaised      => Error            [StartDeadline];
    Error + Reconfigured      => Error            [StartDeadline];
    Error + CancelRequested   => Cancelled        [CancelRetry];
    Error + ShutdownRequested => ShuttingDown     [CancelRetry, ReturnQueuedInput, Shutdown];
    Error + SessionResumed    => Error            [];
    Error + RetryTimeout      => PreparingRequest [];

    Cancelled      + AutoCancelSettled => WaitingForUserInput [DisplayError, ReturnQueuedInput, PromptForInput];
    BudgetExceeded + AutoAlways        => WaitingForUserInput [PromptForInput];
};

prove! {
    /// The table with its proof, on which every session runs.
    pub const PROVED of TABLE: State, Trigger, ActionKind;
    action SendLlmRequest only from [PreparingRequest];
    action ExecuteTools only from [CheckingForCancellation, AwaitingApproval, ExecutingTools];
    action RequestApproval only from [CheckingForCancellation];
    action CommitChanges only from [CheckingGitCommits, RunningAutoformatters];
    action RunAutoformatters only from [CheckingGitCommits];
    action RunHooks only from [WaitingForUserInput, PreparingRequest, EndOfTurn, ExecutingTools];
    order SendLlmRequest in PreparingRequest after [AutoCancelled, AutoBudgetSpent, AutoHooksDue];
    order RunHooks in PreparingRequest after [AutoCancelled, AutoBudgetSpent];
    order ExecuteTools in CheckingForCancellation after [AutoCancelled, AutoNeedsApproval];
    state ExecutingTools only through CheckingForCancellation;
    state CommittingChanges only through CheckingGitCommits;
    state CallingLlm only through PreparingRequest;
    trigger LlmDelta stays;
    trigger ToolProgress stays;
}

/// For what is read back: the table is not kept.
pub(super) const fn proved() -> ProvedTable {
    PROVED
}
