//! What the driver is asked to do.

use super::Ticket;
use crate::conversation::{Block, CallId, ToolCall};
use crate::hook::{Changes, HookOccasion};
use crate::llm::{Delta, LlmRequest, Usage};
use crate::permission::ApprovalQuestion;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

impl Action {
    /// The ticket that the answers to this carry; for an action that stops something, or forgets it, the ticket of what was asked. Nothing
    /// for what is done when it is done.
    #[must_use]
    pub const fn ticket(&self) -> Option<Ticket> {
        match self {
            Self::SendLlmRequest { ticket, .. }
            | Self::CancelLlmRequest { ticket }
            | Self::PrepareTools { ticket, .. }
            | Self::RequestApproval { ticket, .. }
            | Self::WithdrawApproval { ticket }
            | Self::ExecuteTools { ticket, .. }
            | Self::CancelTools { ticket }
            | Self::CheckGitCommits { ticket, .. }
            | Self::RunAutoformatters { ticket, .. }
            | Self::CommitChanges { ticket, .. }
            | Self::RunHooks { ticket, .. }
            | Self::CancelHooks { ticket }
            | Self::ScheduleRetry { ticket, .. }
            | Self::CancelRetry { ticket }
            | Self::StartDeadline { ticket, .. }
            | Self::HoldDeadline { ticket } => Some(*ticket),
            Self::DisplayText { .. }
            | Self::DisplayProgress { .. }
            | Self::DisplayMessage { .. }
            | Self::DisplayError { .. }
            | Self::DisplaySummary { .. }
            | Self::DiscardPartial
            | Self::PromptForInput
            | Self::ReturnQueuedInput { .. }
            | Self::Shutdown => None,
        }
    }
}

/// One thing to do. Those with a ticket expect the answer that is named with them; the others are done when they are done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Action {
    /// Call the model. Answers: `LlmDelta`s, then `LlmCompleted`, `LlmFailed` or, after `CancelLlmRequest`, `LlmAborted`.
    SendLlmRequest {
        /// For the answer.
        ticket: Ticket,
        /// The call.
        request: LlmRequest,
    },
    /// Stop the model call. Its own answer still comes.
    CancelLlmRequest {
        /// Of the model call.
        ticket: Ticket,
    },
    /// Find out what calls would do, without doing it. Answer: `ToolsPrepared` with every call, `HookFailed` when that could not be found
    /// out (then none of them runs), or `HooksStoppedTurn`.
    PrepareTools {
        /// For the answer.
        ticket: Ticket,
        /// All calls of the model's answer.
        calls: Vec<ToolCall>,
    },
    /// Ask a person about each of these calls. Answers: `ApprovalAnswered`, one a call.
    RequestApproval {
        /// For the answers.
        ticket: Ticket,
        /// What to ask.
        questions: Vec<ApprovalQuestion>,
    },
    /// Stop asking; no answer is expected any more. One that was given a moment before is refused, so that the person can be told that it
    /// does not count.
    WithdrawApproval {
        /// Of the question.
        ticket: Ticket,
    },
    /// Run these calls at the same time. Answers: `ToolProgress`, then `ToolCompleted`, one a call.
    ExecuteTools {
        /// For the answers.
        ticket: Ticket,
        /// Calls that only read, or one call that may change something.
        calls: Vec<ToolCall>,
    },
    /// Stop the running calls. Their answers still come.
    CancelTools {
        /// Of the group.
        ticket: Ticket,
    },
    /// Look for new commits and for work of the hooks. Answer: `GitChecked`, `HookFailed` or `HooksStoppedTurn`.
    CheckGitCommits {
        /// For the answer.
        ticket: Ticket,
        /// What the tools did.
        changes: Changes,
    },
    /// Run the formatters. Answer: `FormattersFinished`, `HookFailed` or `HooksStoppedTurn`.
    RunAutoformatters {
        /// For the answer.
        ticket: Ticket,
        /// What the tools did.
        changes: Changes,
    },
    /// Commit the agent's own changes. Answer: `ChangesCommitted`, `HookFailed` or `HooksStoppedTurn`.
    CommitChanges {
        /// For the answer.
        ticket: Ticket,
        /// What the tools and formatters did.
        changes: Changes,
    },
    /// Run the user's hooks. Answer: `HooksFinished`, `HookFailed` or `HooksStoppedTurn`.
    RunHooks {
        /// For the answer.
        ticket: Ticket,
        /// What they run on.
        occasion: Box<HookOccasion>,
    },
    /// Stop the running hook or preparation. Its answer still comes.
    CancelHooks {
        /// Of the hook or preparation.
        ticket: Ticket,
    },
    /// Wait, then report `RetryTimeout`.
    ScheduleRetry {
        /// For the answer.
        ticket: Ticket,
        /// How long to wait, in milliseconds.
        delay_ms: u64,
        /// Which attempt failed, counted from 1.
        failed_attempts: u32,
        /// Why, for the user.
        reason: String,
    },
    /// Forget the waiting time; no answer is expected any more, and one that comes all the same changes nothing.
    CancelRetry {
        /// Of the waiting time.
        ticket: Ticket,
    },
    /// Wait, then report `DeadlineReached`. Replaces an earlier deadline; `HoldDeadline`, `PromptForInput` and `Shutdown` end it. A timer
    /// that fires later is not an error and changes nothing.
    StartDeadline {
        /// For the answer.
        ticket: Ticket,
        /// How long to wait, in milliseconds.
        delay_ms: u64,
    },
    /// Forget the deadline; no answer is expected any more, and one that comes all the same changes nothing.
    HoldDeadline {
        /// Of the deadline.
        ticket: Ticket,
    },
    /// Show a piece of an answer while it is written.
    DisplayText {
        /// The piece.
        delta: Delta,
    },
    /// Show what a running tool reports.
    DisplayProgress {
        /// The call.
        call: CallId,
        /// What it reports.
        text: String,
    },
    /// Show a complete answer. What was shown in pieces is part of it.
    DisplayMessage {
        /// Its blocks.
        blocks: Vec<Block>,
        /// What it used, when the provider said so.
        usage: Option<Usage>,
    },
    /// Show an error.
    DisplayError {
        /// What was attempted, what was found, what the user can do.
        message: String,
        /// Input that goes back to the user because sending it again is no use.
        returned_input: Vec<String>,
    },
    /// Say that a summary has taken the place of what was said before.
    DisplaySummary {
        /// What it changed.
        summarised: Summarised,
    },
    /// What was shown in pieces of the last answer does not count.
    DiscardPartial,
    /// The session waits for input.
    PromptForInput,
    /// Input that was typed ahead goes back to the user.
    ReturnQueuedInput {
        /// The messages, in order.
        texts: Vec<String>,
    },
    /// The session has ended; nothing follows.
    Shutdown,
}

/// What a summary of the conversation changed, and what it cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summarised {
    /// Estimated tokens of the next request without it.
    pub before_tokens: u64,
    /// Estimated tokens of the next request with it.
    pub after_tokens: u64,
    /// The model that wrote it.
    pub model: Arc<str>,
    /// What the call cost, in billionths of a dollar; `None` when the model's price is not known.
    pub cost_nano_usd: Option<u64>,
    /// Whether the user asked for it.
    pub is_requested: bool,
    /// How many the session made or tried in this turn by itself, this one included.
    pub in_turn: u32,
}
