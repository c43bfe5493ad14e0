//! How many processes the hooks start, and that what they do without git is what git would have done.

use super::support::{Agent, Repo, TestRunner, changes, wait};
use agent_git::HooksConfig;
use agent_types::ports::Hook as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The subcommands that were run since.
fn since(agent: &Agent, started: usize) -> Vec<String> {
    let calls = agent.runner.calls.lock().unwrap();
    let known =
        ["config", "fast-import", "update-ref", "rev-parse", "ls-tree", "ls-files", "check-attr", "check-ignore"];
    let known = known.into_iter().chain(["log", "update-index", "hash-object"]);
    let known: Vec<&str> = known.collect();
    let name = |call: &Vec<String>| call.iter().find(|argument| known.contains(&argument.as_str())).cloned();
    calls[started..].iter().map(|call| name(call).unwrap_or_else(|| format!("{call:?}"))).collect()
}

/// A repository with attributes, ignored files and directories, as there are.
fn usual() -> Option<Repo> {
    let repo = Repo::new()?;
    repo.write(".gitattributes", "* text=auto\n*.png binary\n*.rs diff=rust\n");
    repo.write(".gitignore", "target/\n*.log\n!keep.log\n");
    for number in 0..300 {
        repo.write(&format!("src/part{}/file{number}.rs", number % 10), "one\n");
    }
    repo.git(&["add", "."]);
    repo.git(&["commit", "-qm", "files"]);
    Some(repo)
}

#[test]
fn a_batch_starts_git_three_times_and_once_more_for_new_files() {
    let Some(repo) = usual() else { return };
    let agent = repo.agent();
    agent.change("a.rs", Some("first\n"));
    assert!(agent.finish(&["a.rs"]).commit.is_some());
    assert_eq!(
        since(&agent, 0),
        ["config", "check-attr", "fast-import", "update-ref"],
        "the configuration is read once"
    );
    for (round, paths) in [
        vec!["a.rs"],
        vec!["src/part1/file1.rs", "src/part2/file2.rs"],
        vec!["src/part3/file3.rs", "src/new/deep/new.rs", "keep.log"],
    ]
    .into_iter()
    .enumerate()
    {
        let started = agent.processes();
        paths.iter().for_each(|path| agent.change(path, Some(&format!("round {round}\n"))));
        let report = agent.finish(&paths);
        assert_eq!(report.notes, Vec::<String>::new());
        assert!(report.commit.is_some());
        let asked: &[&str] = if round == 2 { &["check-attr", "check-ignore"] } else { &["check-attr"] };
        assert_eq!(since(&agent, started), [asked, &["fast-import", "update-ref"]].concat());
        let status = repo.git(&["status", "--porcelain"]);
        assert_eq!((status.as_str(), repo.git(&["fsck", "--strict"]).as_str()), ("", ""));
        // The trees that the index knows are those that git would make.
        assert_eq!(repo.git(&["write-tree"]), repo.git(&["rev-parse", "HEAD^{tree}"]));
        assert_eq!(repo.git(&["for-each-ref", "refs/worktree/agent/draft"]), "");
    }
    let started = agent.processes();
    agent.check(&[]);
    agent.check(&["a.rs"]);
    assert_eq!(since(&agent, started), Vec::<String>::new(), "nothing changed");
    agent.change("src/part4/file4.rs", None);
    let report = agent.finish(&["src/part4/file4.rs"]);
    assert!(
        report.commit.is_some() && since(&agent, started) == ["check-attr", "fast-import", "update-ref"],
        "{report:?}"
    );
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn without_a_commit_one_process_keeps_the_files_for_undo() {
    let Some(repo) = usual() else { return };
    let agent = Agent::new(HooksConfig { auto_commit: false, ..repo.config() });
    agent.change("a.rs", Some("first\n"));
    agent.check(&["a.rs"]);
    assert_eq!(since(&agent, 0), ["fast-import"]);
}

/// Where HEAD has something else than the index, the commit that was made in the belief that it has not is not published.
#[test]
fn what_is_staged_is_not_taken_for_head() {
    let Some(repo) = usual() else { return };
    repo.write("a.rs", "staged\n");
    repo.git(&["add", "a.rs"]);
    let agent = repo.agent();
    let head = repo.git(&["rev-parse", "HEAD"]);
    let index = fs::read(repo.project.join(".git/index")).unwrap();
    agent.change("a.rs", Some("changed\n"));
    agent.change("b.rs", Some("changed\n"));
    let report = agent.finish(&["a.rs", "b.rs"]);
    assert!(report.notes.len() == 1 && report.notes[0].contains("another version of it is staged"), "{report:?}");
    assert_eq!(repo.last_commit(), "fix: fix it\nM\tb.rs\n");
    assert_eq!(repo.git(&["rev-parse", "HEAD~1"]), head);
    assert_eq!(repo.git(&["for-each-ref", "refs/worktree/agent/draft"]), "");
    assert_eq!(repo.git(&["status", "--porcelain"]), "MM a.rs\n");

    repo.git(&["reset", "-q", "--hard", head.trim()]);
    fs::write(repo.project.join(".git/index"), index).unwrap();
    repo.write("a.rs", "staged\n");
    let agent = repo.agent();
    agent.change("a.rs", Some("changed\n"));
    let report = agent.finish(&["a.rs"]);
    assert!(report.commit.is_none() && report.notes[0].contains("another version of it is staged"), "{report:?}");
    assert_eq!(repo.git(&["for-each-ref", "refs/worktree/agent/draft"]), "");
}

/// Every kind of index that git writes: the files are committed, and nothing else in the index changes.
#[test]
fn every_kind_of_index_is_changed_at_the_path_only() {
    type Prepare = fn(&Repo);
    let kinds: &[(&str, Prepare, bool)] = &[
        ("version 2", |_| {}, true),
        ("version 3", |repo| drop(repo.git(&["add", "-N", "later.rs"])), true),
        ("version 4", |repo| drop(repo.git(&["update-index", "--index-version", "4"])), false),
        ("split", |repo| drop(repo.git(&["update-index", "--split-index"])), false),
        ("untracked cache", |repo| drop(repo.git(&["update-index", "--untracked-cache"])), false),
        (
            "sparse",
            |repo| {
                repo.git(&["sparse-checkout", "set", "--sparse-index", "src/part1"]);
                repo.git(&["config", "advice.sparseIndexExpanded", "false"]);
            },
            false,
        ),
        ("skipped", |repo| drop(repo.git(&["update-index", "--skip-worktree", "run.sh"])), true),
        ("assumed", |repo| drop(repo.git(&["update-index", "--assume-unchanged", "run.sh"])), true),
        (
            "without a digest",
            |repo| {
                repo.git(&["config", "index.skipHash", "true"]);
                repo.git(&["update-index", "--force-write-index"]);
            },
            true,
        ),
        (
            "conflict resolved",
            |repo| {
                repo.git(&["checkout", "-qb", "other"]);
                for (branch, text) in [("other", "1\n"), ("main", "2\n")] {
                    repo.git(&["checkout", "-q", branch]);
                    repo.write("b.rs", text);
                    repo.git(&["commit", "-qam", text.trim()]);
                }
                repo.try_git(&["merge", "other"]);
                repo.write("b.rs", "3\n");
                repo.git(&["commit", "-qam", "merged"]);
            },
            true,
        ),
    ];
    for (kind, prepare, is_read_here) in kinds {
        let Some(repo) = usual() else { return };
        repo.write("later.rs", "later\n");
        prepare(&repo);
        let others = |repo: &Repo| {
            let listed = repo.git(&["ls-files", "--stage", "-v"]);
            listed
                .lines()
                .filter(|line| !line.ends_with("\ta.rs") && !line.contains("src/part1/"))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let (before, status) = (others(&repo), repo.git(&["status", "--porcelain"]));
        let agent = repo.agent();
        agent.change("a.rs", Some("changed\n"));
        agent.change("src/part1/new.rs", Some("new\n"));
        agent.change("src/part1/file1.rs", None);
        let report = agent.finish(&["a.rs", "src/part1/file1.rs", "src/part1/new.rs"]);
        assert!(report.commit.is_some() && report.notes.is_empty(), "{kind}: {report:?}");
        assert_eq!(
            since(&agent, 0).contains(&"update-index".to_owned()),
            !is_read_here,
            "{kind}: {:?}",
            since(&agent, 0)
        );
        assert_eq!(others(&repo), before, "{kind}");
        assert_eq!(repo.git(&["status", "--porcelain"]), status, "{kind}");
        assert_eq!(repo.git(&["fsck", "--strict", "--no-dangling"]), "", "{kind}");
        assert_eq!(repo.last_commit(), "fix: fix it\nM\ta.rs\nD\tsrc/part1/file1.rs\nA\tsrc/part1/new.rs\n", "{kind}");
    }
}

/// The rules that git has for ignored files, asked of both.
#[test]
fn what_git_ignores_is_ignored() {
    let Some(repo) = usual() else { return };
    repo.write("src/.gitignore", "*.tmp\n!keep.tmp\n/only-here\nbuild/\n**/generated\n\\!odd\nspace\\ \n[ab].x\n");
    repo.write("src/deep/.gitignore", "!*.tmp\n*.rs\n");
    repo.write(".git/info/exclude", "excluded\n");
    fs::create_dir_all(repo.home().join(".config/git")).unwrap();
    fs::write(repo.home().join(".config/git/ignore"), "*.mine\n").unwrap();
    repo.git(&["add", "src"]);
    repo.git(&["commit", "-qm", "rules"]);
    let paths = [
        "x.log",
        "keep.log",
        "target/x.rs",
        "a/target/keep.log",
        "src/x.tmp",
        "src/keep.tmp",
        "src/deep/x.tmp",
        "src/deep/x.rs",
        "src/only-here",
        "src/deep/only-here",
        "src/build/keep.tmp",
        "src/a/b/generated",
        "src/!odd",
        "src/space ",
        "src/a.x",
        "src/c.x",
        "excluded",
        "x/excluded",
        "x.mine",
        "src/deep/deeper/y.tmp",
        "plain",
        "src/build2/x",
    ];
    let mut ignored_by_git = 0;
    for path in paths {
        let agent = repo.agent();
        let (is_ignored, _) = repo.try_git(&["check-ignore", "-q", &format!("./{path}")]);
        agent.change(path, Some("x\n"));
        let report = agent.finish(&[path]);
        let notes = report.notes.join(" ");
        assert_eq!(notes.contains("git ignores"), is_ignored, "{path}: {report:?}");
        assert_eq!(report.commit.is_none(), is_ignored, "{path}: {report:?}");
        assert!(since(&agent, 0).contains(&"check-ignore".to_owned()), "{path}: git itself was asked");
        ignored_by_git += u32::from(is_ignored);
    }
    assert!((10..paths.len() as u32 - 4).contains(&ignored_by_git), "both kinds are there: {ignored_by_git}");
}

/// A copy of the repository as it is when a process is about to start: what an agent leaves that is killed then.
fn killed_before(subcommand: &'static str, publish: bool) -> Option<(Repo, PathBuf)> {
    let repo = usual()?;
    let copy = repo.directory.path().canonicalize().unwrap().join("copy");
    let (project, target) = (repo.project.clone(), copy.clone());
    let runner = TestRunner {
        before: Some(Box::new(move |arguments| {
            if arguments.iter().any(|argument| argument == subcommand) {
                // Second names stay second names.
                assert!(Command::new("cp").arg("-a").args([&project, &target]).status().unwrap().success());
            }
        })),
        ..TestRunner::default()
    };
    let agent = Agent::with_runner(repo.config(), runner);
    agent.change("a.rs", Some("changed\n"));
    assert!(agent.finish(&["a.rs"]).commit.is_some());
    if publish {
        let id = repo.git(&["rev-parse", "HEAD"]);
        let at = copy.to_str().unwrap();
        repo.git(&["-C", at, "update-ref", "HEAD", id.trim()]);
        // The objects of the copy are those of the moment before; this one is there.
        repo.git(&["-C", at, "cat-file", "-e", id.trim()]);
    }
    Some((repo, copy))
}

#[test]
fn an_agent_killed_in_a_commit_leaves_no_lock_and_the_commit_is_made_up_for() {
    for (subcommand, publish) in [("fast-import", false), ("update-ref", false), ("update-ref", true)] {
        let Some((repo, copy)) = killed_before(subcommand, publish) else { return };
        let at = copy.to_str().unwrap().to_owned();
        let lock = copy.join(".git/index.lock");
        assert_eq!(lock.exists(), subcommand == "update-ref", "the lock is held only where branch and index move");
        let head = repo.git(&["-C", &at, "rev-parse", "HEAD"]);
        let agent = Agent::new(HooksConfig { workspace: copy.clone(), ..repo.config() });
        assert!(!lock.exists(), "{subcommand}");
        if publish {
            assert_eq!(repo.git(&["-C", &at, "status", "--porcelain"]), "", "the index follows the branch");
        }
        // The session goes on with what it had asked for.
        let report = wait(agent.hooks.commit(&changes(&["a.rs"]), &super::support::Signal(false))).unwrap();
        assert_eq!(report.notes, Vec::<String>::new(), "{subcommand} {publish}");
        assert_eq!(report.commit.is_some(), !publish);
        assert_eq!(repo.git(&["-C", &at, "rev-parse", "HEAD"]) == head, publish);
        assert_eq!(repo.git(&["-C", &at, "status", "--porcelain"]), "");
        assert_eq!(repo.git(&["-C", &at, "show", "HEAD:a.rs"]), "changed\n");
        assert!(fs::read_dir(copy.join(".git/agent/locks")).map_or(true, |mut locks| locks.next().is_none()));
        assert_eq!(repo.git(&["-C", &at, "fsck", "--strict", "--no-dangling"]), "");
    }
}

#[test]
fn what_changed_after_the_kill_is_not_the_agents() {
    let Some((repo, copy)) = killed_before("fast-import", false) else { return };
    fs::write(copy.join("a.rs"), "the user's\n").unwrap();
    let agent = Agent::new(HooksConfig { workspace: copy, ..repo.config() });
    let report = agent.try_commit(&["a.rs"]).unwrap();
    assert!(report.commit.is_none() && report.notes[0].contains("its content before"), "{report:?}");
}

/// Nobody's lock but that of an agent that does not live any more is removed.
#[test]
fn the_locks_of_others_stay() {
    for make in ["empty", "another file", "living"] {
        let Some((repo, copy)) = killed_before("update-ref", false) else { return };
        let lock = copy.join(".git/index.lock");
        let twin = fs::read_dir(copy.join(".git/agent/locks")).unwrap().next().unwrap().unwrap().path();
        let living = fs::File::open(&twin).unwrap();
        match make {
            "empty" => fs::remove_file(&twin).unwrap(),
            "another file" => {
                fs::remove_file(&lock).unwrap();
                fs::write(&lock, "git's").unwrap();
            }
            _ => living.lock().unwrap(),
        }
        let agent = Agent::new(HooksConfig { workspace: copy.clone(), ..repo.config() });
        assert!(lock.exists(), "{make}");
        let error = agent.try_commit(&["a.rs"]).unwrap_err().to_string();
        assert!(error.contains("index.lock exists"), "{make}: {error}");
    }
}
