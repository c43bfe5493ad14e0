//! Commits whose changes are not what they were: pending ones, repeated ones, and what happens meanwhile.

use super::support::{Agent, Repo};
use agent_git::Identity;
use std::fs;

/// Whose index it leads to nobody knows.
#[test]
fn an_index_that_is_a_link_stays_one() {
    let Some(repo) = Repo::new() else { return };
    let (index, real) = (repo.project.join(".git/index"), repo.home().join("index"));
    fs::rename(&index, &real).unwrap();
    std::os::unix::fs::symlink(&real, &index).unwrap();
    let before = fs::read(&real).unwrap();
    let agent = repo.agent();
    agent.change("a.rs", Some("a2\n"));
    let report = agent.check(&["a.rs"]);
    assert!(!report.commit_due && report.notes[0].contains("/.git/index` is a symbolic link"), "{report:?}");
    assert!(agent.try_commit(&["a.rs"]).unwrap().commit.is_none());
    assert!(index.is_symlink() && fs::read(&real).unwrap() == before);
    assert_eq!(repo.git(&["log", "--format=%s"]), "first\n");
}

#[test]
fn a_pending_change_is_committed_with_the_next() {
    let Some(repo) = Repo::new() else { return };
    let agent = repo.agent();
    fs::write(repo.project.join(".git/index.lock"), "").unwrap();
    agent.change("a.rs", Some("a2\n"));
    assert!(agent.check(&["a.rs"]).commit_due);
    let error = agent.try_commit(&["a.rs"]).unwrap_err().to_string();
    assert!(error.contains("index.lock exists"), "{error}");
    assert_eq!(fs::read(repo.project.join(".git/index.lock")).unwrap(), b"", "the lock is not ours to remove");
    fs::remove_file(repo.project.join(".git/index.lock")).unwrap();
    agent.change("a.rs", Some("a3\n"));
    assert_eq!(agent.finish(&["a.rs"]).notes, Vec::<String>::new());
    assert_eq!(repo.git(&["show", "HEAD:a.rs"]), "a3\n");
    assert!(!repo.project.join(".git/index.lock").exists());
}

#[test]
fn a_pending_change_that_the_user_went_on_with_is_left_out() {
    let Some(repo) = Repo::new() else { return };
    let agent = repo.agent();
    agent.change("a.rs", Some("a2\n"));
    agent.check(&["a.rs"]);
    repo.write("a.rs", "the user's\n");
    agent.change("a.rs", Some("a3\n"));
    let report = agent.finish(&["a.rs"]);
    assert!(report.commit.is_none() && report.notes[0].contains("uncommitted changes"), "{report:?}");
}

#[test]
fn committing_twice_is_committing_once() {
    let Some(repo) = Repo::new() else { return };
    let agent = repo.agent();
    agent.change("a.rs", Some("a2\n"));
    assert!(agent.finish(&["a.rs"]).commit.is_some());
    let again = agent.try_commit(&["a.rs"]).unwrap();
    assert_eq!((again.commit, again.notes), (None, vec![]));
    agent.change("a.rs", Some("a3\n"));
    assert!(agent.finish(&["a.rs"]).commit.is_some());
}

/// Somebody commits while the hook works: the hook's commit is refused, and branch and index are as that somebody left them.
#[test]
fn a_branch_that_moves_meanwhile_is_not_overwritten() {
    let Some(repo) = Repo::new() else { return };
    let project = repo.project.clone();
    let other = repo.git(&["commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "other"]).trim().to_owned();
    let id = other.clone();
    let runner = super::support::TestRunner {
        before: Some(Box::new(move |arguments| {
            if arguments.iter().any(|argument| argument == "update-ref") {
                fs::write(project.join(".git/refs/heads/main"), format!("{id}\n")).unwrap();
            }
        })),
        ..Default::default()
    };
    let agent = Agent::with_runner(repo.config(), runner);
    agent.change("a.rs", Some("a2\n"));
    agent.check(&["a.rs"]);
    // The commit goes on top of the one that came in between.
    let report = agent.try_commit(&["a.rs"]).unwrap();
    assert!(report.commit.is_some(), "{report:?}");
    assert_eq!(repo.git(&["rev-parse", "HEAD^"]).trim(), other);
    assert_eq!(repo.git(&["show", "HEAD:a.rs"]), "a2\n");
    assert!(!repo.project.join(".git/index.lock").exists());
}

#[test]
fn who_commits_can_be_configured() {
    for (configured, home, expected) in [
        (Some(Identity { name: "Bot".into(), email: "b@x".into() }), true, "Bot <b@x>"),
        (None, true, "Ursula <u@example.org>"),
        (None, false, "agent <agent@localhost>"),
    ] {
        let Some(repo) = Repo::new() else { return };
        let mut config = repo.config();
        config.identity = configured;
        config.home = home.then(|| repo.home());
        let agent = Agent::new(config);
        agent.change("a.rs", Some("a2\n"));
        agent.finish(&["a.rs"]);
        assert_eq!(repo.git(&["log", "-1", "--format=%an <%ae>"]).trim(), expected);
    }
}

/// A file that changed again in the moment in which it was staged: git tells by the index's time that it has to look into such files.
#[test]
fn a_file_that_changed_while_it_was_staged_stays_changed() {
    for version in ["2", "4"] {
        let Some(repo) = Repo::new() else { return };
        repo.git(&["update-index", "--index-version", version]);
        let dirty = |repo: &Repo| repo.git(&["--no-optional-locks", "status", "--porcelain"]);
        let raced = (0..20).any(|_| {
            repo.write("b.rs", "yy\n");
            repo.git(&["add", "b.rs"]);
            repo.write("b.rs", "zz\n");
            dirty(&repo) == "MM b.rs\n"
        });
        assert!(raced);
        std::thread::sleep(std::time::Duration::from_millis(1_100));
        let agent = repo.agent();
        agent.change("new.rs", Some("new\n"));
        assert!(agent.finish(&["new.rs"]).commit.is_some());
        assert_eq!(dirty(&repo), "MM b.rs\n", "index version {version}");
        assert_eq!(repo.read("b.rs"), "zz\n");
    }
}

/// Scripts ask git so, without a refresh of the index: by the times of files alone.
#[test]
fn what_was_committed_is_clean_by_its_time() {
    for is_unborn in [false, true] {
        let Some(repo) = (if is_unborn { Repo::unborn() } else { Repo::new() }) else { return };
        let agent = repo.agent();
        for round in 0..3 {
            agent.change("a.rs", Some(&format!("a{round}\n")));
            agent.change("new/b.rs", Some(&format!("b{round}\n")));
            assert!(agent.finish(&["a.rs", "new/b.rs"]).commit.is_some());
            assert_eq!(repo.try_git(&["diff-index", "--quiet", "HEAD"]), (true, String::new()), "{is_unborn} {round}");
            assert_eq!(repo.try_git(&["diff-files", "--quiet"]), (true, String::new()), "{is_unborn} {round}");
        }
    }
}

/// Written in the same moment, as long as before: git has to look into it.
#[test]
fn what_changes_behind_a_commit_is_seen_however_soon() {
    for at in 0..10 {
        let Some(repo) = (if at % 2 == 0 { Repo::unborn() } else { Repo::new() }) else { return };
        let agent = repo.agent();
        agent.change("a.rs", Some("xx\n"));
        assert!(agent.finish(&["a.rs"]).commit.is_some());
        repo.write("a.rs", "yy\n");
        assert_eq!(repo.git(&["--no-optional-locks", "status", "--porcelain"]), " M a.rs\n");
        repo.git(&["checkout", "-q", "--", "a.rs"]);
        assert_eq!(repo.read("a.rs"), "xx\n");
    }
}

/// What is staged, is not in `HEAD` and is gone from the directory is in the index only.
#[test]
fn what_only_the_index_has_is_not_dropped_for_a_path_in_its_place() {
    for version in ["2", "4"] {
        for (staged, path) in [("extra", "extra/b.rs"), ("p/q", "p")] {
            let Some(repo) = Repo::new() else { return };
            repo.write(staged, "precious\n");
            repo.git(&["add", staged]);
            repo.git(&["update-index", "--index-version", version]);
            fs::remove_file(repo.project.join(staged)).unwrap();
            drop(fs::remove_dir(repo.project.join("p")));
            let before = repo.git(&["ls-files", "--stage"]);
            let agent = repo.agent();
            agent.change(path, Some("agent\n"));
            let report = agent.finish(&[path]);
            assert_eq!(report.commit, None, "{path}");
            assert!(report.notes.iter().any(|note| note.contains("takes the place of")), "{:?}", report.notes);
            assert_eq!(repo.git(&["ls-files", "--stage"]), before, "{path}");
        }
    }
}

/// Patterns that are read otherwise elsewhere than in git.
#[test]
fn what_git_ignores_is_not_committed_however_the_pattern_is_written() {
    let cases = [
        ("*.[[:digit:]]\n", "p.1", true),
        ("{{ck}}/\n", "{{ck}}/o", true),
        ("*.tmp\n!{c,d}.tmp\n", "c.tmp", true),
        ("n[\\]]m\n", "n]m", true),
        ("{{ck}}/\n", "ck/o", false),
        ("*.log\n", "a.txt", false),
    ];
    for (rules, path, is_ignored) in cases {
        let Some(repo) = Repo::new() else { return };
        repo.write(".gitignore", rules);
        repo.git(&["add", "."]);
        repo.git(&["commit", "-qm", "rules"]);
        assert_eq!(repo.try_git(&["check-ignore", "-q", path]).0, is_ignored, "{rules:?}");
        let agent = repo.agent();
        agent.change(path, Some("agent\n"));
        assert_eq!(agent.finish(&[path]).commit.is_none(), is_ignored, "{rules:?}: {path}");
    }
}

#[test]
fn names_are_as_on_the_disk_and_none_that_git_would_not_check_out() {
    let Some(repo) = Repo::new() else { return };
    repo.write("d/f", "1\n");
    repo.git(&["add", "."]);
    repo.git(&["commit", "-qm", "second"]);
    repo.git(&["config", "core.ignorecase", "true"]);
    let agent = repo.agent();
    agent.change("D/new", Some("new\n"));
    assert!(agent.finish(&["D/new"]).commit.is_some());
    assert_eq!(repo.last_commit(), "fix: fix it\nA\tD/new\n");
    for path in ["git~1", "x/.git /y", ".GIT::$INDEX_ALLOCATION/y", "a/.gi\u{200c}t"] {
        let agent = repo.agent();
        agent.change(path, Some("agent\n"));
        let report = agent.finish(&[path]);
        assert_eq!(report.commit, None, "{path}");
        assert!(
            report.notes.iter().any(|note| note.contains("git does not allow this name")),
            "{path}: {:?}",
            report.notes
        );
    }
    assert_eq!(repo.git(&["fsck", "--strict"]), "");
}
