//! The record of how files were before the agent changed them.
//!
//! The session calls `before_tool` for every call of an answer before any of them runs, and `check_git` after those that ran. From
//! this follows who wrote what: between the two it was the agent, otherwise the user. A record is a chain of contents, each of them
//! what the agent left or found unchanged; when the chain breaks, others wrote, and it starts anew.
//!
//! Absent: a file that the user writes while the agent's tools run, or after a cancelled batch and before the next, counts as the
//! agent's. The port does not say what a tool wrote.

use crate::image::Image;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes kept over all files; beyond, a file's content is forgotten and the file left out.
const TOTAL_LIMIT_BYTES: usize = 64 * 1024 * 1024;
/// Contents kept for one file.
const CHAIN_LIMIT: usize = 8;

/// How files were before the agent changed them, by normalized path.
#[derive(Debug, Default)]
pub(crate) struct BeforeImages {
    records: BTreeMap<String, Record>,
    kept_bytes: usize,
}

#[derive(Debug)]
struct Record {
    /// What was there before the agent's changes, in order; at least one.
    bases: Vec<Image>,
    /// Digest of what the agent left, once the hooks saw it.
    left: Option<u64>,
}

impl BeforeImages {
    /// Remembers what is at the path; a call is about to change it.
    pub(crate) fn remember(&mut self, path: &str, now: Image) {
        let now = self.within_limit(now);
        match self.records.get_mut(path) {
            Some(record) if record.bases.last() == Some(&now) => {}
            Some(record) if record.left == Some(now.digest()) && record.bases.len() < CHAIN_LIMIT => {
                self.kept_bytes += size(&now);
                record.bases.push(now);
            }
            _ => {
                self.forget(path);
                self.kept_bytes += size(&now);
                let record = Record { bases: vec![now], left: None };
                self.records.insert(path.to_owned(), record);
            }
        }
    }

    /// What was at the path before the agent's changes, or nothing when that is not known.
    pub(crate) fn bases(&self, path: &str) -> &[Image] {
        self.records.get(path).map_or(&[], |record| &record.bases)
    }

    /// Notes what the agent left at a path.
    pub(crate) fn note_left(&mut self, path: &str, now: &Image) {
        if let Some(record) = self.records.get_mut(path) {
            record.left = Some(now.digest());
        }
    }

    /// A batch is over and these paths changed: calls that were to change others did not run.
    pub(crate) fn keep_only(&mut self, changed: &BTreeSet<String>) {
        let others: Vec<String> = self.records.keys().filter(|path| !changed.contains(*path)).cloned().collect();
        for path in others {
            self.forget(&path);
        }
    }

    /// The work on all of them is over.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    fn forget(&mut self, path: &str) {
        if let Some(record) = self.records.remove(path) {
            self.kept_bytes -= record.bases.iter().map(size).sum::<usize>();
        }
    }

    fn within_limit(&self, image: Image) -> Image {
        if self.kept_bytes + size(&image) > TOTAL_LIMIT_BYTES {
            return Image::Opaque("too many files changed at once to record them");
        }
        image
    }
}

fn size(image: &Image) -> usize {
    image.bytes().map_or(0, |bytes| bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> Image {
        Image::File { bytes: text.as_bytes().into(), executable: false }
    }

    #[test]
    fn the_first_content_of_a_batch_stays() {
        let mut before = BeforeImages::default();
        before.remember("a", file("1"));
        before.remember("a", file("1"));
        assert_eq!(before.bases("a"), [file("1")]);
    }

    #[test]
    fn a_pending_change_goes_on_when_only_the_agent_wrote() {
        let mut before = BeforeImages::default();
        before.remember("a", file("1"));
        before.note_left("a", &file("2"));
        before.remember("a", file("2"));
        assert_eq!(before.bases("a"), [file("1"), file("2")]);
    }

    #[test]
    fn a_foreign_change_between_batches_starts_anew() {
        let mut before = BeforeImages::default();
        before.remember("a", file("1"));
        before.note_left("a", &file("2"));
        before.remember("a", file("the user's"));
        assert_eq!(before.bases("a"), [file("the user's")]);
        assert_eq!(before.kept_bytes, "the user's".len());
    }

    #[test]
    fn calls_that_did_not_run_leave_no_record() {
        let mut before = BeforeImages::default();
        before.remember("a", file("1"));
        before.remember("b", file("1"));
        before.keep_only(&BTreeSet::from(["b".to_owned()]));
        assert_eq!(before.bases("a"), []);
        assert_eq!(before.bases("b"), [file("1")]);
        assert_eq!(before.kept_bytes, 1);
    }
}
