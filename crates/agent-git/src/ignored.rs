//! Which new files the user lets git ignore, found out without a process.

use crate::query::Settings;
use crate::repository::Repository;
use crate::tree::read_path;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The rules that hold in a working tree, read as they are asked for.
pub(crate) struct IgnoreRules<'a> {
    top: &'a Path,
    /// Which files of rules the index has: git reads those where the file itself is not there.
    is_staged: &'a dyn Fn(&str) -> bool,
    /// By directory, relative to the top.
    folders: BTreeMap<PathBuf, Gitignore>,
    /// Of the repository, and of the user, in the order in which they count.
    others: Vec<Gitignore>,
}

/// Those of the paths that are ignored, or nothing when only git can tell.
pub(crate) fn ignored(
    repository: &Repository,
    settings: &Settings,
    paths: &[&str],
    is_staged: &dyn Fn(&str) -> bool,
) -> Option<BTreeSet<String>> {
    if paths.is_empty() {
        return Some(BTreeSet::new());
    }
    if settings.asks_for_ignored {
        return None;
    }
    let mut rules = IgnoreRules { top: &repository.top, is_staged, folders: BTreeMap::new(), others: Vec::new() };
    let files = [Some(repository.common_dir.join("info/exclude"))].into_iter().chain([settings.excludes_file.clone()]);
    for file in files.flatten() {
        rules.others.push(rules_of(&repository.top, &file)?);
    }
    let mut found = BTreeSet::new();
    for path in paths {
        if rules.is_ignored(path)? {
            found.insert((*path).to_owned());
        }
    }
    Some(found)
}

impl IgnoreRules<'_> {
    /// What is in an ignored directory is ignored, whatever other rules say of it.
    fn is_ignored(&mut self, path: &str) -> Option<bool> {
        let ends = path.match_indices('/').map(|(at, _)| (at, true)).chain([(path.len(), false)]);
        for (end, is_folder) in ends {
            if self.says(Path::new(path.get(..end)?), is_folder)? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// What the rules say of one path: the deepest first, and in a file the last.
    fn says(&mut self, path: &Path, is_folder: bool) -> Option<bool> {
        for folder in path.ancestors().skip(1) {
            if !self.folders.contains_key(folder) {
                let (absolute, name) = (self.top.join(folder), folder.join(NAME));
                let file = self.top.join(&name);
                if file.symlink_metadata().is_err() && name.to_str().is_none_or(self.is_staged) {
                    return None;
                }
                self.folders.insert(folder.to_path_buf(), rules_of(&absolute, &file)?);
            }
        }
        let folders = path.ancestors().skip(1).filter_map(|folder| self.folders.get(folder));
        for rules in folders.chain(&self.others) {
            match rules.matched(self.top.join(path), is_folder) {
                Match::None => {}
                Match::Ignore(_) => return Some(true),
                Match::Whitelist(_) => return Some(false),
            }
        }
        Some(false)
    }
}

/// The rules of one file, or nothing when there are some that cannot be read, or that git may read otherwise. As git does, links are passed
/// over.
fn rules_of(folder: &Path, file: &Path) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(folder);
    if file.symlink_metadata().is_ok_and(|found| found.is_file()) {
        let text = String::from_utf8(read_path(file, LIMIT_BYTES)?).ok()?;
        if text.lines().any(is_doubtful) {
            return None;
        }
        for line in text.trim_start_matches('\u{feff}').lines() {
            builder.add_line(None, line).ok()?;
        }
    }
    builder.build().ok()
}

/// Whether git may read a pattern otherwise: braces are letters to it, and it has its own rules for odd sets of characters.
fn is_doubtful(line: &str) -> bool {
    let has_odd_set = || ["[:", "[]", "[!", "[^"].iter().any(|odd| line.contains(odd)) || line.contains('\\');
    !line.starts_with('#') && (line.contains(['{', '}']) || line.contains('[') && has_odd_set())
}

/// Longer rules are left to git.
const LIMIT_BYTES: u64 = 1024 * 1024;
/// How a file with rules is called.
pub(crate) const NAME: &str = ".gitignore";
