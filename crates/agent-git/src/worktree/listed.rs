//! What git says of the worktrees of a repository.

use std::path::Path;

/// A worktree as git lists it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) head: Option<String>,
    pub(super) branch: Option<String>,
}

impl Listed {
    /// The worktree at a path, in what `git worktree list --porcelain -z` wrote.
    pub(super) fn at(tree: &Path, output: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(output);
        let entry = text.split("\0\0").find(|entry| {
            let path =
                entry.trim_start_matches('\0').split('\0').next().and_then(|line| line.strip_prefix("worktree "));
            path.is_some_and(|path| Path::new(path) == tree)
        })?;
        let value = |name: &str| entry.split('\0').find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let head = value("HEAD").filter(|head| head.bytes().any(|digit| digit != b'0')).map(str::to_owned);
        let branch = value("branch").map(|name| name.strip_prefix("refs/heads/").unwrap_or(name).to_owned());
        Some(Self { head, branch })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_of_a_worktree_is_found_by_its_path() {
        let output = b"worktree /w\0HEAD 11\0branch refs/heads/main\0\0worktree /t/a b\0HEAD 22\0branch refs/heads/agent/x\0locked\0\0\
            worktree /t/c\0HEAD 0000\0detached\0\0";
        let at = |path: &str| Listed::at(Path::new(path), output);
        let entry = |head: Option<&str>, branch: Option<&str>| {
            Some(Listed { head: head.map(str::to_owned), branch: branch.map(str::to_owned) })
        };
        assert_eq!(at("/t/a b"), entry(Some("22"), Some("agent/x")));
        assert_eq!(at("/w"), entry(Some("11"), Some("main")));
        assert_eq!(at("/t/c"), entry(None, None));
        assert_eq!((at("/t"), at("/t/a")), (None, None));
    }
}
