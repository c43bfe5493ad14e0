//! Finds the repository and reads its state from files, without a process.
//!
//! It is found once, when a session begins, and is from then on what was found: the same directories, by device and number, behind the same
//! `.git`. Commands of the model can make a `.git`, or put another one in its place; nothing is done in such a repository.

mod odd;

use crate::tree::{Identity, Tree, read_path};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const DOT_GIT: &str = ".git";
/// Symbolic references that refer to one another, at most.
const REFERENCE_DEPTH: usize = 5;
/// Letters by which a commit is known.
const SHORT_ID: usize = 10;
/// Larger files are not references.
const REFERENCE_LIMIT_BYTES: u64 = 64 * 1024;
/// Longest list of packed references that is read: some hundred thousand of them.
const PACKED_LIMIT_BYTES: u64 = 64 * 1024 * 1024;

/// A repository with a working tree.
#[derive(Clone, Debug)]
pub(crate) struct Repository {
    /// Root of the working tree.
    pub(crate) top: PathBuf,
    /// Where `HEAD` and `index` are. For a linked worktree or a submodule not `top/.git`.
    pub(crate) git_dir: PathBuf,
    /// Where the branches are; the same as `git_dir` unless this is a linked worktree.
    pub(crate) common_dir: PathBuf,
    /// The working tree.
    pub(crate) files: Tree,
    /// What is in `git_dir`.
    pub(crate) own: Tree,
    /// What is in `common_dir`.
    common: Tree,
    /// What `.git` is: the directory itself, or a file that names it.
    entry: Identity,
    /// The text of that file.
    pointer: Option<Vec<u8>>,
}

/// What was found above a directory.
#[derive(Clone, Debug)]
pub(crate) enum Discovery {
    /// No repository.
    None,
    /// A repository without a working tree.
    Bare,
    /// `.git` leads to a repository that knows nothing of this directory.
    Foreign,
    /// A repository that cannot be held, and why.
    Unusable(String),
    /// A repository with a working tree.
    Found(Box<Repository>),
}

/// When and how a file was last changed, enough to notice that it was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    changed: Option<(SystemTime, u64)>,
    number: u64,
}

impl Stamp {
    pub(crate) fn of(path: &Path) -> Self {
        let Ok(found) = fs::metadata(path) else { return Self::default() };
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(&found);
        #[cfg(not(unix))]
        let number = 0;
        Self { changed: found.modified().ok().map(|time| (time, found.len())), number }
    }

    /// Which file it is, whatever is in it.
    pub(crate) fn identity(self) -> Self {
        Self { changed: None, ..self }
    }
}

/// Everything on which the commit at `HEAD` depends. Equal marks, equal commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeadMark {
    /// `HEAD` and the references it leads to, as they are written.
    chain: Vec<Vec<u8>>,
    /// Where references are that have no file of their own.
    packed: Option<(SystemTime, u64)>,
    /// The lists of tables, in a repository that keeps its references in tables.
    tables: Vec<Vec<u8>>,
}

impl Discovery {
    /// Looks for a repository as git does: in the directory and those above.
    pub(crate) fn look(start: &Path) -> Self {
        for top in start.ancestors() {
            let dot_git = top.join(DOT_GIT);
            if let Some(git_dir) = git_dir_at(&dot_git) {
                let Some(common_dir) = common_dir_of(&git_dir) else { return Self::Foreign };
                if (git_dir != dot_git || common_dir != git_dir) && !names_back(&git_dir, top) {
                    return Self::Foreign;
                }
                return Repository::hold(top, git_dir, common_dir)
                    .map_or_else(|error| Self::Unusable(error.to_string()), |found| Self::Found(Box::new(found)));
            }
            if is_git_dir(top) {
                return Self::Bare;
            }
        }
        Self::None
    }
}

impl Repository {
    fn hold(top: &Path, git_dir: PathBuf, common_dir: PathBuf) -> io::Result<Self> {
        let (files, own) = (Tree::open(top)?, Tree::open(&git_dir)?);
        let common = Tree::open(&common_dir)?;
        let (entry, pointer) = dot_git(&files)?;
        Ok(Self { top: top.to_path_buf(), git_dir, common_dir, files, own, common, entry, pointer })
    }

    /// Why nothing may be done in it now: it is not the one that was found, or something in it leads out of it.
    pub(crate) fn refusal(&self) -> Option<String> {
        let is_same = [&self.files, &self.own, &self.common].into_iter().all(Tree::is_in_place)
            && dot_git(&self.files).is_ok_and(|found| found == (self.entry, self.pointer.clone()))
            && common_dir_of(&self.git_dir).as_ref() == Some(&self.common_dir);
        if !is_same {
            let here = self.top.display();
            return Some(format!(
                "the repository at {here} is not the one that was there when the session began; start a new session to work with it"
            ));
        }
        self.odd()
    }

    /// What is under way and makes committing wrong now, if anything.
    pub(crate) fn operation_in_progress(&self) -> Option<&'static str> {
        OPERATIONS.iter().find(|(file, _)| self.git_dir.join(file).symlink_metadata().is_ok()).map(|(_, name)| *name)
    }

    /// The branch at `HEAD`, or the first letters of the commit that is there instead.
    pub(crate) fn branch(&self) -> Option<String> {
        let head = self.own.read("HEAD", REFERENCE_LIMIT_BYTES).ok().flatten()?;
        if let Some(target) = symbolic_target(&head) {
            let branch = target.strip_prefix("refs/heads/").unwrap_or(&target);
            // Where references are in tables, only git knows.
            return (branch != ".invalid").then(|| branch.to_owned());
        }
        let commit = str::from_utf8(&head).ok()?.trim();
        is_object_id(commit).then(|| commit.chars().take(SHORT_ID).collect())
    }

    /// Whether `HEAD` is a commit and not a branch.
    pub(crate) fn is_detached(&self) -> bool {
        read_small(&self.git_dir.join("HEAD")).is_some_and(|text| !text.starts_with(b"ref:"))
    }

    /// Reads everything on which the commit at `HEAD` depends.
    pub(crate) fn head_mark(&self) -> HeadMark {
        let mut chain = Vec::new();
        let mut packed = None;
        let mut next = read_small(&self.git_dir.join("HEAD"));
        while let Some(text) = next.take() {
            let target = symbolic_target(&text).filter(|_| chain.len() < REFERENCE_DEPTH);
            chain.push(text);
            let Some(target) = target else { break };
            // Branches are shared by all worktrees; some references belong to one.
            next = read_small(&self.common_dir.join(&target)).or_else(|| read_small(&self.git_dir.join(&target)));
            if next.is_none() {
                packed = stamp(&self.common_dir.join("packed-refs"));
            }
        }
        let tables = [&self.git_dir, &self.common_dir]
            .into_iter()
            .filter_map(|directory| read_small(&directory.join("reftable/tables.list")))
            .collect();
        HeadMark { chain, packed, tables }
    }

    /// The locks that git holds while it moves `HEAD`, where references are files.
    pub(crate) fn reference_locks(&self) -> Vec<(&Tree, PathBuf)> {
        let head = read_small(&self.git_dir.join("HEAD"));
        let branch =
            head.and_then(|text| symbolic_target(&text)).map(|name| (&self.common, format!("{name}.lock").into()));
        let others = [(&self.own, "HEAD.lock".into()), (&self.common, "packed-refs.lock".into())];
        branch.into_iter().chain(others).collect()
    }

    /// The commit at `HEAD` where a file says it: not without commits, not for references in tables.
    pub(crate) fn head_commit(&self, mark: &HeadMark) -> Option<String> {
        let last = str::from_utf8(mark.chain.last()?).ok()?.trim();
        if is_object_id(last) {
            return Some(last.to_owned());
        }
        let target = last.strip_prefix("ref:")?.trim();
        let packed = read_path(&self.common_dir.join("packed-refs"), PACKED_LIMIT_BYTES)?;
        str::from_utf8(&packed)
            .ok()?
            .lines()
            .filter_map(|line| line.split_once(' '))
            .find(|(id, name)| *name == target && is_object_id(id))
            .map(|(id, _)| id.to_owned())
    }
}

impl HeadMark {
    /// Whether `HEAD` leads to something that should be a commit, so that a missing commit is damage and not a new repository.
    pub(crate) fn leads_somewhere(&self) -> bool {
        self.chain.len() > 1 || self.chain.first().is_some_and(|text| symbolic_target(text).is_none())
    }

    /// Whether the references are kept in tables, which only git reads.
    pub(crate) fn needs_git(&self) -> bool {
        !self.tables.is_empty()
    }
}

/// Files that git keeps while something is under way.
const OPERATIONS: &[(&str, &str)] = &[
    ("MERGE_HEAD", "a merge"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("BISECT_LOG", "a bisection"),
];

/// The directory that `.git` is or names (`gitdir: …` in linked worktrees and submodules).
fn git_dir_at(dot_git: &Path) -> Option<PathBuf> {
    let found = fs::metadata(dot_git).ok()?;
    let git_dir = if found.is_dir() {
        dot_git.to_path_buf()
    } else {
        let text = String::from_utf8(read_small(dot_git)?).ok()?;
        let named = text.strip_prefix("gitdir:")?.trim();
        dot_git.parent()?.join(named)
    };
    let git_dir = git_dir.canonicalize().ok()?;
    is_git_dir(&git_dir).then_some(git_dir)
}

/// Whether a directory that a `.git` file names names that file's directory back, as those of linked worktrees and submodules do.
///
/// A planted file could name any repository of the user, and the agent would commit to it.
fn names_back(git_dir: &Path, top: &Path) -> bool {
    let same = |path: PathBuf| path.canonicalize().is_ok_and(|path| path == top);
    if let Some(text) = read_small(&git_dir.join("gitdir")).and_then(|text| String::from_utf8(text).ok()) {
        return same(git_dir.join(text.trim()).parent().map(Path::to_path_buf).unwrap_or_default());
    }
    let config = read_small(&git_dir.join("config")).and_then(|text| String::from_utf8(text).ok()).unwrap_or_default();
    config.lines().filter_map(worktree_setting).any(|worktree| same(git_dir.join(worktree)))
}

/// `worktree = ../../..` as git writes it.
fn worktree_setting(line: &str) -> Option<&str> {
    let (name, value) = line.split_once('=')?;
    name.trim().eq_ignore_ascii_case("worktree").then(|| value.trim().trim_matches('"'))
}

fn is_git_dir(directory: &Path) -> bool {
    let is_whole = |common: PathBuf| common.join("objects").is_dir() && common.join("refs").exists();
    directory.join("HEAD").symlink_metadata().is_ok() && common_dir_of(directory).is_none_or(is_whole)
}

/// Where the branches are: in the directory itself or, for a linked worktree, in the repository whose `worktrees` it is in.
///
/// None where `commondir` names anything else: git would follow it, and the agent would commit to any repository of the user.
fn common_dir_of(git_dir: &Path) -> Option<PathBuf> {
    // What is too large or no file is refused with its name, before git is asked (`odd`).
    let Some(text) = read_small(&git_dir.join("commondir")) else { return Some(git_dir.to_path_buf()) };
    // Git takes all but the line end for the name.
    let named = str::from_utf8(&text).ok()?.trim_end_matches(['\r', '\n']);
    let common_dir = git_dir.join(named).canonicalize().ok()?;
    let is_linked = || git_dir.parent() == Some(&common_dir.join("worktrees")) && git_dir.join("gitdir").is_file();
    (common_dir == git_dir || is_linked()).then_some(common_dir)
}

/// The file that a symbolic reference names, if it names one inside the repository.
fn symbolic_target(text: &[u8]) -> Option<String> {
    let target = str::from_utf8(text).ok()?.strip_prefix("ref:")?.trim();
    let plain = target.starts_with("refs/") && !target.split('/').any(|part| part == "..");
    plain.then(|| target.to_owned())
}

fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn read_small(path: &Path) -> Option<Vec<u8>> {
    read_path(path, REFERENCE_LIMIT_BYTES)
}

/// What `.git` is, and the text of it where it is a file.
fn dot_git(files: &Tree) -> io::Result<(Identity, Option<Vec<u8>>)> {
    let found = files.stat(DOT_GIT)?;
    let is_file = rustix::fs::FileType::from_raw_mode(found.st_mode).is_file();
    let pointer = if is_file { files.read(DOT_GIT, REFERENCE_LIMIT_BYTES)? } else { None };
    Ok((Identity::of(&found), pointer))
}

fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let found = fs::metadata(path).ok()?;
    Some((found.modified().ok()?, found.len()))
}
