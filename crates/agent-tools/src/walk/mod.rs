//! Walking the workspace: sorted, without what `.gitignore` names, never through a link.
//!
//! Directories are entered from the root name by name, and every entry is handed on with the open directory that it is in: nothing is
//! looked up by a path again. Depth costs neither stack nor descriptors, and a directory that contains itself is not entered twice.

mod directory;
mod frames;
mod ignores;

pub(crate) use directory::Kind;

use crate::file_tool::Watch;
use crate::workspace::{FileError, For, RelativePath, Workspace, descend};
use agent_types::permission::Rule;
use directory::read_names;
use frames::{Frame, Frames};
use ignores::Ignores;
use rustix::fd::OwnedFd;
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::path::Path;
use std::sync::Arc;

impl Workspace {
    /// Whether a search leaves a directory out because of `.gitignore` and its like: what is in it was not written for the project.
    #[must_use]
    pub fn is_left_out(&self, directory: &str) -> bool {
        self.relative(directory).is_ok_and(|directory| Ignores::cover_way(self, &directory))
    }
}

/// The result of a walk, besides what it visited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Walked {
    /// Directories that could not be read.
    pub(crate) unreadable: usize,
    /// Directories that were not entered because they are too deep.
    pub(crate) too_deep: usize,
    /// Whether it was stopped before its end.
    pub(crate) is_stopped: bool,
    /// Whether it gave up because there are too many entries.
    pub(crate) is_cut: bool,
    /// What was left out because of rules, and these rules.
    pub(crate) excluded: usize,
    pub(crate) excluded_by: BTreeSet<String>,
}

/// Something that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    /// Its path relative to the workspace, as far as it is Unicode.
    pub(crate) path: &'a str,
    pub(crate) kind: Kind,
    pub(crate) name: &'a CStr,
    /// The directory that it is in.
    pub(crate) directory: &'a Arc<OwnedFd>,
}

/// Visits everything below a directory (or a file itself), so many levels deep.
pub(crate) fn walk(
    workspace: &Workspace,
    start: &RelativePath,
    depth: Option<usize>,
    watch: &Watch,
    mut visit: impl FnMut(&Entry<'_>),
) -> Result<Walked, FileError> {
    let start = workspace.existing(start)?;
    let wrong = |error: rustix::io::Errno| FileError::new(&start, error.into());
    let directory = match descend(workspace.descriptor(), start.as_path(), For::Listing) {
        Ok(directory) => Arc::new(directory),
        Err(rustix::io::Errno::NOTDIR) => {
            let mut walked = Walked::default();
            visit_file(workspace, &start, &mut |entry| walked.show(entry, watch.excluded(entry.path), &mut visit))?;
            return Ok(walked);
        }
        Err(error) => return Err(wrong(error)),
    };
    let (mut walked, mut visited) = (Walked::default(), 0_usize);
    let ignores = Ignores::above(workspace, &start);
    let names = read_names(&directory, MOST_ENTRIES).map_err(wrong)?;
    let shown = if start.is_root() { "" } else { start.as_str() };
    let first = Frame::new(directory, names, shown, &ignores).map_err(wrong)?;
    let mut frames = Frames::new(workspace, start.as_path(), first, shown);
    while let Some(step) = frames.next() {
        visited += 1;
        walked.is_stopped = watch.is_stopped();
        walked.is_cut = visited > MOST_ENTRIES;
        if walked.is_stopped || walked.is_cut {
            break;
        }
        let Ok(entry) = step else {
            walked.unreadable += 1;
            continue;
        };
        walked.show(&entry.as_entry(), frames.rule_over(&entry.path, watch), &mut visit);
        if visited % 256 == 0 {
            watch.tell(|| format!("{visited} entries so far, now at {}\n", entry.path));
        }
        let may_enter = entry.kind == Kind::Directory && depth.is_none_or(|depth| entry.level < depth);
        if may_enter && (entry.level >= DEEPEST || entry.path.len() >= LONGEST_BYTES) {
            walked.too_deep += 1;
        } else if may_enter && frames.enter(&entry, MOST_ENTRIES - visited).is_err() {
            walked.unreadable += 1;
        }
    }
    Ok(walked)
}

fn visit_file(workspace: &Workspace, file: &RelativePath, visit: &mut impl FnMut(&Entry<'_>)) -> Result<(), FileError> {
    let opened = workspace.open_file(file)?;
    let name = opened.real.split().map_or("", |(_, name)| name);
    // Names of the file system hold no zero byte.
    let name = std::ffi::CString::new(name).unwrap_or_default();
    let directory = Arc::new(opened.directory);
    visit(&Entry { path: opened.real.as_str(), kind: Kind::File, name: &name, directory: &directory });
    Ok(())
}

impl Walked {
    /// Has an entry visited, unless a rule keeps it out.
    fn show(&mut self, entry: &Entry<'_>, rule: Option<&Rule>, visit: &mut impl FnMut(&Entry<'_>)) {
        let Some(rule) = rule else {
            return visit(entry);
        };
        self.excluded += 1;
        if self.excluded_by.len() < MOST_RULES_NAMED {
            self.excluded_by.insert(format!("`{rule}`{}", rule.source().phrase()));
        }
    }

    /// What the reader must know, as lines in brackets.
    pub(crate) fn notice(&self) -> String {
        let mut notice = String::new();
        if self.excluded > 0 {
            let rules: Vec<&str> = self.excluded_by.iter().map(String::as_str).collect();
            let (count, rules) = (self.excluded, rules.join(", "));
            notice.push_str(&format!("[{count} files or directories were left out because of the rule {rules}]\n"));
        }
        if self.unreadable > 0 {
            notice.push_str(&format!("[{} directories could not be read]\n", self.unreadable));
        }
        if self.too_deep > 0 {
            notice.push_str(&format!("[{} directories below level {DEEPEST} were not entered]\n", self.too_deep));
        }
        if self.is_cut {
            notice.push_str(&format!("[gave up after {MOST_ENTRIES} entries: name a directory further down]\n"));
        }
        notice
    }
}

/// The path of something in a directory.
fn below(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { [directory, "/", name].concat() }
}

/// The path of a directory as one that can be entered.
fn entered(directory: &str) -> &Path {
    Path::new(directory)
}

const MOST_RULES_NAMED: usize = 5;
const MOST_ENTRIES: usize = 1_000_000;
/// How deep directories are entered.
const DEEPEST: usize = 5_000;
/// Of paths of directories that are entered.
const LONGEST_BYTES: usize = 32 * 1024;
