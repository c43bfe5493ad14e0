//! Why the session's table has edges that its three seeds lack. Reasons that more than one seed needs.

use crate::seed::Beyond;
use agent_core::session::Trigger::{self, *};

type Why = Beyond<Trigger>;

/// Those that every seed of a session needs.
pub(super) const SESSIONS: &[Why] = &[
    LATER,
    DATA,
    RAISED,
    CANCEL,
    STOPPED,
    PENDING_STOP,
    PROGRESS,
    FALLBACK,
    INTERRUPTED,
    OVERFLOW,
    SUMMARY,
    SUMMARY_FAILED,
    SUMMARY_ASKED,
    PERSON,
    PAUSED,
    USERS_HOOKS,
];

const DATA: Why =
    why("limits and configuration are data, which may change in every waiting state", &[BudgetRaised, Reconfigured]);
const RAISED: Why =
    why("a raised limit goes on with what the limit alone had stopped, and is looked at first", &[BudgetRaisedWorkDue]);
const LATER: Why = why(
    "a message may wait for the end of the turn, and be taken back as long as it has not gone out",
    &[InputAfterTurn, InputWithdrawn],
);
const CANCEL: Why = why("a turn can be stopped wherever it waits; while idle that changes nothing", &[CancelRequested]);
const STOPPED: Why =
    why("what was in flight when a stop was asked for has ended, and the turn with it", &[LlmAborted, ToolsStopped]);
const PENDING_STOP: Why = why("a stop that was asked for comes before anything else", &[AutoCancelled]);
const PROGRESS: Why = why("a tool may report how far it is", &[ToolProgress]);
const FALLBACK: Why = why("another model takes over from one that fails", &[LlmFailedFallback]);
const INTERRUPTED: Why = why(
    "another program may resume a session wherever it waits: what was in flight is asked again, a model call counts as used, and under a stop \
     nothing begins again",
    &[LlmInterrupted, SessionResumed, ResumedStopped],
);
const OVERFLOW: Why = why("a conversation that is too long is made shorter and sent again", &[ContextOverflowed]);
const SUMMARY: Why = why(
    "a summary of the conversation is a model call of its own, which succeeds, helps, or does not",
    &[CompactionCompleted, CompactionCompletedWorkDue, CompactionFailedForGood, CompactionFailedWorkDue],
);
const SUMMARY_FAILED: Why = Beyond {
    why: "the model call for a summary is repeated as any other",
    from: &["Compacting"],
    on: &[LlmFailedRetryable],
    to: &["Error", "StateError"],
};
const SUMMARY_ASKED: Why = why("the user may ask for a summary, to make room", &[CompactionRequested]);
const PERSON: Why = why(
    "a person is asked before what needs it, and answers about one call after the other",
    &[ApprovalPartial, ApprovalsGranted, ApprovalsAllDenied],
);
pub(super) const PREPARED: Why = why(
    "what the calls would do is found out before they run: a person may have to be asked, none may be left to run, and the session may be \
     stopped or ended meanwhile",
    &[AutoToolCalls],
);
pub(super) const QUEUED_AT_END: Why = why("what was typed ahead starts the next turn", &[AutoNoToolCalls]);
const PAUSED: Why = why("a provider may pause an answer, which is sent back to be continued", &[AutoResponsePaused]);
pub(super) const UNUSABLE: Why = why(
    "an answer may be empty, cut or refused, and of no use although the call succeeded",
    &[AutoResponseUnusable, AutoResponseUnusableForGood],
);
pub(super) const LOOKED_AT: Why = Beyond {
    why: "before a model call the limits and the length of the conversation are looked at: it may end the turn there, or need a summary first",
    from: &["WaitingForUserInput"],
    on: &[UserInput],
    to: &["Compacting", "WaitingForUserInput"],
};
pub(super) const REPEATED_LOOKED_AT: Why = Beyond {
    why: "a repeated model call is looked at as any other: the turn may end there, or a summary come first",
    from: &["Error"],
    on: &[RetryTimeout],
    to: &["Compacting", "WaitingForUserInput"],
};
pub(super) const LOOKED_AT_AFTER_TOOLS: Why = Beyond {
    why: "after tools the limits are looked at, and may end the turn; and the next model call may need a summary first",
    from: &["ExecutingTools"],
    on: &[ToolsAllCompleted],
    to: &["Compacting", "WaitingForUserInput"],
};

const USERS_HOOKS: Why = why(
    "the user's hooks look at tools that ran, at a session that is left, and lead on to where it would have gone without them",
    &[ToolsAllCompletedHooksDue, HooksFinished, LeaveRequested],
);
pub(super) const HOOKED_FIRST: Why = Beyond {
    why: "the user's hooks may have to look at a message, at the session or at the history before the next model call",
    from: &["WaitingForUserInput", "ExecutingTools", "Error"],
    on: &[UserInput, ToolsAllCompleted, RetryTimeout],
    to: &["RunningHooks"],
};

/// Input in any of these states stays there.
pub(super) const fn queued(states: &'static [&'static str]) -> Why {
    Beyond { why: "input while busy is queued, never lost", from: states, on: &[UserInput], to: states }
}

/// These states, which the seed lacks or from which it draws no end, can be ended for good.
pub(super) const fn shutdown(states: &'static [&'static str]) -> Why {
    Beyond { why: "a session can be ended for good wherever it rests", from: states, on: &[ShutdownRequested], to: &[] }
}

/// A reason for all edges on these triggers.
pub(super) const fn why(why: &'static str, on: &'static [Trigger]) -> Why {
    Beyond { why, from: &[], on, to: &[] }
}
