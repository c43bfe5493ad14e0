//! One check of all commitments, and the report about it.

use super::Ticket;
use super::action::Gap;
use super::commitment::{Check, CheckEnd, CheckReport, Commitment, CommitmentId};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The checks of one completion claim: every commitment, each answered once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    pub(super) ticket: Ticket,
    /// Whether answers are expected.
    pub(super) is_open: bool,
    /// By commitment.
    reports: Vec<Option<CheckReport>>,
}

impl Verification {
    pub(super) fn new(ticket: Ticket, commitments: usize) -> Self {
        Self { ticket, is_open: true, reports: vec![None; commitments] }
    }

    /// How a check ended; `None` until it has.
    #[must_use]
    pub fn report(&self, commitment: CommitmentId) -> Option<&CheckReport> {
        self.reports.get(commitment.0)?.as_ref()
    }

    /// Why a commitment does not count as kept, once its check has ended; files that changed since it began count.
    #[must_use]
    pub fn gap(&self, commitment: CommitmentId) -> Option<CheckEnd> {
        self.report(commitment)?;
        self.shortfall(commitment.0)
    }

    /// Whether the check of a commitment has ended, and it counts as kept.
    #[must_use]
    pub fn counts(&self, commitment: CommitmentId) -> bool {
        self.report(commitment).is_some() && self.gap(commitment).is_none()
    }

    /// Whether every check has ended, said that its commitment is kept, and no file changed since it began.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.has_passed() && !self.is_stale()
    }

    /// Whether every check has ended and passed, stale or not.
    fn has_passed(&self) -> bool {
        self.reports.iter().all(|report| report.as_ref().is_some_and(CheckReport::is_kept))
    }

    /// Whether every check has passed, and one of them says nothing of the files as they are.
    pub(super) fn is_only_stale(&self) -> bool {
        self.has_passed() && self.is_stale()
    }

    /// Whether files changed since one of the checks began.
    fn is_stale(&self) -> bool {
        (0..self.reports.len()).any(|at| self.stale(at).is_some())
    }

    /// Some of the files that changed since this check began; `None` if none did, as far as is known.
    fn stale(&self, at: usize) -> Option<Vec<String>> {
        let files = |report: &'_ Option<CheckReport>| report.as_ref().and_then(|report| report.files.clone());
        let begun = files(self.reports.get(at)?)?.before;
        let since = self.reports.get(at..)?.iter().filter_map(files);
        let last = since.clone().next_back()?.after;
        (last != begun).then(|| {
            let mut changed: Vec<String> = since.flat_map(|files| files.changed).collect();
            changed.sort();
            changed.dedup();
            changed.truncate(MAX_CHANGED);
            changed
        })
    }

    /// The same with one more report: what the last one decides about all.
    pub(super) fn with(&self, commitment: CommitmentId, report: &CheckReport) -> Self {
        let mut all = self.clone();
        all.enter(commitment, report.clone());
        all
    }

    /// Whether a check of this commitment was asked for and has not ended.
    pub(super) fn expects(&self, commitment: CommitmentId) -> bool {
        self.is_open && matches!(self.reports.get(commitment.0), Some(None))
    }

    /// The checks that have not ended.
    pub(super) fn unanswered(&self, commitments: &[Commitment]) -> Vec<Check> {
        checks(commitments).into_iter().filter(|check| self.expects(check.commitment)).collect()
    }

    /// Whether only one check has not ended.
    pub(super) fn expects_one(&self) -> bool {
        self.reports.iter().filter(|report| report.is_none()).count() == 1
    }

    pub(super) fn reports(&self) -> impl Iterator<Item = &CheckReport> {
        self.reports.iter().flatten()
    }

    pub(super) fn enter(&mut self, commitment: CommitmentId, report: CheckReport) {
        if let Some(place) = self.reports.get_mut(commitment.0) {
            *place = Some(report);
        }
        self.is_open = self.reports.iter().any(Option::is_none);
    }

    /// Whether this is a look at so many commitments.
    pub(super) const fn covers(&self, commitments: usize) -> bool {
        self.reports.len() == commitments
    }

    /// What is not kept.
    pub(super) fn gaps(&self, commitments: &[Commitment]) -> Vec<Gap> {
        let all = (0..).map(CommitmentId).zip(commitments);
        all.filter_map(|(commitment, Commitment { promise, .. })| {
            let end = self.shortfall(commitment.0)?;
            Some(Gap { commitment, promise: promise.clone(), end })
        })
        .collect()
    }

    /// Why a commitment does not count as kept; `None` if it does.
    fn shortfall(&self, at: usize) -> Option<CheckEnd> {
        match self.reports.get(at)? {
            Some(report) if report.is_kept() => self.stale(at).map(|changed| CheckEnd::Stale { changed }),
            Some(report) => Some(report.end.clone()),
            None => Some(never_run()),
        }
    }

    /// The report to the agent: every commitment, with the output of the checks that failed.
    pub(super) fn gap_report(&self, commitments: &[Commitment], round: u32, max_rounds: u32) -> String {
        let missing = self.gaps(commitments).len();
        let mut out = format!(
            "The work is not finished. {missing} of {} commitments not kept; all were checked (round {round} of {max_rounds}).\n",
            commitments.len()
        );
        for (number, (commitment, report)) in (1..).zip(commitments.iter().zip(&self.reports)) {
            let Commitment { promise, assertion, .. } = commitment;
            let (Some(report), Some(end)) = (report, self.shortfall(number - 1)) else {
                out.push_str(&format!("\n{number}. kept: {promise}\n"));
                continue;
            };
            out.push_str(&format!("\n{number}. NOT KEPT: {promise}\n   `{}` {end}", assertion.command));
            if end == CheckEnd::TimedOut {
                out.push_str(&format!(" ({} ms)", assertion.timeout_ms));
            }
            out.push_str(&match tail(report.output.trim_end(), MAX_OUTPUT_BYTES) {
                "" => String::from("\n   It printed nothing.\n"),
                text if text.len() == report.output.trim_end().len() => format!("\n   It printed:\n{text}\n"),
                text => format!("\n   The end of what it printed:\n{text}\n"),
            });
        }
        out.push_str("\nFinish the work. Every commitment is checked again when you say that you are done.");
        out
    }
}

/// The checks of all commitments.
pub(super) fn checks(commitments: &[Commitment]) -> Vec<Check> {
    let all = (0..).map(CommitmentId).zip(commitments);
    all.map(|(commitment, Commitment { assertion, .. })| Check { commitment, assertion: assertion.clone() }).collect()
}

fn never_run() -> CheckEnd {
    CheckEnd::NotStarted { found: String::from("there is no report of it") }
}

/// The last so many bytes, at a character's edge: how a command failed is at its end.
fn tail(text: &str, limit_bytes: usize) -> &str {
    let mut from = text.len().saturating_sub(limit_bytes);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text.get(from..).unwrap_or_default()
}

/// Most files that are named as changed since a check began.
const MAX_CHANGED: usize = 5;
const MAX_OUTPUT_BYTES: usize = 8 * 1024;
