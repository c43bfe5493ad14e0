//! What the driver reports.

use super::SessionConfig;
use super::Ticket;
use crate::budget::Limits;
use crate::conversation::{CallId, UserMessage};
use crate::hook::{CommitReport, FormatReport, GitReport, HookReport};
use crate::llm::{Delta, LlmError, LlmResponse};
use crate::permission::ApprovalAnswer;
use crate::tool::{CallFacts, ToolOutcome};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A fact. Answers carry the ticket of the action they answer; an answer whose ticket is not open is refused. Only a timer may be late:
/// that changes nothing and is not an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// The host opened the session.
    Started,
    /// The user sent a message. Blank ones are refused.
    UserInput {
        /// The message.
        text: UserMessage,
    },
    /// A message of the agent's own to its session, such as the report of what is missing. It belongs to the message before it and shares
    /// its time. Blank ones are refused.
    FollowUp {
        /// The message.
        text: String,
        /// The time that the message before it has used, in milliseconds.
        used_ms: u64,
    },
    /// The user sent a message that waits for the end of the turn, whereas any other one goes out with the next results. Where no turn is
    /// going on, both are the same. Blank ones are refused.
    InputAfterTurn {
        /// The message.
        text: UserMessage,
    },
    /// The user takes a message back that has not gone out: it comes back with [`ReturnQueuedInput`](super::Action::ReturnQueuedInput). Of
    /// those with the same text it is one that waits for the end of the turn, and the newest. Refused once none waits.
    InputWithdrawn {
        /// The message.
        text: String,
    },
    /// The user changed the limits; those in flight are not affected.
    BudgetRaised {
        /// All limits from now on.
        limits: Limits,
    },
    /// Model, tools, limits or permissions are different from now on, as after a resume with other options. The hooks of the session's
    /// start run once more before the next request.
    Reconfigured {
        /// Everything from now on.
        config: Box<SessionConfig>,
    },
    /// The user asked for a summary of the conversation, to make room.
    CompactionRequested,
    /// The same, and says what the summary has to keep. A blank focus is refused.
    FocusedCompactionRequested {
        /// What the summary is to keep in detail, in the user's words.
        focus: String,
    },
    /// The user asked to stop the turn.
    CancelRequested,
    /// The host is about to leave the session as it is. Only where hooks run at the session's end; the prompt that follows says that they
    /// did.
    LeaveRequested,
    /// The user asked to end the session for good.
    ShutdownRequested,
    /// A program resumes the session that another one left. The first event of that program, with its time: the time since the last event
    /// counts for no limit. What was in flight is answered here if it cannot be repeated; the rest is still
    /// [outstanding](super::Session::outstanding).
    SessionResumed {
        /// Whether what was in flight had begun.
        #[serde(default)]
        begun: bool,
        /// The calls that were running.
        #[serde(default)]
        calls: Vec<LeftCall>,
    },

    /// A piece of the answer came. Not journalled.
    LlmDelta {
        /// Of the model call.
        ticket: Ticket,
        /// The piece.
        delta: Delta,
    },
    /// The model answered.
    LlmCompleted {
        /// Of the model call.
        ticket: Ticket,
        /// The whole answer.
        response: LlmResponse,
    },
    /// The model call failed.
    LlmFailed {
        /// Of the model call.
        ticket: Ticket,
        /// Why.
        error: LlmError,
        /// A number from 0 to 1000 drawn by the driver, for the jitter of the delay.
        chance_permille: u16,
    },
    /// The model call was stopped.
    LlmAborted {
        /// Of the model call.
        ticket: Ticket,
        /// The text that had come until then.
        partial_text: String,
    },
    /// The model call was lost before its answer came, as when another program made it. What the call used is estimated and charged, and
    /// the request is made again if the limits still allow it.
    LlmInterrupted {
        /// Of the model call.
        ticket: Ticket,
    },
    /// The waiting time of `ScheduleRetry` is over.
    RetryTimeout {
        /// Of the waiting time.
        ticket: Ticket,
    },
    /// The turn's time is up.
    DeadlineReached {
        /// Of the deadline.
        ticket: Ticket,
    },

    /// What is known about the calls: every call of `PrepareTools`, once.
    ToolsPrepared {
        /// Of the preparation.
        ticket: Ticket,
        /// One entry a call.
        facts: Vec<CallFacts>,
    },
    /// A person answered about one call, or no one is there to answer.
    ApprovalAnswered {
        /// Of the question.
        ticket: Ticket,
        /// The call.
        call: CallId,
        /// The answer.
        answer: ApprovalAnswer,
        /// Where the person changed the arguments: what the driver found out about the call with those, as for `ToolsPrepared`. The
        /// policy decides about them once more, and without this the call does not run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        changed: Option<Box<CallFacts>>,
    },
    /// A running tool reported something. Not journalled.
    ToolProgress {
        /// Of the group.
        ticket: Ticket,
        /// The call.
        call: CallId,
        /// What it reported.
        text: String,
    },
    /// A call ended.
    ToolCompleted {
        /// Of the group.
        ticket: Ticket,
        /// The call.
        call: CallId,
        /// Its result.
        outcome: ToolOutcome,
    },

    /// The repository was looked at.
    GitChecked {
        /// Of the look.
        ticket: Ticket,
        /// What was found.
        report: GitReport,
    },
    /// The formatters ended.
    FormattersFinished {
        /// Of the run.
        ticket: Ticket,
        /// What they did.
        report: FormatReport,
    },
    /// The agent's changes were committed.
    ChangesCommitted {
        /// Of the commit.
        ticket: Ticket,
        /// What was committed.
        report: CommitReport,
    },
    /// The user's hooks ran.
    HooksFinished {
        /// Of the run.
        ticket: Ticket,
        /// What they answered.
        report: Box<HookReport>,
    },
    /// A hook failed, timed out or was stopped. The turn continues.
    HookFailed {
        /// Of the hook.
        ticket: Ticket,
        /// What was attempted and found.
        message: String,
    },
    /// A hook ended the turn.
    HooksStoppedTurn {
        /// Of the hook.
        ticket: Ticket,
        /// Why.
        reason: String,
    },
}

/// A call that was running when its program ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftCall {
    /// Its id.
    pub call: CallId,
    /// Whether it had begun.
    pub begun: bool,
    /// Whether its tool only reads, so that it may be repeated.
    pub only_reads: bool,
}

/// Where an event comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The one who reports it may forget it as soon as it is taken.
    Acknowledged,
    /// The same, of a timer.
    Timer,
    /// The session asked for it, and would ask again.
    AskedAgain,
    /// It is not recorded.
    Transient,
}

impl Event {
    /// All that is said of an event by its kind: its name, the ticket that it carries, where it comes from.
    #[inline]
    const fn kind(&self) -> (&'static str, Option<Ticket>, Source) {
        use Source::{Acknowledged, AskedAgain, Timer, Transient};
        match self {
            Self::Started => ("Started", None, Acknowledged),
            Self::UserInput { .. } => ("UserInput", None, Acknowledged),
            Self::FollowUp { .. } => ("FollowUp", None, Acknowledged),
            Self::InputAfterTurn { .. } => ("InputAfterTurn", None, Acknowledged),
            Self::InputWithdrawn { .. } => ("InputWithdrawn", None, Acknowledged),
            Self::BudgetRaised { .. } => ("BudgetRaised", None, Acknowledged),
            Self::Reconfigured { .. } => ("Reconfigured", None, Acknowledged),
            Self::CompactionRequested => ("CompactionRequested", None, Acknowledged),
            Self::FocusedCompactionRequested { .. } => ("FocusedCompactionRequested", None, Acknowledged),
            Self::CancelRequested => ("CancelRequested", None, Acknowledged),
            Self::LeaveRequested => ("LeaveRequested", None, Acknowledged),
            Self::ShutdownRequested => ("ShutdownRequested", None, Acknowledged),
            Self::SessionResumed { .. } => ("SessionResumed", None, Acknowledged),
            Self::LlmDelta { ticket, .. } => ("LlmDelta", Some(*ticket), Transient),
            Self::LlmCompleted { ticket, .. } => ("LlmCompleted", Some(*ticket), AskedAgain),
            Self::LlmFailed { ticket, .. } => ("LlmFailed", Some(*ticket), Acknowledged),
            Self::LlmAborted { ticket, .. } => ("LlmAborted", Some(*ticket), Acknowledged),
            Self::LlmInterrupted { ticket } => ("LlmInterrupted", Some(*ticket), Acknowledged),
            Self::RetryTimeout { ticket } => ("RetryTimeout", Some(*ticket), Timer),
            Self::DeadlineReached { ticket } => ("DeadlineReached", Some(*ticket), Timer),
            Self::ToolsPrepared { ticket, .. } => ("ToolsPrepared", Some(*ticket), Acknowledged),
            Self::ApprovalAnswered { ticket, .. } => ("ApprovalAnswered", Some(*ticket), Acknowledged),
            Self::ToolProgress { ticket, .. } => ("ToolProgress", Some(*ticket), Transient),
            Self::ToolCompleted { ticket, .. } => ("ToolCompleted", Some(*ticket), AskedAgain),
            Self::GitChecked { ticket, .. } => ("GitChecked", Some(*ticket), Acknowledged),
            Self::FormattersFinished { ticket, .. } => ("FormattersFinished", Some(*ticket), Acknowledged),
            Self::ChangesCommitted { ticket, .. } => ("ChangesCommitted", Some(*ticket), Acknowledged),
            Self::HooksFinished { ticket, .. } => ("HooksFinished", Some(*ticket), Acknowledged),
            Self::HookFailed { ticket, .. } => ("HookFailed", Some(*ticket), Acknowledged),
            Self::HooksStoppedTurn { ticket, .. } => ("HooksStoppedTurn", Some(*ticket), Acknowledged),
        }
    }

    /// The event's name, for refusals and traces.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.kind().0
    }

    /// The ticket of what the event answers. What comes by itself has none.
    #[must_use]
    pub const fn ticket(&self) -> Option<Ticket> {
        self.kind().1
    }

    /// The text of the message that the event brings, whenever it goes out.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        if let Self::FollowUp { text, .. } = self { Some(text) } else { self.said().map(|said| &*said.text) }
    }

    /// The message of the user that the event brings.
    #[must_use]
    pub const fn said(&self) -> Option<&UserMessage> {
        let (Self::UserInput { text } | Self::InputAfterTurn { text }) = self else {
            return None;
        };
        Some(text)
    }

    /// The text of the user's that the event cannot do without: its [message](Self::message), or what a summary has to keep.
    pub(super) fn required_text(&self) -> Option<&str> {
        if let Self::FocusedCompactionRequested { focus } = self { Some(focus) } else { self.message() }
    }

    /// Whether the event changes nothing but the screen, so that it need not be journalled.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(self.source(), Source::Transient)
    }

    pub(super) const fn source(&self) -> Source {
        self.kind().2
    }
}
