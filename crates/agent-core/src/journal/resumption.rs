//! What becomes of the actions that were outstanding when a program ended.
//!
//! Each is treated by its kind. Questions, timers and hooks are asked again, but for the user's hooks on what was done: how far those came is
//! not known. A model call that had begun is reported as interrupted: what it used counts, and the session makes it again if its limits
//! allow. Calls that only read may be repeated; a call that may have changed something is reported as interrupted and never repeated by
//! itself. One that the journal does not say to have begun is reported as not run.

use super::Begun;
use crate::conversation::ToolCall;
use crate::session::{Action, Event, Session, Ticket};
use crate::tool::{CallFacts, Finding, ToolOutcome};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// What a driver does to resume a session that was rebuilt.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Resumption {
    /// To perform once more, with the tickets they had.
    pub repeated: Vec<Action>,
    /// To report: what cannot be repeated is answered so. They are recorded as every event is.
    pub answers: Vec<Event>,
}

impl Resumption {
    /// For a session as its journal left it, once it was started. The last argument says of a call whether it may be repeated: its tool only reads.
    #[must_use]
    pub fn of(session: &Session, begun: &Begun, may_be_repeated: impl Fn(&ToolCall) -> bool) -> Self {
        let (mut repeated, mut answers) = (Vec::new(), Vec::new());
        for open in session.outstanding() {
            if open.is_cancelled {
                answers.extend(stopped(open.action));
                continue;
            }
            match open.action {
                Action::ExecuteTools { ticket, calls } => {
                    let (calls, lost): (Vec<_>, Vec<_>) = calls.into_iter().partition(&may_be_repeated);
                    answers.extend(lost.into_iter().map(|call| lost_call(ticket, call, begun)));
                    if !calls.is_empty() {
                        repeated.push(Action::ExecuteTools { ticket, calls });
                    }
                }
                Action::SendLlmRequest { ticket, .. } if begun.has(ticket) => {
                    answers.push(Event::LlmInterrupted { ticket });
                }
                Action::RunHooks { ticket, occasion } if begun.has(ticket) && !occasion.point().may_be_repeated() => {
                    let message = format!("the program ended while hooks at {} ran", occasion.point());
                    answers.push(Event::HookFailed { ticket, message });
                }
                again @ (Action::SendLlmRequest { .. }
                | Action::PrepareTools { .. }
                | Action::RequestApproval { .. }
                | Action::CheckGitCommits { .. }
                | Action::RunAutoformatters { .. }
                | Action::CommitChanges { .. }
                | Action::RunHooks { .. }
                | Action::ScheduleRetry { .. }
                | Action::StartDeadline { .. }) => repeated.push(again),
                // These expect no answer, so they are never outstanding.
                Action::CancelLlmRequest { .. }
                | Action::WithdrawApproval { .. }
                | Action::CancelTools { .. }
                | Action::CancelHooks { .. }
                | Action::CancelRetry { .. }
                | Action::HoldDeadline { .. }
                | Action::DisplayText { .. }
                | Action::DisplayProgress { .. }
                | Action::DisplayMessage { .. }
                | Action::DisplayError { .. }
                | Action::DiscardPartial
                | Action::PromptForInput
                | Action::ReturnQueuedInput { .. }
                | Action::Shutdown => {}
            }
        }
        Self { repeated, answers }
    }
}

/// The answer to a call that may change something. One that has not begun is not begun now either: it was allowed in another life, with
/// other settings perhaps, and the model can call it again.
fn lost_call(ticket: Ticket, call: ToolCall, begun: &Begun) -> Event {
    let outcome = if begun.has_call(ticket, &call.id) {
        ToolOutcome::interrupted("The program ended while this call ran. Look at what it did before you repeat it.")
    } else {
        ToolOutcome::not_run("the program ended before this call began; it can be repeated")
    };
    Event::ToolCompleted { ticket, call: call.id, outcome }
}

/// The answers of a driver that was told to stop something and finds it gone.
fn stopped(action: Action) -> Vec<Event> {
    match action {
        Action::SendLlmRequest { ticket, .. } => {
            vec![Event::LlmAborted { ticket, partial_text: String::new() }]
        }
        Action::PrepareTools { ticket, calls } => {
            let finding = || Finding::InvalidArguments { message: String::from("not run: cancelled") };
            let fact = |call: ToolCall| CallFacts::new(call.id, finding());
            vec![Event::ToolsPrepared { ticket, facts: calls.into_iter().map(fact).collect() }]
        }
        Action::ExecuteTools { ticket, calls } => {
            let answer = |call: ToolCall| Event::ToolCompleted {
                ticket,
                call: call.id,
                outcome: ToolOutcome::interrupted("stopped by the user"),
            };
            calls.into_iter().map(answer).collect()
        }
        Action::CheckGitCommits { ticket, .. }
        | Action::RunAutoformatters { ticket, .. }
        | Action::CommitChanges { ticket, .. }
        | Action::RunHooks { ticket, .. } => {
            vec![Event::HookFailed { ticket, message: String::from("stopped") }]
        }
        // A cancel withdraws the first four, and the rest expects no answer.
        Action::RequestApproval { .. }
        | Action::ScheduleRetry { .. }
        | Action::StartDeadline { .. }
        | Action::HoldDeadline { .. }
        | Action::CancelLlmRequest { .. }
        | Action::CancelTools { .. }
        | Action::CancelHooks { .. }
        | Action::CancelRetry { .. }
        | Action::WithdrawApproval { .. }
        | Action::DisplayText { .. }
        | Action::DisplayProgress { .. }
        | Action::DisplayMessage { .. }
        | Action::DisplayError { .. }
        | Action::DiscardPartial
        | Action::PromptForInput
        | Action::ReturnQueuedInput { .. }
        | Action::Shutdown => Vec::new(),
    }
}
