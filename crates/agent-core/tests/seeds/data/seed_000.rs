//! Seed 000.

use super::reasons::*;
use crate::seed::Held::{By, Otherwise};
use crate::seed::{Beyond, Edge, Said, Seed, Shown, Word};
use agent_core::session::State::{self, *};
use agent_core::session::Trigger::{self, *};

pub(crate) const SEED_000: Seed<State, Trigger> = Seed {
    number: "000",
    title: "a pure state machine and its runner",
    about: "A short description of an interactive coding agent: six states, six events, eight actions, a picture of the transitions and the \
            numbers of its retries.",
    states: &[
        ("WaitingForUserInput", &[WaitingForUserInput]),
        ("CallingLlm", &[CallingLlm, SendingToolResults]),
        ("ProcessingLlmResponse", &[ProcessingLlmResponse]),
        ("ExecutingTools", &[ExecutingTools]),
        ("Error", &[Error]),
        ("ShuttingDown", &[ShuttingDown]),
    ],
    own: &[
        Ready,
        AwaitingApproval,
        CheckingGitCommits,
        RunningAutoformatters,
        CommittingChanges,
        RunningHooks,
        Compacting,
    ],
    collapsed: "Collapsed are `PreparingTools`, which finds out what calls would do, and every passing state but `ProcessingLlmResponse`.",
    begins: "Ready",
    ends: &["ShuttingDown"],
    words: WORDS,
    edges: EDGES,
    beyond: &[SESSIONS, BEYOND],
    said: SAID,
};

#[rustfmt::skip]
const WORDS: &[Word] = &[
    Word { theirs: "event UserInput", ours: &["UserInput"], events: &["UserInput"], note: "" },
    Word { theirs: "event LlmCompleted", ours: &["LlmCompleted", "CompactionCompleted", "CompactionCompletedWorkDue", "CompactionFailedForGood", "CompactionFailedWorkDue", "LlmAborted"], events: &["LlmCompleted"],
           note: "one event; a summary of the conversation is the answer to a model call, too, and one of no use that comes under a cancel counts as stopped" },
    Word { theirs: "event LlmError", ours: &["LlmFailedRetryable", "LlmFailedFallback", "LlmFailedForGood", "ContextOverflowed", "CompactionFailedForGood", "CompactionFailedWorkDue", "LlmAborted"], events: &["LlmFailed", "LlmAborted"],
           note: "`LlmFailed`, read as what can be done about it; a call that was stopped ends with an event of its own, `LlmAborted`" },
    Word { theirs: "event ToolCompleted", ours: &["ToolCompletedMoreLeft", "ToolGroupCompleted", "ToolsAllCompleted", "ToolsAllCompletedHooksDue", "ToolsAllCompletedMutating", "ToolsStopped"], events: &["ToolCompleted"],
           note: "one event, read as what is left to do" },
    Word { theirs: "event RetryTimeout", ours: &["RetryTimeout"], events: &["RetryTimeout"], note: "" },
    Word { theirs: "event ShutdownRequested", ours: &["ShutdownRequested"], events: &["ShutdownRequested"], note: "" },
    Word { theirs: "action SendLlmRequest", ours: &["SendLlmRequest"], events: &[], note: "" },
    Word { theirs: "action ExecuteTools", ours: &["ExecuteTools"], events: &[], note: "" },
    Word { theirs: "action DisplayText", ours: &["DisplayText", "DisplayMessage"], events: &[], note: "pieces while they come, and the whole answer" },
    Word { theirs: "action DisplayError", ours: &["DisplayError"], events: &[], note: "" },
    Word { theirs: "action PromptForInput", ours: &["PromptForInput"], events: &[], note: "" },
    Word { theirs: "action ScheduleRetry", ours: &["ScheduleRetry"], events: &[], note: "" },
    Word { theirs: "action WaitForEvent", ours: &[], events: &[], note: "a step without actions says so" },
    Word { theirs: "action Shutdown", ours: &["Shutdown"], events: &[], note: "" },
];

#[rustfmt::skip]
const EDGES: &[Edge<Trigger>] = &[
    Edge { from: "WaitingForUserInput", label: "UserInput", on: &[UserInput], to: "CallingLlm", shown: Shown::By("input go") },
    Edge { from: "CallingLlm", label: "LlmCompleted", on: &[LlmCompleted], to: "ProcessingLlmResponse", shown: Shown::By("input go; answer hi") },
    Edge { from: "CallingLlm", label: "LlmError", on: &[LlmFailedRetryable], to: "Error", shown: Shown::By("input go; fail network") },
    Edge { from: "CallingLlm", label: "after the retries", on: &[LlmFailedForGood], to: "WaitingForUserInput", shown: Shown::By("config retries=0; input go; fail network") },
    Edge { from: "ProcessingLlmResponse", label: "has tools", on: &[AutoToolCalls], to: "ExecutingTools", shown: Shown::By("input go; answer calls read{}; prepared") },
    Edge { from: "ProcessingLlmResponse", label: "no tools", on: &[AutoNoToolCalls], to: "WaitingForUserInput", shown: Shown::By("input go; answer hi") },
    Edge { from: "ExecutingTools", label: "ToolCompleted (all done)", on: &[ToolsAllCompleted], to: "CallingLlm", shown: Shown::By("input go; answer calls read{}; prepared; tool 1 ok x") },
    Edge { from: "Error", label: "RetryTimeout", on: &[RetryTimeout], to: "CallingLlm", shown: Shown::By("input go; fail network; timer") },
    Edge { from: "WaitingForUserInput", label: "ShutdownRequested", on: &[ShutdownRequested], to: "ShuttingDown", shown: Shown::By("shutdown") },
    Edge { from: "CallingLlm", label: "ShutdownRequested", on: &[ShutdownRequested], to: "ShuttingDown", shown: Shown::By("input go; shutdown") },
    Edge { from: "ExecutingTools", label: "ShutdownRequested", on: &[ShutdownRequested], to: "ShuttingDown", shown: Shown::By("input go; answer calls read{}; prepared; shutdown") },
    Edge { from: "Error", label: "ShutdownRequested", on: &[ShutdownRequested], to: "ShuttingDown", shown: Shown::By("input go; fail network; shutdown") },
    Edge { from: "ProcessingLlmResponse", label: "ShutdownRequested", on: &[ShutdownRequested], to: "ShuttingDown",
           shown: Shown::Not("the state is passed within one step, so no event can meet it: a shutdown comes before the answer or after it") },
];

const BUSY: &[&str] = &[
    "CallingLlm",
    "ExecutingTools",
    "Error",
    "AwaitingApproval",
    "CheckingGitCommits",
    "RunningAutoformatters",
    "CommittingChanges",
    "RunningHooks",
    "Compacting",
];

const BEYOND: &[Beyond<Trigger>] = &[
    why("a session is made before it is started", &[Started]),
    shutdown(&[
        "Ready",
        "AwaitingApproval",
        "CheckingGitCommits",
        "RunningAutoformatters",
        "CommittingChanges",
        "RunningHooks",
        "Compacting",
    ]),
    queued(BUSY),
    LOOKED_AT,
    why("answers are shown while they are written", &[LlmDelta]),
    why("calls end one by one, and run in groups", &[ToolCompletedMoreLeft, ToolGroupCompleted]),
    LOOKED_AT_AFTER_TOOLS,
    REPEATED_LOOKED_AT,
    HOOKED_FIRST,
    PREPARED,
    QUEUED_AT_END,
    UNUSABLE,
    why(
        "tools that may have changed files are followed by hooks: they lead on, fail, or stop the turn",
        &[
            ToolsAllCompletedMutating,
            GitChecked,
            GitCheckedFormattingDue,
            GitCheckedCommitDue,
            FormattersFinished,
            FormattersFinishedCommitDue,
            ChangesCommitted,
            HookFailed,
            HooksStoppedTurn,
        ],
    ),
];

const SAID: &[Said] = &[
    Said {
        section: "Core principle",
        what: "the machine is pure and synchronous: events in, actions out",
        held: By(&["the_machine_is_pure_and_synchronous", "the_workspace_is_tidy"]),
    },
    Said {
        section: "Core principle",
        what: "whoever drives it performs the actions and reports what came of them",
        held: By(&["every_answer_comes_from_an_action_that_was_performed"]),
    },
    Said {
        section: "States",
        what: "calling the model keeps count of the retries",
        held: By(&["calling_the_model_counts_what_failed"]),
    },
    Said {
        section: "States",
        what: "the look at the answer is transient",
        held: By(&["the_look_at_an_answer_is_passed_at_once"]),
    },
    Said {
        section: "States",
        what: "an error is recovered from by a repetition; shutting down is terminal",
        held: By(&["an_error_is_repeated_and_the_end_is_final"]),
    },
    Said {
        section: "Actions",
        what: "an action says that nothing is to be done",
        held: Otherwise(
            "a step has any number of actions, so that none is needed for nothing",
            &["a_step_without_actions_is_a_wait"],
        ),
    },
    Said {
        section: "Actions",
        what: "the wait before a retry is ordered with its length, and its end is an event",
        held: By(&["retries_are_three_after_1_2_and_3_seconds"]),
    },
    Said {
        section: "State transitions",
        what: "a shutdown ends it from any state",
        held: By(&["a_shutdown_ends_every_waiting_state"]),
    },
    Said {
        section: "Retry logic",
        what: "at most 3 retries, after 1, 2 and 3 seconds",
        held: By(&["retries_are_three_after_1_2_and_3_seconds"]),
    },
    Said {
        section: "Retry logic",
        what: "the delays are called exponential",
        held: Otherwise(
            "1, 2, 3 is linear. Both exist: `Backoff::Linear` gives the seed's numbers; the default is `Backoff::Exponential`, 1, 2, 4 s, \
             with a cap and jitter",
            &["the_default_delays_are_exponential"],
        ),
    },
    Said {
        section: "Retry logic",
        what: "after the last retry it waits for input, with an error shown",
        held: By(&["after_the_last_retry_it_prompts_with_an_error"]),
    },
    Said {
        section: "Key design decisions",
        what: "the conversation travels with the state, whole in each variant",
        held: Otherwise(
            "the session owns one conversation, whatever its state: it is never copied, and stays readable after the end",
            &["the_conversation_can_be_read_in_every_state"],
        ),
    },
    Said {
        section: "Key design decisions",
        what: "every combination of state and event is handled, which the compiler sees to",
        held: Otherwise(
            "the compiler proves the table, and every match over events is exhaustive; a combination without a row is a typed refusal",
            &["session/pairs::every_state_with_every_event_and_every_guard"],
        ),
    },
];
