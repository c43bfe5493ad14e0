//! What is committed, and what stays the user's.

use super::support::{Agent, Repo, files};
use agent_git::HooksConfig;
use std::fs;

#[test]
fn the_agents_changes_become_one_commit() {
    let Some(repo) = Repo::new() else { return };
    let agent = repo.agent();
    agent.change("a.rs", Some("a2\n"));
    agent.change("b.rs", None);
    agent.change("src/new.rs", Some("new\n"));
    let report = agent.finish(&["a.rs", "b.rs", "src/new.rs"]);
    let commit = report.commit.unwrap();
    assert_eq!(report.notes, Vec::<String>::new());
    assert_eq!(commit.subject, "fix: fix it");
    assert_eq!(commit.id, repo.git(&["rev-parse", "HEAD"]).trim());
    assert_eq!(repo.last_commit(), "fix: fix it\nM\ta.rs\nD\tb.rs\nA\tsrc/new.rs\n");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    assert_eq!(repo.git(&["log", "-1", "--format=%an <%ae> %cn"]), "Ursula <u@example.org> Ursula\n");
    assert!(repo.git(&["log", "-1", "--format=%B"]).contains("\nAssisted-by: agent\n"));
    assert_eq!(repo.git(&["reflog", "-1", "--format=%gs"]), "commit: fix: fix it\n");
    assert_eq!(repo.git(&["fsck", "--strict"]), "");
}

/// Everything that users have lying around, next to what the agent changes.
#[test]
fn the_users_work_stays_byte_for_byte() {
    let Some(repo) = Repo::new() else { return };
    repo.write(".gitignore", "*.log\n");
    repo.write("staged.rs", "1\n");
    repo.write("both.rs", "1\n");
    repo.git(&["add", "."]);
    repo.git(&["commit", "-qm", "second"]);
    repo.write("b.rs", "dirty\n");
    repo.write("staged.rs", "staged\n");
    repo.write("both.rs", "staged\n");
    repo.write("staged-new.rs", "staged\n");
    repo.git(&["add", "staged.rs", "both.rs", "staged-new.rs"]);
    repo.write("both.rs", "staged, then dirty\n");
    repo.write("untracked.rs", "untracked\n");
    repo.write("ignored.log", "ignored\n");
    repo.git(&["rm", "-q", "--cached", "run.sh"]);
    let status = repo.git(&["status", "--porcelain", "--ignored"]);
    let entries = repo.git(&["ls-files", "--stage"]);

    let agent = repo.agent();
    agent.change("a.rs", Some("a2\n"));
    let before = files(&repo.project);
    let report = agent.finish(&["a.rs"]);

    assert_eq!(report.notes, Vec::<String>::new());
    assert_eq!(repo.last_commit(), "fix: fix it\nM\ta.rs\n");
    assert_eq!(files(&repo.project), before);
    assert_eq!(repo.git(&["status", "--porcelain", "--ignored"]), status);
    let others =
        |text: &str| text.lines().filter(|line| !line.ends_with("\ta.rs")).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(others(&repo.git(&["ls-files", "--stage"])), others(&entries));
}

/// Files that both touched: whatever the user did first, the agent's change of that file stays uncommitted, and says why.
#[test]
fn files_that_were_the_users_are_left_out() {
    type Prepare = fn(&Repo);
    let cases: &[(&str, &str, Prepare)] = &[
        ("a.rs", "it had uncommitted changes before", |repo| {
            repo.write("a.rs", "dirty\n");
        }),
        ("new.rs", "it existed before the agent", |repo| {
            repo.write("new.rs", "untracked\n");
        }),
        ("a.rs", "another version of it is staged", |repo| {
            repo.write("a.rs", "staged\n");
            repo.git(&["add", "a.rs"]);
        }),
        ("new.rs", "another version of it is staged", |repo| {
            repo.write("new.rs", "x\n");
            repo.git(&["add", "-N", "new.rs"]);
        }),
        ("a.rs", "another version of it is staged", |repo| {
            drop(repo.git(&["rm", "-q", "a.rs"]));
        }),
        ("a.rs", "it had uncommitted changes before", |repo| {
            repo.make_executable("a.rs");
        }),
        ("a.rs", "specially marked", |repo| {
            drop(repo.git(&["update-index", "--assume-unchanged", "a.rs"]));
        }),
        ("a.rs", "specially marked", |repo| {
            drop(repo.git(&["update-index", "--skip-worktree", "a.rs"]));
        }),
        ("x.log", "git ignores it", |repo| {
            repo.write(".gitignore", "*.log\n");
        }),
        (".env", "suggests a secret", |_| {}),
        ("keys/id_rsa", "suggests a secret", |_| {}),
        ("dir/x.rs", "symbolic link", |repo| {
            fs::create_dir(repo.directory.path().join("outside")).unwrap();
            std::os::unix::fs::symlink("../outside", repo.project.join("dir")).unwrap();
        }),
        ("inner/x.rs", "a repository of its own", |repo| {
            drop(repo.git(&["init", "-q", "inner"]));
        }),
    ];
    for (path, reason, prepare) in cases {
        let Some(repo) = Repo::new() else { return };
        prepare(&repo);
        let entries = repo.git(&["ls-files", "--stage", "-v"]);
        let agent = repo.agent();
        agent.change(path, Some("the agent's\n"));
        agent.change("b.rs", Some("b2\n"));
        let report = agent.finish(&[path, "b.rs"]);
        assert_eq!(repo.last_commit(), "fix: fix it\nM\tb.rs\n", "{reason}");
        assert!(
            report.notes.len() == 1 && report.notes[0].contains(reason),
            "{path}: {:?} is not {reason}",
            report.notes
        );
        let others =
            |text: &str| text.lines().filter(|line| !line.ends_with("\tb.rs")).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(others(&repo.git(&["ls-files", "--stage", "-v"])), others(&entries), "{reason}");
        assert_eq!(repo.read(path), "the agent's\n");
    }
}

#[test]
fn a_change_that_nobody_announced_is_left_out() {
    let Some(repo) = Repo::new() else { return };
    let agent = repo.agent();
    repo.write("a.rs", "by a command?\n");
    let report = agent.finish(&["a.rs"]);
    assert_eq!(report.commit, None);
    assert!(report.notes[0].contains("its content before"), "{:?}", report.notes);
}

#[test]
fn modes_and_links_are_kept() {
    let Some(repo) = Repo::new() else { return };
    let agent = repo.agent();
    agent.change("run.sh", Some("#!/bin/sh\ntrue\n"));
    agent.change("tool.sh", Some("#!/bin/sh\n"));
    repo.make_executable("tool.sh");
    agent.announce("link");
    std::os::unix::fs::symlink("a.rs", repo.project.join("link")).unwrap();
    assert_eq!(agent.finish(&["link", "run.sh", "tool.sh"]).notes, Vec::<String>::new());
    let tree = repo.git(&["ls-tree", "HEAD", "link", "run.sh", "tool.sh"]);
    let modes: Vec<&str> = tree.lines().map(|line| &line[..6]).collect();
    assert_eq!(modes, ["120000", "100755", "100755"]);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn names_that_look_like_options_or_patterns_are_names() {
    let Some(repo) = Repo::new() else { return };
    let agent = repo.agent();
    let names = ["-m", ":(top)", "*.rs", "a b", "ä\t\"", "--"];
    for name in names {
        agent.change(name, Some("x\n"));
    }
    let report = agent.finish(&names);
    assert_eq!(report.notes, Vec::<String>::new());
    assert_eq!(
        repo.git(&["show", "--format=", "-z", "--name-only", "HEAD"]).split_terminator('\0').count(),
        names.len()
    );
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn conversions_by_git_are_left_to_the_user() {
    let cases = [
        ("*.rs filter=lfs\n", "x\n", false),
        ("*.rs ident\n", "x\n", false),
        ("*.rs working-tree-encoding=UTF-16\n", "x\n", false),
        ("*.rs text\n", "x\r\n", false),
        ("*.rs text\n", "x\n", true),
        ("*.rs -text\n", "x\r\n", true),
        ("*.rs binary\n", "x\r\n", true),
        ("*.rs eol=crlf\n", "x\r\n", false),
        ("* text=auto\n", "x\r\n", false),
        ("", "x\r\n", true),
    ];
    for (attributes, text, committed) in cases {
        let Some(repo) = Repo::new() else { return };
        repo.write(".gitattributes", attributes);
        let agent = repo.agent();
        agent.change("a.rs", Some(text));
        let report = agent.finish(&["a.rs"]);
        assert_eq!(report.commit.is_some(), committed, "{attributes:?} {text:?} {:?}", report.notes);
    }
    let Some(repo) = Repo::new() else { return };
    repo.git(&["config", "core.autocrlf", "true"]);
    let agent = repo.agent();
    agent.change("a.rs", Some("x\r\n"));
    assert_eq!(agent.finish(&["a.rs"]).commit, None);
    // What git checked out with other line ends than it keeps had no uncommitted changes.
    repo.git(&["checkout", "-q", "--", "a.rs"]);
    fs::remove_file(repo.project.join("b.rs")).unwrap();
    repo.git(&["checkout", "-q", "--", "b.rs"]);
    assert_eq!(repo.read("b.rs"), "b\r\n");
    for text in ["b\r\nc\r\n", "c\n"] {
        repo.write("b.rs", "b\r\n");
        agent.change("b.rs", Some(text));
        let report = agent.finish(&["b.rs"]);
        assert_eq!(report.commit, None);
        assert!(report.notes[0].contains("git would convert its line ends"), "{report:?}");
    }
}

/// Places of rules that are not in the working tree, or not where they mostly are.
#[test]
fn what_is_ignored_from_elsewhere_is_not_committed() {
    type Prepare = fn(&Repo) -> HooksConfig;
    let cases: [(&str, Prepare); 6] = [
        ("sparse", |repo| {
            repo.write(".gitignore", "*.log\n");
            repo.git(&["add", ".gitignore"]);
            repo.git(&["commit", "-qm", "rules"]);
            repo.git(&["update-index", "--skip-worktree", ".gitignore"]);
            fs::remove_file(repo.project.join(".gitignore")).unwrap();
            repo.config()
        }),
        ("relative", |repo| {
            repo.write("rules/mine", "*.log\n");
            repo.git(&["config", "core.excludesFile", "rules/mine"]);
            repo.config()
        }),
        ("of the home directory", |repo| {
            fs::write(repo.home().join("mine"), "*.log\n").unwrap();
            repo.git(&["config", "core.excludesFile", "~/mine"]);
            repo.config()
        }),
        ("the usual place", |repo| {
            fs::create_dir_all(repo.home().join(".config/git")).unwrap();
            fs::write(repo.home().join(".config/git/ignore"), "*.log\n").unwrap();
            repo.config()
        }),
        ("another place", |repo| {
            let place = repo.directory.path().join("settings");
            fs::create_dir_all(place.join("git")).unwrap();
            fs::write(place.join("git/ignore"), "*.log\n").unwrap();
            HooksConfig { config_home: Some(place), ..repo.config() }
        }),
        ("configured in another place", |repo| {
            let place = repo.directory.path().join("settings");
            fs::create_dir_all(place.join("git")).unwrap();
            fs::write(place.join("git/config"), "[core]\nexcludesFile = ~/mine\n").unwrap();
            fs::write(repo.home().join("mine"), "*.log\n").unwrap();
            HooksConfig { config_home: Some(place), ..repo.config() }
        }),
    ];
    for (place, prepare) in cases {
        let Some(repo) = Repo::new() else { return };
        let agent = Agent::new(prepare(&repo));
        agent.change("x.log", Some("x\n"));
        agent.change("x.rs", Some("x\n"));
        let report = agent.finish(&["x.log", "x.rs"]);
        assert_eq!(repo.last_commit(), "fix: fix it\nA\tx.rs\n", "{place}: {report:?}");
        assert!(report.notes[0].contains("x.log was not committed: git ignores it"), "{place}: {report:?}");
    }
}

/// Attributes that git reads from a commit and from no file.
#[test]
fn attributes_of_a_tree_count() {
    let Some(repo) = Repo::new() else { return };
    repo.write(".gitattributes", "*.rs filter=lfs\n");
    repo.git(&["add", ".gitattributes"]);
    repo.git(&["commit", "-qm", "attributes"]);
    repo.git(&["branch", "attributes"]);
    repo.git(&["rm", "-q", ".gitattributes"]);
    repo.git(&["commit", "-qm", "none"]);
    let commits = |text: &str| {
        let agent = repo.agent();
        agent.change("a.rs", Some(text));
        agent.finish(&["a.rs"])
    };
    assert!(commits("1\n").commit.is_some(), "the control");
    repo.git(&["config", "attr.tree", "attributes"]);
    let report = commits("2\n");
    assert!(report.commit.is_none() && report.notes[0].contains("a filter"), "{report:?}");
}
