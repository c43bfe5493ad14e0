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

    /// Whether every check has ended and said that its commitment is kept.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.reports.iter().all(|report| report.as_ref().is_some_and(CheckReport::is_kept))
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
        let all = (0..).map(CommitmentId).zip(commitments).zip(&self.reports);
        all.filter(|(_, report)| !report.as_ref().is_some_and(CheckReport::is_kept))
            .map(|((commitment, Commitment { promise, .. }), report)| Gap {
                commitment,
                promise: promise.clone(),
                end: report.as_ref().map_or_else(never_run, |report| report.end.clone()),
            })
            .collect()
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
            let Some(report) = report.as_ref().filter(|report| !report.is_kept()) else {
                out.push_str(&format!("\n{number}. kept: {promise}\n"));
                continue;
            };
            out.push_str(&format!("\n{number}. NOT KEPT: {promise}\n   `{}` {}", assertion.command, report.end));
            if report.end == CheckEnd::TimedOut {
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

const MAX_OUTPUT_BYTES: usize = 8 * 1024;
