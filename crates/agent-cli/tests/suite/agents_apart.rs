//! Agents in worktrees of their own, with the program: what they change and what stays as it is, what is kept, what a kill leaves.

use crate::agents::{model, read, run, spawn};
use crate::support::{Model, Running, Scratch, has_any_sandbox};
use agent_testkit::Reply;
use agent_testkit::http::Step;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const ALLOWED: [&str; 6] = ["--session-id", "one", "--permission-mode", "bypass", "--output-format", "json"];

/// A repository with a commit, outside of `/tmp`, which commands in a sandbox do not share.
fn repository() -> Scratch {
    let scratch = Scratch::repository_in("/var/tmp");
    scratch.write("a.txt", "a\n");
    scratch.write("sub/b.txt", "b\n");
    scratch.git(&["add", "."]);
    scratch.git(&["commit", "-qm", "first"]);
    scratch
}

fn tree(scratch: &Scratch, id: &str) -> PathBuf {
    let folder = scratch.path("home").join(".local/share/agent/worktrees").join(id);
    folder.join(scratch.work(".").canonicalize().unwrap().file_name().unwrap())
}

fn apart(name: &str) -> Step {
    spawn(name, &json!({"workspace": "worktree"}))
}

fn write(path: &str, content: &str) -> Step {
    Step::call("write_file", json!({"path": path, "content": content}))
}

/// What the session's own model has read in the end.
fn told(model: &Model) -> String {
    read(&model.last_body())
}

fn branches(scratch: &Scratch) -> String {
    scratch.git(&["branch", "--list", "--format=%(refname:short)", "agent/*"])
}

#[test]
fn what_an_agent_changes_in_its_worktree_is_on_its_branch_and_nowhere_else() {
    let scratch = repository();
    scratch.write("a.txt", "the user's own\n");
    let model = model(|who, round, _| match (who, round) {
        ("", 0) => apart("fixer"),
        ("fixer", 0) => Step::call("read_file", json!({"path": "a.txt"})),
        ("fixer", 1) => write("new.txt", "new\n"),
        ("fixer", 2) => Step::call("bash", json!({"command": "pwd; git branch --show-current; echo x > by-command"})),
        ("fixer", _) => Step::text("Fixed."),
        _ => Step::text("The end."),
    });
    let ended = run(&scratch, &model, &ALLOWED);
    ended.assert_code(0);
    let tree = tree(&scratch, "one.1");
    let of_child = model.requests().iter().map(|request| read(&request.body)).find(|text| text.contains("by-command"));
    let of_child = of_child.unwrap();
    assert!(of_child.contains("\\na\\n") || of_child.contains("a\\n"), "{of_child}");
    assert!(!of_child.contains("the user's own"), "what is not committed is not there: {of_child}");
    for words in [tree.to_str().unwrap(), "agent/one.1", "a git worktree of your own"] {
        assert!(of_child.contains(words), "{words}: {of_child}");
    }
    assert!(!of_child.contains(&format!("in the directory {} and", scratch.work("").display())), "{of_child}");
    let text = told(&model);
    for words in ["git merge agent/one.1", "1 commit and changes that are not committed", tree.to_str().unwrap()] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!scratch.work("new.txt").exists() && !scratch.work("by-command").exists());
    assert_eq!(scratch.read("a.txt"), "the user's own\n");
    assert_eq!(branches(&scratch), "agent/one.1\n");
    assert_eq!(scratch.git(&["show", "--format=", "--name-only", "agent/one.1"]), "new.txt\n");
    let report = &ended.result()["agents"][0];
    assert_eq!(report["outcome"], "done");
    assert_eq!(report["branch"], "agent/one.1", "{report}");
    scratch.git(&["merge", "-q", "agent/one.1"]);
    assert_eq!(scratch.read("new.txt"), "new\n");
    model.assert_valid();
}

#[test]
fn without_changes_nothing_is_left_behind() {
    let scratch = repository();
    let model = model(|who, round, _| match (who, round) {
        ("", 0) => apart("reader"),
        ("reader", 0) => Step::call("read_file", json!({"path": "sub/b.txt"})),
        ("reader", _) => Step::text("It says b."),
        _ => Step::text("The end."),
    });
    run(&scratch, &model, &ALLOWED).assert_code(0);
    assert!(told(&model).contains("It says b.") && !told(&model).contains("is kept"));
    assert_eq!((branches(&scratch), scratch.git(&["worktree", "list"]).lines().count()), (String::new(), 1));
    assert!(!tree(&scratch, "one.1").parent().unwrap().exists());
}

#[test]
fn two_at_a_time_change_the_same_file_each_for_itself_and_one_below_shares_its_parents() {
    let scratch = repository();
    scratch.configure("[agents]\ndepth = 2\n");
    let begin = |reply: Reply, name: &str| {
        let arguments = json!({
            "name": name, "task": "t", "workspace": "worktree", "background": true, "budget": {"agents": 1}
        });
        reply.call("spawn_agent", arguments)
    };
    let model = model(move |who, round, _| match (who, round) {
        ("", 0) => Step::answer(begin(begin(Reply::new(), "left"), "right")),
        ("left" | "right", 0) => Step::call("read_file", json!({"path": "a.txt"})),
        ("left" | "right", 1) => write("a.txt", who),
        ("left", 2) => spawn("under", &json!({"workspace": "shared"})),
        ("under", 0) => write("under.txt", "under"),
        _ => Step::text("Done."),
    });
    run(&scratch, &model, &ALLOWED).assert_code(0);
    assert_eq!(scratch.read("a.txt"), "a\n");
    assert_eq!(scratch.git(&["show", "agent/one.1:a.txt"]), "left");
    assert_eq!(scratch.git(&["show", "agent/one.2:a.txt"]), "right");
    assert_eq!(scratch.git(&["show", "agent/one.1:under.txt"]), "under", "it works where its parent does");
    assert_eq!(branches(&scratch), "agent/one.1\nagent/one.2\n");
    model.assert_valid();
}

#[test]
fn a_worktree_is_a_change_and_its_agent_is_allowed_no_more() {
    let scratch = repository();
    scratch.write("secret.txt", "s3cret\n");
    scratch.git(&["add", "."]);
    scratch.git(&["commit", "-qm", "secret"]);
    let model = || {
        model(|who, round, _| match (who, round) {
            ("", 0) => apart("fixer"),
            ("fixer", 0) => Step::call("read_file", json!({"path": "secret.txt"})),
            ("fixer", 1) => write("new.txt", "new\n"),
            _ => Step::text("Done."),
        })
    };
    // Nobody can be asked, and the plan mode changes nothing.
    for more in [&[][..], &["--permission-mode", "plan"]] {
        let code = run(&scratch, &model(), more).code();
        assert!(code == 61 || code == 0, "{code}");
        assert_eq!(branches(&scratch), "");
    }
    // The rules hold there as here.
    let tried = model();
    let more = ["--session-id", "one", "--allow", "spawn_agent", "--allow", "write_file", "--deny", "read(secret.txt)"];
    run(&scratch, &tried, &more);
    assert!(!tried.requests().iter().any(|request| request.body.to_string().contains("s3cret")));
    assert_eq!(branches(&scratch), "agent/one.1\n", "the control: it wrote");
}

#[test]
fn commands_there_write_there_only() {
    if !has_any_sandbox() {
        return;
    }
    let scratch = repository();
    scratch.write("keys/k", "k3y\n");
    scratch.git(&["add", "-f", "."]);
    scratch.git(&["commit", "-qm", "keys"]);
    scratch.configure(&format!("sandbox_hidden = [\"{}\"]\n", scratch.work("keys").canonicalize().unwrap().display()));
    let (work, home) = (scratch.work("").canonicalize().unwrap(), scratch.path("home"));
    let command = format!(
        "touch inside; touch {0}/outside; touch {1}/.local/share/agent/worktrees/x; cat keys/k; echo x > .git; \
         echo x > .git/x; touch {0}/.git/x; true",
        work.display(),
        home.display()
    );
    let model = model(move |who, round, _| match (who, round) {
        ("", 0) => apart("fixer"),
        ("fixer", 0) => Step::call("bash", json!({ "command": command })),
        _ => Step::text("Done."),
    });
    let arguments = [&["-p", "go", "--agents"], &ALLOWED[..]].concat();
    scratch.run(&model, &arguments).assert_code(0);
    assert!(tree(&scratch, "one.1").join("inside").exists(), "{}", told(&model));
    assert!(!scratch.work("outside").exists() && !scratch.work(".git/x").exists());
    assert!(!home.join(".local/share/agent/worktrees/x").exists());
    assert!(!model.requests().iter().any(|request| request.body.to_string().contains("k3y")));
    // It still is a worktree of this repository.
    scratch.git(&["-C", tree(&scratch, "one.1").to_str().unwrap(), "status"]);
}

#[test]
fn after_a_kill_it_works_on_in_its_worktree() {
    let scratch = repository();
    let hangs = Arc::new(AtomicBool::new(true));
    let holds = hangs.clone();
    let model = model(move |who, round, _| match (who, round) {
        ("", 0) => apart("fixer"),
        ("fixer", 0) => write("before.txt", "before\n"),
        ("fixer", 1) if holds.load(Ordering::SeqCst) => Step::stall(Reply::new().text("never"), 0),
        ("fixer", 1) => write("after.txt", "after\n"),
        _ => Step::text("Done."),
    });
    let arguments = ["-p", "go", "--agents", "--sandbox", "off", "--session-id", "one", "--permission-mode", "bypass"];
    let running = Running::start(&mut scratch.run_command(&model, &arguments));
    model.wait_for_requests(3);
    running.signal("KILL");
    drop(running.end());
    hangs.store(false, Ordering::SeqCst);
    let again = ["--session-id", "one", "--sandbox", "off", "--permission-mode", "bypass"];
    let mut resumed = Running::start(&mut scratch.run_command(&model, &again));
    resumed.close_stdin();
    resumed.end().assert_code(0).assert_says("◂ agent fixer: done");
    assert_eq!(told(&model).matches("git merge agent/one.1").count(), 1);
    let log = scratch.git(&["log", "--format=", "--name-only", "agent/one.1"]);
    assert!(log.contains("before.txt") && log.contains("after.txt"), "{log}");
    assert!(!scratch.work("after.txt").exists());
    model.assert_valid();
}

#[test]
fn a_worktree_that_is_removed_is_an_answer_while_it_is_used_and_before_it_is_used_again() {
    for is_killed in [false, true] {
        let scratch = repository();
        let (hangs, place) = (Arc::new(AtomicBool::new(true)), tree(&scratch, "one.1"));
        let (holds, removed) = (hangs.clone(), place.clone());
        let model = model(move |who, round, _| match (who, round) {
            ("", 0) => apart("fixer"),
            ("fixer", 0) => write("before.txt", "before\n"),
            ("fixer", 1) if is_killed && holds.load(Ordering::SeqCst) => Step::stall(Reply::new().text("never"), 0),
            ("fixer", 1) => {
                let _ = std::fs::remove_dir_all(&removed);
                write("after.txt", "after\n")
            }
            _ => Step::text("Done."),
        });
        let arguments =
            ["-p", "go", "--agents", "--sandbox", "off", "--session-id", "one", "--permission-mode", "bypass"];
        let mut running = Running::start(&mut scratch.run_command(&model, &arguments));
        if is_killed {
            model.wait_for_requests(3);
            running.signal("KILL");
            drop(running.end());
            std::fs::remove_dir_all(&place).unwrap();
            hangs.store(false, Ordering::SeqCst);
            let again = ["--session-id", "one", "--sandbox", "off", "--permission-mode", "bypass"];
            running = Running::start(&mut scratch.run_command(&model, &again));
            running.close_stdin();
        }
        running.end().assert_code(0);
        let text = told(&model);
        assert!(text.contains("it was removed") && text.contains("agent/one.1"), "{text}");
        assert_eq!(branches(&scratch), "agent/one.1\n", "its commit is kept");
        model.assert_valid();
    }
}

#[test]
fn where_there_can_be_none_the_agent_does_not_begin_and_the_reason_is_said() {
    let begins = || {
        model(|who, round, _| match (who, round) {
            ("", 0) => apart("fixer"),
            _ => Step::text("Done."),
        })
    };
    let reason = |scratch: &Scratch, more: &[&str]| {
        let model = begins();
        run(scratch, &model, &[&["--permission-mode", "bypass"], more].concat()).assert_code(0);
        told(&model)
    };
    let plain = Scratch::new();
    let text = reason(&plain, &[]);
    assert!(text.contains("not begun") && text.contains("not a git repository"), "{text}");
    let unborn = Scratch::new();
    unborn.git(&["init", "-q"]);
    let text = reason(&unborn, &[]);
    assert!(text.contains("no commit yet"), "{text}");
    let text = reason(&repository(), &["--no-session"]);
    assert!(text.contains("is not kept"), "{text}");
}

#[test]
fn hooks_of_the_user_see_where_the_agent_works() {
    let scratch = repository();
    let seen = scratch.path("seen");
    scratch.configure(&format!(
        "[[hooks]]\nevent = \"PreToolUse\"\nmatcher = \"write_file\"\ncommand = \"cat >> {}\"\n",
        seen.display()
    ));
    let model = model(|who, round, _| match (who, round) {
        ("", 0) => apart("fixer"),
        ("fixer", 0) => write("new.txt", "new\n"),
        _ => Step::text("Done."),
    });
    run(&scratch, &model, &ALLOWED).assert_code(0);
    let line: Value = serde_json::from_str(std::fs::read_to_string(seen).unwrap().lines().next().unwrap()).unwrap();
    let tree = tree(&scratch, "one.1").canonicalize().unwrap();
    assert_eq!(line["cwd"].as_str(), tree.to_str(), "{line}");
}
