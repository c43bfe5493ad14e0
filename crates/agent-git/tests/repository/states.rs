//! Repositories in every state that users leave them in.

use super::support::{Agent, Repo, Signal, TestRunner, changes, wait};
use agent_git::{HooksConfig, UndoError, undo};
use agent_types::ports::Hook as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;

#[test]
fn where_nothing_can_be_committed_a_note_says_why() {
    type Prepare = fn(&Repo);
    let cases: &[(&str, Prepare)] = &[
        ("a merge is in progress", |repo| {
            conflict(repo);
            assert!(!repo.try_git(&["merge", "other"]).0);
        }),
        ("a rebase is in progress", |repo| {
            conflict(repo);
            assert!(!repo.try_git(&["rebase", "other"]).0);
        }),
        ("a cherry-pick is in progress", |repo| {
            conflict(repo);
            assert!(!repo.try_git(&["cherry-pick", "other"]).0);
        }),
        ("a revert is in progress", |repo| {
            conflict(repo);
            assert!(!repo.try_git(&["revert", "--no-edit", "HEAD~1"]).0);
        }),
        ("a bisection is in progress", |repo| {
            drop(repo.git(&["bisect", "start"]));
        }),
        ("not a git repository", |repo| {
            fs::remove_dir_all(repo.project.join(".git")).unwrap();
        }),
        ("not a git repository", |repo| {
            fs::remove_file(repo.project.join(".git/HEAD")).unwrap();
        }),
        ("a bare repository", |repo| {
            for entry in fs::read_dir(repo.project.join(".git")).unwrap() {
                let entry = entry.unwrap();
                fs::rename(entry.path(), repo.project.join(entry.file_name())).unwrap();
            }
            fs::remove_dir(repo.project.join(".git")).unwrap();
        }),
    ];
    for (reason, prepare) in cases {
        let Some(repo) = Repo::new() else { return };
        prepare(&repo);
        let agent = repo.agent();
        agent.change("new.rs", Some("new\n"));
        let report = agent.check(&["new.rs"]);
        assert!(!report.commit_due && report.notes.iter().any(|note| note.contains(reason)), "{reason}: {report:?}");
        let report = agent.try_commit(&["new.rs"]).unwrap();
        assert!(report.commit.is_none() && report.notes[0].contains(reason), "{reason}: {report:?}");
    }
}

#[test]
fn the_branch_is_read_and_no_process_runs() {
    let Some(repo) = Repo::new() else { return };
    let agent = repo.agent();
    repo.git(&["checkout", "--quiet", "-b", "some/topic"]);
    assert_eq!(agent.hooks.branch().as_deref(), Some("some/topic"));
    let commit = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["checkout", "--quiet", "--detach"]);
    assert_eq!(agent.hooks.branch().as_deref(), commit.get(..10));
    fs::write(repo.project.join(".git/HEAD"), "ref: refs/heads/.invalid\n").unwrap();
    assert_eq!(agent.hooks.branch(), None, "git keeps it in tables");
    // Another repository in its place is not looked into.
    fs::rename(repo.project.join(".git"), repo.project.join("elsewhere")).unwrap();
    repo.git(&["init", "--quiet"]);
    assert_eq!(agent.hooks.branch(), None);
    assert_eq!(agent.processes(), 0);
}

/// What an archive or a model can put there must not lead the agent to the user's other repositories.
#[test]
fn a_planted_link_to_another_repository_is_not_followed() {
    type Plant = fn(&Path, &Path);
    let plants: &[(&str, Plant)] = &[
        ("file", |other, dot_git| {
            fs::write(dot_git, format!("gitdir: {}\n", other.display())).unwrap();
        }),
        ("link", |other, dot_git| {
            std::os::unix::fs::symlink(other, dot_git).unwrap();
        }),
        ("commondir", |other, dot_git| {
            init(dot_git);
            fs::write(dot_git.join("commondir"), format!("{}\n", other.display())).unwrap();
        }),
        ("commondir, relative, in four files", |_, dot_git| {
            for folder in ["objects", "refs"] {
                fs::create_dir_all(dot_git.join(folder)).unwrap();
            }
            fs::write(dot_git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
            fs::write(dot_git.join("gitdir"), "../.git\n").unwrap();
            fs::write(dot_git.join("commondir"), "../../other/.git").unwrap();
        }),
        ("a file that names a directory here, with commondir there", |other, dot_git| {
            let here = dot_git.with_file_name("worktrees").join("x");
            fs::create_dir_all(&here).unwrap();
            fs::write(dot_git, "gitdir: worktrees/x\n").unwrap();
            fs::write(here.join("HEAD"), "ref: refs/heads/main\n").unwrap();
            fs::write(here.join("gitdir"), "../../.git\n").unwrap();
            fs::write(here.join("commondir"), format!("{}\n", other.display())).unwrap();
        }),
        ("a name that git ends at its NUL", |other, dot_git| {
            init(dot_git);
            fs::write(dot_git.join("commondir"), format!("{}\0/none\n", other.display())).unwrap();
        }),
    ];
    for (name, plant) in plants {
        let (Some(repo), Some(other)) = (Repo::none(), Repo::new()) else { return };
        std::os::unix::fs::symlink(&other.project, repo.project.with_file_name("other")).unwrap();
        let before = other.git(&["for-each-ref"]);
        plant(&other.project.join(".git"), &repo.project.join(".git"));
        assert_eq!(agent_git::git_directories(&repo.project), Vec::<PathBuf>::new(), "{name}: git is not let in there");
        let agent = repo.agent();
        agent.change("new.rs", Some("new\n"));
        let report = agent.check(&["new.rs"]);
        assert!(report.notes.iter().any(|note| note.contains("does not know this directory")), "{name}: {report:?}");
        assert!(agent.try_commit(&["new.rs"]).unwrap().commit.is_none(), "{name}");
        assert_eq!(other.git(&["for-each-ref"]), before, "{name}");
        assert!(!other.project.join(".git/agent").exists(), "{name}: nothing of this workspace is kept there");
        let undone = wait(undo(&repo.config(), &TestRunner::default(), 1, &Signal(false)));
        assert!(matches!(undone, Err(UndoError::NoRepository(_))), "{name}: {undone:?}");
        assert_eq!(agent.processes(), 0, "{name}");
    }
}

fn init(dot_git: &Path) {
    let made = process::Command::new("git").args(["init", "-q"]).arg(dot_git.parent().unwrap()).status();
    assert!(made.unwrap().success());
}

fn conflict(repo: &Repo) {
    for (branch, text) in [("other", "1\n"), ("main", "2\n"), ("main", "3\n")] {
        let (known, _) = repo.try_git(&["checkout", "-q", branch]);
        if !known {
            repo.git(&["checkout", "-qb", branch]);
        }
        repo.write("a.rs", text);
        repo.git(&["commit", "-qam", text.trim()]);
    }
}

#[test]
fn the_first_commit_of_a_repository_can_be_the_agents() {
    for format in ["sha1", "sha256"] {
        let Some(repo) = Repo::none() else { return };
        repo.git(&["init", "-q", &format!("--object-format={format}")]);
        repo.write("staged.rs", "the user's\n");
        repo.git(&["add", "staged.rs"]);
        let agent = repo.agent();
        agent.change("a.rs", Some("a\n"));
        assert_eq!(agent.finish(&["a.rs"]).notes, Vec::<String>::new());
        assert_eq!(repo.last_commit(), "fix: fix it\nA\ta.rs\n");
        assert_eq!(repo.git(&["status", "--porcelain"]), "A  staged.rs\n");
        agent.change("a.rs", None);
        agent.finish(&["a.rs"]);
        assert_eq!(repo.last_commit(), "fix: fix it\nD\ta.rs\n");
    }
}

#[test]
fn a_detached_head_moves_alone() {
    let Some(repo) = Repo::new() else { return };
    repo.git(&["checkout", "-q", "--detach"]);
    let main = repo.git(&["rev-parse", "main"]);
    let agent = repo.agent();
    agent.change("a.rs", Some("a2\n"));
    let report = agent.finish(&["a.rs"]);
    assert!(report.commit.is_some());
    assert_eq!(repo.git(&["rev-parse", "main"]), main);
    assert_eq!(repo.git(&["rev-parse", "HEAD~1"]), main);
    assert!(report.notes[0].contains("no branch"), "{:?}", report.notes);
}

#[test]
fn linked_worktrees_links_submodules_and_subdirectories_are_repositories() {
    type Prepare = fn(&Repo) -> String;
    let cases: &[(&str, Prepare)] = &[
        ("worktree", |repo| {
            repo.git(&["worktree", "add", "-q", "../linked"]);
            "../linked".to_owned()
        }),
        ("worktree with relative names", |repo| {
            repo.git(&["worktree", "add", "-q", "../linked"]);
            repo.write("../linked/.git", "gitdir: ../project/.git/worktrees/linked\n");
            repo.write(".git/worktrees/linked/gitdir", "../../../../linked/.git\n");
            "../linked".to_owned()
        }),
        ("worktree of a bare repository", |repo| {
            repo.git(&["clone", "-q", "--bare", ".", "../bare.git"]);
            repo.git(&["-C", "../bare.git", "worktree", "add", "-q", "../linked", "-b", "linked"]);
            "../linked".to_owned()
        }),
        ("commondir that names its own directory", |repo| {
            repo.write(".git/commondir", ".\n");
            ".".to_owned()
        }),
        ("symbolic link", |repo| {
            fs::rename(repo.project.join(".git"), repo.project.join("../moved")).unwrap();
            std::os::unix::fs::symlink("../moved", repo.project.join(".git")).unwrap();
            // So that the repository knows where its files are: anybody can make a link to it.
            repo.git(&["config", "core.worktree", repo.project.to_str().unwrap()]);
            ".".to_owned()
        }),
        ("submodule", |repo| {
            repo.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "./.", "sub"]);
            "sub".to_owned()
        }),
        ("subdirectory", |repo| {
            fs::create_dir(repo.project.join("deep")).unwrap();
            "deep".to_owned()
        }),
    ];
    for (name, prepare) in cases {
        let Some(repo) = Repo::new() else { return };
        let workspace = repo.project.join(prepare(&repo)).canonicalize().unwrap();
        let agent = Agent::new(HooksConfig { workspace: workspace.clone(), ..repo.config() });
        agent.change("new.rs", Some("new\n"));
        let report = agent.finish(&["new.rs"]);
        assert!(report.commit.is_some(), "{name}: {report:?}");
        let at = workspace.to_string_lossy().into_owned();
        assert_eq!(repo.git(&["-C", &at, "log", "-1", "--format=%s", "--", "new.rs"]), "fix: fix it\n", "{name}");
        assert_eq!(repo.git(&["-C", &at, "status", "--porcelain", "--", "new.rs"]), "", "{name}");
        assert!(agent.check(&[]).commits.is_empty(), "{name}: its own commit is not news");
    }
}

#[test]
fn a_file_below_an_empty_submodule_is_left_out() {
    let Some(repo) = Repo::new() else { return };
    let head = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},sub", head.trim())]);
    repo.git(&["commit", "-qm", "submodule"]);
    let agent = repo.agent();
    agent.change("sub/x.rs", Some("x\n"));
    let report = agent.finish(&["sub/x.rs"]);
    assert!(report.commit.is_none() && report.notes[0].contains("submodule"), "{report:?}");
}

#[test]
fn references_in_tables_work_too() {
    let Some(repo) = Repo::none() else { return };
    if !repo.try_git(&["init", "-q", "--ref-format=reftable"]).0 {
        println!("SKIPPED: this git has no reftable");
        return;
    }
    repo.write("a.rs", "a\n");
    repo.git(&["add", "."]);
    repo.git(&["commit", "-qm", "first"]);
    let agent = repo.agent();
    agent.change("a.rs", Some("a2\n"));
    repo.git(&["commit", "-q", "--allow-empty", "-m", "by the user"]);
    let report = agent.check(&["a.rs"]);
    assert_eq!(report.commits.iter().map(|commit| commit.subject.as_str()).collect::<Vec<_>>(), ["by the user"]);
    assert!(agent.try_commit(&["a.rs"]).unwrap().commit.is_some());
    assert_eq!(repo.last_commit(), "fix: fix it\nM\ta.rs\n");
    assert!(agent.check(&[]).commits.is_empty());
}

#[test]
fn a_broken_index_or_repository_is_an_error_and_stays_as_it_is() {
    for (file, content) in [("index", "garbage"), ("config", "[core\n"), ("refs/heads/main", "garbage\n")] {
        let Some(repo) = Repo::new() else { return };
        let path = repo.project.join(".git").join(file);
        let agent = repo.agent();
        agent.change("a.rs", Some("a2\n"));
        fs::write(&path, content).unwrap();
        agent.check(&["a.rs"]);
        let error = agent.try_commit(&["a.rs"]).unwrap_err().to_string();
        assert!(error.contains("git"), "{error}");
        assert_eq!(fs::read_to_string(path).unwrap(), content, "{error}");
        assert!(!repo.project.join(".git/index.lock").exists(), "{file}");
    }
}

#[test]
fn another_working_tree_in_the_configuration_is_refused() {
    let Some(repo) = Repo::new() else { return };
    let agent = repo.agent();
    agent.change("a.rs", Some("a2\n"));
    repo.git(&["config", "core.worktree", repo.home().to_str().unwrap()]);
    let error = agent.try_commit(&["a.rs"]).unwrap_err().to_string();
    assert!(error.contains("git uses"), "{error}");
}

/// The runner's environment should be clean. Where it is not, the commit does not go to the other repository.
#[test]
fn another_repository_in_the_environment_is_refused() {
    let (Some(repo), Some(other)) = (Repo::new(), Repo::new()) else {
        return;
    };
    let head = other.git(&["rev-parse", "HEAD"]);
    let git_dir = other.project.join(".git").to_string_lossy().into_owned();
    let runner = TestRunner { leaked: vec![("GIT_DIR".to_owned(), git_dir)], ..TestRunner::default() };
    let agent = Agent::with_runner(repo.config(), runner);
    agent.change("a.rs", Some("a2\n"));
    let error = agent.try_commit(&["a.rs"]).unwrap_err().to_string();
    assert!(error.contains("git uses"), "{error}");
    assert_eq!(other.git(&["rev-parse", "HEAD"]), head);
}

/// Needs the right to give a file away, so it runs where the tests run as root; elsewhere it says that it did not.
#[test]
fn a_repository_of_somebody_else_is_left_alone() {
    let Some(repo) = Repo::new() else { return };
    let agent = repo.agent();
    agent.change("a.rs", Some("a2\n"));
    let given =
        [".", ".git"].iter().all(|path| std::os::unix::fs::chown(repo.project.join(path), Some(65_534), None).is_ok());
    if !given {
        println!("SKIPPED: not allowed to change owners");
        return;
    }
    let report = agent.try_commit(&["a.rs"]).unwrap();
    assert!(report.commit.is_none() && report.notes[0].contains("belongs to another user"), "{report:?}");
}

#[test]
fn a_cancelled_commit_changes_nothing() {
    let Some(repo) = Repo::new() else { return };
    let head = repo.git(&["rev-parse", "HEAD"]);
    let agent = repo.agent();
    agent.change("a.rs", Some("a2\n"));
    let error = wait(agent.hooks.commit(&changes(&["a.rs"]), &Signal(true))).unwrap_err();
    assert!(error.to_string().contains("cancelled"), "{error}");
    assert_eq!(repo.git(&["rev-parse", "HEAD"]), head);
    assert!(!repo.project.join(".git/index.lock").exists());
}

#[test]
fn paths_outside_are_left_out() {
    let Some(repo) = Repo::new() else { return };
    let agent = repo.agent();
    fs::write(repo.directory.path().join("x.rs"), "x").unwrap();
    let report = agent.check(&["../x.rs", "/etc/passwd", ".git/config"]);
    assert!(!report.commit_due && report.notes.len() == 3, "{report:?}");
    assert!(Path::new("/etc/passwd").exists());
}

#[test]
fn a_device_in_place_of_packed_references_is_not_read() {
    let Some(repo) = Repo::new() else { return };
    let branch = fs::read_to_string(repo.project.join(".git/HEAD")).unwrap();
    let reference = branch.trim().strip_prefix("ref: ").unwrap().to_owned();
    fs::remove_file(repo.project.join(".git").join(reference)).unwrap();
    std::os::unix::fs::symlink("/dev/zero", repo.project.join(".git/packed-refs")).unwrap();
    // Reading it would take all memory; the time-out of the test runner would be the only end.
    let agent = repo.agent();
    let report = wait(agent.hooks.check_git(&changes(&[]), &Signal(false)));
    assert!(report.is_err() || report.is_ok_and(|report| report.commits.is_empty()));
}

/// A configuration that says nothing, and one that says where nobody looks first.
#[test]
fn a_repository_with_little_configuration_is_committed_to() {
    for config in ["", "[core]\n\tbare\n\tbare = false\n", "[user]\n\tname = \"~/tilde\"\n"] {
        let Some(repo) = Repo::new() else { return };
        fs::write(repo.project.join(".git/config"), config).unwrap();
        let agent = repo.agent();
        agent.change("a.rs", Some("a2\n"));
        let report = agent.finish(&["a.rs"]);
        assert!(report.commit.is_some() && report.notes.is_empty(), "{config}: {report:?}");
        assert_eq!(repo.git(&["status", "--porcelain"]), "");
    }
}
