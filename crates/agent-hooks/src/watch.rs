//! Notices new commits. Starts no process while nothing changed.

use crate::git::{Git, GitError};
use crate::repository::{Discovery, HeadMark, Repository};
use agent_core::hook::CommitInfo;

/// Commits told at once.
const TOLD_LIMIT: usize = 50;
/// Earlier positions of `HEAD` that are remembered, so that going back to one tells nothing twice.
const SEEN_LIMIT: usize = 32;

/// What is known of `HEAD`.
#[derive(Debug, Default)]
pub(crate) struct HeadWatch {
    mark: Option<HeadMark>,
    /// Whether the position before the first look is known.
    started: bool,
    /// Positions of `HEAD` so far, the latest last. What can be reached from them was told.
    seen: Vec<String>,
    /// Commits of the hook itself, which its own report told.
    own: Vec<String>,
}

/// What a look found.
#[derive(Debug, Default)]
pub(crate) struct NewCommits {
    /// Oldest first.
    pub(crate) commits: Vec<CommitInfo>,
    /// Whether there were more.
    pub(crate) truncated: bool,
}

impl HeadWatch {
    /// Takes the position from which commits are new. Without a repository, or without commits, every later commit is.
    pub(crate) fn start(discovery: &Discovery) -> Self {
        let mut watch = Self { started: true, ..Self::default() };
        if let Discovery::Found(repository) = discovery {
            let mark = repository.head_mark();
            if mark.needs_git() {
                // Only git knows the position; see `must_ask_git`.
                watch.started = false;
            } else {
                watch.seen.extend(repository.head_commit(&mark));
            }
            watch.mark = Some(mark);
        }
        watch
    }

    /// Whether git is to be asked for the position, before the first tool runs; see [`started_at`](Self::started_at).
    pub(crate) fn must_ask_git(&self) -> bool {
        !self.started
    }

    /// Takes the position from git.
    pub(crate) fn started_at(&mut self, head: Option<String>) {
        if !self.started {
            self.started = true;
            self.seen.extend(head);
        }
    }

    /// The mark, if it is not the one of the last look.
    pub(crate) fn moved(&self, repository: &Repository) -> Option<HeadMark> {
        let mark = repository.head_mark();
        (self.mark.as_ref() != Some(&mark)).then_some(mark)
    }

    /// The positions whose commits are known.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.clone()
    }

    /// Takes over what a look found, without the hook's own commits.
    pub(crate) fn advance(&mut self, mark: HeadMark, head: Option<String>, found: &mut NewCommits) {
        self.mark = Some(mark);
        self.started = true;
        found.commits.retain(|commit| !self.own.contains(&commit.id));
        self.own.clear();
        if let Some(head) = head {
            self.seen.retain(|seen| *seen != head);
            self.seen.push(head);
            if self.seen.len() > SEEN_LIMIT {
                self.seen.remove(0);
            }
        }
    }

    /// The hook itself committed. If nobody else did, the next look finds nothing new and needs no process.
    pub(crate) fn committed(&mut self, repository: &Repository, parent: Option<&str>, id: &str) {
        let mark = repository.head_mark();
        let alone =
            self.seen.last().map(String::as_str) == parent && repository.head_commit(&mark).as_deref() == Some(id);
        if alone {
            self.advance(mark, Some(id.to_owned()), &mut NewCommits::default());
        } else {
            self.own.push(id.to_owned());
        }
    }
}

/// The commit at `HEAD`, or nothing when there is none yet.
pub(crate) async fn head_commit(git: &Git<'_>) -> Result<Option<String>, GitError> {
    let answer = git.ask(&["rev-parse", "--verify", "--quiet", "HEAD"], Vec::new()).await?;
    Ok(answer.map(|text| String::from_utf8_lossy(&text).trim().to_owned()))
}

/// The commits at `head` that cannot be reached from those seen, oldest first.
pub(crate) async fn list_commits(git: &Git<'_>, head: &str, seen: &[String]) -> Result<NewCommits, GitError> {
    let limit = format!("--max-count={}", TOLD_LIMIT + 1);
    let mut arguments =
        vec!["log", "--no-color", "--no-decorate", "--format=%H%x00%s", &limit, "--ignore-missing", head];
    if !seen.is_empty() {
        arguments.push("--not");
        arguments.extend(seen.iter().map(String::as_str));
    }
    arguments.push("--");
    let output = git.run(&arguments, Vec::new()).await?;
    let mut commits: Vec<CommitInfo> = String::from_utf8_lossy(&output)
        .lines()
        .filter_map(|line| line.split_once('\0'))
        .map(|(id, subject)| CommitInfo { id: id.to_owned(), subject: subject.to_owned() })
        .collect();
    let truncated = commits.len() > TOLD_LIMIT;
    commits.truncate(TOLD_LIMIT);
    commits.reverse();
    Ok(NewCommits { commits, truncated })
}
