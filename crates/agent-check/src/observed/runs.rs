//! Runs, and what a limit stopped: how a run ended changes only between its start and its prompt, and a raised limit continues exactly what
//! the limit stopped.

use super::{Edge, Observed};
use crate::invariants::{Fault, Invariant, hold};
use agent_core::session::{Action, Event, Outcome, State, Trigger};

/// What is known of the run that is going on, and of the work before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Runs {
    /// Whether there is a run that has not come to its prompt.
    pub(crate) is_going_on: bool,
    /// Whether it sends what is unsent; otherwise it makes a summary, or no call is made.
    pub(crate) is_work: bool,
    /// Whether the last run that sends something ended because a limit allowed no further model call, and nothing was sent since.
    pub(crate) is_stopped: bool,
    /// Whether the limits were raised since, while something else was under way.
    pub(crate) is_raised: bool,
}

impl Observed {
    pub(super) fn follow_runs(&mut self, edge: &Edge<'_>, was_cancelled: bool) -> Result<(), Fault> {
        let fired = |on: Trigger| edge.step.transitions.iter().any(|done| done.on == on);
        let begins_work = fired(Trigger::BudgetRaisedWorkDue)
            || fired(Trigger::AutoRaisedWorkDue)
            || fired(Trigger::AutoQueuedInput)
            || fired(Trigger::AutoWaitingInput)
            || edge.event.message().is_some() && edge.before.state() == State::WaitingForUserInput;
        self.judge_raise(edge, &fired)?;
        let is_input = edge.event.message().is_some();
        let begins = begins_work || is_input || fired(Trigger::CompactionRequested);
        self.judge_outcome(edge, begins)?;
        let runs = &mut self.runs;
        runs.is_work &= runs.is_going_on;
        runs.is_going_on |= begins;
        let goes_over = !was_cancelled
            && !runs.is_work
            && (fired(Trigger::CompactionCompletedWorkDue) || fired(Trigger::CompactionFailedWorkDue));
        if begins_work || goes_over {
            (runs.is_work, runs.is_stopped, runs.is_raised) = (true, false, false);
        }
        runs.is_raised |= runs.is_stopped && matches!(edge.event, Event::BudgetRaised { .. });
        let ends = edge.step.actions.iter().any(|action| matches!(action, Action::PromptForInput | Action::Shutdown));
        if ends {
            // The limit on repetitions ends a turn by a row of its own.
            let by_limit = fired(Trigger::AutoLoopDetected)
                || edge.step.transitions.iter().any(|done| done.from == State::BudgetExceeded);
            // What the provider says to the summary for good it would say to the work as well.
            let is_hopeless = matches!(edge.event, Event::LlmFailed { error, .. } if !error.kind.is_retryable());
            let is_stop = fired(Trigger::AutoCancelSettled) || fired(Trigger::HooksStoppedTurn);
            let is_left = runs.is_raised && !is_stop && !by_limit && !is_hopeless;
            let is_over = edge.after.state() == State::ShuttingDown;
            if runs.is_going_on && runs.is_work {
                runs.is_stopped = by_limit;
            }
            (runs.is_going_on, runs.is_work, runs.is_raised) = (false, false, false);
            hold(Invariant::LimitsContinue, !is_left || is_over, || {
                "the limits were raised, and the work is not continued behind what was under way".to_owned()
            })?;
        }
        Ok(())
    }

    /// At rest a raise continues what a limit stopped, and nothing else; elsewhere it is remembered.
    fn judge_raise(&self, edge: &Edge<'_>, fired: &impl Fn(Trigger) -> bool) -> Result<(), Fault> {
        let runs = &self.runs;
        if matches!(edge.event, Event::BudgetRaised { .. }) {
            let is_due = runs.is_stopped && edge.before.state() == State::WaitingForUserInput;
            hold(Invariant::LimitsContinue, fired(Trigger::BudgetRaisedWorkDue) == is_due, || {
                format!("stopped by a limit: {is_due}, and the raise leads to {:?}", edge.after.state())
            })?;
        }
        // A turn goes on after a summary that it made by itself and that failed.
        let is_own = runs.is_going_on && runs.is_work;
        let is_continued = fired(Trigger::AutoRaisedWorkDue) || fired(Trigger::CompactionFailedWorkDue) && !is_own;
        hold(Invariant::LimitsContinue, !is_continued || runs.is_stopped && runs.is_raised, || {
            format!("work goes on that no limit stopped, or that waits for it: {runs:?}")
        })
    }

    fn judge_outcome(&self, edge: &Edge<'_>, begins: bool) -> Result<(), Fault> {
        let (before, after) = (edge.before.outcome(), edge.after.outcome());
        let is_at_prompt =
            edge.step.actions.iter().any(|action| matches!(action, Action::PromptForInput | Action::Shutdown));
        let may_change = match &after {
            Some(_) => (self.runs.is_going_on || begins) && is_at_prompt,
            None => begins,
        };
        hold(Invariant::OutcomeKept, may_change || before == after, || {
            let kind = |outcome: &Option<Outcome>| outcome.as_ref().map(|outcome| outcome.kind);
            format!("{:?} became {:?} outside of a run", kind(&before), kind(&after))
        })
    }
}
