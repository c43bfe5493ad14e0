//! Directories that no tool reads, lists or searches: where the agent keeps how files were before it changed them.
//!
//! A rule or a hidden path holds for a file where it lies, not for a copy of it in another place. So nothing shows the copies.

use super::path::RelativePath;
use std::path::Path;

/// Whether a path lies in a closed directory, or is one.
pub(super) fn is_closed(path: &Path, more: &[RelativePath]) -> bool {
    is_by_name(path) || more.iter().any(|more| path.starts_with(more.as_path()))
}

/// The same for an entry of a directory that is not closed itself. A walk asks for each, and paths may be long.
pub(super) fn begins_here(path: &Path, name: &[u8], more: &[RelativePath]) -> bool {
    name.eq_ignore_ascii_case(FOLDER.as_bytes()) && is_by_name(path) || more.iter().any(|more| path == more.as_path())
}

/// `.git/agent`, and the same in the repositories that git keeps in a `.git` for submodules and further working trees.
fn is_by_name(path: &Path) -> bool {
    let parts: Vec<_> = path.iter().collect();
    parts.iter().enumerate().filter(|(_, part)| part.eq_ignore_ascii_case(".git")).any(|(at, _)| {
        let within = parts.get(at + 1..).unwrap_or_default();
        match within {
            [first, ..] if first.eq_ignore_ascii_case(FOLDER) => true,
            [first, rest @ ..] if NESTED.iter().any(|nested| first.eq_ignore_ascii_case(nested)) => {
                rest.iter().skip(1).any(|part| part.eq_ignore_ascii_case(FOLDER))
            }
            _ => false,
        }
    })
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
