//! Turns are taken back, and nothing is lost by it.

use super::support::{Agent, Repo, Signal, TestRunner, files, wait};
use agent_core::conversation::{Arguments, CallId, ToolCall};
use agent_core::ports::Hook as _;
use agent_core::tool::{Effect, Inspection, Subject};
use agent_hooks::{HooksConfig, UndoError, Undone, undo};
use std::fs;

fn quiet(repo: &Repo) -> HooksConfig {
    HooksConfig { auto_commit: false, ..repo.config() }
}

fn take_back(repo: &Repo, turns: usize) -> Result<Undone, UndoError> {
    wait(undo(&quiet(repo), &TestRunner::default(), turns, &Signal(false)))
}

/// One turn of one batch: each path gets this content, or is deleted.
fn turn(agent: &Agent, writes: &[(&str, Option<&str>)]) {
    agent.hooks.turn_started();
    writes.iter().for_each(|(path, text)| agent.change(path, *text));
    let paths: Vec<&str> = writes.iter().map(|(path, _)| *path).collect();
    agent.check(&paths);
}

/// Another worktree's `git gc` does not look at this one's own references.
#[test]
fn a_cleanup_in_another_worktree_leaves_what_undo_needs() {
    for auto_commit in [false, true] {
        let Some(repo) = Repo::new() else { return };
        repo.git(&["worktree", "add", "-q", "../other"]);
        repo.write("b.rs", "mine alone\n");
        let agent = Agent::new(HooksConfig { auto_commit, ..repo.config() });
        agent.hooks.turn_started();
        agent.change("b.rs", Some("agent\n"));
        agent.change("a.rs", Some("agent\n"));
        if auto_commit {
            agent.finish(&["a.rs", "b.rs"]);
        } else {
            agent.check(&["a.rs", "b.rs"]);
        }
        repo.git(&["-C", "../other", "gc", "-q", "--prune=now"]);
        assert_eq!(repo.git(&["fsck", "--strict", "--no-dangling"]), "");
        repo.git(&["gc", "-q"]);
        take_back(&repo, 1).unwrap();
        assert_eq!(repo.read("b.rs"), "mine alone\n");
    }
}

#[test]
fn a_turn_is_taken_back_and_the_undo_too() {
    let Some(repo) = Repo::new() else { return };
    repo.write("notes.txt", "mine\n");
    repo.write("a.rs", "a dirty\n");
    std::os::unix::fs::symlink("a.rs", repo.project.join("link")).unwrap();
    let before = files(&repo.project);
    let agent = Agent::new(quiet(&repo));
    turn(
        &agent,
        &[("a.rs", Some("a2\n")), ("b.rs", None), ("run.sh", None), ("new/ü %.rs", Some("n\n")), ("link", None)],
    );
    let after = files(&repo.project);
    let status = repo.git(&["status", "--porcelain"]);

    let undone = take_back(&repo, 1).unwrap();
    assert_eq!(undone.turns, 1);
    assert_eq!(undone.restored, ["a.rs", "b.rs", "link", "run.sh"]);
    assert_eq!(undone.removed, ["new/ü %.rs"]);
    assert_eq!(files(&repo.project), before);
    assert!(fs::read_link(repo.project.join("link")).is_ok());
    assert_eq!(repo.git(&["diff", "--summary"]), "", "the script may be executed again");

    take_back(&repo, 1).unwrap();
    assert_eq!(files(&repo.project), after);
    assert_eq!(repo.git(&["status", "--porcelain"]), status);
}

#[test]
fn several_turns_are_taken_back_at_once() {
    let Some(repo) = Repo::new() else { return };
    let agent = Agent::new(quiet(&repo));
    for text in ["1\n", "2\n", "3\n"] {
        std::thread::sleep(std::time::Duration::from_millis(2));
        turn(&agent, &[("a.rs", Some(text))]);
    }
    assert_eq!(take_back(&repo, 2).unwrap().turns, 2);
    assert_eq!(repo.read("a.rs"), "1\n");
    std::thread::sleep(std::time::Duration::from_millis(2));
    assert_eq!(take_back(&repo, 10).unwrap().turns, 4, "the undo is a turn too");
    assert_eq!(repo.read("a.rs"), "a\n");
}

#[test]
fn what_the_user_changed_since_stays() {
    let Some(repo) = Repo::new() else { return };
    let agent = Agent::new(quiet(&repo));
    turn(&agent, &[("a.rs", Some("a2\n")), ("b.rs", Some("b2\n")), ("new.rs", Some("n\n"))]);
    repo.write("b.rs", "the user's\n");
    repo.write("new.rs", "the user's\n");
    let undone = take_back(&repo, 1).unwrap();
    assert_eq!(undone.restored, ["a.rs"]);
    let left: Vec<&str> = undone.left.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(left, ["b.rs", "new.rs"]);
    assert_eq!((repo.read("b.rs"), repo.read("new.rs")), ("the user's\n".to_owned(), "the user's\n".to_owned()));
}

#[test]
fn what_the_user_changed_between_turns_is_where_it_ends() {
    let Some(repo) = Repo::new() else { return };
    let agent = Agent::new(quiet(&repo));
    turn(&agent, &[("a.rs", Some("a2\n"))]);
    repo.write("a.rs", "the user's\n");
    std::thread::sleep(std::time::Duration::from_millis(2));
    turn(&agent, &[("a.rs", Some("a3\n"))]);
    let undone = take_back(&repo, 2).unwrap();
    assert_eq!(repo.read("a.rs"), "the user's\n");
    assert!(undone.notes.iter().any(|note| note.contains("between the turns")), "{undone:?}");
}

#[test]
fn the_users_version_in_the_middle_of_a_turn_is_gone_back_to() {
    let Some(repo) = Repo::new() else { return };
    let agent = Agent::new(quiet(&repo));
    turn(&agent, &[("a.rs", Some("a2\n"))]);
    agent.change("a.rs", Some("a3\n"));
    agent.check(&["a.rs"]);
    repo.write("a.rs", "the user's\n");
    agent.change("a.rs", Some("a4\n"));
    agent.check(&["a.rs"]);
    take_back(&repo, 1).unwrap();
    assert_eq!(repo.read("a.rs"), "the user's\n");
}

/// Killed after the tool wrote and before the hooks saw it.
#[test]
fn a_turn_cut_by_a_crash_is_taken_back() {
    let Some(repo) = Repo::new() else { return };
    let agent = Agent::new(quiet(&repo));
    turn(&agent, &[("b.rs", Some("b2\n"))]);
    agent.change("a.rs", Some("half"));
    drop(agent);
    let undone = take_back(&repo, 1).unwrap();
    assert_eq!(undone.restored, ["a.rs", "b.rs"]);
    assert_eq!((repo.read("a.rs"), repo.read("b.rs")), ("a\n".to_owned(), "b\n".to_owned()));
    take_back(&repo, 1).unwrap();
    assert_eq!(repo.read("a.rs"), "half", "what was there is kept");
}

#[test]
fn denied_calls_and_commands_are_no_turns() {
    let Some(repo) = Repo::new() else { return };
    let agent = Agent::new(quiet(&repo));
    turn(&agent, &[("a.rs", Some("a2\n"))]);
    agent.hooks.turn_started();
    agent.announce("b.rs");
    let call = ToolCall { id: CallId::new("1"), name: "bash".into(), arguments: Arguments::empty() };
    let subject = Subject::Command { text: "make clean".to_owned(), plain: None };
    wait(agent.hooks.before_tool(&call, &Inspection { effect: Effect::Changes, subject }));
    agent.check(&[]);
    let undone = take_back(&repo, 1).unwrap();
    assert_eq!(undone.restored, ["a.rs"]);
}

#[test]
fn commands_of_a_turn_are_named() {
    let Some(repo) = Repo::new() else { return };
    let agent = Agent::new(quiet(&repo));
    agent.hooks.turn_started();
    let call = ToolCall { id: CallId::new("1"), name: "bash".into(), arguments: Arguments::empty() };
    let subject = Subject::Command { text: "make clean".to_owned(), plain: None };
    wait(agent.hooks.before_tool(&call, &Inspection { effect: Effect::Changes, subject }));
    agent.change("a.rs", Some("a2\n"));
    agent.check(&["a.rs"]);
    assert_eq!(take_back(&repo, 1).unwrap().commands, ["make clean"]);
}

#[test]
fn where_nothing_is_kept_it_says_so() {
    let (Some(repo), Some(none)) = (Repo::new(), Repo::none()) else { return };
    assert!(matches!(take_back(&repo, 1), Err(UndoError::NoTurn)));
    assert!(matches!(take_back(&none, 1), Err(UndoError::NoRepository(_))));
}

#[test]
fn a_batch_costs_one_process_and_the_users_index_is_not_touched() {
    let Some(repo) = Repo::new() else { return };
    let index = fs::read(repo.project.join(".git/index")).unwrap();
    let agent = Agent::new(quiet(&repo));
    turn(&agent, &[("a.rs", Some("a2\n")), ("b.rs", Some("b2\n")), ("c/d.rs", Some("d\n"))]);
    assert_eq!(agent.processes(), 1);
    assert_eq!(fs::read(repo.project.join(".git/index")).unwrap(), index);
    assert_eq!(repo.git(&["log", "--format=%s"]), "first\n");
    assert_eq!(repo.git(&["branch", "--format=%(refname)"]), "refs/heads/main\n");
}

#[test]
fn filters_of_the_repository_do_not_run() {
    let Some(repo) = Repo::new() else { return };
    let mark = repo.home().join("ran");
    repo.git(&["config", "filter.evil.clean", &format!("touch {}; cat", mark.display())]);
    repo.git(&["config", "filter.evil.smudge", &format!("touch {}; cat", mark.display())]);
    repo.write(".gitattributes", "*.rs filter=evil\n");
    let agent = Agent::new(quiet(&repo));
    turn(&agent, &[("a.rs", Some("a2\n"))]);
    take_back(&repo, 1).unwrap();
    assert!(!mark.exists());
    repo.git(&["add", "a.rs"]);
    repo.git(&["checkout", "-q", "-f", "--", "b.rs"]);
    assert!(repo.try_git(&["status"]).0 && mark.exists(), "the filter works, if somebody calls it");
}

#[test]
fn old_turns_are_forgotten() {
    let Some(repo) = Repo::new() else { return };
    let head = repo.git(&["rev-parse", "HEAD"]);
    let lines: String =
        (0..230).map(|at| format!("create refs/worktree/agent/turns/{at:013}-1 {}\n", head.trim())).collect();
    fs::write(repo.home().join("refs"), &lines).unwrap();
    let input = format!("git update-ref --stdin < {}", repo.home().join("refs").display());
    let status = std::process::Command::new("sh").args(["-c", &input]).current_dir(&repo.project).status().unwrap();
    assert!(status.success());
    let agent = Agent::new(quiet(&repo));
    turn(&agent, &[("a.rs", Some("a2\n"))]);
    let kept = fs::read_dir(repo.project.join(".git/refs/worktree/agent/turns")).unwrap().count();
    assert_eq!(kept, 200);
    assert_eq!(take_back(&repo, 1).unwrap().restored, ["a.rs"]);
}
