//! Whether the demo's repository really ended up as it should.

use super::programs::{git, run_tests, succeeds};
use super::repository::{BUGGY_FILE, DemoRepository, JUDGES, NOTES_COMMITTED, USER_TRACKED, USER_UNTRACKED};
use std::fs;
use std::io;

/// What the repository looks like after the demo. Found out by looking, not taken from anybody's report.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DemoVerdict {
    /// Whether the tests pass, run once more.
    pub tests_pass: bool,
    /// What that run printed.
    pub test_output: String,
    /// Whether the tests are still the ones that the demo came with.
    pub tests_unchanged: bool,
    /// Whether the user's own files are as the user left them, neither staged nor committed.
    pub user_files_untouched: bool,
    /// Ids of the commits made since, oldest first.
    pub commits: Vec<String>,
    /// Files that those commits change, sorted; the fixed file and no other is right.
    pub committed_paths: Vec<String>,
    /// Whether the fixed file is in the working tree as it was committed.
    pub fix_committed: bool,
    /// Whether the fixed file is formatted; `None` if there is no `rustfmt` to ask. Not part of [`is_fixed`](Self::is_fixed).
    pub formatted: Option<bool>,
}

impl DemoVerdict {
    /// Whether the demo did what it promises.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.problems().is_empty()
    }

    /// What is not as promised, one sentence each.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let checks = [
            (self.tests_pass, "the tests fail"),
            (self.tests_unchanged, "the tests were changed"),
            (self.user_files_untouched, "the user's own files were touched"),
            (!self.commits.is_empty(), "nothing was committed"),
            (self.committed_paths == [BUGGY_FILE], "the commits do not contain exactly the fixed file"),
            (self.fix_committed, "the fix is not committed as it stands"),
        ];
        checks.into_iter().filter(|&(holds, _)| !holds).map(|(_, problem)| problem.to_owned()).collect()
    }
}

/// Looks at the repository as it is now, and runs its tests.
///
/// # Errors
/// When `git` or `sh` cannot be started, or `git` fails. Tests that fail, files that are missing and commits that are wrong are no
/// errors: the verdict says them.
pub fn verify(repository: &DemoRepository) -> io::Result<DemoVerdict> {
    let path = &repository.path;
    // Before the tests run: they could change files too.
    let user_files_untouched = user_files_untouched(repository)?;
    let tests_unchanged = JUDGES.iter().all(|(name, content)| holds(repository, name, content));
    let (tests_pass, test_output) = run_tests(path)?;

    let since = format!("{}..HEAD", repository.base_commit);
    let commits = lines(&git(path, &["rev-list", "--reverse", &since])?);
    // Commit by commit: a file that one commit takes in and the next takes out again was committed all the same.
    let log = ["log", "--name-only", "--no-renames", "--format=", &since];
    let mut committed_paths = lines(&git(path, &log)?);
    committed_paths.sort_unstable();
    committed_paths.dedup();
    let differing = git(path, &["diff", "--name-only", "HEAD", "--", BUGGY_FILE])?;

    Ok(DemoVerdict {
        tests_pass,
        test_output,
        tests_unchanged,
        user_files_untouched,
        commits,
        committed_paths,
        fix_committed: differing.trim().is_empty(),
        formatted: repository.rustfmt.then(|| succeeds("rustfmt", &["--check", BUGGY_FILE], path)),
    })
}

fn user_files_untouched(repository: &DemoRepository) -> io::Result<bool> {
    let path = &repository.path;
    let (notes, notes_content) = USER_TRACKED;
    let (plan, plan_content) = USER_UNTRACKED;
    let staged = git(path, &["diff", "--cached", "--name-only"])?;
    let known_plan = git(path, &["ls-files", "--", plan])?;
    // A file that HEAD no longer has counts as touched, not as an error.
    let committed = git(path, &["show", &format!("HEAD:{notes}")]).unwrap_or_default();
    Ok(holds(repository, notes, notes_content)
        && holds(repository, plan, plan_content)
        && staged.trim().is_empty()
        && known_plan.trim().is_empty()
        && committed == NOTES_COMMITTED)
}

fn holds(repository: &DemoRepository, name: &str, content: &str) -> bool {
    fs::read(repository.path.join(name)).is_ok_and(|bytes| bytes == content.as_bytes())
}

fn lines(text: &str) -> Vec<String> {
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}
