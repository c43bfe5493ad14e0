//! Applies the data of an accepted event. It does not know which row follows.

use super::action::Outcome;
use super::event::{Event, TurnEnd};
use super::table::Trigger;
use super::{Lifecycle, TaskMode};

impl Lifecycle {
    pub(super) fn take_in(&mut self, trigger: Trigger, event: Event) {
        match event {
            Event::InputReceived { text } => {
                self.begin_message();
                self.input = text;
            }
            Event::WorkResumed => self.begin_message(),
            Event::CommitmentAdded { commitment } => self.commitments.push(commitment),
            Event::ModeChanged { mode } => self.mode = mode,
            Event::Signalled { signal, summary } => self.signal = Some((signal, summary)),
            Event::TurnEnded { end, time_left_ms } => {
                self.outcome = self.turn_outcome(trigger, end);
                self.rechecks = 0;
                self.checks_time = time_left_ms.map(|left_ms| (left_ms, self.now_ms));
            }
            Event::CheckCompleted { commitment, report, .. } => {
                if let Some(verification) = &mut self.verification {
                    verification.enter(commitment, report);
                }
                self.absorb_verdict(trigger);
            }
            Event::CancelRequested => self.absorb_cancel(),
            Event::TimedOut { .. } => {
                self.timer = None;
                // The time of the checks is the message's, and part of its budget.
                let is_spent = trigger == Trigger::BudgetExceeded;
                if is_spent {
                    self.checks_time = Some((0, self.now_ms));
                }
                self.outcome =
                    Some(if is_spent { Outcome::BudgetExceeded } else { Outcome::TimedOut { state: self.state } });
            }
            Event::BudgetExceeded => self.outcome = Some(Outcome::BudgetExceeded),
            // A resting agent has an outcome already.
            Event::SessionEnded => self.outcome = self.outcome.take().or(Some(Outcome::SessionEnded)),
            Event::Dismissed => self.outcome = self.outcome.take().or(Some(Outcome::Dismissed)),
            Event::CleanupCompleted { .. } => self.cleanup = None,
        }
    }

    /// Work begins for a message: everything is counted from here.
    fn begin_message(&mut self) {
        self.begin_turn();
        self.rounds = 0;
        self.is_cancelled = false;
        self.mode = TaskMode::default();
        self.checks_time = None;
    }

    /// The session is about to work: what was signalled and reported before does not count any more.
    fn begin_turn(&mut self) {
        self.signal = None;
        self.outcome = None;
    }

    /// A turn that is going on will end as a cancelled one; checks that are going on lead nowhere.
    fn absorb_cancel(&mut self) {
        let is_checking = self.verification.as_ref().is_some_and(|verification| verification.is_open);
        if is_checking {
            self.outcome = Some(Outcome::Cancelled);
        } else if self.outcome.is_none() {
            self.is_cancelled = true;
        }
    }

    fn turn_outcome(&self, trigger: Trigger, end: TurnEnd) -> Option<Outcome> {
        let is_stopped = self.is_cancelled || end == TurnEnd::Cancelled;
        let summary = self.signal.as_ref().map(|(_, summary)| summary.clone()).unwrap_or_default();
        match trigger {
            Trigger::TurnEnded => Some(Outcome::TurnEnded),
            Trigger::TurnFailed if is_stopped => Some(Outcome::Cancelled),
            Trigger::TurnFailed => Some(Outcome::TurnFailed),
            Trigger::TurnOutOfBudget => Some(Outcome::TurnOutOfBudget),
            Trigger::WaitingSignalled => Some(Outcome::Waiting { summary }),
            Trigger::CompletionClaimedUnbound => Some(Outcome::Done { kept: 0 }),
            // A claim is only a claim; the other triggers are no end of a turn.
            Trigger::CompletionClaimed
            | Trigger::InputReceived
            | Trigger::CommitmentAdded
            | Trigger::ModeChanged
            | Trigger::Signalled
            | Trigger::WorkResumed
            | Trigger::CheckCompletedMoreLeft
            | Trigger::ChecksPassed
            | Trigger::ChecksStale
            | Trigger::ChecksFailed
            | Trigger::ChecksFailedResting
            | Trigger::ChecksFailedForGood
            | Trigger::ChecksImpossible
            | Trigger::CancelRequested
            | Trigger::TimedOut
            | Trigger::BudgetExceeded
            | Trigger::SessionEnded
            | Trigger::Dismissed
            | Trigger::CleanupCompleted => None,
        }
    }

    /// The last check ended: what all of them say.
    fn absorb_verdict(&mut self, trigger: Trigger) {
        let gaps = self.verification.as_ref().map(|all| all.gaps(&self.commitments)).unwrap_or_default();
        let (commitments, rounds) = (self.commitments.len(), self.rounds);
        match trigger {
            Trigger::ChecksPassed => self.outcome = Some(Outcome::Done { kept: commitments }),
            Trigger::ChecksStale => self.rechecks = self.rechecks.saturating_add(1),
            Trigger::ChecksFailed => {
                self.begin_turn();
                self.rounds = self.rounds.saturating_add(1);
            }
            Trigger::ChecksFailedResting | Trigger::ChecksFailedForGood => {
                self.outcome = Some(Outcome::NotKept { gaps, commitments, rounds });
            }
            Trigger::ChecksImpossible => self.outcome = Some(Outcome::Uncheckable { gaps }),
            Trigger::CheckCompletedMoreLeft
            | Trigger::InputReceived
            | Trigger::CommitmentAdded
            | Trigger::ModeChanged
            | Trigger::Signalled
            | Trigger::WorkResumed
            | Trigger::TurnEnded
            | Trigger::TurnFailed
            | Trigger::TurnOutOfBudget
            | Trigger::WaitingSignalled
            | Trigger::CompletionClaimed
            | Trigger::CompletionClaimedUnbound
            | Trigger::CancelRequested
            | Trigger::TimedOut
            | Trigger::BudgetExceeded
            | Trigger::SessionEnded
            | Trigger::Dismissed
            | Trigger::CleanupCompleted => {}
        }
    }
}
