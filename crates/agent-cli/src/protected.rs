//! What of a workspace other programs act on by themselves: it is found when a session begins, and neither tools nor commands in a sandbox
//! write it.
//!
//! What is made later is told after the command that made it ([`Later`]). Absent: keeping commands from writing that, too.

use crate::project;
use crate::search_path::{self, Answer};
use crate::terminal::{escaped, say};
use agent_exec::{SearchPath, Watch};
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// What was found, and whether everything was looked at.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) is_all: bool,
}

/// The files and directories of a workspace with a protected name, such as the `.git` of a submodule. Those near the root come first, and
/// of a very large workspace only those.
pub(crate) fn find(workspace: &Path) -> Found {
    find_within(workspace, MOST_DIRECTORIES, usize::MAX)
}

fn find_within(workspace: &Path, most_directories: usize, mut entries_left: usize) -> Found {
    let mut waiting = VecDeque::from([workspace.to_path_buf()]);
    let (mut paths, mut left) = (Vec::new(), most_directories);
    while let Some(directory) = waiting.pop_front() {
        if left == 0 || paths.len() >= MOST_PATHS {
            return Found { paths, is_all: false };
        }
        left -= 1;
        let mut inside = Vec::new();
        let mut is_cache = false;
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            if entries_left == 0 {
                return Found { paths, is_all: false };
            }
            entries_left -= 1;
            let name = entry.file_name();
            if is_protected(&directory, &name) {
                paths.push(entry.path());
            } else if name == "CACHEDIR.TAG" {
                is_cache = true;
            } else if name != "node_modules" && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                inside.push(entry.path());
            }
        }
        // What a program made for itself and can make again is not searched.
        if !is_cache {
            waiting.extend(inside);
        }
    }
    paths.truncate(MOST_PATHS);
    Found { paths, is_all: true }
}

/// As for the tools.
fn is_protected(directory: &Path, name: &OsStr) -> bool {
    let parent = directory.file_name().unwrap_or_default().to_string_lossy();
    agent_core::protected::is_protected_in(&parent, &name.to_string_lossy())
}

/// Looks for what commands make of it later, and tells the user.
pub(crate) struct Later {
    pub(crate) workspace: PathBuf,
}

impl Watch for Later {
    fn find(&self) -> Vec<PathBuf> {
        find_within(&self.workspace, MOST_DIRECTORIES_AGAIN, MOST_ENTRIES_AGAIN).paths
    }

    /// Nobody else has a use for it, and in a trusted workspace it names programs to run.
    fn sets_aside(&self, path: &Path) -> bool {
        is_named(path, ".agent")
    }

    fn tell(&self, remark: &str) {
        say(&escaped(&format!("agent: sandbox: {remark}")));
    }
}

/// What of it is set aside when a command makes or replaces it: where git and this program look before anybody has looked at it.
pub(crate) fn kept(workspace: &Path, found: &[PathBuf]) -> Vec<PathBuf> {
    let at_root = [".git", ".agent"].map(|name| workspace.join(name));
    let is_kept = |path: &&PathBuf| is_named(path, ".git") || is_named(path, ".agent");
    at_root.into_iter().chain(found.iter().filter(is_kept).cloned()).collect()
}

fn is_named(path: &Path, name: &str) -> bool {
    path.file_name().is_some_and(|found| found.eq_ignore_ascii_case(name))
}

/// The directory in the workspace whose files git runs as hooks, where it was told another one than its own.
pub(crate) fn hooks(workspace: &Path, programs: &SearchPath) -> Option<PathBuf> {
    let folders = project::folders(workspace);
    let root = folders.first().filter(|root| root.join(".git").exists())?;
    let arguments = ["config", "--type=path", "--get", "core.hooksPath"];
    let said = match search_path::ask(programs, "git", &arguments, root) {
        Ok(Answer::Said(said)) => String::from_utf8(said).ok()?,
        Ok(Answer::Refused) => return None,
        Err(why) => {
            say(&escaped(&format!(
                "agent: whether git runs hooks from the workspace (core.hooksPath) is not known: {why}"
            )));
            return None;
        }
    };
    let said = said.trim_end_matches('\n');
    if said.is_empty() {
        return None;
    }
    let path = root.join(said);
    let path = path.canonicalize().unwrap_or(path);
    (path.starts_with(workspace) && path != workspace).then_some(path)
}

/// Enough for all but the largest projects, and searched in a few hundredths of a second.
const MOST_DIRECTORIES: usize = 4_000;
/// After every command it is searched again, which must cost next to nothing.
const MOST_DIRECTORIES_AGAIN: usize = 1_000;
const MOST_ENTRIES_AGAIN: usize = 20_000;
/// Each is a mount of every sandboxed command.
const MOST_PATHS: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        root
    }

    #[test]
    fn repositories_within_and_files_that_are_run_are_found_and_the_nearest_first() {
        let root = tree(&[
            "a/b/c/.git/config",
            "a/sub/.git",
            ".git/config",
            ".git/modules/x/.envrc",
            "a/.Envrc",
            "x.code-workspace",
            "src/main.rs",
            "node_modules/x/.vscode/tasks.json",
            "target/CACHEDIR.TAG",
            "target/debug/x/.git/config",
        ]);
        std::os::unix::fs::symlink("a", root.path().join("link")).unwrap();
        let found = find(root.path());
        assert!(found.is_all);
        let mut paths: Vec<_> =
            found.paths.iter().map(|path| path.strip_prefix(root.path()).unwrap().to_str().unwrap()).collect();
        assert_eq!(paths.last(), Some(&"a/b/c/.git"));
        paths.sort_unstable();
        assert_eq!(paths, [".git", "a/.Envrc", "a/b/c/.git", "a/sub/.git", "x.code-workspace"]);
    }

    #[test]
    fn the_search_is_bounded() {
        let root = tempfile::tempdir().unwrap();
        for number in 0..MOST_DIRECTORIES {
            fs::create_dir(root.path().join(number.to_string())).unwrap();
        }
        let found = find(root.path());
        assert_eq!(found, Found { paths: Vec::new(), is_all: false });
        let many: Vec<String> = (0..=MOST_PATHS).map(|number| format!("{number}/.envrc")).collect();
        let root = tree(&many.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(find(root.path()).paths.len(), MOST_PATHS);
        assert_eq!(find_within(root.path(), MOST_DIRECTORIES, 5).paths.len(), 0, "it did not come to the files");
    }

    #[test]
    fn the_directory_of_hooks_is_the_one_that_git_uses() {
        let root = tree(&["hooks/pre-commit", "src/x"]);
        let workspace = root.path().canonicalize().unwrap();
        let git = |arguments: &[&str]| {
            let mut git = Command::new("git");
            let status = git.args(arguments).current_dir(&workspace).status().unwrap();
            assert!(status.success(), "{arguments:?}");
        };
        git(&["init", "--quiet"]);
        let programs = SearchPath::outside(std::env::var_os("PATH").as_deref(), [&workspace]);
        assert_eq!(hooks(&workspace, &programs), None);
        for (said, expected) in [
            ("hooks", Some("hooks")),
            ("./src/../hooks/", Some("hooks")),
            ("absent/one", Some("absent/one")),
            ("/etc", None),
            (".", None),
            ("", None),
        ] {
            git(&["config", "core.hooksPath", said]);
            assert_eq!(hooks(&workspace, &programs), expected.map(|path| workspace.join(path)), "{said}");
        }
        git(&["config", "core.hooksPath", "src/hooks"]);
        assert_eq!(
            hooks(&workspace.join("src"), &programs),
            Some(workspace.join("src/hooks")),
            "as seen from a directory in it"
        );
    }
}
