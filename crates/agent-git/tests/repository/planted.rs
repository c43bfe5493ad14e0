//! What commands of the model can put in the way of the agent's own writes: another repository, links among git's files, records of turns.
//! Each case stands beside a control in which the same thing works.

use super::support::{Agent, Repo, Signal, TestRunner, files, wait};
use agent_git::{HooksConfig, Undone, undo};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

/// A directory beside the repository, as a home is, with a file that a shell would run.
fn outside(repo: &Repo) -> PathBuf {
    let outside = repo.directory.path().join("outside");
    fs::create_dir_all(outside.join("folder")).unwrap();
    fs::write(outside.join("bashrc"), "# mine\n").unwrap();
    outside
}

/// A change of a file and the end of its batch; what was said.
fn change(agent: &Agent, text: &str) -> Vec<String> {
    agent.hooks.turn_started();
    agent.change("a.rs", Some(text));
    let report = agent.check(&["a.rs"]);
    let mut notes = report.notes;
    if report.commit_due {
        notes.extend(agent.try_commit(&["a.rs"]).unwrap().notes);
    }
    notes
}

fn commits(repo: &Repo) -> usize {
    repo.try_git(&["log", "--format=%s"]).1.lines().filter(|line| !line.starts_with("fatal")).count()
}

#[test]
fn a_repository_that_a_command_made_is_not_written() {
    for existed in [false, true] {
        let Some(repo) = Repo::none() else { return };
        repo.write("a.rs", "a\n");
        let outside = outside(&repo);
        let make = || {
            repo.git(&["init", "-q"]);
            repo.git(&["add", "."]);
            repo.git(&["commit", "-qm", "theirs"]);
        };
        if existed {
            make();
        }
        let agent = repo.agent();
        if !existed {
            make();
            fs::remove_file(repo.project.join(".git/logs/HEAD")).unwrap();
            symlink(outside.join("bashrc"), repo.project.join(".git/logs/HEAD")).unwrap();
            symlink(outside.join("folder"), repo.project.join(".git/agent")).unwrap();
        }
        let notes = change(&agent, "a2\n");
        assert_eq!(agent.processes() > 0, existed, "{notes:?}");
        assert_eq!(commits(&repo), if existed { 2 } else { 1 });
        assert_eq!(fs::read_to_string(outside.join("bashrc")).unwrap(), "# mine\n");
        assert_eq!(fs::read_dir(outside.join("folder")).unwrap().count(), 0);
        assert!(existed || notes[0].contains("created after the session began"), "{notes:?}");
    }
}

#[test]
fn a_repository_in_the_place_of_the_first_is_not_written() {
    type Replace = fn(&Repo);
    let cases: [(&str, Replace); 4] = [
        ("another directory", |repo| {
            fs::rename(repo.project.join(".git"), repo.project.join("away")).unwrap();
            repo.git(&["init", "-q"]);
        }),
        ("a file that names another", |repo| {
            fs::rename(repo.project.join(".git"), repo.project.join("away")).unwrap();
            fs::write(repo.project.join(".git"), "gitdir: away\n").unwrap();
            repo.git(&["config", "core.worktree", ".."]);
        }),
        ("a link to itself", |repo| {
            fs::rename(repo.project.join(".git"), repo.project.join("away")).unwrap();
            symlink("away", repo.project.join(".git")).unwrap();
        }),
        ("a common directory elsewhere", |repo| {
            let there = repo.directory.path().join("there");
            let made = Command::new("git").args(["init", "-q", "--bare"]).arg(&there).status().unwrap();
            assert!(made.success());
            fs::write(repo.project.join(".git/commondir"), there.to_str().unwrap()).unwrap();
        }),
    ];
    for (name, replace) in cases {
        let Some(repo) = Repo::new() else { return };
        let agent = repo.agent();
        change(&agent, "a2\n");
        assert_eq!(commits(&repo), 2, "{name}: the control");
        let before = agent.processes();
        replace(&repo);
        let notes = change(&agent, "a3\n");
        assert_eq!(agent.processes(), before, "{name}: no git is started");
        assert!(notes.iter().any(|note| note.contains("not the one that was there")), "{name}: {notes:?}");
    }
}

#[test]
fn links_and_odd_files_among_gits_own_are_refused() {
    for place in [
        "agent",
        "agent/locks",
        "logs",
        "logs/HEAD",
        "logs/refs/heads/main",
        "objects",
        "objects/pack",
        "objects/ab",
        "refs",
        "refs/heads",
        "refs/heads/main",
        "refs/worktree/agent/turns",
        "refs/worktree/agent/drafts",
        "logs/refs/worktree/agent/turns",
        "index",
        "HEAD",
        "config",
        "packed-refs",
        "objects/info/commit-graph",
        "objects/pack/pack-1.idx",
        "objects/info/packs",
        "objects/info/commit-graphs/graph-1.graph",
        "refs/worktree/agent/turns/0000000000001-1",
        "refs/worktree/agent/drafts/1",
        "sharedindex.0000",
    ] {
        for pipe in [false, true] {
            let Some(repo) = Repo::new() else { return };
            let outside = outside(&repo);
            let agent = repo.agent();
            let path = repo.project.join(".git").join(place);
            let was = outside.join("was");
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if path.exists() {
                fs::rename(&path, &was).unwrap();
            } else {
                fs::create_dir(&was).unwrap();
            }
            if pipe {
                assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
            } else {
                symlink(&was, &path).unwrap();
            }
            let before = (files(&outside), agent.processes());
            let notes = change(&agent, "a2\n");
            assert!(!notes.is_empty(), "{place}: it is said");
            assert_eq!((files(&outside), agent.processes()), before, "{place}, pipe: {pipe}: {notes:?}");
            let undone = wait(undo(&repo.config(), &TestRunner::default(), 1, &Signal(false)));
            assert!(undone.is_err() && files(&outside) == before.0, "{place}: {undone:?}");
            // At the start of the next session, too.
            change(&repo.agent(), "a3\n");
            assert_eq!(files(&outside), before.0, "{place}, pipe: {pipe}");
        }
    }
}

/// Git adds to a log where it lies, by whatever other name. What git replaces may have other names: a copy of the repository by hard links.
#[test]
fn logs_with_another_name_are_refused_and_other_files_are_not() {
    for (place, is_refused) in
        [("logs/HEAD", true), ("logs/refs/heads/main", true), ("config", false), ("index", false), ("HEAD", false)]
    {
        let Some(repo) = Repo::new() else { return };
        let outside = outside(&repo);
        let agent = repo.agent();
        let path = repo.project.join(".git").join(place);
        fs::hard_link(&path, outside.join("other")).unwrap();
        let before = files(&outside);
        let notes = change(&agent, "a2\n");
        assert_eq!(files(&outside), before, "{place}: {notes:?}");
        assert_eq!(notes.iter().any(|note| note.contains("has another name, a hard link")), is_refused, "{notes:?}");
    }
}

/// A file with holes in it costs nothing to make, and git would read all of it.
#[test]
fn files_among_gits_own_without_an_end_are_refused() {
    for place in ["commondir", "objects/info/alternates", "refs/heads/main", "info/exclude", "config"] {
        let Some(repo) = Repo::new() else { return };
        let agent = repo.agent();
        change(&agent, "a2\n");
        let path = repo.project.join(".git").join(place);
        let was = fs::read(&path).ok();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = fs::File::options().create(true).append(true).open(&path).unwrap();
        file.set_len(1 << 40).unwrap();
        let undone = wait(undo(&repo.config(), &TestRunner::default(), 1, &Signal(false)));
        assert!(undone.unwrap_err().to_string().contains("1099511627776 bytes"), "{place}");
        let before = agent.processes();
        assert!(!change(&agent, "a3\n").is_empty(), "{place}: it is said");
        assert_eq!(agent.processes(), before, "{place}: git is not asked");
        match was {
            Some(was) => fs::write(&path, was).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        let undone = wait(undo(&repo.config(), &TestRunner::default(), 1, &Signal(false)));
        assert!(undone.is_ok(), "the control {place}: {undone:?}");
    }
}

/// The stream of a turn that restores a path, as `fast-import` takes it.
fn record(turn: &str, path: &str, more: &str) -> String {
    let path: String = path.bytes().map(|byte| format!("%{byte:02X}")).collect();
    format!(
        "commit refs/worktree/agent/turns/{turn}\ncommitter agent <agent@localhost> 1 +0000\ndata 1\n.\n\
         M 100755 inline before/{path}\ndata 5\nevil\n\nM 100644 inline after-absent/{path}\ndata 0\n\n{more}"
    )
}

fn take_back(repo: &Repo) -> Result<Undone, String> {
    let done = wait(undo(&repo.config(), &TestRunner::default(), 1, &Signal(false)));
    done.map_err(|error| error.to_string())
}

#[test]
fn a_planted_turn_restores_nothing_outside_or_protected() {
    let turn = "0000000000001-1";
    for (path, is_restored) in [
        ("new.rs", true),
        ("sub/new.rs", true),
        ("../home/.bashrc", false),
        ("a/../../home/.bashrc", false),
        ("./new.rs", false),
        (".git/hooks/post-checkout", false),
        ("sub/.GIT/config", false),
        (".envrc", false),
        (".vscode/tasks.json", false),
        ("sub/HEAD", false),
        ("own/state", false),
        ("link/.bashrc", false),
    ] {
        for stored in [false, true] {
            let Some(repo) = Repo::new() else { return };
            symlink(repo.home(), repo.project.join("link")).unwrap();
            let folder = repo.project.join(".git/agent");
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(turn), record(turn, path, "")).unwrap();
            if stored {
                let import = format!("git fast-import --quiet < .git/agent/{turn} && rm .git/agent/{turn}");
                let status = Command::new("sh").args(["-c", &import]).current_dir(&repo.project).status();
                assert!(status.unwrap().success());
            }
            // Without a key whatever stands there counts: the paths are what is tried here.
            let config = HooksConfig { protected: vec![repo.project.join("own")], record_key: None, ..repo.config() };
            let before = (files(repo.directory.path()), files(&repo.project.join(".git/hooks")));
            let undone = wait(undo(&config, &TestRunner::default(), 1, &Signal(false))).unwrap();
            let after = (files(repo.directory.path()), files(&repo.project.join(".git/hooks")));
            assert_eq!(undone.restored.is_empty(), !is_restored, "{path}: {undone:?}");
            assert_eq!(before != after, is_restored, "{path}");
            assert_eq!(undone.left.is_empty(), is_restored, "{path}: what is left is said");
        }
    }
}

/// `fast-import` takes commands that move branches and run over others' references.
#[test]
fn a_record_that_says_more_than_how_files_were_is_not_imported() {
    let turn = "0000000000001-1";
    for more in [
        "reset refs/heads/planted\nfrom refs/heads/main^0\n\n",
        "commit refs/heads/planted\ncommitter a <b> 1 +0000\ndata 0\n",
        "feature export-marks=../../marks\n",
        "option git export-marks=marks\n",
        "D ../x\n",
        "M 100644 inline \"before/x\"\ndata 0\n",
        "M 160000 0123456789012345678901234567890123456789 before/x\n",
        "cat-blob refs/heads/main\n",
    ] {
        let Some(repo) = Repo::new() else { return };
        let folder = repo.project.join(".git/agent");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(turn), record(turn, "new.rs", more)).unwrap();
        let before = repo.git(&["for-each-ref"]);
        let refused = take_back(&repo);
        assert!(refused.is_err(), "{more}: {refused:?}");
        assert_eq!(repo.git(&["for-each-ref"]), before, "{more}");
        assert!(!repo.project.join("new.rs").exists() && !repo.directory.path().join("marks").exists());
    }
    // Under another's name it is no record, whatever it says.
    let Some(repo) = Repo::new() else { return };
    let folder = repo.project.join(".git/agent");
    fs::create_dir_all(&folder).unwrap();
    for name in ["x", "1", "1-1.lock", "0000000000002-1"] {
        fs::write(folder.join(name), record(turn, "new.rs", "")).unwrap();
    }
    assert!(take_back(&repo).is_err() && !repo.project.join("new.rs").exists());
}

/// Adds a file to the record of a turn, or puts another in its place.
fn forge(repo: &Repo, turn: &str, name: &str) {
    let script = "export GIT_INDEX_FILE=.git/forged && git read-tree $0 && id=$(echo evil | git hash-object -w --stdin) &&
        git update-index --add --cacheinfo 100644,$id,$1 && commit=$(git -c user.name=a -c user.email=b commit-tree $(git write-tree) -p $0 -m x) &&
        git update-ref $0 $commit";
    let status = Command::new("sh").args(["-c", script, turn, name]).current_dir(&repo.project).status();
    assert!(status.unwrap().success());
}

/// With Landlock alone commands write git's own files: a record there need not be the agent's.
#[test]
fn a_record_that_the_agent_did_not_write_is_not_taken_back() {
    type Forge = fn(&Repo, &str);
    let cases: [(&str, Forge, bool); 7] = [
        ("nothing", |_, _| {}, true),
        ("another content", |repo, turn| forge(repo, turn, "before/a%2Ers"), false),
        ("one more file", |repo, turn| forge(repo, turn, "before/b%2Ers"), false),
        ("one that goes", |repo, turn| forge(repo, turn, "before-absent/b%2Ers"), false),
        ("what is not understood", |repo, turn| forge(repo, turn, "more/b%2Ers"), false),
        (
            "another turn's",
            |repo, turn| {
                let newer = "refs/worktree/agent/turns/1999999999999-1";
                repo.git(&["update-ref", newer, turn]);
                repo.git(&["update-ref", "-d", turn]);
            },
            false,
        ),
        ("another key", |repo, _| fs::write(repo.directory.path().join("state/records.key"), [7; 32]).unwrap(), false),
    ];
    for (what, make, is_taken_back) in cases {
        let Some(repo) = Repo::new() else { return };
        repo.write("b.rs", "mine\n");
        repo.write("a.rs", "one\n");
        let agent = Agent::new(HooksConfig { auto_commit: false, ..repo.config() });
        change(&agent, "two\n");
        let turns = repo.git(&["for-each-ref", "--format=%(refname)", "refs/worktree"]);
        make(&repo, turns.lines().next_back().unwrap());
        let undone = take_back(&repo);
        assert_eq!(undone.is_ok(), is_taken_back, "{what}: {undone:?}");
        assert_eq!(repo.read("a.rs"), if is_taken_back { "one\n" } else { "two\n" }, "{what}");
        assert_eq!(repo.read("b.rs"), "mine\n", "{what}");
        if let Err(error) = undone {
            assert!(error.to_string().contains("the agent did not write it"), "{what}: {error}");
        }
    }
}
