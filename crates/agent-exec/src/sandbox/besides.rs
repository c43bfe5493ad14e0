//! The places outside the workspace that a call has open for writing: what other programs act on in them stays as it is.
//!
//! ```text
//! the door is opened   what is there is found, and sealed
//! the call begins      what is there is noted
//! the call has ended   what came is set aside or told, as in the workspace
//! ```
//!
//! Absent: what is known of one call for the next. These places are seldom opened, and others work in them meanwhile.

use super::Sandbox;
use super::guard::{Identity, Watch, identified, told};
#[cfg(target_os = "linux")]
use super::kept::Kept;
#[cfg(not(target_os = "linux"))]
use super::kept_elsewhere::Kept;
use super::place::Place;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// What a search in such a place found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Within {
    /// What other programs act on, as absolute paths.
    pub paths: Vec<PathBuf>,
    /// Where the search did not come, as the beginning of a sentence.
    pub unsearched: Option<String>,
}

/// The open places of one call, as they were when it began.
pub(super) struct Besides {
    by: Arc<dyn Watch>,
    places: Vec<(Place, BTreeMap<PathBuf, Identity>)>,
}

impl Besides {
    /// A call is about to begin. Nothing where none is open, or nobody looks.
    pub(super) fn begin(sandbox: &Sandbox) -> Option<Self> {
        let by = Arc::clone(sandbox.0.watch.get()?);
        let opened = sandbox.opened_directories();
        let places: Vec<_> = opened.map(|place| (place.clone(), identified(by.find_in(place.path()).paths))).collect();
        (!places.is_empty()).then_some(Self { by, places })
    }

    /// It has ended, and all it started. What there is to say about what came or changed, as sentences.
    pub(super) fn end(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        for (place, known) in &self.places {
            if !place.is_there() {
                let shown = super::guard::named(place.path());
                remarks.push(format!("`{shown}` was open and is not there any more: inspect what became of it"));
                continue;
            }
            remarks.extend(self.compare(place, known));
        }
        remarks.iter().for_each(|remark| self.by.tell(remark));
        remarks
    }

    /// What is set aside may have hidden other things, so it is looked at again.
    fn compare(&self, place: &Place, known: &BTreeMap<PathBuf, Identity>) -> Vec<String> {
        let kept = Kept::new(place.path(), &[]);
        let (mut remarks, mut new, mut unsearched) = (Vec::new(), Vec::new(), None);
        for _ in 0..MOST_ROUNDS {
            let found = self.by.find_in(place.path());
            unsearched = found.unsearched;
            let now = identified(found.paths);
            let came = now.iter().filter(|(path, identity)| known.get(*path) != Some(identity)).map(|(path, _)| path);
            let (aside, others): (Vec<_>, Vec<_>) =
                came.partition(|path| self.by.sets_aside(path, !known.contains_key(*path)));
            let within = |path: &PathBuf| path.strip_prefix(place.path()).unwrap_or(path).to_path_buf();
            let shown = super::guard::named(place.path());
            remarks.extend(aside.iter().map(|path| format!("in `{shown}`: {}", kept.set_aside(&within(path)))));
            new = others.into_iter().cloned().collect();
            if aside.is_empty() {
                break;
            }
        }
        remarks.extend(told(new.iter().map(|path| format!("`{}`", super::guard::named(path))).collect()));
        remarks.extend(unsearched.map(|what| format!("{what}: changes by commands there are not reported")));
        remarks
    }
}

/// What hides another thing that hides another, and so on.
const MOST_ROUNDS: u32 = 10;
