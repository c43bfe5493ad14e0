//! Git directories, by whatever name and in whatever place, and where `.git` files lead.

use crate::config::file::read_capped;
use crate::screen::terminal::shown_path;
use crate::walls::own_programs::{Answer, ask};
use agent_exec::SearchPath;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The directories with git's own data that a `.git` stands for, besides itself: where a `.git` file leads, and from there, or from a
/// directory, to what several working trees share.
pub(super) fn led_to(dot_git: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut git_dir = dot_git.to_path_buf();
    if let Some(text) = read_small(dot_git) {
        let Some(named) = text.strip_prefix("gitdir:").map(str::trim).filter(|named| !named.is_empty()) else {
            return found;
        };
        git_dir = dot_git.parent().unwrap_or(dot_git).join(named);
        found.extend(git_dir.canonicalize());
    }
    if let Some(text) = read_small(&git_dir.join("commondir")) {
        found.extend(git_dir.join(text.trim()).canonicalize());
    }
    found
}

/// What of a repository that is the workspace itself is protected: it cannot be as a whole.
pub(super) const PARTS: &[&str] = &[
    "HEAD",
    "config",
    "config.worktree",
    "commondir",
    "hooks",
    "info",
    "objects",
    "refs",
    "packed-refs",
    "logs",
    "index",
    "modules",
    "worktrees",
    "reftable",
];

/// Whether a directory is marked as a cache, as the marker's specification says (bford.info/cachedir): by the first bytes of a regular
/// file.
pub(super) fn is_cache(directory: &Path) -> bool {
    read_small(&directory.join(CACHE_TAG)).is_some_and(|text| text.starts_with(CACHE_SIGNATURE))
}

/// What git would wait for, or read without end, in a directory with its own data; as a sentence. Pipes, devices, and files larger than any
/// that git writes.
pub(super) fn odd_part(git_dir: &Path) -> Option<String> {
    READ_BY_GIT.iter().find_map(|(name, most_bytes)| {
        let file = git_dir.join(name);
        let found = file.metadata().ok()?;
        let why = match found.is_file() {
            true if found.len() <= *most_bytes => return None,
            true => format!("has {} bytes, but the limit is {most_bytes}", found.len()),
            false => "is not a regular file".to_owned(),
        };
        Some(format!("`{}` {why}", shown_path(&file)))
    })
}

/// A short text; nothing when it is none.
fn read_small(path: &Path) -> Option<String> {
    read_capped(path).ok().flatten()
}

/// Where the `.git` of the submodules belongs that the index names. Also far below the root, where no search comes.
///
/// # Errors
/// Why they are not known.
pub(super) fn submodules(workspace: &Path, programs: &SearchPath) -> Result<Vec<PathBuf>, String> {
    let found = match agent_git::submodules(workspace) {
        Ok(found) => found,
        Err(_) => listed_by_git(workspace, programs)?,
    };
    Ok(found.into_iter().filter(|path| path.starts_with(workspace)).map(|path| path.join(".git")).collect())
}

/// `160000 SP <id> SP <stage> TAB <path> NUL`
fn listed_by_git(workspace: &Path, programs: &SearchPath) -> Result<Vec<PathBuf>, String> {
    let dot_git = workspace.ancestors().map(|top| top.join(".git")).find(|path| path.symlink_metadata().is_ok());
    let dot_git = dot_git.unwrap_or_else(|| workspace.to_path_buf());
    if let Some(why) = led_to(&dot_git).iter().chain([&dot_git]).find_map(|git_dir| odd_part(git_dir)) {
        return Err(why);
    }
    // The files themselves are not looked at, so no filter and no monitor of files is started.
    let arguments = ["-c", "core.fsmonitor=false", "ls-files", "--stage", "-z"];
    let Answer::Said(said) = ask(programs, "git", &arguments, workspace)? else { return Ok(Vec::new()) };
    let lines = said.split(|byte| *byte == 0).filter_map(|line| line.strip_prefix(b"160000 "));
    let paths = lines.filter_map(|line| line.splitn(2, |byte| *byte == b'\t').nth(1));
    Ok(paths.map(|path| workspace.join(OsStr::from_bytes(path))).collect())
}

/// What git opens for any question, and how large each may be.
const READ_BY_GIT: &[(&str, u64)] = &[
    ("HEAD", 64 * 1024),
    ("commondir", 64 * 1024),
    ("gitdir", 64 * 1024),
    ("config", 1024 * 1024),
    ("config.worktree", 1024 * 1024),
    ("objects/info/alternates", 1024 * 1024),
    ("index", 1024 * 1024 * 1024),
];
pub(super) const CACHE_TAG: &str = "CACHEDIR.TAG";
const CACHE_SIGNATURE: &str = "Signature: 8a477f597d28d172789f06886806bc55";
