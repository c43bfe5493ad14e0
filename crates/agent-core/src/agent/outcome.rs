//! The one outcome of a run, made from the outcomes of its turns and its commitments.

use crate::lifecycle::{self, Gap};
use crate::session::{Denial, Evidence, Outcome, OutcomeKind};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The combined outcome of a run's turns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    last: Option<Outcome>,
    /// The gravest outcome of any turn.
    gravest: Option<OutcomeKind>,
    /// Calls of all turns that were not allowed to run.
    denials: Vec<Denial>,
}

impl Turns {
    /// A turn ended.
    pub fn add(&mut self, outcome: &Outcome) {
        self.denials.extend(outcome.denials.iter().cloned());
        self.gravest = self.gravest.into_iter().chain([outcome.kind]).min_by_key(|kind| rank(*kind));
        self.last = Some(outcome.clone());
    }

    /// The gravest of what all turns and their calls say, for a host that gave several tasks one after the other and leaves: one that
    /// failed is not made good by the next. Nothing before the first turn ended.
    #[must_use]
    pub fn gravest(&self) -> Option<OutcomeKind> {
        let of_calls = self.has_unasked_denial().then_some(OutcomeKind::Permission);
        self.gravest.into_iter().chain(of_calls).min_by_key(|kind| rank(*kind))
    }

    fn has_unasked_denial(&self) -> bool {
        self.denials.iter().any(|denial| denial.nobody_to_ask)
    }

    /// The outcome of the run: the gravest of what its last turn, its calls and the agent's end say. Nothing while the agent works.
    #[must_use]
    pub fn outcome(&self, agent: Option<&lifecycle::Outcome>) -> Option<Outcome> {
        let agent = agent?;
        let text = self.last.as_ref().map(|last| last.text.clone()).unwrap_or_default();
        let of_turn = self.last.as_ref().map(|last| (last.kind, last.error.clone()));
        let of_calls = self.has_unasked_denial().then_some((OutcomeKind::Permission, None));
        let mut claims: Vec<_> = [of_turn, of_calls, Some(of_agent(agent))].into_iter().flatten().collect();
        claims.sort_by_key(|(kind, _)| rank(*kind));
        let kind = claims.first().map_or(OutcomeKind::Success, |(kind, _)| *kind);
        // A denial alone explains nothing, so the outcome reports what else went wrong.
        let error = claims.into_iter().find_map(|(_, error)| error);
        Some(Outcome { text, error, denials: self.denials.clone(), evidence: evidence(agent), ..Outcome::new(kind) })
    }
}

/// How far the work of a run that ended so was checked.
fn evidence(outcome: &lifecycle::Outcome) -> Evidence {
    match outcome {
        lifecycle::Outcome::Done { kept } => Evidence::of(*kept, *kept),
        lifecycle::Outcome::NotKept { gaps, commitments, .. } => {
            Evidence::of(commitments.saturating_sub(gaps.len()), *commitments)
        }
        lifecycle::Outcome::Uncheckable { .. }
        | lifecycle::Outcome::TurnEnded
        | lifecycle::Outcome::TurnFailed
        | lifecycle::Outcome::Cancelled
        | lifecycle::Outcome::Waiting { .. }
        | lifecycle::Outcome::TimedOut { .. }
        | lifecycle::Outcome::TurnOutOfBudget
        | lifecycle::Outcome::BudgetExceeded
        | lifecycle::Outcome::SessionEnded
        | lifecycle::Outcome::Dismissed => Evidence::Unverified,
    }
}

/// What the agent's end says by itself. Where the session knows better, it says nothing.
fn of_agent(outcome: &lifecycle::Outcome) -> (OutcomeKind, Option<String>) {
    match outcome {
        lifecycle::Outcome::Done { .. }
        | lifecycle::Outcome::TurnEnded
        | lifecycle::Outcome::TurnFailed
        | lifecycle::Outcome::TurnOutOfBudget => (OutcomeKind::Success, None),
        lifecycle::Outcome::Cancelled | lifecycle::Outcome::Dismissed => (OutcomeKind::Cancelled, None),
        lifecycle::Outcome::Waiting { summary } => {
            (OutcomeKind::Waiting, Some(format!("the agent waits for an answer: {summary}")))
        }
        lifecycle::Outcome::NotKept { gaps, commitments, rounds } => {
            let missing = gaps.len();
            let text =
                format!("{missing} of {commitments} commitments not kept after {rounds} gap reports: {}", listed(gaps));
            (OutcomeKind::VerificationFailed, Some(text))
        }
        lifecycle::Outcome::Uncheckable { gaps } => {
            (OutcomeKind::VerificationFailed, Some(format!("no commitment could be checked: {}", listed(gaps))))
        }
        lifecycle::Outcome::TimedOut { state } => {
            (OutcomeKind::Budget, Some(format!("the agent was {state:?} for too long")))
        }
        lifecycle::Outcome::BudgetExceeded => (OutcomeKind::Budget, Some(String::from("the agent's budget is spent"))),
        lifecycle::Outcome::SessionEnded => (OutcomeKind::Failed, Some(String::from("the session has ended"))),
    }
}

fn listed(gaps: &[Gap]) -> String {
    let lines: Vec<String> = gaps.iter().map(|gap| format!("`{}` {}", gap.promise, gap.end)).collect();
    lines.join("; ")
}

/// Which of several holds: the lowest.
const fn rank(kind: OutcomeKind) -> u8 {
    match kind {
        OutcomeKind::Cancelled => 0,
        OutcomeKind::Failed => 1,
        OutcomeKind::Authentication => 2,
        OutcomeKind::Budget => 3,
        OutcomeKind::CallLimit => 4,
        OutcomeKind::Provider => 5,
        OutcomeKind::Waiting => 6,
        OutcomeKind::Permission => 7,
        OutcomeKind::VerificationFailed => 8,
        OutcomeKind::Success => 9,
    }
}
