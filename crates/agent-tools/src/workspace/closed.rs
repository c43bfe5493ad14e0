//! Directories that no tool reads, lists or searches: where the agent keeps how files were before it changed them.
//!
//! A rule or a hidden path holds for a file where it lies, not for a copy of it in another place. So nothing shows the copies.

use super::path::RelativePath;
use agent_types::protected::is_same_name;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Whether a path is in a closed directory, or is one.
pub(super) fn is_closed(path: &Path, more: &[RelativePath]) -> bool {
    is_by_name(path) || more.iter().any(|more| path.starts_with(more.as_path()))
}

/// The same for an entry of a directory that is not closed itself. A walk asks for each, and paths may be long.
pub(super) fn begins_here(path: &Path, name: &[u8], more: &[RelativePath]) -> bool {
    is(OsStr::from_bytes(name), FOLDER) && is_by_name(path) || more.iter().any(|more| path == more.as_path())
}

/// `.git/agent`, and the same in the repositories that git keeps in a `.git` for submodules and further working trees.
fn is_by_name(path: &Path) -> bool {
    let parts: Vec<_> = path.iter().collect();
    parts.iter().enumerate().filter(|(_, part)| is(part, ".git")).any(|(at, _)| {
        let within = parts.get(at + 1..).unwrap_or_default();
        match within {
            [first, ..] if is(first, FOLDER) => true,
            [first, rest @ ..] if NESTED.iter().any(|nested| is(first, nested)) => {
                rest.iter().skip(1).any(|part| is(part, FOLDER))
            }
            _ => false,
        }
    })
}

/// Most names are plain, and are compared as they are.
fn is(name: &OsStr, known: &str) -> bool {
    let is_odd = |name: &str| !name.is_ascii() || name.contains(['~', ':']) || name.ends_with(['.', ' ']);
    name.eq_ignore_ascii_case(known) || name.to_str().is_some_and(|name| is_odd(name) && is_same_name(name, known))
}

const FOLDER: &str = "agent";
const NESTED: &[&str] = &["worktrees", "modules"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agents_folder_of_every_repository_is_closed_and_branches_are_not() {
        for path in [
            ".git/agent",
            ".git/agent/17-1",
            "sub/.Git/Agent/x",
            "sub/GIT~1/agent./x",
            ".git/worktrees/w/agent/x",
            ".git/modules/a/b/agent",
            ".git/modules/a/worktrees/w/agent/x",
        ] {
            assert!(is_closed(Path::new(path), &[]), "{path}");
        }
        for path in [
            "agent",
            ".git",
            ".git/refs/heads/agent/x",
            ".agent/config.toml",
            ".git/worktrees/agent/HEAD",
            "x.git/agent",
        ] {
            assert!(!is_closed(Path::new(path), &[]), "{path}");
        }
        let more = [RelativePath::parse("data/of-git/agent", &[]).unwrap()];
        assert!(
            is_closed(Path::new("data/of-git/agent/x"), &more) && !is_closed(Path::new("data/of-git/agents"), &more)
        );
    }
}
