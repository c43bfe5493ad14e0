//! What git's configuration names in a workspace: the directory of its hooks, files that it includes, programs that it runs.

use crate::project;
use crate::search_path::{Answer, ask};
use crate::terminal::{escaped, say};
use agent_exec::SearchPath;
use std::path::{Component, Path, PathBuf};

/// What git reads or runs from the workspace besides `.git`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GitSettings {
    /// The directory whose files git runs as hooks, where it was told another one than its own.
    pub(crate) hooks: Option<PathBuf>,
    /// Files that the configuration includes, and files that its commands name.
    pub(crate) files: Vec<PathBuf>,
}

impl GitSettings {
    /// All of them.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.hooks.iter().chain(&self.files)
    }
}

/// Asks git. Where it does not answer, that is said.
pub(crate) fn git_settings(workspace: &Path, programs: &SearchPath) -> GitSettings {
    let folders = project::folders(workspace);
    let Some(root) = folders.first().filter(|root| root.join(".git").exists()) else { return GitSettings::default() };
    let said = |arguments: &[&str]| match ask(programs, "git", arguments, root) {
        Ok(Answer::Said(said)) => Ok(String::from_utf8_lossy(&said).into_owned()),
        Ok(Answer::Refused) => Ok(String::new()),
        Err(why) => Err(why),
    };
    let asked = said(&["config", "--type=path", "--get", "core.hooksPath"])
        .and_then(|hooks| Ok((hooks, said(&["config", "--list", "--show-origin", "--includes", "-z"])?)));
    let (hooks, list) = asked.unwrap_or_else(|why| {
        let unknown = "which files of the workspace git runs as hooks or includes is not known";
        say(&escaped(&format!("agent: {unknown}: {why}")));
        (String::new(), String::new())
    });
    let within = |named: &str| {
        let path = plain(&root.join(named.trim_end_matches('\n')));
        let path = path.canonicalize().unwrap_or(path);
        (path.starts_with(workspace) && path != workspace).then_some(path)
    };
    let hooks = Some(hooks.as_str()).filter(|hooks| !hooks.is_empty()).and_then(within);
    let mut files: Vec<PathBuf> =
        named_files(&list).into_iter().filter_map(within).filter(|path| path.is_file()).collect();
    let is_gits = |path: &PathBuf| path.starts_with(root.join(".git"));
    files.retain(|path| !is_gits(path));
    files.sort();
    files.dedup();
    files.truncate(MOST_FILES);
    GitSettings { hooks, files }
}

/// The origins of all values, and every word of a value that could name a file: `origin NUL key LF value NUL`.
fn named_files(list: &str) -> Vec<&str> {
    let mut named = Vec::new();
    let mut fields = list.split('\0');
    while let (Some(origin), Some(entry)) = (fields.next(), fields.next()) {
        named.extend(origin.strip_prefix("file:"));
        let value = entry.split_once('\n').map_or("", |(_, value)| value);
        let words = value
            .split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '|' | '&' | '(' | ')' | '!' | '='));
        named.extend(words.filter(|word| !word.is_empty() && *word != "." && *word != ".."));
    }
    named
}

/// Without `.` and `..`, for a file that is not there yet.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
        plain
    })
}

/// Each is a mount of every sandboxed command.
const MOST_FILES: usize = 50;
