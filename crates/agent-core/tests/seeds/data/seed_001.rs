//! Seed 001.

use super::reasons::*;
use crate::seed::Held::{By, Otherwise};
use crate::seed::{Beyond, Edge, Said, Seed, Shown};
use agent_core::session::State::{self, *};
use agent_core::session::Trigger::{self, *};

pub(crate) const SEED_001: Seed<State, Trigger> = Seed {
    number: "001",
    title: "a diagram of an agent's states",
    about: "A diagram of sixteen states with hooks for git, formatters and a budget, a line on each state, and a list of what its \
            implementation offers: history, events, timing. No triggers are drawn on its edges; the first column but one says which of ours \
            they are taken to mean.",
    states: &[
        ("StateReady", &[Ready]),
        ("StateWaitingForUserInput", &[WaitingForUserInput]),
        ("StateSendingToLLM", &[CallingLlm]),
        ("StateProcessingLLMResponse", &[ProcessingLlmResponse]),
        ("StateEndOfTurn", &[EndOfTurn]),
        ("StateToolUseRequested", &[ToolUseRequested]),
        ("StateCheckingForCancellation", &[CheckingForCancellation]),
        ("StateRunningTool", &[ExecutingTools]),
        ("StateCheckingGitCommits", &[CheckingGitCommits]),
        ("StateRunningAutoformatters", &[RunningAutoformatters]),
        ("StateCheckingBudget", &[CheckingBudget]),
        ("StateGatheringAdditionalMessages", &[GatheringAdditionalMessages]),
        ("StateSendingToolResults", &[SendingToolResults]),
        ("StateCancelled", &[Cancelled]),
        ("StateBudgetExceeded", &[BudgetExceeded]),
        ("StateError", &[Error]),
    ],
    own: &[AwaitingApproval, CommittingChanges, RunningHooks, Compacting, ShuttingDown],
    collapsed: "Collapsed are `PreparingRequest` and `PreparingTools`, which prepare a call of the model or of tools, and `SettlingHooks`, which \
                decides where to go on after the user's hooks.",
    begins: "StateReady",
    ends: &[],
    words: &[],
    edges: EDGES,
    beyond: &[SESSIONS, BEYOND],
    said: SAID,
};

const ENDED_BY_CANCEL: &str = "giving up the wait for a repetition is a cancel, and passes through `Cancelled`; exhausted retries lead from \
    the failed call itself to `WaitingForUserInput`";

#[rustfmt::skip]
const EDGES: &[Edge<Trigger>] = &[
    Edge { from: "[*]", label: "", on: &[], to: "StateReady", shown: Shown::Begins },
    Edge { from: "StateReady", label: "", on: &[Started], to: "StateWaitingForUserInput", shown: Shown::By("not-started; start") },
    Edge { from: "StateWaitingForUserInput", label: "", on: &[UserInput], to: "StateSendingToLLM", shown: Shown::By("input go") },
    Edge { from: "StateWaitingForUserInput", label: "", on: &[], to: "StateError", shown: Shown::Not("an idle session has nothing in flight that could fail") },
    Edge { from: "StateSendingToLLM", label: "", on: &[LlmCompleted], to: "StateProcessingLLMResponse", shown: Shown::By("input go; answer hi") },
    Edge { from: "StateSendingToLLM", label: "", on: &[LlmFailedRetryable], to: "StateError", shown: Shown::By("input go; fail network") },
    Edge { from: "StateProcessingLLMResponse", label: "", on: &[AutoNoToolCalls], to: "StateEndOfTurn", shown: Shown::By("input go; answer hi") },
    Edge { from: "StateProcessingLLMResponse", label: "", on: &[AutoToolCalls], to: "StateToolUseRequested", shown: Shown::By("input go; answer calls read{}") },
    Edge { from: "StateProcessingLLMResponse", label: "", on: &[AutoResponseUnusable], to: "StateError", shown: Shown::By("input go; answer") },
    Edge { from: "StateEndOfTurn", label: "", on: &[AutoQueueEmpty], to: "StateWaitingForUserInput", shown: Shown::By("input go; answer hi") },
    Edge { from: "StateToolUseRequested", label: "", on: &[AutoAlways], to: "StateCheckingForCancellation", shown: Shown::By("input go; answer calls read{}; prepared") },
    Edge { from: "StateCheckingForCancellation", label: "", on: &[AutoClear], to: "StateRunningTool", shown: Shown::By("input go; answer calls read{}; prepared") },
    Edge { from: "StateCheckingForCancellation", label: "", on: &[AutoCancelled], to: "StateCancelled", shown: Shown::By("input go; answer calls read{}; cancel; prepared") },
    Edge { from: "StateRunningTool", label: "", on: &[ToolsAllCompletedMutating], to: "StateCheckingGitCommits", shown: Shown::By("input go; answer calls change{}; prepared; tool 1 ok x") },
    Edge { from: "StateRunningTool", label: "", on: &[], to: "StateError", shown: Shown::Not("a tool that fails is a result, which the model reads") },
    Edge { from: "StateCheckingGitCommits", label: "", on: &[GitCheckedFormattingDue], to: "StateRunningAutoformatters", shown: Shown::By("input go; answer calls change{}; prepared; tool 1 ok x; git formatting") },
    Edge { from: "StateCheckingGitCommits", label: "", on: &[GitChecked], to: "StateCheckingBudget", shown: Shown::By("input go; answer calls change{}; prepared; tool 1 ok x; git") },
    Edge { from: "StateRunningAutoformatters", label: "", on: &[FormattersFinished], to: "StateCheckingBudget", shown: Shown::By("input go; answer calls change{}; prepared; tool 1 ok x; git formatting; formatted") },
    Edge { from: "StateCheckingBudget", label: "", on: &[AutoBudgetLeft], to: "StateGatheringAdditionalMessages", shown: Shown::By("input go; answer calls read{}; prepared; tool 1 ok x") },
    Edge { from: "StateCheckingBudget", label: "", on: &[AutoBudgetSpent], to: "StateBudgetExceeded", shown: Shown::By("config model-calls=1; input go; answer calls read{}; prepared; tool 1 ok x") },
    Edge { from: "StateGatheringAdditionalMessages", label: "", on: &[AutoInputGathered], to: "StateSendingToolResults", shown: Shown::By("input go; answer calls read{}; prepared; tool 1 ok x") },
    Edge { from: "StateGatheringAdditionalMessages", label: "", on: &[], to: "StateError", shown: Shown::Not("taking in what was typed cannot fail") },
    Edge { from: "StateSendingToolResults", label: "", on: &[LlmCompleted], to: "StateProcessingLLMResponse", shown: Shown::By("input go; answer calls read{}; prepared; tool 1 ok x; answer hi") },
    Edge { from: "StateSendingToolResults", label: "", on: &[LlmFailedRetryable], to: "StateError", shown: Shown::By("input go; answer calls read{}; prepared; tool 1 ok x; fail network") },
    Edge { from: "StateError", label: "", on: &[], to: "StateWaitingForUserInput", shown: Shown::Not(ENDED_BY_CANCEL) },
    Edge { from: "StateCancelled", label: "", on: &[AutoCancelSettled], to: "StateWaitingForUserInput", shown: Shown::By("input go; cancel; aborted") },
    Edge { from: "StateBudgetExceeded", label: "", on: &[AutoAlways], to: "StateWaitingForUserInput", shown: Shown::By("config model-calls=0; input go") },
];

const BUSY: &[&str] = &[
    "StateSendingToLLM",
    "StateSendingToolResults",
    "StateRunningTool",
    "StateCheckingGitCommits",
    "StateRunningAutoformatters",
    "StateError",
    "AwaitingApproval",
    "CommittingChanges",
    "RunningHooks",
    "Compacting",
];

const BEYOND: &[Beyond<Trigger>] = &[
    why("a session can be ended for good wherever it rests: the seed has no such state", &[ShutdownRequested]),
    queued(BUSY),
    Beyond {
        why: "whether an input goes out with tool results that were left over is a matter of the history; and before the call a pending stop, \
              the limits and the length of the conversation are looked at, and the user's hooks may have to run",
        from: &["StateWaitingForUserInput"],
        on: &[UserInput],
        to: &["StateSendingToolResults", "Compacting", "StateBudgetExceeded", "StateCancelled", "RunningHooks"],
    },
    why(
        "the same is looked at before the call that carries results: it may be a summary first, or not be made",
        &[AutoInputGathered],
    ),
    why("answers are shown while they are written", &[LlmDelta]),
    why("calls end one by one, and run in groups", &[ToolCompletedMoreLeft, ToolGroupCompleted]),
    why("tools that only read need no hooks", &[ToolsAllCompleted]),
    why("a failed call is repeated, and looked at before as any other", &[RetryTimeout]),
    why("what repetition cannot cure ends the turn at once", &[LlmFailedForGood]),
    why("a person is asked before calls that need it", &[AutoNeedsApproval]),
    why("when no call may run, the answers to them go back at once", &[AutoNothingToRun]),
    Beyond {
        why: "the session may be ended while it is found out what the calls would do, and a hook may end the turn",
        from: &["StateToolUseRequested"],
        on: &[AutoAlways],
        to: &["ShuttingDown", "StateWaitingForUserInput"],
    },
    why(
        "what was typed ahead starts the next turn, and is looked at as any other",
        &[AutoQueuedInput, AutoWaitingInput],
    ),
    why("an answer may be cut or refused, and of no use however often it is asked", &[AutoResponseUnusableForGood]),
    why("a model that repeats itself without getting anywhere is stopped", &[AutoLoopDetected]),
    why(
        "the agent's changes are committed by a hook of their own",
        &[GitCheckedCommitDue, FormattersFinishedCommitDue, ChangesCommitted],
    ),
    why("the user's hooks may have something to say before the turn ends", &[AutoStopHooksDue]),
    why("a hook may fail, which is reported, or stop the turn", &[HookFailed, HooksStoppedTurn]),
];

const SAID: &[Said] = &[
    Said {
        section: "State descriptions",
        what: "made and ready to operate is the initial state",
        held: By(&["seed_001_is_realised_and_what_it_lacks_is_explained"]),
    },
    Said {
        section: "State descriptions",
        what: "the end of a turn is a response without tool use",
        held: By(&["the_end_of_a_turn_is_an_answer_without_tools"]),
    },
    Said {
        section: "State descriptions",
        what: "before tools run it is checked whether the user asked to stop",
        held: By(&["cancel while the calls are prepared"]),
    },
    Said {
        section: "State descriptions",
        what: "one requested tool runs at a time",
        held: Otherwise(
            "all calls of an answer run, in groups: calls that only read together, one that may change something alone",
            &["groups: reads together, changes alone, in call order"],
        ),
    },
    Said {
        section: "State descriptions",
        what: "git is looked at for new commits after tools, and formatters run on new commits",
        held: Otherwise(
            "only after tools that may have changed something, and over what the agent changed, committed or not: commits of others are not \
             touched",
            &["reading starts no hook", "what a formatter changed reaches the next request"],
        ),
    },
    Said {
        section: "State descriptions",
        what: "the budget is verified after tools",
        held: By(&["model calls: says what was spent, goes on with more (A.8)"]),
    },
    Said {
        section: "State descriptions",
        what: "messages that came while tools ran are gathered and go out with the results",
        held: By(&["steering input in the middle of a tool batch: after the results, in the same message, in order"]),
    },
    Said {
        section: "State descriptions",
        what: "cancelled, over budget and failed are states of their own, and can be told from being idle",
        held: By(&["an_error_a_stop_and_a_spent_budget_can_be_told_apart"]),
    },
    Said {
        section: "Implementation details 1",
        what: "all possible states are enumerated",
        held: By(&["seed_001_is_realised_and_what_it_lacks_is_explained"]),
    },
    Said {
        section: "Implementation details 2",
        what: "transitions are validated",
        held: By(&["a_transition_that_is_not_drawn_is_refused_and_says_what_is"]),
    },
    Said {
        section: "Implementation details 3",
        what: "the history is tracked for debugging",
        held: By(&["the_history_keeps_the_newest_transitions_in_order"]),
    },
    Said {
        section: "Implementation details 4",
        what: "an event is recorded for each transition",
        held: By(&["every_transition_says_what_brought_it_about"]),
    },
    Said {
        section: "Implementation details 5",
        what: "timing is kept for analysis of performance",
        held: By(&["the_time_in_each_state_is_added_up"]),
    },
    Said {
        section: "Implementation details 6",
        what: "the error state is detected",
        held: By(&["an_error_a_stop_and_a_spent_budget_can_be_told_apart"]),
    },
    Said {
        section: "Implementation details",
        what: "listeners see every transition, and a slow one holds nothing up",
        held: By(&["observers_see_every_step", "a_slow_observer_holds_nothing_up"]),
    },
    Said {
        section: "Implementation details",
        what: "the machine could be integrated with an existing agent that runs without it",
        held: Otherwise(
            "there is no agent beside the machine: the driver does what a step asks for and nothing else",
            &["without_any_one_row_something_is_different"],
        ),
    },
];
