//! Summaries that a session makes by itself: each shortens the history, and a turn has a bounded number of them.

use super::{Edge, Observed};
use crate::invariants::{Fault, Invariant, hold};
use agent_core::session::{Action, Event, State, Trigger};

/// What is known of the turn's summaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summaries {
    /// Made or failed in this turn, without being asked for.
    in_turn: u32,
    /// Failed in a row.
    failures: u32,
    /// Whether the user asked for the one that comes.
    is_requested: bool,
}

impl Summaries {
    /// What is known, as a number.
    pub(crate) const fn word(self) -> u64 {
        ((self.in_turn as u64) << 32) | ((self.failures as u64) << 1) | self.is_requested as u64
    }
}

impl Observed {
    pub(super) fn follow_summaries(&mut self, edge: &Edge<'_>) -> Result<(), Fault> {
        let fired = |on: &[Trigger]| edge.step.transitions.iter().any(|done| on.contains(&done.on));
        let seen = &mut self.summaries;
        let at_rest = edge.before.state() == State::WaitingForUserInput;
        if edge.event.message().is_some() && at_rest || fired(BEGINS) {
            *seen = Summaries::default();
        }
        seen.is_requested |= matches!(
            edge.event,
            Event::CompactionRequested | Event::FocusedCompactionRequested { .. } if fired(&[Trigger::CompactionRequested])
        );
        let (is_made, is_failed) = (fired(MADE), fired(FAILED));
        if is_made {
            let (before, after) = (edge.before.conversation().bytes(), edge.after.conversation().bytes());
            hold(Invariant::SummariesShrink, after * 5 <= before * 4, || {
                format!("{after} bytes of {before} are left")
            })?;
        }
        if is_made || is_failed {
            if !std::mem::take(&mut seen.is_requested) {
                seen.in_turn += 1;
                seen.failures = if is_made { 0 } else { seen.failures + 1 };
            }
            let (in_turn, failures, most) = (seen.in_turn, seen.failures, edge.before.config().summaries.max_per_turn);
            let is_bounded = most.is_none_or(|most| in_turn <= most && failures <= MOST_FAILURES);
            hold(Invariant::SummariesBounded, is_bounded, || {
                format!("summary {in_turn} of {most:?} in a turn, {failures} failed in a row")
            })?;
        }
        if edge.step.actions.iter().any(|action| matches!(action, Action::PromptForInput)) {
            seen.is_requested = false;
        }
        Ok(())
    }
}

/// What begins a turn beside a message at rest.
const BEGINS: &[Trigger] = &[
    Trigger::BudgetRaisedWorkDue,
    Trigger::AutoRaisedWorkDue,
    Trigger::AutoQueuedInput,
    Trigger::AutoWaitingInput,
    Trigger::CompactionRequested,
];
const MADE: &[Trigger] = &[Trigger::CompactionCompleted, Trigger::CompactionCompletedWorkDue];
const FAILED: &[Trigger] = &[Trigger::CompactionFailedForGood, Trigger::CompactionFailedWorkDue];
const MOST_FAILURES: u32 = 3;
