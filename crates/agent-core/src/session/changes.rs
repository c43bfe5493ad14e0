//! What tools and formatters changed, for the hooks that look at it.

use super::batch::Batch;
use super::sparse::Sparse;
use crate::hook;
use crate::tool::RanTool;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Files that were changed and that hooks have not dealt with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Changes(Sparse<ChangeRecord>);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct ChangeRecord {
    paths: BTreeSet<String>,
    /// Whether something may have been changed since hooks last looked.
    unseen: bool,
    /// The tools of the last batch that hooks look at.
    tools: Vec<RanTool>,
    /// What the model said with them.
    intent: String,
}

impl Changes {
    /// Something may have been changed, and these files were.
    pub(super) fn happened(&mut self, paths: impl IntoIterator<Item = String>) {
        self.0.change(|record| {
            record.unseen = true;
            record.paths.extend(paths);
        });
    }

    /// Formatters changed these files after the hooks inspected them.
    pub(super) fn formatted(&mut self, paths: Vec<String>) {
        self.0.change(|record| record.paths.extend(paths));
    }

    /// The hooks will look at what this batch did.
    pub(super) fn remember(&mut self, batch: &Batch) {
        self.0.change(|record| (record.tools, record.intent) = (batch.ran(), batch.text()));
    }

    /// No hook asks about the last batch any more.
    pub(super) fn forget_batch(&mut self) {
        if self.0.get().is_some() {
            self.0.change(|record| (record.tools, record.intent) = (Vec::new(), String::new()));
        }
    }

    /// A hook failed: it looks again when something else may have been changed.
    pub(super) fn seen(&mut self) {
        self.0.change(|record| record.unseen = false);
    }

    /// The hooks have dealt with everything.
    pub(super) fn settle(&mut self) {
        self.0.change(|record| (record.unseen, record.paths) = (false, BTreeSet::new()));
    }

    /// Whether something may have been changed since hooks last looked.
    pub(super) fn are_unseen(&self) -> bool {
        self.0.get().is_some_and(|record| record.unseen)
    }

    /// What the hooks get.
    pub(super) fn told(&self) -> hook::Changes {
        self.0.get().map_or_else(hook::Changes::default, |record| hook::Changes {
            tools: record.tools.clone(),
            paths: record.paths.iter().cloned().collect(),
            intent: record.intent.clone(),
        })
    }
}
