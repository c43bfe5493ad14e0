//! Calls that began and changed nothing, and agents that were stopped while calls ran: what the user wrote since is not undone.

use super::support::{Agent, Repo, Signal, TestRunner, wait};
use agent_git::{HooksConfig, UndoError, Undone, undo, undo_begun};

fn quiet(repo: &Repo) -> HooksConfig {
    HooksConfig { auto_commit: false, ..repo.config() }
}

/// By `agent undo`, or as `agent rewind --files` does it.
fn take_back(repo: &Repo, by_time: bool) -> Result<Undone, UndoError> {
    let (config, runner) = (quiet(repo), TestRunner::default());
    match by_time {
        false => wait(undo(&config, &runner, 1, &Signal(false))),
        true => wait(undo_begun(&config, &runner, &|_| true, false, &Signal(false))),
    }
}

/// Calls that name these files run, and fail.
fn fail(agent: &Agent, paths: &[&str]) {
    for path in paths {
        agent.announce(path);
        agent.begin();
    }
}

#[test]
fn what_the_user_writes_where_a_call_failed_stays() {
    for (by_time, in_batches) in [(false, false), (false, true), (true, false), (true, true)] {
        let Some(repo) = Repo::new() else { return };
        let agent = Agent::new(quiet(&repo));
        agent.hooks.turn_started();
        fail(&agent, &["a.rs", "notes.txt", "run.sh"]);
        if in_batches {
            agent.check(&[]);
        }
        agent.change("b.rs", Some("b2\n"));
        agent.check(&["b.rs"]);
        repo.write("a.rs", "hours of work\n");
        repo.write("notes.txt", "the user's new file\n");
        let undone = take_back(&repo, by_time).unwrap();
        assert_eq!((undone.restored, undone.removed, undone.left), (vec!["b.rs".to_owned()], vec![], vec![]));
        assert_eq!((repo.read("a.rs").as_str(), repo.read("b.rs").as_str()), ("hours of work\n", "b\n"));
        assert_eq!(repo.read("notes.txt"), "the user's new file\n");
    }
}

#[test]
fn a_turn_of_failed_calls_is_none() {
    for by_time in [false, true] {
        let Some(repo) = Repo::new() else { return };
        let agent = Agent::new(quiet(&repo));
        agent.hooks.turn_started();
        fail(&agent, &["a.rs"]);
        agent.check(&[]);
        repo.write("a.rs", "hours of work\n");
        assert!(matches!(take_back(&repo, by_time), Err(UndoError::NoTurn)));
        assert_eq!(repo.read("a.rs"), "hours of work\n");
        // The control: the same file, changed by a later call of the same turn, goes back to what the user wrote.
        agent.change("a.rs", Some("a2\n"));
        agent.check(&["a.rs"]);
        assert_eq!(take_back(&repo, by_time).unwrap().restored, ["a.rs"]);
        assert_eq!(repo.read("a.rs"), "hours of work\n");
    }
}

#[test]
fn a_call_that_failed_in_the_middle_of_its_change_is_taken_back() {
    for later in [None, Some("the user's\n")] {
        let Some(repo) = Repo::new() else { return };
        let agent = Agent::new(quiet(&repo));
        agent.hooks.turn_started();
        agent.change("a.rs", Some("half"));
        agent.check(&[]);
        later.iter().for_each(|text| repo.write("a.rs", text));
        let undone = take_back(&repo, false).unwrap();
        assert_eq!(repo.read("a.rs"), later.unwrap_or("a\n"), "{undone:?}");
        assert_eq!(undone.left.iter().any(|(_, why)| why == "it has changed since"), later.is_some(), "{undone:?}");
    }
}

/// No check follows calls that were interrupted.
#[test]
fn an_interrupted_turn_is_taken_back_and_what_came_later_stays() {
    for later in [None, Some("the user's\n")] {
        let Some(repo) = Repo::new() else { return };
        let agent = Agent::new(quiet(&repo));
        agent.hooks.turn_started();
        agent.change("a.rs", Some("a2\n"));
        fail(&agent, &["b.rs"]);
        agent.hooks.turn_ended();
        repo.write("b.rs", "the user's\n");
        later.iter().for_each(|text| repo.write("a.rs", text));
        agent.hooks.turn_started();
        let undone = take_back(&repo, false).unwrap();
        assert_eq!(repo.read("a.rs"), later.unwrap_or("a\n"), "{undone:?}");
        assert_eq!(undone.left.len(), usize::from(later.is_some()), "{undone:?}");
        assert_eq!(repo.read("b.rs"), "the user's\n");
    }
}

/// Killed between a call's start and its end: whether the file is the agent's or the user's is not known.
#[test]
fn a_file_that_a_killed_agent_was_at_is_left_and_named() {
    for by_time in [false, true] {
        let Some(repo) = Repo::new() else { return };
        let agent = Agent::new(quiet(&repo));
        agent.hooks.turn_started();
        agent.change("b.rs", Some("b2\n"));
        agent.check(&["b.rs"]);
        agent.change("a.rs", Some("half"));
        agent.change("new.rs", Some("half"));
        fail(&agent, &["run.sh"]);
        drop(agent);
        repo.write("a.rs", "the user's\n");
        let undone = take_back(&repo, by_time).unwrap();
        assert_eq!(undone.restored, ["b.rs"]);
        let left: Vec<&str> = undone.left.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(left, ["a.rs", "new.rs"]);
        assert_eq!((repo.read("a.rs").as_str(), repo.read("new.rs").as_str()), ("the user's\n", "half"));
        assert!(undone.left[1].1.ends_with("before, it did not exist"), "{undone:?}");
        let told = undone.left[0].1.split('`').nth(1).unwrap();
        assert_eq!(repo.git(&told.split(' ').skip(1).collect::<Vec<_>>()), "a\n", "{told}");
        // The undo is a turn of its own and touches none of them.
        take_back(&repo, false).unwrap();
        assert_eq!((repo.read("a.rs").as_str(), repo.read("b.rs").as_str()), ("the user's\n", "b2\n"));
    }
}
