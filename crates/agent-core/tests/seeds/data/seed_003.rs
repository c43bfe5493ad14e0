//! Seed 003.

use super::reasons::*;
use crate::seed::Held::{By, Otherwise};
use crate::seed::{Beyond, Edge, Said, Seed, Shown, Word};
use agent_core::session::State::{self, *};
use agent_core::session::Trigger::{self, *};

pub(crate) const SEED_003: Seed<State, Trigger> = Seed {
    number: "003",
    title: "an agent's state machine as a table",
    about: "Seven states with the fields they carry, nine events, seven actions, a table of thirteen rows and the same as a diagram. It knows \
            that an answer is streamed, and that tools which change files are followed by a hook.",
    states: &[
        ("[*]", &[Ready]),
        ("WaitingForUserInput", &[WaitingForUserInput]),
        ("CallingLlm", &[CallingLlm, SendingToolResults]),
        ("ProcessingLlmResponse", &[ProcessingLlmResponse]),
        ("ExecutingTools", &[ExecutingTools]),
        ("PostToolsHook", &[CheckingGitCommits, RunningAutoformatters, CommittingChanges]),
        ("Error", &[Error]),
        ("ShuttingDown", &[ShuttingDown]),
    ],
    own: &[AwaitingApproval, RunningHooks, Compacting],
    collapsed: "Collapsed are `PreparingTools`, which finds out what calls would do, and every passing state but `ProcessingLlmResponse`. \
                The seed's first mark is our `Ready`.",
    begins: "[*]",
    ends: &["ShuttingDown"],
    words: WORDS,
    edges: EDGES,
    beyond: &[SESSIONS, BEYOND],
    said: SAID,
};

#[rustfmt::skip]
const WORDS: &[Word] = &[
    Word { theirs: "event UserInput", ours: &["UserInput"], events: &["UserInput"], note: "" },
    Word { theirs: "event LlmEvent::TextDelta", ours: &["LlmDelta"], events: &["LlmDelta"], note: "" },
    Word { theirs: "event LlmEvent::ToolCallDelta", ours: &[], events: &[], note: "a call is shown when it is complete; half of its arguments are of no use to anybody" },
    Word { theirs: "event LlmEvent::Completed", ours: &["LlmCompleted", "CompactionCompleted", "CompactionCompletedWorkDue", "CompactionFailedForGood", "CompactionFailedWorkDue", "LlmAborted"], events: &["LlmCompleted"],
           note: "one event; a summary of the conversation is the answer to a model call, too, and one of no use that comes under a cancel counts as stopped" },
    Word { theirs: "event LlmEvent::Error", ours: &["LlmFailedRetryable", "LlmFailedFallback", "LlmFailedForGood", "ContextOverflowed", "CompactionFailedForGood", "CompactionFailedWorkDue", "LlmAborted"], events: &["LlmFailed", "LlmAborted"],
           note: "`LlmFailed`, read as what can be done about it; a call that was stopped ends with an event of its own, `LlmAborted`" },
    Word { theirs: "event ToolCompleted", ours: &["ToolCompletedMoreLeft", "ToolGroupCompleted", "ToolsAllCompleted", "ToolsAllCompletedHooksDue", "ToolsAllCompletedMutating", "ToolsStopped"], events: &["ToolCompleted"],
           note: "one event, read as what is left to do" },
    Word { theirs: "event PostToolsHookCompleted", ours: &["GitChecked", "GitCheckedFormattingDue", "GitCheckedCommitDue", "FormattersFinished", "FormattersFinishedCommitDue", "ChangesCommitted", "HookFailed", "HooksStoppedTurn"], events: &["GitChecked", "FormattersFinished", "ChangesCommitted", "HookFailed", "HooksStoppedTurn"],
           note: "one event for each hook, read as what is due next, one for a hook that fails and one for a hook that stops the turn" },
    Word { theirs: "event RetryTimeoutFired", ours: &["RetryTimeout"], events: &["RetryTimeout"], note: "" },
    Word { theirs: "event ShutdownRequested", ours: &["ShutdownRequested"], events: &["ShutdownRequested"], note: "" },
    Word { theirs: "action SendLlmRequest", ours: &["SendLlmRequest"], events: &[], note: "" },
    Word { theirs: "action ExecuteTools", ours: &["ExecuteTools"], events: &[], note: "" },
    Word { theirs: "action RunPostToolsHook", ours: &["CheckGitCommits", "RunAutoformatters", "CommitChanges"], events: &[], note: "" },
    Word { theirs: "action WaitForInput", ours: &["PromptForInput"], events: &[], note: "where the user is meant; while tools or a timer are waited for there is none" },
    Word { theirs: "action DisplayMessage", ours: &["DisplayText", "DisplayMessage"], events: &[], note: "pieces while they come, and the whole answer" },
    Word { theirs: "action DisplayError", ours: &["DisplayError"], events: &[], note: "" },
    Word { theirs: "action Shutdown", ours: &["Shutdown"], events: &[], note: "" },
];

#[rustfmt::skip]
const EDGES: &[Edge<Trigger>] = &[
    Edge { from: "ShuttingDown", label: "", on: &[], to: "[*]", shown: Shown::Ends },
    Edge { from: "[*]", label: "Agent::new()", on: &[Started], to: "WaitingForUserInput", shown: Shown::By("not-started; start") },
    Edge { from: "WaitingForUserInput", label: "UserInput", on: &[UserInput], to: "CallingLlm", shown: Shown::By("input go") },
    Edge { from: "CallingLlm", label: "TextDelta / ToolCallDelta", on: &[LlmDelta], to: "CallingLlm", shown: Shown::By("input go; delta hi") },
    Edge { from: "CallingLlm", label: "Completed", on: &[LlmCompleted], to: "ProcessingLlmResponse", shown: Shown::By("input go; answer hi") },
    Edge { from: "CallingLlm", label: "Error (retries < max)", on: &[LlmFailedRetryable], to: "Error", shown: Shown::By("input go; fail network") },
    Edge { from: "CallingLlm", label: "Error (retries >= max)", on: &[LlmFailedForGood], to: "WaitingForUserInput", shown: Shown::By("config retries=0; input go; fail network") },
    Edge { from: "ProcessingLlmResponse", label: "has tool calls", on: &[AutoToolCalls], to: "ExecutingTools", shown: Shown::By("input go; answer calls read{}; prepared") },
    Edge { from: "ProcessingLlmResponse", label: "no tools", on: &[AutoNoToolCalls], to: "WaitingForUserInput", shown: Shown::By("input go; answer hi") },
    Edge { from: "ExecutingTools", label: "ToolCompleted (some pending)", on: &[ToolCompletedMoreLeft], to: "ExecutingTools", shown: Shown::By("input go; answer calls read{} read{}; prepared; tool 1 ok x") },
    Edge { from: "ExecutingTools", label: "ToolCompleted (some pending)", on: &[ToolGroupCompleted], to: "ExecutingTools", shown: Shown::By("input go; answer calls read{} change{}; prepared; tool 1 ok x") },
    Edge { from: "ExecutingTools", label: "ToolCompleted (all done, mutating)", on: &[ToolsAllCompletedMutating], to: "PostToolsHook", shown: Shown::By("input go; answer calls change{}; prepared; tool 1 ok x") },
    Edge { from: "ExecutingTools", label: "ToolCompleted (all done, non-mutating)", on: &[ToolsAllCompleted], to: "CallingLlm", shown: Shown::By("input go; answer calls read{}; prepared; tool 1 ok x") },
    Edge { from: "PostToolsHook", label: "PostToolsHookCompleted", on: &[GitChecked], to: "CallingLlm", shown: Shown::By("input go; answer calls change{}; prepared; tool 1 ok x; git") },
    Edge { from: "PostToolsHook", label: "PostToolsHookCompleted", on: &[FormattersFinished], to: "CallingLlm", shown: Shown::By("input go; answer calls change{}; prepared; tool 1 ok x; git formatting; formatted a.rs") },
    Edge { from: "PostToolsHook", label: "PostToolsHookCompleted", on: &[ChangesCommitted], to: "CallingLlm", shown: Shown::By("input go; answer calls change{}; prepared; tool 1 ok x; git commit; committed") },
    Edge { from: "Error", label: "RetryTimeoutFired", on: &[RetryTimeout], to: "CallingLlm", shown: Shown::By("input go; fail network; timer") },
    Edge { from: "WaitingForUserInput", label: "ShutdownRequested", on: &[ShutdownRequested], to: "ShuttingDown", shown: Shown::By("shutdown") },
    Edge { from: "CallingLlm", label: "ShutdownRequested", on: &[ShutdownRequested], to: "ShuttingDown", shown: Shown::By("input go; shutdown") },
    Edge { from: "ExecutingTools", label: "ShutdownRequested", on: &[ShutdownRequested], to: "ShuttingDown", shown: Shown::By("input go; answer calls read{}; prepared; shutdown") },
    Edge { from: "PostToolsHook", label: "ShutdownRequested", on: &[ShutdownRequested], to: "ShuttingDown", shown: Shown::By("input go; answer calls change{}; prepared; tool 1 ok x; shutdown") },
    Edge { from: "Error", label: "ShutdownRequested", on: &[ShutdownRequested], to: "ShuttingDown", shown: Shown::By("input go; fail network; shutdown") },
    Edge { from: "ProcessingLlmResponse", label: "ShutdownRequested", on: &[ShutdownRequested], to: "ShuttingDown",
           shown: Shown::Not("the state is passed within one step, so no event can meet it: a shutdown comes before the answer or after it") },
];

const BUSY: &[&str] =
    &["CallingLlm", "ExecutingTools", "PostToolsHook", "Error", "AwaitingApproval", "RunningHooks", "Compacting"];

const BEYOND: &[Beyond<Trigger>] = &[
    shutdown(&["[*]", "AwaitingApproval", "RunningHooks", "Compacting"]),
    queued(BUSY),
    LOOKED_AT,
    Beyond {
        why: "pieces of a summary are taken as those of any answer, and not shown",
        from: &["Compacting"],
        on: &[LlmDelta],
        to: &["Compacting"],
    },
    LOOKED_AT_AFTER_TOOLS,
    REPEATED_LOOKED_AT,
    PREPARED,
    QUEUED_AT_END,
    UNUSABLE,
    Beyond {
        why: "the seed's one state for hooks is three, and one may lead to the next",
        from: &["PostToolsHook"],
        on: &[GitCheckedFormattingDue, GitCheckedCommitDue, FormattersFinishedCommitDue],
        to: &["PostToolsHook"],
    },
    Beyond {
        why: "after hooks the limits are looked at as after tools, and the next model call may need a summary or the user's hooks first",
        from: &["PostToolsHook"],
        on: &[GitChecked, FormattersFinished, ChangesCommitted],
        to: &["Compacting", "RunningHooks", "WaitingForUserInput"],
    },
    HOOKED_FIRST,
    why("a hook may fail, which is reported, or stop the turn", &[HookFailed, HooksStoppedTurn]),
];

const SAID: &[Said] = &[
    Said {
        section: "Design principles 1",
        what: "all transitions are explicit and testable",
        held: By(&[
            "session/pairs::every_state_with_every_event_and_every_guard",
            "session/coverage::every_row_fires_in_some_run",
        ]),
    },
    Said {
        section: "Design principles 2",
        what: "each state carries the context it needs",
        held: Otherwise(
            "the session carries it, whatever its state: a session that is kept and read back knows what it waits for",
            &["a_session_that_is_read_back_knows_what_it_waits_for"],
        ),
    },
    Said {
        section: "Design principles 3",
        what: "there is no async in the machine; whoever drives it does the input and output",
        held: By(&["the_machine_is_pure_and_synchronous", "the_workspace_is_tidy"]),
    },
    Said {
        section: "Design principles 4",
        what: "the same events give the same actions, so that they can be replayed",
        held: By(&["session/properties::invariants_hold_after_every_event"]),
    },
    Said {
        section: "States",
        what: "calling the model carries the retries",
        held: By(&["calling_the_model_counts_what_failed"]),
    },
    Said {
        section: "States",
        what: "executing tools carries what runs, at the same time",
        held: Otherwise(
            "calls that only read run at the same time; one that may change something runs alone",
            &["groups: reads together, changes alone, in call order"],
        ),
    },
    Said {
        section: "States",
        what: "the hook state carries the completed tools and the request that waits",
        held: Otherwise(
            "the tools, yes; the request is made from the history when the hooks are done, so that what they report is in it",
            &["the_hooks_are_told_which_tools_ran_and_how", "what a formatter changed reaches the next request"],
        ),
    },
    Said {
        section: "States",
        what: "an error carries what failed, how often, and where it came from",
        held: Otherwise(
            "what and how often, yes; where it goes on is decided by the history when the wait is over",
            &["an_error_says_what_failed_and_how_often", "a failure between tool results keeps them"],
        ),
    },
    Said {
        section: "Events",
        what: "pieces of tool calls are streamed",
        held: Otherwise(
            "pieces of text and of reasoning are; a call is shown when it is complete",
            &["text that comes with tool calls is shown (A.17)"],
        ),
    },
    Said {
        section: "Actions",
        what: "an event has one action",
        held: Otherwise(
            "a step has any number, in order: the timer of a retry is ordered, where the seed says only that it waits",
            &["seed_003_row_error_with_retries_left"],
        ),
    },
    Said {
        section: "Transition table",
        what: "waiting, user input: calls the model",
        held: By(&["seed_003_row_user_input"]),
    },
    Said {
        section: "Transition table",
        what: "calling, a piece of text: shown, stays",
        held: By(&["seed_003_row_text_delta"]),
    },
    Said {
        section: "Transition table",
        what: "calling, completed: looked at, without an action",
        held: Otherwise("the answer is shown at once, tool calls or not", &["seed_003_row_completed"]),
    },
    Said {
        section: "Transition table",
        what: "calling, error with retries left: error, waits",
        held: By(&["seed_003_row_error_with_retries_left"]),
    },
    Said {
        section: "Transition table",
        what: "calling, error without retries left: prompt, error shown",
        held: By(&["seed_003_row_error_without_retries_left"]),
    },
    Said {
        section: "Transition table",
        what: "an answer with tool calls: tools are executed",
        held: Otherwise("after it was found out what they would do, and allowed", &["seed_003_row_has_tool_calls"]),
    },
    Said {
        section: "Transition table",
        what: "an answer without: waits for input",
        held: By(&["seed_003_row_no_tools"]),
    },
    Said {
        section: "Transition table",
        what: "a tool completed, some pending: stays, waits",
        held: By(&["seed_003_row_some_pending"]),
    },
    Said {
        section: "Transition table",
        what: "all done, mutating: the hooks run",
        held: By(&["seed_003_row_all_done_mutating"]),
    },
    Said {
        section: "Transition table",
        what: "all done, not mutating: calls the model",
        held: By(&["seed_003_row_all_done_non_mutating"]),
    },
    Said {
        section: "Transition table",
        what: "hooks completed: calls the model",
        held: By(&["seed_003_row_hook_completed"]),
    },
    Said {
        section: "Transition table",
        what: "the wait is over: calls the model",
        held: By(&["seed_003_row_retry_timeout"]),
    },
    Said {
        section: "Transition table",
        what: "a shutdown from any state",
        held: By(&["a_shutdown_ends_every_waiting_state"]),
    },
    Said {
        section: "Flow diagram",
        what: "a shutdown is drawn from three states only",
        held: Otherwise(
            "the table of the same document says any, and so it is",
            &["a_shutdown_ends_every_waiting_state"],
        ),
    },
    Said {
        section: "Mutating tools",
        what: "two tools count as changing files, by their names",
        held: Otherwise(
            "no tool is known by name: each says of a call whether it may change anything, and an outcome that names changed files counts too",
            &[
                "whether_hooks_run_is_no_matter_of_names",
                "a tool that names changed paths counts as changing, whatever it said before",
            ],
        ),
    },
    Said {
        section: "Mutating tools",
        what: "tools that do not change files skip the hooks",
        held: By(&["seed_003_row_all_done_non_mutating", "reading starts no hook"]),
    },
    Said {
        section: "Key implementation pattern",
        what: "control is inverted, which makes it independent of networks and runtimes, and lets it be tested and replayed",
        held: By(&["the_machine_is_pure_and_synchronous", "session/properties::invariants_hold_after_every_event"]),
    },
];
