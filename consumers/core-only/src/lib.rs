//! A driver of one session in a few lines, for places without an operating system: it takes events in, steps, and performs what comes back.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

use agent_core::conversation::ToolCall;
use agent_core::hook::{CommitReport, FormatReport, GitReport, HookReport};
use agent_core::llm::{LlmRequest, LlmResponse};
use agent_core::permission::ApprovalAnswer;
use agent_core::session::{Action, Event, Rejected, Session, State};
use agent_core::tool::{CallFacts, Finding, Inspection, ToolOutcome};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;

/// Everything outside the machine.
pub trait Outside {
    /// Milliseconds since some fixed moment.
    fn now_ms(&mut self) -> u64;
    /// Lets so much time pass.
    fn wait(&mut self, delay_ms: u64);
    /// Answers a model call.
    fn call_model(&mut self, request: &LlmRequest) -> LlmResponse;
    /// What a call would do, or what the model is told when it cannot run.
    fn inspect(&mut self, call: &ToolCall) -> Result<Inspection, String>;
    /// Runs a call.
    fn run(&mut self, call: &ToolCall) -> ToolOutcome;
    /// Shows what is worth showing.
    fn show(&mut self, action: &Action);
    /// The user's next message; nothing ends the session.
    fn prompt(&mut self) -> Option<String>;
}

/// Drives a session to its end. Nothing here decides what comes next: every event answers an action, so that events run out at the end
/// only.
///
/// # Errors
/// The session's refusal of an event, which would be a fault of this driver: it answers what was asked, once and at once.
///
/// # Panics
/// When something that the session waits for was not answered; an agent that stops without a word would be worse.
pub fn drive(session: &mut Session, outside: &mut impl Outside) -> Result<(), Rejected> {
    let mut events = VecDeque::from([Event::Started]);
    while let Some(event) = events.pop_front() {
        for action in session.step(outside.now_ms(), event)?.actions {
            perform(action, outside, &mut events);
        }
    }
    assert_eq!(session.state(), State::ShuttingDown, "an action that is waited for was not answered");
    Ok(())
}

/// Without an arm for everything else: actions are listed whole, so that the compiler points here when there is a new one.
fn perform(action: Action, outside: &mut impl Outside, events: &mut VecDeque<Event>) {
    match action {
        Action::SendLlmRequest { ticket, request } => {
            events.push_back(Event::LlmCompleted { ticket, response: outside.call_model(&request) });
        }
        Action::PrepareTools { ticket, calls } => {
            let fact = |call: ToolCall| {
                let found = outside.inspect(&call);
                let finding = found.map_or_else(|message| Finding::InvalidArguments { message }, Finding::Runnable);
                CallFacts::new(call.id, finding)
            };
            let facts = calls.into_iter().map(fact).collect();
            events.push_back(Event::ToolsPrepared { ticket, facts });
        }
        Action::RequestApproval { ticket, questions } => {
            events.extend(questions.into_iter().map(|question| {
                let (call, answer) = (question.call.id, ApprovalAnswer::Nobody);
                Event::ApprovalAnswered { ticket, call, answer, changed: None }
            }));
        }
        Action::ExecuteTools { ticket, calls } => {
            events.extend(calls.into_iter().map(|call| {
                let outcome = outside.run(&call);
                Event::ToolCompleted { ticket, call: call.id, outcome }
            }));
        }
        // There is no repository and no program here: each hook has nothing to report.
        Action::CheckGitCommits { ticket, .. } => {
            events.push_back(Event::GitChecked { ticket, report: GitReport::default() });
        }
        Action::RunAutoformatters { ticket, .. } => {
            events.push_back(Event::FormattersFinished { ticket, report: FormatReport::default() });
        }
        Action::CommitChanges { ticket, .. } => {
            events.push_back(Event::ChangesCommitted { ticket, report: CommitReport::default() });
        }
        Action::RunHooks { ticket, .. } => {
            events.push_back(Event::HooksFinished { ticket, report: Box::new(HookReport::default()) });
        }
        Action::ScheduleRetry { ticket, delay_ms, .. } => {
            outside.wait(delay_ms);
            events.push_back(Event::RetryTimeout { ticket });
        }
        Action::PromptForInput => {
            events.push_back(outside.prompt().map_or(Event::ShutdownRequested, |text| Event::UserInput { text: text.into() }));
        }
        // Everything is done at once, so nothing is left to be cancelled and no turn is stopped in the middle by its time.
        Action::CancelLlmRequest { .. }
        | Action::WithdrawApproval { .. }
        | Action::CancelTools { .. }
        | Action::CancelHooks { .. }
        | Action::CancelRetry { .. }
        | Action::StartDeadline { .. }
        | Action::HoldDeadline { .. } => {}
        Action::DisplayText { .. }
        | Action::DisplayProgress { .. }
        | Action::DisplayMessage { .. }
        | Action::DisplayError { .. }
        | Action::DisplaySummary { .. }
        | Action::DiscardPartial
        | Action::ReturnQueuedInput { .. }
        | Action::Shutdown => outside.show(&action),
    }
}
