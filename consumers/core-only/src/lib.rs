//! A driver of one session in a few lines, for places without an operating system: it takes events in, steps, and performs what comes back.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

use agent_core::conversation::ToolCall;
use agent_core::llm::{LlmRequest, LlmResponse};
use agent_core::permission::ApprovalAnswer;
use agent_core::session::{Action, Event, Session, State};
use agent_core::tool::{CallFacts, Finding, Inspection, ToolOutcome};
use alloc::collections::VecDeque;
use alloc::string::String;

/// Everything outside the machine.
pub trait Outside {
    /// Milliseconds since some fixed moment.
    fn now_ms(&mut self) -> u64;
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

/// Drives a session to its end. Nothing here decides what comes next: every event answers an action.
pub fn drive(session: &mut Session, outside: &mut impl Outside) {
    let mut events = VecDeque::from([Event::Started]);
    while session.state() != State::ShuttingDown {
        let Some(event) = events.pop_front() else { return };
        let Ok(step) = session.step(outside.now_ms(), event) else { continue };
        for action in step.actions {
            perform(action, outside, &mut events);
        }
    }
}

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
        Action::CheckGitCommits { ticket, .. }
        | Action::RunAutoformatters { ticket, .. }
        | Action::CommitChanges { ticket, .. } => {
            events.push_back(Event::GitChecked { ticket, report: Default::default() });
        }
        Action::ScheduleRetry { ticket, .. } => events.push_back(Event::RetryTimeout { ticket }),
        Action::PromptForInput => {
            events.push_back(outside.prompt().map_or(Event::ShutdownRequested, |text| Event::UserInput { text }));
        }
        // Everything is done at once here, so nothing can be cancelled or run out of time; the rest is for the eyes.
        other => outside.show(&other),
    }
}
