//! Going on with a session that was rebuilt from its journal.
//!
//! What was asked and not answered is treated by its kind: questions, timers and hooks are asked again, but for the user's hooks on what was
//! done, of which nobody knows how far they came. A model call that had begun is reported as interrupted: what it used counts, and the
//! session makes it again if its limits allow. Calls that only read may be run again; a call that may have changed something is reported as
//! interrupted and never run again by itself. One that the journal does not say to have begun is reported as not run.

use crate::notice::Notice;
use crate::runner::Runner;
use agent_core::conversation::ToolCall;
use agent_core::journal::{ActionStarted, Begun};
use agent_core::ports::JournalError;
use agent_core::session::{Action, Event, State, Ticket};
use agent_core::tool::{CallFacts, Finding, ToolOutcome};

impl Runner {
    /// An idle session prompts again, so that a host sees the same as after a start.
    pub(crate) fn prompt_again(&self) {
        if self.session.state() == State::WaitingForUserInput {
            let session = &self.session;
            self.notify(Notice::Prompt { outcome: session.outcome(), ledger: *session.ledger() });
        }
    }

    /// Asks again what can be asked again. Returns the answers to what cannot. What begins again is noted before it does.
    pub(crate) async fn go_on(&mut self) -> Result<Vec<Event>, JournalError> {
        let mut answers = Vec::new();
        let mut again = Vec::new();
        for open in self.session.outstanding() {
            match open.action {
                action if open.is_cancelled => answers.extend(stopped(action)),
                Action::ExecuteTools { ticket, calls } => {
                    let toolbox = &self.performer.toolbox;
                    let (calls, lost): (Vec<_>, Vec<_>) =
                        calls.into_iter().partition(|call| toolbox.may_be_repeated(call));
                    answers.extend(lost.into_iter().map(|call| lost_call(ticket, call, &self.begun)));
                    if !calls.is_empty() {
                        again.push(Action::ExecuteTools { ticket, calls });
                    }
                }
                Action::SendLlmRequest { ticket, .. } if self.begun.has(ticket) => {
                    answers.push(Event::LlmInterrupted { ticket });
                }
                Action::RunHooks { ticket, occasion }
                    if self.begun.has(ticket) && !occasion.point().may_be_repeated() =>
                {
                    let message = format!("the program ended while hooks at {} ran", occasion.point());
                    answers.push(Event::HookFailed { ticket, message });
                }
                other => again.push(other),
            }
        }
        for started in again.iter().filter_map(ActionStarted::of) {
            self.note(started).await?;
        }
        self.sync().await?;
        for action in again {
            self.performer.perform(action, &self.session);
        }
        Ok(answers)
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
        // What a cancel withdraws is not outstanding any more, and the rest expects no answer.
        other => {
            debug_assert!(!matches!(other, Action::Shutdown), "{other:?} is outstanding");
            Vec::new()
        }
    }
}
