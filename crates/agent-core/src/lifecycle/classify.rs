//! Which trigger an event is: guards are decided here, and nowhere else.

use super::commitment::{CheckEnd, CheckReport, CommitmentId};
use super::step::{Objection, Reason};
use super::table::Trigger;
use super::{Event, Lifecycle, Signal, State, Ticket, TurnEnd};

impl Lifecycle {
    /// Whether the event is a timer that the agent does not wait for any more: it was stopped, replaced or taken already. The driver cannot
    /// know that, and nothing is lost with it. A ticket that is open for something else, or that was never given, is the driver's mistake.
    pub(super) fn is_late(&self, event: &Event) -> bool {
        let Event::TimedOut { ticket } = event else { return false };
        // The first wait begins without a row, and has the one ticket that is not counted.
        let first = u64::from(self.config.max_idle_ms.is_none());
        let checks = self.verification.as_ref().filter(|open| open.is_open).map(|open| open.ticket);
        let is_open = [self.timer, self.cleanup, checks].contains(&Some(*ticket));
        (first..=self.next_ticket).contains(&ticket.0) && !is_open
    }

    pub(super) fn trigger(&self, event: &Event) -> Result<Trigger, Reason> {
        match event {
            Event::InputReceived { text } => filled(text, Trigger::InputReceived),
            Event::CommitmentAdded { commitment } => filled(&commitment.assertion.command, Trigger::CommitmentAdded),
            Event::ModeChanged { .. } => Ok(Trigger::ModeChanged),
            Event::Signalled { .. } => Ok(Trigger::Signalled),
            Event::TurnEnded { end, .. } => Ok(self.turn_ended(*end)),
            Event::CheckCompleted { ticket, commitment, report } => self.check_completed(*ticket, *commitment, report),
            Event::CancelRequested => Ok(Trigger::CancelRequested),
            Event::WorkResumed => Ok(Trigger::WorkResumed),
            // The checks share the time of their message.
            Event::TimedOut { ticket } if self.state == State::Verifying => {
                open(self.timer, *ticket, Trigger::BudgetExceeded)
            }
            Event::TimedOut { ticket } => open(self.timer, *ticket, Trigger::TimedOut),
            Event::BudgetExceeded => Ok(Trigger::BudgetExceeded),
            Event::SessionEnded => Ok(Trigger::SessionEnded),
            Event::Dismissed => Ok(Trigger::Dismissed),
            Event::CleanupCompleted { ticket } => open(self.cleanup, *ticket, Trigger::CleanupCompleted),
        }
    }

    /// Only a turn that the model itself ended, with no stop requested, can claim anything.
    fn turn_ended(&self, end: TurnEnd) -> Trigger {
        let claims_without_signal = self.config.unsignalled_turn_claims;
        match (end, self.signal.as_ref().map(|(signal, _)| *signal)) {
            (TurnEnd::OutOfBudget, _) => Trigger::TurnOutOfBudget,
            (TurnEnd::Failed | TurnEnd::Cancelled, _) => Trigger::TurnFailed,
            (TurnEnd::Completed, _) if self.is_cancelled => Trigger::TurnFailed,
            (TurnEnd::Completed, Some(Signal::Waiting)) => Trigger::WaitingSignalled,
            (TurnEnd::Completed, None) if !claims_without_signal => Trigger::TurnEnded,
            (TurnEnd::Completed, Some(Signal::Done) | None) => match self.commitments.is_empty() {
                true => Trigger::CompletionClaimedUnbound,
                false => Trigger::CompletionClaimed,
            },
        }
    }

    /// The last answer decides, over all of them.
    fn check_completed(
        &self,
        ticket: Ticket,
        commitment: CommitmentId,
        report: &CheckReport,
    ) -> Result<Trigger, Reason> {
        let Some(verification) = self.verification.as_ref().filter(|open| open.is_open && open.ticket == ticket) else {
            return Err(Reason::StaleTicket);
        };
        if !verification.expects(commitment) {
            return Err(Objection::UnknownCommitment.into());
        }
        if !verification.expects_one() {
            return Ok(Trigger::CheckCompletedMoreLeft);
        }
        let was_not_started = |report: &CheckReport| matches!(report.end, CheckEnd::NotStarted { .. });
        let is_impossible = was_not_started(report) && verification.reports().all(was_not_started);
        let all = verification.with(commitment, report);
        let may_try_again = self.rounds < self.config.max_rounds;
        Ok(if all.is_kept() {
            Trigger::ChecksPassed
        } else if all.is_only_stale() && self.rechecks < MAX_RECHECKS {
            Trigger::ChecksStale
        } else if is_impossible {
            Trigger::ChecksImpossible
        } else if !self.config.continues_after_failure {
            Trigger::ChecksFailedResting
        } else if may_try_again {
            Trigger::ChecksFailed
        } else {
            Trigger::ChecksFailedForGood
        })
    }
}

/// How often the checks of one claim run again because files changed while they ran.
const MAX_RECHECKS: u32 = 1;

fn filled(text: &str, trigger: Trigger) -> Result<Trigger, Reason> {
    if text.trim().is_empty() { Err(Objection::Blank.into()) } else { Ok(trigger) }
}

fn open(expected: Option<Ticket>, ticket: Ticket, trigger: Trigger) -> Result<Trigger, Reason> {
    if expected == Some(ticket) { Ok(trigger) } else { Err(Reason::StaleTicket) }
}
