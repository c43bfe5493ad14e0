//! The seeds' edges, and why some are missing.

use super::beyond::{SEED_000_LACKS, SEED_001_LACKS, SEED_003_LACKS};
use super::{Edge, Seed};
use agent_core::session::State::{self, *};
use agent_core::session::Trigger::*;

pub(super) const SEEDS: &[Seed] = &[
    Seed {
        name: "seed 000",
        class: |state| match state {
            SendingToolResults => Some(CallingLlm),
            state if is_collapsed(state) => None,
            state => Some(state),
        },
        edges: SEED_000,
        unrealised: &[(ProcessingLlmResponse, ShuttingDown, NO_EVENT_WHILE_PASSING)],
        beyond: SEED_000_LACKS,
    },
    Seed {
        name: "seed 001",
        class: |state| match state {
            PreparingRequest | PreparingTools => None,
            state => Some(state),
        },
        edges: SEED_001,
        unrealised: &[
            (WaitingForUserInput, Error, "an idle session has nothing that could fail"),
            (ExecutingTools, Error, "a tool that fails is a result, which the model reads"),
            (GatheringAdditionalMessages, Error, "taking in what was typed cannot fail"),
            (Error, WaitingForUserInput, "giving up a wait is a cancel: it goes through Cancelled"),
        ],
        beyond: SEED_001_LACKS,
    },
    Seed {
        name: "seed 003",
        class: |state| match state {
            SendingToolResults => Some(CallingLlm),
            RunningAutoformatters | CommittingChanges => Some(CheckingGitCommits),
            state if is_collapsed(state) => None,
            state => Some(state),
        },
        edges: SEED_003,
        unrealised: &[(ProcessingLlmResponse, ShuttingDown, NO_EVENT_WHILE_PASSING)],
        beyond: SEED_003_LACKS,
    },
];

/// In the seeds 000 and 003: what prepares a call of model or tools, and every passing state but the look at the answer.
fn is_collapsed(state: State) -> bool {
    let is_passing = agent_core::session::table::TABLE.is_passing(state);
    state == PreparingTools || is_passing && state != ProcessingLlmResponse
}

const NO_EVENT_WHILE_PASSING: &str = "a passing state takes no event: a shutdown comes before the answer or after it";

const SEED_000: &[Edge] = &[
    (WaitingForUserInput, &[UserInput], CallingLlm),
    (CallingLlm, &[LlmCompleted], ProcessingLlmResponse),
    (CallingLlm, &[LlmFailedRetryable], Error),
    (CallingLlm, &[LlmFailedForGood], WaitingForUserInput),
    (ProcessingLlmResponse, &[AutoToolCalls], ExecutingTools),
    (ProcessingLlmResponse, &[AutoNoToolCalls], WaitingForUserInput),
    (Error, &[RetryTimeout], CallingLlm),
    (ExecutingTools, &[ToolsAllCompleted], CallingLlm),
    (WaitingForUserInput, &[ShutdownRequested], ShuttingDown),
    (CallingLlm, &[ShutdownRequested], ShuttingDown),
    (ProcessingLlmResponse, &[ShutdownRequested], ShuttingDown),
    (ExecutingTools, &[ShutdownRequested], ShuttingDown),
    (Error, &[ShutdownRequested], ShuttingDown),
];

/// The seed draws no triggers on its edges.
const SEED_001: &[Edge] = &[
    (Ready, &[], WaitingForUserInput),
    (WaitingForUserInput, &[], CallingLlm),
    (WaitingForUserInput, &[], Error),
    (CallingLlm, &[], ProcessingLlmResponse),
    (CallingLlm, &[], Error),
    (ProcessingLlmResponse, &[], EndOfTurn),
    (ProcessingLlmResponse, &[], ToolUseRequested),
    (ProcessingLlmResponse, &[], Error),
    (EndOfTurn, &[], WaitingForUserInput),
    (ToolUseRequested, &[], CheckingForCancellation),
    (CheckingForCancellation, &[], ExecutingTools),
    (CheckingForCancellation, &[], Cancelled),
    (ExecutingTools, &[], CheckingGitCommits),
    (ExecutingTools, &[], Error),
    (CheckingGitCommits, &[], RunningAutoformatters),
    (CheckingGitCommits, &[], CheckingBudget),
    (RunningAutoformatters, &[], CheckingBudget),
    (CheckingBudget, &[], GatheringAdditionalMessages),
    (CheckingBudget, &[], BudgetExceeded),
    (GatheringAdditionalMessages, &[], SendingToolResults),
    (GatheringAdditionalMessages, &[], Error),
    (SendingToolResults, &[], ProcessingLlmResponse),
    (SendingToolResults, &[], Error),
    (Error, &[], WaitingForUserInput),
    (Cancelled, &[], WaitingForUserInput),
    (BudgetExceeded, &[], WaitingForUserInput),
];

/// `CheckingGitCommits` stands for the seed's `PostToolsHook`.
const SEED_003: &[Edge] = &[
    (WaitingForUserInput, &[UserInput], CallingLlm),
    (CallingLlm, &[LlmDelta], CallingLlm),
    (CallingLlm, &[LlmCompleted], ProcessingLlmResponse),
    (CallingLlm, &[LlmFailedRetryable], Error),
    (CallingLlm, &[LlmFailedForGood], WaitingForUserInput),
    (ProcessingLlmResponse, &[AutoToolCalls], ExecutingTools),
    (ProcessingLlmResponse, &[AutoNoToolCalls], WaitingForUserInput),
    (ExecutingTools, &[ToolCompletedMoreLeft], ExecutingTools),
    (ExecutingTools, &[ToolsAllCompletedMutating], CheckingGitCommits),
    (ExecutingTools, &[ToolsAllCompleted], CallingLlm),
    (CheckingGitCommits, &[GitChecked, FormattersFinished, ChangesCommitted], CallingLlm),
    (Error, &[RetryTimeout], CallingLlm),
    (WaitingForUserInput, &[ShutdownRequested], ShuttingDown),
    (CallingLlm, &[ShutdownRequested], ShuttingDown),
    (ProcessingLlmResponse, &[ShutdownRequested], ShuttingDown),
    (ExecutingTools, &[ShutdownRequested], ShuttingDown),
    (CheckingGitCommits, &[ShutdownRequested], ShuttingDown),
    (Error, &[ShutdownRequested], ShuttingDown),
];
