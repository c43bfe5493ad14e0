//! Files that no tool writes, whatever the permission mode: git's own, the agent's own, and those from which other programs take commands
//! that they run by themselves when somebody opens, enters or commits in the directory. Writing one of these is running a command later,
//! without anybody being asked.
//!
//! Absent: files that are run only when somebody builds, tests or starts the project (`Makefile`, `build.rs`, `package.json`): writing
//! those is an agent's work.

use super::path::RelativePath;
use std::path::{Component, Path};

/// Why a path is protected, as the end of a sentence. Names count whatever their case: not every file system tells them apart.
pub(super) fn reason(path: &RelativePath, more: &[Protected]) -> Option<&'static str> {
    if let Some(found) = more.iter().find(|more| path.as_path().starts_with(more.path.as_path())) {
        return Some(found.reason);
    }
    let mut names = names(path.as_path()).peekable();
    let mut parent = None;
    while let Some(name) = names.next() {
        let is_whole = names.peek().is_none();
        if let Some(reason) = of_name(&name, parent.as_deref(), is_whole) {
            return Some(reason);
        }
        parent = Some(name);
    }
    None
}

/// What a host protects besides.
#[derive(Debug)]
pub(super) struct Protected {
    pub(super) path: RelativePath,
    /// Why, as the end of a sentence.
    pub(super) reason: &'static str,
}

fn names(path: &Path) -> impl Iterator<Item = String> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
    })
}

fn of_name(name: &str, parent: Option<&str>, is_whole: bool) -> Option<&'static str> {
    if name == ".git" {
        return Some("belongs to git's own data");
    }
    if name == ".agent" {
        return Some("belongs to the agent's own configuration");
    }
    let is_editors = EDITOR_DIRECTORIES.contains(&name)
        || (is_whole && (EDITOR_FILES.contains(&name) || name.ends_with(".code-workspace")));
    if is_editors {
        return Some("can make an editor run commands");
    }
    if HOOK_DIRECTORIES.contains(&name) || (is_whole && HOOK_FILES.contains(&name)) {
        return Some("can make git run commands");
    }
    if AGENT_DIRECTORIES.contains(&name) || (is_whole && AGENT_FILES.contains(&name)) {
        return Some("configures an agent");
    }
    let is_direnv = matches!(name, "direnv.toml" | "direnvrc") && parent == Some("direnv");
    if is_whole && (SHELL_FILES.contains(&name) || is_direnv) {
        return Some("is run by a shell or a debugger when it starts");
    }
    None
}

/// The names of directories and files that are protected wherever they stand, in lower case: for a host that keeps commands from writing
/// them, too.
#[must_use]
pub fn protected_names() -> Vec<&'static str> {
    let always: [&[&str]; 8] = [
        &[".git", ".agent"],
        EDITOR_DIRECTORIES,
        EDITOR_FILES,
        HOOK_DIRECTORIES,
        HOOK_FILES,
        AGENT_DIRECTORIES,
        AGENT_FILES,
        SHELL_FILES,
    ];
    always.concat()
}

const EDITOR_DIRECTORIES: &[&str] = &[".vscode", ".idea", ".devcontainer", ".zed", ".fleet"];
const EDITOR_FILES: &[&str] =
    &[".vimrc", ".gvimrc", ".exrc", ".nvimrc", ".nvim.lua", ".lvimrc", ".dir-locals.el", ".dir-locals-2.el"];
const HOOK_DIRECTORIES: &[&str] = &[".githooks", ".husky"];
const HOOK_FILES: &[&str] = &[
    ".gitconfig",
    ".gitmodules",
    ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    "lefthook.yml",
    "lefthook.yaml",
    ".lefthook.yml",
    ".lefthook.yaml",
];
const AGENT_DIRECTORIES: &[&str] = &[".claude", ".codex", ".cursor", ".gemini"];
const AGENT_FILES: &[&str] = &[".mcp.json"];
const SHELL_FILES: &[&str] = &[
    ".envrc",
    ".mise.toml",
    "mise.toml",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".inputrc",
    ".tmux.conf",
    ".gdbinit",
    ".lldbinit",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn is_protected(path: &str) -> bool {
        let own = Protected { path: RelativePath::parse("own/state", &[]).unwrap(), reason: "is ours" };
        reason(&RelativePath::parse(path, &[]).unwrap(), &[own]).is_some()
    }

    #[test]
    fn what_runs_by_itself_is_told_from_what_is_run() {
        for path in [
            ".git",
            ".git/hooks/pre-commit",
            "sub/.git/config",
            ".GIT/config",
            "sub/.git",
            ".agent/config.toml",
            ".vscode/tasks.json",
            "a/b/.idea/x.xml",
            "x.code-workspace",
            ".envrc",
            "sub/.Envrc",
            ".bashrc",
            ".husky/pre-push",
            ".mcp.json",
            "own/state/sessions",
        ] {
            assert!(is_protected(path), "{path}");
        }
        for path in [
            ".gitignore",
            ".gitattributes",
            ".github/workflows/ci.yml",
            "git",
            "x.git",
            "agent/config.toml",
            "vscode/tasks.json",
            "Makefile",
            "build.rs",
            "package.json",
            "envrc",
            ".envrc.example",
            "src/.bashrc/x",
            "own/states",
            "own",
            "AGENTS.md",
        ] {
            assert!(!is_protected(path), "{path}");
        }
    }

    #[test]
    fn the_published_names_are_all_protected() {
        for name in protected_names() {
            assert!(is_protected(name), "{name}");
            assert!(is_protected(&format!("sub/{}", name.to_uppercase())), "{name}");
        }
    }
}
