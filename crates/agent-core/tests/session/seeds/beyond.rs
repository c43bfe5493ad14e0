//! Why the table has edges that a seed lacks.

use super::Beyond;
use agent_core::session::State::{self, *};
use agent_core::session::Trigger::{self, *};

pub(super) const SEED_000_LACKS: &[Beyond] = &[
    START,
    QUEUED,
    DATA,
    RAISED,
    CANCEL,
    CANCELLED,
    STREAMED,
    PROGRESS,
    FALLBACK,
    OVERFLOW,
    SUMMARISING,
    SUMMARISED,
    ASKING,
    ASKED,
    PREPARING,
    NOTHING_RAN,
    USELESS,
    QUEUE_AT_END,
    LOOKED_AT_FIRST,
    SUMMARY_FIRST,
    HOOKS,
    AFTER_HOOKS,
];

pub(super) const SEED_003_LACKS: &[Beyond] = &[
    START,
    QUEUED,
    DATA,
    RAISED,
    CANCEL,
    CANCELLED,
    PROGRESS,
    FALLBACK,
    OVERFLOW,
    SUMMARISING,
    SUMMARISED,
    ASKING,
    ASKED,
    PREPARING,
    NOTHING_RAN,
    USELESS,
    QUEUE_AT_END,
    LOOKED_AT_FIRST,
    SUMMARY_FIRST,
    HOOKS_ARE_THREE,
    HOOKS_STOP,
];

pub(super) const SEED_001_LACKS: &[Beyond] = &[
    QUEUED,
    DATA,
    RAISED,
    CANCEL,
    CANCELLED,
    STREAMED,
    PROGRESS,
    FALLBACK,
    OVERFLOW,
    SUMMARISING,
    SUMMARISED,
    ASKING,
    ASKED,
    PREPARING,
    NOTHING_RAN,
    USELESS,
    QUEUE_AT_END,
    LOOKED_AT_FIRST,
    SUMMARY_FIRST,
    HOOKS_STOP,
    SHUTDOWN,
    COMMITS,
    REPEATED,
    GIVEN_UP,
    BY_HISTORY,
    ONLY_READ,
    LOOP,
];

const START: Beyond =
    Beyond { why: "a session is made before it is started, and may be ended before", from: &[Ready], ..ANY };
const QUEUED: Beyond = Beyond { why: "input while busy is queued, never lost", from: BUSY, on: &[UserInput], to: BUSY };
const DATA: Beyond = Beyond {
    why: "limits and configuration are data, in every waiting state",
    on: &[BudgetRaised, Reconfigured],
    ..ANY
};
const RAISED: Beyond = Beyond {
    why: "a raised limit goes on with what the limit alone had stopped",
    from: &[WaitingForUserInput],
    on: &[BudgetRaisedWorkDue],
    to: &[],
};
const CANCEL: Beyond = Beyond {
    why: "a turn can be stopped wherever it waits; while idle that changes nothing",
    on: &[CancelRequested],
    ..ANY
};
const CANCELLED: Beyond = Beyond {
    why: "a cancelled call or group leads back to the prompt",
    on: &[LlmAborted, ToolsStopped, AutoCancelled],
    to: &[WaitingForUserInput, Cancelled],
    from: &[],
};
const STREAMED: Beyond = Beyond { why: "answers are shown while they are written", on: &[LlmDelta], ..ANY };
const PROGRESS: Beyond = Beyond {
    why: "calls report progress, end one by one and run in groups",
    from: &[ExecutingTools],
    on: &[ToolProgress, ToolCompletedMoreLeft, ToolGroupCompleted],
    to: &[ExecutingTools],
};
const FALLBACK: Beyond = Beyond { why: "another model takes over", on: &[LlmFailedFallback], ..ANY };
const OVERFLOW: Beyond =
    Beyond { why: "a conversation that is too long is shortened", on: &[ContextOverflowed], ..ANY };
const SUMMARISING: Beyond = Beyond { why: "the conversation is summarised", from: &[Compacting], ..ANY };
const SUMMARISED: Beyond =
    Beyond { why: "the user may ask for a summary", from: &[WaitingForUserInput], on: &[CompactionRequested], to: &[] };
const SUMMARY_FIRST: Beyond =
    Beyond { why: "a summary comes first when the conversation is too long", to: &[Compacting], ..ANY };
const ASKING: Beyond = Beyond { why: "a person is asked before what needs it", to: &[AwaitingApproval], ..ANY };
const ASKED: Beyond = Beyond { why: "the person answers, or is not asked any more", from: &[AwaitingApproval], ..ANY };
const PREPARING: Beyond = Beyond {
    why: "the session may be ended while calls are prepared",
    from: &[ProcessingLlmResponse, ToolUseRequested],
    on: &[AutoToolCalls, AutoAlways],
    to: &[ShuttingDown],
};
const NOTHING_RAN: Beyond = Beyond {
    why: "when no call may run, their answers go back at once",
    from: &[ProcessingLlmResponse, CheckingForCancellation],
    on: &[AutoToolCalls, AutoNothingToRun],
    to: &[CallingLlm, CheckingBudget],
};
const USELESS: Beyond = Beyond {
    why: "an answer may be paused, empty, cut or refused",
    from: &[ProcessingLlmResponse],
    on: &[AutoResponsePaused, AutoResponseUnusable, AutoResponseUnusableForGood],
    to: &[],
};
const QUEUE_AT_END: Beyond = Beyond {
    why: "queued input starts the next turn",
    from: &[ProcessingLlmResponse, EndOfTurn],
    on: &[AutoNoToolCalls, AutoQueuedInput],
    to: &[],
};
const LOOKED_AT_FIRST: Beyond = Beyond {
    why: "before a model call a pending cancel and the limits are looked at",
    on: &[UserInput, RetryTimeout, ToolsAllCompleted, AutoToolCalls, AutoInputGathered, GitChecked],
    to: &[WaitingForUserInput, Cancelled, BudgetExceeded],
    from: &[],
};
const HOOKS: Beyond = Beyond { why: "hooks follow tools that may have changed files", to: HOOK_STATES, ..ANY };
const AFTER_HOOKS: Beyond = Beyond { why: "hooks lead on, fail or stop the turn", from: HOOK_STATES, ..ANY };
const HOOKS_ARE_THREE: Beyond = Beyond {
    why: "the seed's one state for hooks is three: one may lead to the next, fail, or find the limits reached",
    from: &[CheckingGitCommits],
    on: &[
        GitChecked,
        GitCheckedFormattingDue,
        GitCheckedCommitDue,
        FormattersFinished,
        FormattersFinishedCommitDue,
        ChangesCommitted,
        HookFailed,
    ],
    to: &[],
};
const HOOKS_STOP: Beyond = Beyond { why: "a hook may stop the turn", on: &[HooksStoppedTurn], ..ANY };
const SHUTDOWN: Beyond =
    Beyond { why: "a session can be ended for good", on: &[ShutdownRequested], to: &[ShuttingDown], from: &[] };
const COMMITS: Beyond = Beyond {
    why: "commits are a state of their own",
    from: HOOK_STATES,
    on: &[GitCheckedCommitDue, FormattersFinishedCommitDue, ChangesCommitted, HookFailed],
    to: &[],
};
const REPEATED: Beyond = Beyond { why: "a failed call is repeated", from: &[Error], on: &[RetryTimeout], to: &[] };
const GIVEN_UP: Beyond = Beyond {
    why: "what repetition cannot cure ends the turn at once",
    on: &[LlmFailedForGood],
    to: &[WaitingForUserInput],
    from: &[],
};
const BY_HISTORY: Beyond = Beyond {
    why: "whether a call carries results is a matter of the history, not of the way there",
    from: &[WaitingForUserInput, GatheringAdditionalMessages],
    on: &[UserInput, AutoInputGathered],
    to: &[CallingLlm, SendingToolResults],
};
const ONLY_READ: Beyond = Beyond {
    why: "tools that only read need no hooks",
    from: &[ExecutingTools],
    on: &[ToolsAllCompleted],
    to: &[CheckingBudget],
};
const LOOP: Beyond = Beyond { why: "a model that repeats itself is stopped", on: &[AutoLoopDetected], ..ANY };

const ANY: Beyond = Beyond { why: "", from: &[] as &[State], on: &[] as &[Trigger], to: &[] };
const HOOK_STATES: &[State] = &[CheckingGitCommits, RunningAutoformatters, CommittingChanges];
const BUSY: &[State] = &[
    CallingLlm,
    SendingToolResults,
    AwaitingApproval,
    ExecutingTools,
    CheckingGitCommits,
    RunningAutoformatters,
    CommittingChanges,
    Compacting,
    Error,
];
