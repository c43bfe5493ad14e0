//! How the files that git tracks are at a moment: what a check's result is bound to.

use crate::support::Repo;
use agent_git::HooksConfig;
use agent_types::hook::FilesSeen;
use agent_types::ports::Hook as _;
use std::fs;
use std::path::PathBuf;

fn path(repo: &Repo, name: &str) -> PathBuf {
    repo.config().workspace.join(name)
}

fn seen(repo: &Repo) -> FilesSeen {
    repo.agent().hooks.files().unwrap()
}

fn changed(before: &FilesSeen, after: &FilesSeen) -> Vec<String> {
    assert_eq!(before.mark() == after.mark(), before == after);
    after.changed_since(before).map(String::from).collect()
}

/// A file that is tracked, one that is ignored, one that is neither.
fn repository() -> Option<Repo> {
    let repo = Repo::new()?;
    repo.write("a.txt", "one\n");
    repo.write("deep/er/b.txt", "two\n");
    repo.write(".gitignore", "ignored\n");
    repo.git(&["add", "."]);
    repo.git(&["commit", "-q", "-m", "files"]);
    repo.write("ignored", "1");
    repo.write("other", "1");
    Some(repo)
}

#[test]
fn a_tracked_file_that_changes_changes_the_mark_and_is_named() {
    let Some(repo) = repository() else { return };
    let first = seen(&repo);
    assert_eq!(changed(&first, &seen(&repo)), [""; 0]);
    repo.write("deep/er/b.txt", "three\n");
    let second = seen(&repo);
    assert_eq!(changed(&first, &second), ["deep/er/b.txt"]);
    // Neither with the same length nor with the same times does a change go unseen.
    let times = fs::metadata(path(&repo, "a.txt")).unwrap().modified().unwrap();
    repo.write("a.txt", "two\n");
    fs::File::options().write(true).open(path(&repo, "a.txt")).unwrap().set_modified(times).unwrap();
    let third = seen(&repo);
    assert_eq!(changed(&second, &third), ["a.txt"]);
    fs::remove_dir_all(path(&repo, "deep")).unwrap();
    let fourth = seen(&repo);
    assert_eq!(changed(&third, &fourth), ["deep/er/b.txt"]);
    repo.make_executable("a.txt");
    assert_eq!(changed(&fourth, &seen(&repo)), ["a.txt"]);
}

#[test]
fn what_git_does_not_track_is_no_part_of_it() {
    let Some(repo) = repository() else { return };
    let first = seen(&repo);
    repo.write("ignored", "2");
    repo.write("other", "2");
    repo.write("target/new", "1");
    assert_eq!(changed(&first, &seen(&repo)), [""; 0]);
    repo.git(&["add", "other"]);
    assert_eq!(changed(&first, &seen(&repo)), ["other"]);
}

#[test]
fn what_commands_do_not_read_counts_and_is_not_named() {
    let Some(repo) = repository() else { return };
    let config = HooksConfig { hidden: vec![path(&repo, "deep").canonicalize().unwrap()], ..repo.config() };
    let agent = crate::support::Agent::new(config);
    let first = agent.hooks.files().unwrap();
    repo.write("deep/er/b.txt", "three\n");
    let second = agent.hooks.files().unwrap();
    assert_ne!(first.mark(), second.mark());
    assert_eq!(second.changed_since(&first).next(), None);
}

#[test]
fn a_link_is_itself_and_not_what_it_leads_to() {
    let Some(repo) = repository() else { return };
    std::os::unix::fs::symlink("other", path(&repo, "link")).unwrap();
    repo.git(&["add", "link"]);
    let first = seen(&repo);
    repo.write("other", "2");
    assert_eq!(changed(&first, &seen(&repo)), [""; 0]);
    // A directory that is a link leads nowhere: its files are gone.
    fs::rename(path(&repo, "deep"), path(&repo, "moved")).unwrap();
    std::os::unix::fs::symlink("moved", path(&repo, "deep")).unwrap();
    assert_eq!(changed(&first, &seen(&repo)), ["deep/er/b.txt"]);
}

#[test]
fn without_a_repository_or_with_an_index_that_only_git_reads_nothing_is_known() {
    let Some(none) = Repo::none() else { return };
    assert_eq!(none.agent().hooks.files(), None);
    let Some(repo) = repository() else { return };
    repo.git(&["update-index", "--index-version", "4"]);
    assert_eq!(repo.agent().hooks.files(), None);
    let Some(unborn) = Repo::unborn() else { return };
    assert!(unborn.agent().hooks.files().is_some_and(|seen| seen.changed_since(&seen).next().is_none()));
}
