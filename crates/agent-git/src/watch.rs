//! Notices new commits. Starts no process while nothing changed.

use crate::git::{Git, GitError};
use crate::repository::{Discovery, HeadMark, Repository};
use agent_types::hook::{CommitInfo, DiffStat};

/// Most commits in one report.
const TOLD_LIMIT: usize = 50;
/// Earlier positions of `HEAD` that are remembered, so that going back to one reports nothing twice.
const SEEN_LIMIT: usize = 32;

/// What is known of `HEAD`.
#[derive(Debug, Default)]
pub(crate) struct HeadWatch {
    mark: Option<HeadMark>,
    /// Whether the position before the first look is known.
    started: bool,
    /// Positions of `HEAD` so far, the latest last. Commits reachable from them were reported.
    seen: Vec<String>,
    /// Commits of the hook itself, which its own report named.
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

    /// Whether git must be asked for the position, before the first tool runs; see [`started_at`](Self::started_at).
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

    /// The hook itself committed. If there is no other commit, the next look finds nothing new and needs no process.
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

/// The commit at `HEAD`, or `None` before the first one.
pub(crate) async fn head_commit(git: &Git<'_>) -> Result<Option<String>, GitError> {
    let answer = git.ask(&["rev-parse", "--verify", "--quiet", "HEAD"], Vec::new()).await?;
    Ok(answer.map(|text| String::from_utf8_lossy(&text).trim().to_owned()))
}

/// The commits at `head` that cannot be reached from those seen, oldest first, with how much each changed.
pub(crate) async fn list_commits(git: &Git<'_>, head: &str, seen: &[String]) -> Result<NewCommits, GitError> {
    let limit = format!("--max-count={}", TOLD_LIMIT + 1);
    let mut arguments = vec!["log", "--no-color", "--no-decorate", FORMAT, &limit, "--ignore-missing"];
    let counting = arguments.len()..arguments.len() + COUNTING.len();
    arguments.extend(COUNTING);
    arguments.push(head);
    if !seen.is_empty() {
        arguments.push("--not");
        arguments.extend(seen.iter().map(String::as_str));
    }
    arguments.push("--");
    let output = match git.run(&arguments, Vec::new()).await {
        // To count, the files are needed: some may be missing, or be too many.
        Err(GitError::Failed { .. }) => {
            arguments.drain(counting);
            git.run(&arguments, Vec::new()).await?
        }
        output => output?,
    };
    let output = String::from_utf8_lossy(&output);
    // NUL <id> NUL <subject> NUL, and then what was counted up to the next.
    let fields: Vec<&str> = output.split('\0').skip(1).collect();
    let mut commits: Vec<CommitInfo> = fields
        .chunks_exact(3)
        .map(|fields| CommitInfo { id: fields[0].to_owned(), subject: fields[1].to_owned(), stat: stat(fields[2]) })
        .collect();
    let truncated = commits.len() > TOLD_LIMIT;
    commits.truncate(TOLD_LIMIT);
    commits.reverse();
    Ok(NewCommits { commits, truncated })
}

/// ` 2 files changed, 3 insertions(+), 1 deletion(-)`; a commit that changed nothing, or merged, has none.
fn stat(text: &str) -> Option<DiffStat> {
    let mut stat = DiffStat::default();
    for part in text.trim().split(", ") {
        let (count, what) = part.split_once(' ')?;
        let count = count.parse().ok()?;
        match what.get(..4)? {
            "file" => stat.files = count,
            "inse" => stat.insertions = count,
            "dele" => stat.deletions = count,
            _ => return None,
        }
    }
    Some(stat)
}

const FORMAT: &str = "--format=%x00%H%x00%s%x00";
/// Counts lines by git itself, whatever programs the repository names for that.
const COUNTING: [&str; 4] = ["--shortstat", "--no-ext-diff", "--no-textconv", "--no-renames"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_is_read() {
        let counted = |files, insertions, deletions| Some(DiffStat { files, insertions, deletions });
        assert_eq!(stat("\n 2 files changed, 3 insertions(+), 1 deletion(-)\n"), counted(2, 3, 1));
        assert_eq!(stat(" 1 file changed, 1 deletion(-)"), counted(1, 0, 1));
        assert_eq!(stat(" 1 file changed, 0 insertions(+), 0 deletions(-)"), counted(1, 0, 0));
        assert_eq!(stat("\n"), None);
        assert_eq!(stat("warning: x"), None);
    }
}
