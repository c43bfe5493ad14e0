//! What happens after a batch of tools: what the hooks receive and report; and the user's own hooks.

mod files;
mod occasion;

pub use files::FilesSeen;
pub use occasion::{EndedCall, HookEnd, HookOccasion, HookPoint, HookReport, HookRun};

use crate::tool::RanTool;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

/// What the hooks learn about the tools that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// Tools of this batch, in call order.
    pub tools: Vec<RanTool>,
    /// Files that were or may have been changed since hooks last saw them, relative to the workspace, sorted.
    pub paths: Vec<String>,
    /// What the model said in this turn, for a commit message; may be empty.
    pub intent: String,
}

/// What a look at the repository found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitReport {
    /// Commits that are new since the last look, oldest first.
    pub commits: Vec<CommitInfo>,
    /// Whether formatters are configured for files that changed.
    pub formatting_due: bool,
    /// Whether to commit the agent's own changes.
    pub commit_due: bool,
    /// Why something was left out, for the trace (not a repository, in the middle of a merge, …).
    pub notes: Vec<String>,
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitInfo {
    /// Full object id.
    pub id: String,
    /// First line of its message.
    pub subject: String,
    /// How much it changed, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stat: Option<DiffStat>,
}

/// How much a commit changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffStat {
    /// Files.
    pub files: u64,
    /// Lines that came.
    pub insertions: u64,
    /// Lines that went.
    pub deletions: u64,
}

impl fmt::Display for DiffStat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, insertions, deletions } = self;
        let noun = if *files == 1 { "file" } else { "files" };
        write!(f, "{files} {noun}, +{insertions} -{deletions}")
    }
}

/// What the formatters did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormatReport {
    /// Files whose content changed, relative to the workspace.
    pub changed_paths: Vec<String>,
    /// Whether to commit the agent's own changes now.
    pub commit_due: bool,
    /// What went wrong or was left out, one line each.
    pub notes: Vec<String>,
}

/// The result of committing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitReport {
    /// The commit, or `None` if there was nothing to commit.
    pub commit: Option<CommitInfo>,
    /// What was left out and why, one line each.
    pub notes: Vec<String>,
}

/// Why a hook did not do its work. Exhaustive: the driver makes an event of each kind, and must not compile without one for a new kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum HookError {
    /// It failed or timed out. The turn continues.
    #[error("{message}")]
    Failed {
        /// What was attempted and found.
        message: String,
    },
    /// It demands that the turn ends here.
    #[error("{reason}")]
    StopTurn {
        /// Why, for the user.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::DiffStat;
    use alloc::string::ToString;

    #[test]
    fn a_diff_is_told_by_its_files_and_lines() {
        let told = |files| DiffStat { files, insertions: 12, deletions: 3 }.to_string();
        assert_eq!([told(0), told(1), told(2)], ["0 files, +12 -3", "1 file, +12 -3", "2 files, +12 -3"]);
    }
}
