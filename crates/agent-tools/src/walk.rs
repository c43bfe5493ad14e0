//! Walking the workspace: sorted, without what `.gitignore` names, never through a link.

use crate::file_tool::Stop;
use crate::workspace::{FileError, RelativePath, Workspace};
use ignore::{DirEntry, WalkBuilder};
use std::path::Path;

/// What a walk came to, besides what it visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Walked {
    /// Entries that could not be read.
    pub(crate) unreadable: usize,
    /// Whether it was stopped before its end.
    pub(crate) is_stopped: bool,
    /// Whether it gave up because there are too many entries.
    pub(crate) is_cut: bool,
}

/// Visits everything below a directory (or a file itself), with paths relative to the workspace.
pub(crate) fn walk(
    workspace: &Workspace,
    start: &RelativePath,
    depth: Option<usize>,
    stop: &Stop,
    mut visit: impl FnMut(&str, &DirEntry),
) -> Result<Walked, FileError> {
    let real = workspace.existing(start)?;
    let (walked, start_was_seen) = from_root(workspace, &real, depth, stop, &mut visit);
    if start_was_seen || walked.is_stopped {
        return Ok(walked);
    }
    // It is ignored, but was asked for by name.
    Ok(from_start(workspace, &real, depth, stop, &mut visit))
}

/// One walk from the root, so that every `.gitignore` above the start counts, that enters only what leads to the start.
fn from_root(
    workspace: &Workspace,
    start: &RelativePath,
    depth: Option<usize>,
    stop: &Stop,
    visit: &mut impl FnMut(&str, &DirEntry),
) -> (Walked, bool) {
    let (start, start_depth) = match start.is_root() {
        true => (workspace.root().to_path_buf(), 0),
        false => (workspace.root().join(start.as_path()), start.as_path().components().count()),
    };
    let only = start.clone();
    let mut builder = builder(workspace.root());
    builder.max_depth(depth.map(|depth| depth.saturating_add(start_depth))).filter_entry(move |entry| {
        !is_git(entry) && (entry.path().starts_with(&only) || only.starts_with(entry.path()))
    });
    run(workspace, &builder, &start, stop, visit)
}

/// One walk from the start itself.
fn from_start(
    workspace: &Workspace,
    start: &RelativePath,
    depth: Option<usize>,
    stop: &Stop,
    visit: &mut impl FnMut(&str, &DirEntry),
) -> Walked {
    let start = workspace.root().join(start.as_path());
    let mut builder = builder(&start);
    builder.max_depth(depth).filter_entry(|entry| !is_git(entry));
    run(workspace, &builder, &start, stop, visit).0
}

fn builder(from: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(from);
    builder
        .hidden(false)
        .parents(false)
        .git_global(false)
        .require_git(false)
        .follow_links(false)
        .sort_by_file_name(std::ffi::OsStr::cmp);
    builder
}

fn run(
    workspace: &Workspace,
    builder: &WalkBuilder,
    start: &Path,
    stop: &Stop,
    visit: &mut impl FnMut(&str, &DirEntry),
) -> (Walked, bool) {
    let mut walked = Walked::default();
    let mut start_was_seen = false;
    for (count, entry) in builder.build().enumerate() {
        walked.is_stopped = stop.is_set();
        walked.is_cut = count >= MOST_ENTRIES;
        if walked.is_stopped || walked.is_cut {
            break;
        }
        let Ok(entry) = entry else {
            walked.unreadable += 1;
            continue;
        };
        let path = entry.path();
        start_was_seen |= path == start;
        let is_below =
            path.starts_with(start) && (path != start || entry.file_type().is_some_and(|kind| !kind.is_dir()));
        if is_below && let Ok(relative) = path.strip_prefix(workspace.root()) {
            visit(&relative.to_string_lossy(), &entry);
        }
    }
    (walked, start_was_seen)
}

impl Walked {
    /// What the reader must know, as a line in brackets.
    pub(crate) fn notice(&self) -> String {
        let mut notice = String::new();
        if self.unreadable > 0 {
            notice.push_str(&format!("[{} entries could not be read]\n", self.unreadable));
        }
        if self.is_cut {
            notice.push_str(&format!("[gave up after {MOST_ENTRIES} entries: name a directory further down]\n"));
        }
        notice
    }
}

fn is_git(entry: &DirEntry) -> bool {
    entry.depth() > 0 && entry.file_name() == ".git"
}

const MOST_ENTRIES: usize = 1_000_000;
