//! Events in few words, told to a real machine: the transitions that came of them.

mod job;
mod lifecycle;

pub(crate) use job::job;
pub(crate) use lifecycle::lifecycle;

use agent_check::session::{Command, Script};
use agent_core::llm::Delta;
use agent_core::session::table::TABLE;
use agent_core::session::{Action, ActionKind, Event, State, Step, Ticket, Trigger};
use agent_core::table::Row;

/// A session after these words, and what the last of them did.
pub(crate) fn told(words: &str) -> (Script, Step) {
    let (mut script, mut last) = (Script::default(), None);
    for line in words.split("; ") {
        last = script.tell(line).or(last);
    }
    let last = last.unwrap_or_else(|| panic!("{words}: nothing happened"));
    (script, last)
}

/// The words of the session's scenarios. Pieces of text and progress leave no transition, nothing else does; their row is told all the
/// same, if the step did what it names.
pub(crate) fn session(words: &str) -> Vec<(State, Trigger, State)> {
    let (mut script, mut out) = (Script::default(), Vec::new());
    for line in words.split("; ") {
        let from = script.session.state();
        let Command::Take(event) = script.clone().read(line) else {
            assert!(script.tell(line).is_none(), "{line}");
            continue;
        };
        let step = script.tell(line).unwrap();
        out.extend(step.transitions.iter().map(|done| (done.from, done.on, done.to)));
        if step.transitions.is_empty() {
            let row = row_of_transient(from, &event, &step.actions);
            assert_eq!(script.session.state(), row.to, "{line}");
            out.push((row.from, row.on, row.to));
        }
    }
    out
}

/// The row of a step without a transition, whose actions are what the step asked for.
fn row_of_transient(from: State, event: &Event, actions: &[Action]) -> &'static Row<State, Trigger, ActionKind> {
    let on = match event {
        Event::LlmDelta { .. } => Trigger::LlmDelta,
        Event::ToolProgress { .. } => Trigger::ToolProgress,
        other => panic!("{other:?} leaves no transition"),
    };
    let row = TABLE.row(from, on).unwrap_or_else(|| panic!("{event:?} has no row in {from:?}"));
    let is_asked = |(kind, action): (&ActionKind, &Action)| match (kind, event) {
        (ActionKind::DisplayText, Event::LlmDelta { .. }) => matches!(action, Action::DisplayText { .. }),
        (ActionKind::DisplayText, Event::ToolProgress { .. }) => matches!(action, Action::DisplayProgress { .. }),
        _ => false,
    };
    let is_as_written = row.actions.len() == actions.len() && row.actions.iter().zip(actions).all(is_asked);
    assert!(is_as_written, "{event:?} in {from:?}: {actions:?} for {:?}", row.actions);
    row
}

/// Such a step is what its row says, or the walk is none.
#[test]
fn pieces_and_progress_walk_their_rows() {
    let last = |words: &str| session(words).last().copied().unwrap();
    assert_eq!(last("input go; delta hi"), (State::CallingLlm, Trigger::LlmDelta, State::CallingLlm));
    let ran = "input go; answer calls read{}; prepared; progress 1 half";
    assert_eq!(last(ran), (State::ExecutingTools, Trigger::ToolProgress, State::ExecutingTools));
    let (_, step) = told("input go; delta hi");
    let delta = Event::LlmDelta { ticket: Ticket(1), delta: Delta::Text("hi".into()) };
    let refused = |event: &Event, actions: &[Action]| panics(|| row_of_transient(State::CallingLlm, event, actions));
    assert!(!refused(&delta, &step.actions));
    assert!(refused(&delta, &[]) && refused(&delta, &[Action::PromptForInput]));
    assert!(refused(&Event::CancelRequested, &[]) && refused(&Event::CancelRequested, &step.actions));
}

/// Whether it panics.
fn panics<R>(run: impl FnOnce() -> R) -> bool {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err()
}
