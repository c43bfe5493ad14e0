//! What git's configuration names in a workspace, and what this program's own configuration leads to there: the directory of hooks, files that are
//! included, scripts that commands name. Also what is not there yet: an included file that somebody makes counts at once.

mod words;

use super::repositories;
use crate::config_file::{config_home, read_capped, state_home};
use crate::project;
use crate::search_path::{Answer, ask};
use crate::terminal::{escaped, say};
use agent_exec::SearchPath;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// What other programs read or run from the workspace because a configuration says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GitSettings {
    /// The directories whose files git runs as hooks, where it was told others than its own.
    pub(crate) hooks: Vec<PathBuf>,
    /// Files that a configuration includes or leads to, and files that its commands name; there or not.
    pub(crate) files: Vec<PathBuf>,
}

impl GitSettings {
    /// All of them.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.hooks.iter().chain(&self.files)
    }
}

/// Asks git, in the repository of the workspace and in those within it. Where it does not answer, and where there is too much, that is said.
pub(crate) fn git_settings(workspace: &Path, programs: &SearchPath, within: &[PathBuf]) -> GitSettings {
    let mut found =
        Collected { workspace, programs, hooks: BTreeSet::new(), files: BTreeSet::new(), read: BTreeSet::new() };
    let root = project::folders(workspace).first().map(|root| root.to_path_buf());
    if let Some(root) = root.filter(|root| root.join(".git").exists()) {
        found.take(&root);
    }
    let telling: Vec<&PathBuf> = within.iter().filter(|folder| says_more_than_usual(folder)).collect();
    telling.iter().take(MOST_REPOSITORIES).for_each(|folder| found.take(folder));
    found.take_own();
    let left_out = found.files.len().saturating_sub(MOST_FILES);
    if left_out > 0 || telling.len() > MOST_REPOSITORIES {
        say(
            "agent: sandbox: git's configuration names more files of this workspace than can be protected: commands can change the others",
        );
    }
    GitSettings { hooks: found.hooks.into_iter().collect(), files: found.files.into_iter().take(MOST_FILES).collect() }
}

struct Collected<'a> {
    workspace: &'a Path,
    programs: &'a SearchPath,
    hooks: BTreeSet<PathBuf>,
    files: BTreeSet<PathBuf>,
    /// Configuration files that were read by themselves.
    read: BTreeSet<PathBuf>,
}

/// `origin`, `key`, `value`, as git lists them.
type Entry = (PathBuf, String, String);

impl Collected<'_> {
    /// What counts in one repository.
    fn take(&mut self, root: &Path) {
        let Some(hooks) = self.said(root, &["config", "--type=path", "--get", "core.hooksPath"]) else { return };
        let list = self.said(root, &["config", "--list", "--show-origin", "--includes", "-z"]).unwrap_or_default();
        let hooks = hooks.trim_end_matches('\n');
        if !hooks.is_empty() {
            self.take_hooks(&root.join(hooks));
        }
        let dot_git = root.join(".git");
        let git_dirs = repositories::led_to(&dot_git).into_iter().chain([dot_git, root.to_path_buf()]);
        let git_dirs = git_dirs.filter(|git_dir| git_dir.join("HEAD").symlink_metadata().is_ok());
        git_dirs.for_each(|git_dir| self.take_hooks(&git_dir.join("hooks")));
        let entries = entries(&list, root);
        self.take_entries(root, &entries);
        let home = std::env::home_dir();
        let of_user = home.iter().flat_map(|home| [home.join(".gitconfig"), home.join(".config/git/config")]);
        of_user.for_each(|file| self.add_file(&file));
    }

    /// A directory of hooks, and where links in it lead.
    fn take_hooks(&mut self, directory: &Path) {
        let real = real(directory);
        let is_gits = real.components().any(|part| part.as_os_str() == ".git");
        if !is_gits && real.starts_with(self.workspace) && real != self.workspace && !is_part_of_repository(&real) {
            self.hooks.insert(real);
        }
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                self.add_file(&entry.path());
            }
        }
    }

    fn take_entries(&mut self, root: &Path, entries: &[Entry]) {
        for (origin, key, value) in entries {
            self.add_file(origin);
            let key = key.to_ascii_lowercase();
            if key == "include.path" || key.starts_with("includeif.") && key.ends_with(".path") {
                let file = words::expanded(value, origin.parent().unwrap_or(root));
                self.add_file(&file);
                self.take_file(root, &file);
            } else if key == "core.hookspath" {
                self.take_hooks(&words::expanded(value, root));
            } else if words::may_name_program(&key) {
                for file in words::files(value, root) {
                    self.add_file(&file);
                }
            }
        }
    }

    /// What a file says that is included only under a condition, or by one that is.
    fn take_file(&mut self, root: &Path, file: &Path) {
        if self.read.len() >= MOST_INCLUDES || !file.is_file() || !self.read.insert(real(file)) {
            return;
        }
        let list = self.said(root, &["config", "--file", &file.to_string_lossy(), "--list", "--show-origin", "-z"]);
        let entries = entries(&list.unwrap_or_default(), root);
        self.take_entries(root, &entries);
    }

    /// Where links among this program's own files lead.
    fn take_own(&mut self) {
        for home in [config_home(), state_home()].into_iter().flatten() {
            for entry in fs::read_dir(&home).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                    self.add_file(&entry.path());
                }
            }
        }
    }

    /// What lies in a `.git` is protected with it.
    fn add_file(&mut self, path: &Path) {
        let real = real(path);
        let is_gits = real.components().any(|part| part.as_os_str() == ".git");
        if !is_gits && real.starts_with(self.workspace) && real != self.workspace {
            self.files.insert(real);
        }
    }

    fn said(&self, root: &Path, arguments: &[&str]) -> Option<String> {
        match ask(self.programs, "git", arguments, root) {
            Ok(Answer::Said(said)) => Some(String::from_utf8_lossy(&said).into_owned()),
            Ok(Answer::Refused) => Some(String::new()),
            Err(why) => {
                let unknown = "which files of the workspace git runs as hooks or includes is not known";
                say(&escaped(&format!("agent: {unknown}: {why}")));
                None
            }
        }
    }
}

/// `file:… NUL key LF value NUL`; paths are relative to where git was asked.
fn entries(list: &str, root: &Path) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut fields = list.split('\0');
    while let (Some(origin), Some(entry)) = (fields.next(), fields.next()) {
        let origin = root.join(origin.strip_prefix("file:").unwrap_or("/"));
        let (key, value) = entry.split_once('\n').unwrap_or((entry, ""));
        found.push((origin, key.to_owned(), value.to_owned()));
    }
    found
}

/// Whether a repository's own configuration has a word that may lead to other files. Asking git costs a process.
fn says_more_than_usual(folder: &Path) -> bool {
    let dot_git = folder.join(".git");
    let git_dirs = repositories::led_to(&dot_git).into_iter().chain([dot_git, folder.to_path_buf()]);
    let mut said = git_dirs.filter_map(|git_dir| read_capped(&git_dir.join("config")).ok().flatten());
    said.any(|text| {
        let text = text.to_ascii_lowercase();
        TELLING.iter().any(|word| text.contains(word))
    })
}

/// Where a path leads, also one whose end is not there, and a link that leads nowhere.
fn real(path: &Path) -> PathBuf {
    let mut path = plain(path);
    for _ in 0..MOST_LINKS {
        if let Ok(real) = path.canonicalize() {
            return real;
        }
        match fs::read_link(&path) {
            Ok(target) => path = plain(&path.parent().unwrap_or(&path).join(target)),
            Err(_) => break,
        }
    }
    let there = path.ancestors().find_map(|there| Some((there, there.canonicalize().ok()?)));
    there.map_or_else(|| path.clone(), |(there, real)| real.join(path.strip_prefix(there).unwrap_or(Path::new(""))))
}

/// Without `.` and `..`, for what is not there.
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

/// The `hooks` of a bare repository are protected with it.
fn is_part_of_repository(hooks: &Path) -> bool {
    let folder = hooks.parent().unwrap_or(hooks);
    hooks.ends_with("hooks") && repositories::is_repository(|name| folder.join(name).exists())
}

const TELLING: &[&str] = &[
    "include",
    "hookspath",
    "filter",
    "command",
    "helper",
    "fsmonitor",
    "driver",
    "textconv",
    "program",
    "editor",
    "pager",
    "alias",
];
const MOST_FILES: usize = 200;
const MOST_REPOSITORIES: usize = 20;
const MOST_INCLUDES: usize = 20;
const MOST_LINKS: usize = 20;
