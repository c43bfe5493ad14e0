//! What became of one run of a child.

use super::lease::Spent;
use crate::session::Evidence;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

/// How many bytes of a child's last words its parent gets.
pub const MAX_TEXT_BYTES: usize = 16 * 1024;

/// The outcome of one run. Every run has exactly one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Outcome {
    /// In one word.
    pub word: Word,
    /// What it said last: partial work is not dropped. At most [`MAX_TEXT_BYTES`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Why, where the word alone does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How many of its commitments were checked and kept, of how many. Nothing where it has none: then nothing is verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verified>,
    /// The files that it changed in the workspace that it worked in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// What is left of the workspace that it had for itself, if anything is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Box<Left>>,
    /// How many of its calls, and of those below it, were denied because no one could be asked.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unasked_denials: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// What is left of a child's own workspace after its last run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Left {
    /// Nothing: nothing was changed there, or it was never made.
    Nothing,
    /// Changes, which nobody removes.
    Changes {
        /// The directory.
        path: String,
        /// The branch that is for it.
        branch: String,
        /// How many commits were made there.
        commits: u32,
        /// Whether there are changes that are in no commit.
        has_uncommitted: bool,
    },
    /// It is not known: the workspace is gone, or cannot be looked through.
    Unknown {
        /// What was found, and where.
        found: String,
    },
}

impl Left {
    /// The same for an outcome, which says nothing of nothing.
    #[must_use]
    pub fn for_outcome(self) -> Option<Box<Self>> {
        match self {
            Self::Nothing => None,
            Self::Changes { .. } | Self::Unknown { .. } => Some(Box::new(self)),
        }
    }
}

/// How many commitments were kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    /// Checked and kept.
    pub kept: u32,
    /// All.
    pub of: u32,
}

/// A run's outcome with what it spent, as the child's journal has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rest {
    /// The outcome.
    pub outcome: Outcome,
    /// What the run spent, all below it included.
    pub spent: Spent,
    /// Whether the run may be tried again: the system failed, not the work, and no change is left of which the end is unknown.
    pub is_repeatable: bool,
}

impl Outcome {
    /// An outcome of so much text. What is too long is cut within a character's bounds, and says so.
    #[must_use]
    pub fn new(word: Word, text: &str) -> Self {
        Self {
            word,
            text: cut(text),
            reason: None,
            verified: None,
            changed: Vec::new(),
            left: None,
            unasked_denials: 0,
        }
    }

    /// How far its work was checked.
    #[must_use]
    pub fn evidence(&self) -> Evidence {
        let count = |checks: u32| usize::try_from(checks).unwrap_or(usize::MAX);
        self.verified.map_or(Evidence::Unverified, |Verified { kept, of }| Evidence::of(count(kept), count(of)))
    }

    /// The same in words, with the count of its checks.
    #[must_use]
    pub fn checked(&self) -> String {
        let words = self.evidence().words();
        match self.verified {
            Some(Verified { kept, of }) => format!("{words}: {kept} of {of} checks passed"),
            None => String::from(words),
        }
    }

    /// The same with the reason.
    #[must_use]
    pub fn because(self, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..self }
    }
}

fn cut(text: &str) -> String {
    const NOTE: &str = "\n[cut]";
    if text.len() <= MAX_TEXT_BYTES {
        return text.into();
    }
    let end = text.floor_char_boundary(MAX_TEXT_BYTES - NOTE.len());
    [text.get(..end).unwrap_or_default(), NOTE].concat()
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Word {
    /// The work is done.
    Done,
    /// It ended with a question; an answer begins another run.
    Asks,
    /// Commitments are not kept, or could not be checked.
    NotKept,
    /// The provider gave up or refused, or a hook stopped it.
    Failed,
    /// Its lease is spent.
    OutOfBudget,
    /// Its time is up.
    TimedOut,
    /// It was stopped.
    Cancelled,
    /// It was never begun.
    NotBegun,
    /// Its journal cannot be read.
    Lost,
}

/// How the parent's call counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// As one that succeeded.
    Ok,
    /// As one that failed.
    Failed,
    /// As one that was interrupted.
    Interrupted,
    /// As one that did not run.
    NotRun,
}

impl Word {
    /// How the call counts that waits for the child.
    #[must_use]
    pub const fn counts(self) -> Counts {
        match self {
            Self::Done | Self::Asks => Counts::Ok,
            Self::NotKept | Self::Failed | Self::OutOfBudget | Self::TimedOut | Self::Lost => Counts::Failed,
            Self::Cancelled => Counts::Interrupted,
            Self::NotBegun => Counts::NotRun,
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Done => "done",
            Self::Asks => "asks",
            Self::NotKept => "commitments not kept",
            Self::Failed => "failed",
            Self::OutOfBudget => "out of budget",
            Self::TimedOut => "timed out",
            Self::Cancelled => "cancelled",
            Self::NotBegun => "not begun",
            Self::Lost => "lost",
        })
    }
}
