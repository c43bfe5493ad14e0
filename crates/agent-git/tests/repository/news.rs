//! Commits that others make: each told once, and no process while there is none.

use super::support::{Agent, Repo, TestRunner};
use std::time::{Duration, Instant};

fn subjects(agent: &Agent) -> Vec<String> {
    agent.check(&[]).commits.into_iter().map(|commit| commit.subject).collect()
}

fn commit(repo: &Repo, subject: &str) {
    repo.git(&["commit", "-q", "--allow-empty", "-m", subject]);
}

#[test]
fn while_nothing_changes_no_process_runs() {
    let Some(repo) = Repo::new() else { return };
    repo.git(&["pack-refs", "--all"]);
    let agent = repo.agent();
    // The best of many: the machine may be busy with other tests.
    let best = (0..100)
        .map(|_| {
            let started = Instant::now();
            assert!(subjects(&agent).is_empty());
            started.elapsed()
        })
        .min()
        .unwrap();
    assert_eq!(agent.processes(), 0);
    println!("a check without changes takes {best:?}");
    assert!(best < Duration::from_millis(1), "a check without changes takes {best:?}");
}

#[test]
fn new_commits_are_told_once_and_oldest_first() {
    let Some(repo) = Repo::new() else { return };
    let agent = repo.agent();
    commit(&repo, "two");
    commit(&repo, "three");
    assert_eq!(subjects(&agent), ["two", "three"]);
    assert!(subjects(&agent).is_empty());
    // Going back and forth is not news, nor is packing.
    repo.git(&["reset", "-q", "--hard", "HEAD~2"]);
    assert!(subjects(&agent).is_empty());
    repo.git(&["reset", "-q", "--hard", "HEAD@{1}"]);
    assert!(subjects(&agent).is_empty());
    repo.git(&["pack-refs", "--all"]);
    assert!(subjects(&agent).is_empty());
    repo.git(&["checkout", "-qb", "branch"]);
    commit(&repo, "on a branch");
    assert_eq!(subjects(&agent), ["on a branch"]);
    repo.git(&["commit", "-q", "--amend", "--allow-empty", "-m", "on a branch, better"]);
    assert_eq!(subjects(&agent), ["on a branch, better"]);
}

#[test]
fn a_repository_that_appears_is_none_of_the_session() {
    let Some(repo) = Repo::none() else { return };
    let agent = repo.agent();
    assert!(subjects(&agent).is_empty());
    repo.git(&["init", "-q"]);
    assert!(subjects(&agent).is_empty());
    commit(&repo, "one");
    let report = agent.check(&["a.rs"]);
    assert!(report.commits.is_empty() && !report.commit_due, "{report:?}");
    assert!(report.notes[0].contains("created after the session began"), "{report:?}");
    // The next session works in it.
    let next = repo.agent();
    commit(&repo, "two");
    assert_eq!(subjects(&next), ["two"]);
}

#[test]
fn many_commits_are_bounded() {
    let Some(repo) = Repo::new() else { return };
    let agent = repo.agent();
    for number in 0..53 {
        commit(&repo, &number.to_string());
    }
    let report = agent.check(&[]);
    assert_eq!(report.commits.len(), 50);
    assert_eq!(report.commits.last().unwrap().subject, "52");
    assert_eq!(report.notes.len(), 1);
    assert!(subjects(&agent).is_empty());
}

#[test]
fn the_hooks_own_commit_is_not_news_but_the_users_beside_it_is() {
    let Some(repo) = Repo::new() else { return };
    let agent = repo.agent();
    agent.change("a.rs", Some("a2\n"));
    assert!(agent.finish(&["a.rs"]).commit.is_some());
    let processes = agent.processes();
    assert!(subjects(&agent).is_empty());
    assert_eq!(agent.processes(), processes, "its own commit costs no process afterwards");

    agent.change("a.rs", Some("a3\n"));
    agent.check(&["a.rs"]);
    commit(&repo, "by the user, in between");
    assert!(agent.try_commit(&["a.rs"]).unwrap().commit.is_some());
    assert_eq!(subjects(&agent), ["by the user, in between"]);
}

#[test]
fn new_commits_come_with_what_they_changed() {
    let Some(repo) = Repo::new() else { return };
    let agent = repo.agent();
    repo.write("a.rs", "1\n2\n3\n");
    repo.write("bytes", "\0");
    repo.git(&["add", "."]);
    repo.git(&["commit", "-qm", "two files"]);
    repo.git(&["rm", "-q", "b.rs"]);
    repo.git(&["commit", "-qm", "one gone"]);
    commit(&repo, "nothing");
    let told: Vec<_> = agent
        .check(&[])
        .commits
        .into_iter()
        .map(|commit| (commit.subject, commit.stat.map(|stat| stat.to_string())))
        .collect();
    let said = |subject: &str, stat: Option<&str>| (subject.to_owned(), stat.map(str::to_owned));
    assert_eq!(
        told,
        [said("two files", Some("2 files, +3 -1")), said("one gone", Some("1 file, +0 -1")), said("nothing", None),]
    );
}

/// One that comes while it is looked for others is told with them or the next time, and once.
#[test]
fn a_commit_that_appears_while_it_is_looked_is_told_once() {
    for nth in 0..3 {
        let Some(repo) = Repo::new() else { return };
        let (project, home) = (repo.project.clone(), repo.home());
        let left = std::sync::atomic::AtomicUsize::new(nth);
        let runner = TestRunner {
            before: Some(Box::new(move |_| {
                if left.fetch_sub(1, std::sync::atomic::Ordering::SeqCst) != 0 {
                    return;
                }
                let mut git = std::process::Command::new("git");
                git.args(["commit", "-q", "--allow-empty", "-m", "meanwhile"]).current_dir(&project).env("HOME", &home);
                assert!(git.status().unwrap().success());
            })),
            ..TestRunner::default()
        };
        let agent = Agent::with_runner(repo.config(), runner);
        commit(&repo, "before");
        let told: Vec<String> = (0..4).flat_map(|_| subjects(&agent)).collect();
        let expected: &[&str] = if agent.processes() > nth { &["before", "meanwhile"] } else { &["before"] };
        assert_eq!(told, expected, "before process {nth}");
    }
}
