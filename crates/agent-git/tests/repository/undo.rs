//! Turns are taken back, and nothing is lost by it.

use super::support::{Agent, Repo, Signal, TestRunner, files, wait};
use agent_git::{HooksConfig, UndoError, Undone, undo};
use agent_types::conversation::{Arguments, CallId, ToolCall};
use agent_types::ports::Hook as _;
use agent_types::tool::{Effect, Inspection, Subject};
use std::fs;

fn quiet(repo: &Repo) -> HooksConfig {
    HooksConfig { auto_commit: false, ..repo.config() }
}

fn take_back(repo: &Repo, turns: usize) -> Result<Undone, UndoError> {
    wait(undo(&quiet(repo), &TestRunner::default(), turns, &Signal(false)))
}

/// One turn of one batch: each path gets this content, or is deleted.
fn turn(agent: &Agent, writes: &[(&str, Option<&str>)]) {
    // Turns are told apart by the millisecond.
    std::thread::sleep(std::time::Duration::from_millis(2));
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
fn every_version_of_a_file_that_the_user_changed_in_the_middle_of_a_turn_is_kept_and_named() {
    // A later call changes the file, fails, or writes what is there.
    for later in [Some("a4\n"), None, Some("the user's\n")] {
        let Some(repo) = Repo::new() else { return };
        let agent = Agent::new(quiet(&repo));
        turn(&agent, &[("a.rs", Some("a2\n")), ("b.rs", Some("b2\n"))]);
        repo.write("a.rs", "the user's\n");
        match later {
            Some(text) => agent.change("a.rs", Some(text)),
            None => {
                agent.announce("a.rs");
                agent.begin();
            }
        }
        agent.check(&["a.rs"]);
        let undone = take_back(&repo, 1).unwrap();
        assert_eq!(repo.read("a.rs"), later.unwrap_or("the user's\n"), "nothing of it is overwritten");
        assert_eq!((undone.restored, undone.left.len()), (vec!["b.rs".to_owned()], 1), "{later:?}");
        let (path, why) = &undone.left[0];
        let commands: Vec<&str> = why.split('`').skip(1).step_by(2).collect();
        assert_eq!((path.as_str(), commands.len()), ("a.rs", 2), "{why}");
        let show = |command: &str| repo.git(&command.split(' ').skip(1).collect::<Vec<_>>());
        assert_eq!((show(commands[0]).as_str(), show(commands[1]).as_str()), ("a\n", "the user's\n"), "{why}");
    }
}

#[test]
fn each_version_of_each_file_is_named() {
    let Some(repo) = Repo::new() else { return };
    let agent = Agent::new(quiet(&repo));
    turn(&agent, &[("a.rs", Some("a2\n")), ("new.rs", Some("n\n"))]);
    for (theirs, ours) in [("one\n", "a3\n"), ("two\n", "a4\n")] {
        repo.write("a.rs", theirs);
        agent.change("a.rs", Some(ours));
        agent.check(&["a.rs"]);
    }
    fs::remove_file(repo.project.join("new.rs")).unwrap();
    agent.change("new.rs", Some("n2\n"));
    agent.check(&["new.rs"]);
    let undone = take_back(&repo, 1).unwrap();
    assert_eq!(undone.left.len(), 2);
    let shown = |why: &str| -> Vec<String> {
        let commands = why.split('`').skip(1).step_by(2);
        commands.map(|command| repo.git(&command.split(' ').skip(1).collect::<Vec<_>>())).collect()
    };
    let why = |path: &str| undone.left.iter().find(|(left, _)| left == path).unwrap().1.as_str();
    assert_eq!(shown(why("a.rs")), ["a\n", "one\n", "two\n"]);
    assert_eq!(shown(why("new.rs")), [""; 0]);
    assert!(
        why("new.rs").contains("it was not there before; what they made of it: they removed it"),
        "{}",
        why("new.rs")
    );
}

/// Killed after the tool wrote and before the hooks saw it: the one file is not known to be the agent's.
#[test]
fn of_a_turn_cut_by_a_crash_all_is_taken_back_but_what_is_not_known() {
    let Some(repo) = Repo::new() else { return };
    let agent = Agent::new(quiet(&repo));
    turn(&agent, &[("b.rs", Some("b2\n"))]);
    agent.change("a.rs", Some("half"));
    drop(agent);
    let undone = take_back(&repo, 1).unwrap();
    assert_eq!(undone.restored, ["b.rs"]);
    assert_eq!((undone.left.len(), undone.left[0].0.as_str()), (1, "a.rs"));
    assert_eq!((repo.read("a.rs"), repo.read("b.rs")), ("half".to_owned(), "b\n".to_owned()));
    take_back(&repo, 1).unwrap();
    assert_eq!((repo.read("a.rs"), repo.read("b.rs")), ("half".to_owned(), "b2\n".to_owned()));
}

#[test]
fn denied_calls_and_commands_are_no_turns() {
    let Some(repo) = Repo::new() else { return };
    let agent = Agent::new(quiet(&repo));
    turn(&agent, &[("a.rs", Some("a2\n"))]);
    agent.hooks.turn_started();
    agent.announce("b.rs");
    let call = ToolCall { id: CallId::new("1"), name: "bash".into(), arguments: Arguments::empty() };
    let subject = Subject::command("make clean".to_owned(), None);
    wait(agent.hooks.before_tool(&call, &Inspection { effect: Effect::Changes, subject }));
    agent.check(&[]);
    let undone = take_back(&repo, 1).unwrap();
    assert_eq!(undone.restored, ["a.rs"]);
}

/// Whether a text can be found in the repository's own files or objects.
fn is_kept(repo: &Repo, text: &str) -> bool {
    let objects = repo.git(&["cat-file", "--batch-all-objects", "--batch"]);
    let (mut folders, mut found) = (vec![repo.project.join(".git")], objects.contains(text));
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => found |= String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).contains(text),
            }
        }
    }
    found
}

/// A call that is denied may name a file that nobody is to read, and commands read what lies in `.git`.
#[test]
fn a_copy_of_a_file_is_kept_when_the_call_runs_and_not_before() {
    let Some(repo) = Repo::new() else { return };
    repo.write("key", "TOPSECRET\n");
    let agent = Agent::new(quiet(&repo));
    agent.hooks.turn_started();
    agent.announce("key");
    assert!(!is_kept(&repo, "TOPSECRET"), "nobody has permitted the call yet");
    agent.check(&[]);
    agent.begin();
    assert!(!is_kept(&repo, "TOPSECRET"), "the batch is over without it");
    agent.announce("key");
    agent.begin();
    assert!(is_kept(&repo, "TOPSECRET"), "a crash from here on loses nothing");
}

#[test]
fn of_a_file_that_commands_do_not_read_no_copy_is_kept() {
    for is_hidden in [true, false] {
        let Some(repo) = Repo::new() else { return };
        repo.write("secrets/key", "TOPSECRET\n");
        repo.write(".gitignore", "secrets/\n");
        let hidden = if is_hidden { vec![repo.project.join("secrets")] } else { Vec::new() };
        let agent = Agent::new(HooksConfig { hidden, ..quiet(&repo) });
        turn(&agent, &[("secrets/key", Some("NEWSECRET\n")), ("a.rs", Some("a2\n"))]);
        assert_eq!(is_kept(&repo, "TOPSECRET"), !is_hidden);
        assert_eq!(is_kept(&repo, "NEWSECRET"), !is_hidden);
        let undone = take_back(&repo, 1).unwrap();
        assert!(undone.restored.contains(&"a.rs".to_owned()), "{undone:?}");
        assert_eq!(repo.read("secrets/key"), if is_hidden { "NEWSECRET\n" } else { "TOPSECRET\n" });
        assert_eq!(format!("{undone:?}").contains("it is hidden from commands"), is_hidden, "{undone:?}");
    }
}

/// The program that looked at the calls has ended; the one that resumes the session runs them.
#[test]
fn a_call_that_another_program_announced_is_taken_back_and_committed() {
    let Some(repo) = Repo::new() else { return };
    let agent = repo.agent();
    agent.begin_announced_elsewhere("a.rs");
    repo.write("a.rs", "first call\n");
    agent.begin_announced_elsewhere("a.rs");
    repo.write("a.rs", "second call\n");
    let report = agent.finish(&["a.rs"]);
    assert!(report.commit.is_some(), "{report:?}");
    assert_eq!(take_back(&repo, 1).unwrap().restored, ["a.rs"]);
    assert_eq!(repo.read("a.rs"), "a\n");
}

#[test]
fn commands_of_a_turn_are_named() {
    let Some(repo) = Repo::new() else { return };
    let agent = Agent::new(quiet(&repo));
    agent.hooks.turn_started();
    let call = ToolCall { id: CallId::new("1"), name: "bash".into(), arguments: Arguments::empty() };
    let subject = Subject::command("make clean".to_owned(), None);
    wait(agent.hooks.before_tool(&call, &Inspection { effect: Effect::Changes, subject }));
    agent.begin();
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

/// Makes as many turns that began so many days ago, each of them this commit.
fn plant_turns(repo: &Repo, count: u64, days: u64) {
    let head = repo.git(&["rev-parse", "HEAD"]);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as u64;
    let began = now - days * 24 * 60 * 60 * 1000;
    let lines: String = (0..count)
        .map(|at| format!("create refs/worktree/agent/turns/{:013}-1 {}\n", began - 1_000 + at, head.trim()))
        .collect();
    let file = repo.home().join("refs");
    fs::write(&file, &lines).unwrap();
    let input = format!("git update-ref --stdin < {}", file.display());
    let status = std::process::Command::new("sh").args(["-c", &input]).current_dir(&repo.project).status().unwrap();
    assert!(status.success());
}

fn turns(repo: &Repo) -> usize {
    repo.git(&["for-each-ref", "--format=%(refname)", "refs/worktree/agent/turns"]).lines().count()
}

#[test]
fn old_turns_are_forgotten() {
    let Some(repo) = Repo::new() else { return };
    plant_turns(&repo, 230, 1);
    let agent = Agent::new(quiet(&repo));
    turn(&agent, &[("a.rs", Some("a2\n"))]);
    assert_eq!(turns(&repo), 200);
    assert_eq!(take_back(&repo, 1).unwrap().restored, ["a.rs"]);
}

/// Git keeps what they name for 90 days only.
#[test]
fn turns_are_forgotten_before_git_forgets_what_they_name() {
    for tables in [false, true] {
        let Some(repo) = Repo::none() else { return };
        let format = if tables { "--ref-format=reftable" } else { "--quiet" };
        if !repo.try_git(&["init", "-q", format]).0 {
            eprintln!("SKIPPED: this git knows no {format}");
            continue;
        }
        repo.write("a.rs", "a\n");
        repo.git(&["add", "."]);
        repo.git(&["commit", "-qm", "first"]);
        plant_turns(&repo, 3, 86);
        plant_turns(&repo, 2, 81);
        plant_turns(&repo, 4, 79);
        let agent = Agent::new(quiet(&repo));
        turn(&agent, &[("a.rs", Some("a2\n"))]);
        assert_eq!(turns(&repo), 5, "tables: {tables}");
        turn(&agent, &[("a.rs", Some("a3\n"))]);
        assert_eq!(turns(&repo), 6);
    }
}

#[test]
fn a_turn_that_cannot_be_read_is_passed_over_and_said() {
    for damage in ["object", "reference"] {
        let Some(repo) = Repo::new() else { return };
        let agent = Agent::new(quiet(&repo));
        turn(&agent, &[("a.rs", Some("a2\n"))]);
        turn(&agent, &[("b.rs", Some("b1\n"))]);
        repo.write("b.rs", "mine\n");
        turn(&agent, &[("b.rs", Some("b2\n"))]);
        let newest =
            repo.git(&["for-each-ref", "--count=1", "--sort=-refname", "--format=%(refname)", "refs/worktree/agent"]);
        let newest = newest.trim();
        let blob = repo.git(&["rev-parse", &format!("{newest}:before/b%2Ers")]);
        let (folder, file) = blob.trim().split_at(2);
        let lost = match damage {
            "object" => repo.project.join(".git/objects").join(folder).join(file),
            _ => repo.project.join(".git").join(newest),
        };
        fs::remove_file(&lost).unwrap();
        if damage == "reference" {
            fs::write(lost, "damaged\n").unwrap();
        }
        let undone = take_back(&repo, 2).unwrap();
        assert!(undone.notes.iter().any(|note| note.contains("skipped the turn")), "{damage}: {undone:?}");
        // What is known of the file before it does not go with what is there now.
        assert_eq!((undone.restored, undone.left.len()), (vec!["a.rs".to_owned()], 1), "{damage}");
        assert_eq!(repo.read("b.rs"), "b2\n");
    }
}

#[test]
fn what_was_too_large_to_be_kept_is_said() {
    let Some(repo) = Repo::new() else { return };
    let large = "x".repeat(9 * 1024 * 1024);
    repo.write("large.bin", &large);
    let agent = Agent::new(quiet(&repo));
    turn(&agent, &[("large.bin", Some("small\n")), ("a.rs", Some("a2\n"))]);
    let undone = take_back(&repo, 1).unwrap();
    assert_eq!(undone.restored, ["a.rs"]);
    let expected =
        ("large.bin".to_owned(), "its old content is not kept: it is too large (more than 8 MiB)".to_owned());
    assert_eq!(undone.left, std::slice::from_ref(&expected));
    assert_eq!(repo.read("large.bin"), "small\n");
    // A call that did not run changed nothing of which anything would have to be said.
    repo.write("large.bin", &large);
    agent.hooks.turn_started();
    agent.announce("large.bin");
    agent.begin();
    agent.change("b.rs", Some("b2\n"));
    agent.check(&["b.rs"]);
    let undone = take_back(&repo, 1).unwrap();
    assert_eq!((undone.restored, undone.left), (vec!["b.rs".to_owned()], vec![]));
    // A turn that changed nothing else is one all the same: nothing older is taken back in its place.
    std::thread::sleep(std::time::Duration::from_millis(2));
    turn(&agent, &[("large.bin", Some("small\n"))]);
    let undone = take_back(&repo, 1).unwrap();
    assert_eq!((undone.restored.len(), undone.left), (0, vec![expected]));
}

#[test]
fn who_may_read_and_execute_a_file_comes_back_with_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(repo) = Repo::new() else { return };
    let set = |path: &str, mode| {
        fs::set_permissions(repo.project.join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    let mode = |path: &str| repo.project.join(path).metadata().unwrap().permissions().mode() & 0o777;
    for (path, bits) in [("a.rs", 0o744), ("b.rs", 0o600), ("run.sh", 0o711)] {
        set(path, bits);
    }
    let agent = Agent::new(quiet(&repo));
    // One is written in its place, one deleted, one becomes another kind.
    agent.hooks.turn_started();
    agent.change("a.rs", Some("a2\n"));
    agent.change("b.rs", None);
    agent.change("run.sh", Some("run2\n"));
    set("run.sh", 0o640);
    agent.check(&["a.rs", "b.rs", "run.sh"]);
    take_back(&repo, 1).unwrap();
    assert_eq!((mode("a.rs"), mode("b.rs"), mode("run.sh")), (0o744, 0o600, 0o711));
    take_back(&repo, 1).unwrap();
    assert_eq!((mode("a.rs"), mode("run.sh")), (0o744, 0o640));
    assert!(!repo.project.join("b.rs").exists());
}
