//! Where the machines meet: commands go down, notices come up, and no machine knows another.
//!
//! ```text
//! lifecycle --action--> command  --> session's event      (a message, a report of what is missing, a stop)
//! session   --outcome, round--> lifecycle's event          (a turn ended, the agent signalled)
//! checks    --result of a command--> lifecycle's event
//! both      --> outcome: the one that a run has
//! session   --outcome--> verdict: what it is to the job whose attempt it was
//! ```
//!
//! Pure functions. A driver calls them and decides nothing.

mod agent;
mod attempt;
mod outcome;

pub use agent::Agent;
pub use attempt::verdict;
pub use outcome::Turns;

use crate::conversation::{Arguments, Round};
use crate::lifecycle::{self, CheckEnd, CheckReport, Signal, TurnEnd};
use crate::ports::{CommandError, CommandOutput, Exit};
use crate::session::{self, OutcomeKind};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Deserialize;

/// Name of the tool by which an agent signals that it is done or waits.
pub const SIGNAL_TOOL: &str = "signal";

/// The arguments of the signal tool.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignalArguments {
    /// What is signalled.
    pub status: Signal,
    /// What was done, or what is asked.
    pub summary: String,
}

impl SignalArguments {
    /// Reads the arguments of a call.
    ///
    /// # Errors
    /// A message that tells the model how to correct the call.
    pub fn read(arguments: &Arguments) -> Result<Self, String> {
        arguments.read().map_err(|error| format!("{error}"))
    }
}

/// What the session is to be told for an action of the lifecycle, where it is to be told something.
#[must_use]
pub fn command(action: &lifecycle::Action) -> Option<session::Event> {
    match action {
        lifecycle::Action::SendInput { text } | lifecycle::Action::SendGapReport { text, .. } => {
            Some(session::Event::UserInput { text: text.clone() })
        }
        lifecycle::Action::CancelTurn => Some(session::Event::CancelRequested),
        lifecycle::Action::RunChecks { .. }
        | lifecycle::Action::CancelChecks { .. }
        | lifecycle::Action::StartTimer { .. }
        | lifecycle::Action::StopTimer { .. }
        | lifecycle::Action::ReportOutcome { .. }
        | lifecycle::Action::CleanUp { .. }
        | lifecycle::Action::ReleaseSession => None,
    }
}

/// Whether the session waits for a person behind this transition. That time counts for no limit.
#[must_use]
pub fn waits_for_person(step: &session::Transition) -> bool {
    step.to == session::State::AwaitingApproval
}

/// A session's run ended with this outcome, after so many messages taken since the lifecycle was made.
#[must_use]
pub const fn turn_ended(outcome: &session::Outcome, inputs_taken: u64) -> lifecycle::Event {
    let end = match outcome.kind {
        // A call that was denied because nobody could be asked does not keep the model from ending its turn. The last two no session says.
        OutcomeKind::Success | OutcomeKind::Permission | OutcomeKind::VerificationFailed | OutcomeKind::Waiting => {
            TurnEnd::Completed
        }
        OutcomeKind::Failed | OutcomeKind::Authentication | OutcomeKind::Provider => TurnEnd::Failed,
        OutcomeKind::CallLimit | OutcomeKind::Budget => TurnEnd::OutOfBudget,
        OutcomeKind::Cancelled => TurnEnd::Cancelled,
    };
    lifecycle::Event::TurnEnded { end, inputs_taken }
}

/// The signals in a round of tool calls that the tool took, in order.
#[must_use]
pub fn signals(round: &Round) -> Vec<lifecycle::Event> {
    let calls = round.answer().calls().filter(|call| call.name.as_ref() == SIGNAL_TOOL);
    let taken = calls.filter(|call| {
        let result = round.results().iter().find(|result| *result.call() == call.id);
        result.is_some_and(|result| !result.is_error())
    });
    let read = taken.filter_map(|call| SignalArguments::read(&call.arguments).ok());
    read.map(|SignalArguments { status, summary }| lifecycle::Event::Signalled { signal: status, summary }).collect()
}

/// What a check's command came to.
#[must_use]
pub fn check_report(result: Result<CommandOutput, CommandError>) -> CheckReport {
    let output = match result {
        Ok(output) => output,
        Err(error) => {
            return CheckReport { end: CheckEnd::NotStarted { found: format!("{error}") }, output: String::new() };
        }
    };
    let end = match output.exit {
        Exit::Code(code) => CheckEnd::Exited { code },
        Exit::Signal(signal) => CheckEnd::Killed { signal },
        Exit::TimedOut => CheckEnd::TimedOut,
        Exit::Cancelled => CheckEnd::Broke { found: String::from("it was stopped") },
    };
    CheckReport { end, output: printed(&output) }
}

/// Both streams, the errors last: they tell most, and the end is what is kept.
fn printed(output: &CommandOutput) -> String {
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    text
}
