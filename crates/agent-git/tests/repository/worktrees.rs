//! Worktrees for agents: made of a commit without running anything, removed when nothing was changed, and known again after a kill.

use crate::support::{Agent, Repo, Signal, TestRunner, files, wait};
use agent_git::{HooksConfig, WorktreeLeft, WorktreePlace};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

fn place(repo: &Repo) -> WorktreePlace {
    let root = repo.directory.path().canonicalize().unwrap();
    WorktreePlace { folder: root.join("trees/s.1"), branch: "agent/s.1".to_owned() }
}

/// Makes a worktree; where the agent works in it.
fn made(agent: &Agent, place: &WorktreePlace) -> Result<PathBuf, String> {
    let head = wait(agent.hooks.head(&Signal(false)))?;
    wait(agent.hooks.make_worktree(&*agent.runner, place, &head, &Signal(false)))?;
    agent.hooks.in_worktree(place)
}

fn clear(agent: &Agent, place: &WorktreePlace) -> WorktreeLeft {
    wait(agent.hooks.clear_worktree(&*agent.runner, place, &Signal(false)))
}

fn has_branch(repo: &Repo) -> bool {
    repo.git(&["branch", "--list", "agent/*"]).contains("agent/s.1")
}

/// Neither folder nor branch nor record.
fn is_gone(repo: &Repo, place: &WorktreePlace) -> bool {
    !place.folder.exists() && !has_branch(repo) && repo.git(&["worktree", "list"]).lines().count() == 1
}

fn unknown(left: WorktreeLeft) -> String {
    let WorktreeLeft::Unknown(found) = left else { panic!("{left:?}") };
    found
}

#[test]
fn one_without_changes_leaves_nothing_behind() {
    let Some(repo) = Repo::new() else { return };
    repo.write("a.rs", "the user's own\n");
    repo.write("new.rs", "new\n");
    let (before, status) = (files(&repo.project), repo.git(&["status", "--porcelain"]));
    let (agent, place) = (repo.agent(), place(&repo));
    let tree = made(&agent, &place).unwrap();
    assert_eq!(fs::read_to_string(tree.join("a.rs")).unwrap(), "a\n", "it is as the last commit");
    assert!(!tree.join("new.rs").exists());
    assert_eq!(repo.git(&["-C", tree.to_str().unwrap(), "status", "--porcelain"]), "");
    assert_eq!(repo.git(&["-C", tree.to_str().unwrap(), "branch", "--show-current"]), "agent/s.1\n");
    // What git ignores is no change.
    fs::write(repo.project.join(".git/info/exclude"), "target\n").unwrap();
    fs::create_dir(tree.join("target")).unwrap();
    fs::write(tree.join("target/built"), "built\n").unwrap();
    assert_eq!(clear(&agent, &place), WorktreeLeft::Nothing);
    assert!(is_gone(&repo, &place));
    assert_eq!(clear(&agent, &place), WorktreeLeft::Nothing, "asked again");
    assert_eq!((files(&repo.project), repo.git(&["status", "--porcelain"])), (before, status));
}

#[test]
fn what_was_changed_is_kept_on_its_branch_and_can_be_merged() {
    let Some(repo) = Repo::new() else { return };
    let (agent, place) = (repo.agent(), place(&repo));
    let tree = made(&agent, &place).unwrap();
    let below = Agent::new(HooksConfig { workspace: tree.clone(), ..repo.config() });
    below.change("a.rs", Some("changed\n"));
    assert!(below.finish(&["a.rs"]).commit.is_some());
    let kept = |commits, has_uncommitted| WorktreeLeft::Changes {
        path: tree.clone(),
        branch: "agent/s.1".to_owned(),
        commits,
        has_uncommitted,
    };
    assert_eq!(clear(&agent, &place), kept(1, false));
    fs::write(tree.join("by a command"), "x\n").unwrap();
    assert_eq!(clear(&agent, &place), kept(1, true), "asked again");
    assert_eq!(repo.read("a.rs"), "a\n");
    repo.git(&["merge", "-q", "agent/s.1"]);
    assert_eq!(repo.read("a.rs"), "changed\n");
    // The user's git removes it as any other.
    repo.git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);
}

#[test]
fn a_file_in_no_commit_is_a_change() {
    let Some(repo) = Repo::new() else { return };
    let (agent, place) = (repo.agent(), place(&repo));
    let tree = made(&agent, &place).unwrap();
    fs::write(tree.join("notes"), "x\n").unwrap();
    let WorktreeLeft::Changes { commits: 0, has_uncommitted: true, .. } = clear(&agent, &place) else { panic!() };
    assert!(tree.join("notes").exists());
    // Another session's begin does not take it away.
    assert!(made(&agent, &place).unwrap_err().contains("changes"));
    assert!(tree.join("notes").exists());
}

#[test]
fn nothing_that_a_repository_names_is_run() {
    let Some(repo) = Repo::new() else { return };
    let marker = repo.directory.path().join("ran");
    let (ran, git) = (format!("touch {}; cat", marker.display()), repo.project.join(".git"));
    repo.write(".gitattributes", "*.rs filter=evil\n*.sh filter=e.v=il\n");
    repo.git(&["add", "."]);
    repo.git(&["commit", "-qm", "attributes"]);
    // Also by a file that is read on that branch alone, and with a name that no option of git could carry.
    fs::write(
        git.join("more"),
        format!("[filter \"e.v=il\"]\nsmudge = \"{ran}\"\nclean = \"{ran}\"\nrequired = true\n"),
    )
    .unwrap();
    let more = git.join("more");
    repo.git(&["config", "includeIf.onbranch:agent/**.path", more.to_str().unwrap()]);
    repo.git(&["config", "filter.evil.smudge", &ran]);
    repo.git(&["config", "filter.evil.clean", &ran]);
    repo.git(&["config", "filter.evil.required", "true"]);
    fs::create_dir_all(git.join("hooks")).unwrap();
    for hook in ["post-checkout", "reference-transaction"] {
        let file = git.join("hooks").join(hook);
        fs::write(&file, format!("#!/bin/sh\ntouch {}\n", marker.display())).unwrap();
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let (agent, place) = (repo.agent(), place(&repo));
    let tree = made(&agent, &place).unwrap();
    assert_eq!(fs::read_to_string(tree.join("run.sh")).unwrap(), "#!/bin/sh\n");
    // Another time: git has to look into the file.
    fs::write(tree.join("a.rs"), "a\n").unwrap();
    fs::write(tree.join("run.sh"), "#!/bin/sh\n").unwrap();
    assert_eq!(clear(&agent, &place), WorktreeLeft::Nothing);
    assert!(!marker.exists());
    // The control: the user's git runs them.
    repo.git(&["worktree", "add", "-q", "-b", "agent/control", place.folder.to_str().unwrap()]);
    assert!(marker.exists());
}

/// A runner that dies at a call of git, as a program that is killed.
fn dying(at: usize) -> TestRunner {
    let count = AtomicUsize::new(0);
    let before = move |_: &[String]| {
        assert!(count.fetch_add(1, Ordering::SeqCst) < at, "killed");
    };
    TestRunner { before: Some(Box::new(before)), ..TestRunner::default() }
}

#[test]
fn a_kill_at_any_call_of_git_leaves_nothing_that_the_next_program_does_not_take_away() {
    let Some(repo) = Repo::new() else { return };
    let place = place(&repo);
    let mut deaths = 0;
    for at in 0..60 {
        let killed = Agent::with_runner(repo.config(), dying(at));
        let all = catch_unwind(AssertUnwindSafe(|| {
            let tree = made(&killed, &place).unwrap();
            assert_eq!(clear(&killed, &place), WorktreeLeft::Nothing);
            tree
        }));
        deaths += usize::from(all.is_err());
        let agent = repo.agent();
        // What a killed begin left is no obstacle for the next, and neither is a killed look through.
        if at % 2 == 0 {
            made(&agent, &place).unwrap();
        }
        assert_eq!(clear(&agent, &place), WorktreeLeft::Nothing, "killed at {at}");
        assert!(is_gone(&repo, &place), "killed at {at}");
        if all.is_ok() {
            assert!(deaths > 8, "{deaths}");
            return;
        }
    }
    panic!("it takes more calls than that");
}

#[test]
fn one_that_is_removed_meanwhile_is_an_answer() {
    let Some(repo) = Repo::new() else { return };
    let (agent, place) = (repo.agent(), place(&repo));
    let with_commit = || {
        let tree = made(&agent, &place).unwrap();
        let in_tree = |arguments: &[&str]| repo.git(&[&["-C", tree.to_str().unwrap()], arguments].concat());
        in_tree(&["commit", "-q", "--allow-empty", "-m", "work"]);
        tree
    };
    let forget = || {
        // It is not locked any more: git forgets it.
        repo.git(&["worktree", "prune"]);
        repo.git(&["branch", "-D", "agent/s.1"]);
        let _ = fs::remove_dir_all(&place.folder);
    };
    // The directory.
    let tree = with_commit();
    fs::remove_dir_all(&tree).unwrap();
    let found = unknown(clear(&agent, &place));
    assert!(found.contains("was removed") && found.contains("agent/s.1"), "{found}");
    assert!(has_branch(&repo), "its commit is kept");
    forget();
    // The whole folder.
    with_commit();
    fs::remove_dir_all(&place.folder).unwrap();
    assert!(unknown(clear(&agent, &place)).contains("was removed"));
    assert!(has_branch(&repo), "its commit is kept");
    forget();
    // With git.
    let tree = with_commit();
    repo.git(&["worktree", "remove", "--force", "--force", tree.to_str().unwrap()]);
    assert!(unknown(clear(&agent, &place)).contains("was removed"));
    assert!(has_branch(&repo), "its commit is kept");
    repo.git(&["branch", "-D", "agent/s.1"]);
    fs::remove_dir_all(&place.folder).unwrap();
    // Without a commit nothing of it is worth keeping.
    let tree = made(&agent, &place).unwrap();
    fs::remove_dir_all(&tree).unwrap();
    assert!(unknown(clear(&agent, &place)).contains("was removed"));
    assert!(is_gone(&repo, &place));
}

#[test]
fn one_whose_git_leads_elsewhere_is_not_looked_into() {
    let Some(repo) = Repo::new() else { return };
    let (agent, place) = (repo.agent(), place(&repo));
    let tree = made(&agent, &place).unwrap();
    let other = repo.directory.path().join("other");
    repo.git(&["init", "-q", other.to_str().unwrap()]);
    fs::write(tree.join(".git"), format!("gitdir: {}\n", other.join(".git").display())).unwrap();
    let calls = agent.processes();
    assert!(unknown(clear(&agent, &place)).contains("another repository"));
    assert!(tree.exists());
    let inside = agent.runner.calls.lock().unwrap()[calls..].iter().any(|call| call.contains(&"status".to_owned()));
    assert!(!inside);
}

#[test]
fn where_none_can_be_made_the_reason_is_said_and_nothing_is_left() {
    let Some(bare) = Repo::none() else { return };
    let spot = place(&bare);
    assert!(made(&bare.agent(), &spot).unwrap_err().contains("not a git repository"));
    let unborn = Repo::unborn().unwrap();
    let spot = place(&unborn);
    assert!(made(&unborn.agent(), &spot).unwrap_err().contains("no commit"));
    assert!(!spot.folder.exists());

    let repo = Repo::new().unwrap();
    let spot = place(&repo);
    // In a directory that is in no commit.
    repo.write("new/x", "x\n");
    let agent = Agent::new(HooksConfig { workspace: repo.project.join("new"), ..repo.config() });
    assert!(made(&agent, &spot).unwrap_err().contains("in no commit"));
    assert!(is_gone(&repo, &spot));
    // Somebody has such a branch.
    repo.git(&["branch", "agent/s.1"]);
    let head = repo.git(&["rev-parse", "agent/s.1"]);
    assert!(made(&repo.agent(), &spot).unwrap_err().contains("agent/s.1"));
    assert_eq!(repo.git(&["rev-parse", "agent/s.1"]), head, "it is not ours");
    assert!(!spot.folder.exists());
    repo.git(&["branch", "-D", "agent/s.1"]);
    // A file is in the way of the folder.
    fs::remove_dir_all(repo.directory.path().join("trees")).unwrap();
    fs::write(repo.directory.path().join("trees"), "x").unwrap();
    assert!(made(&repo.agent(), &spot).is_err());
    fs::remove_file(repo.directory.path().join("trees")).unwrap();
    // Stopped.
    let agent = repo.agent();
    let head = wait(agent.hooks.head(&Signal(false))).unwrap();
    let stopped = wait(agent.hooks.make_worktree(&*agent.runner, &spot, &head, &Signal(true)));
    assert!(stopped.unwrap_err().contains("cancelled"));
    assert_eq!(clear(&agent, &spot), WorktreeLeft::Nothing);
    assert!(is_gone(&repo, &spot));
}

#[test]
fn an_agent_in_a_directory_below_works_in_the_same_directory_of_the_worktree() {
    let Some(repo) = Repo::new() else { return };
    repo.write("sub/b.rs", "b\n");
    repo.git(&["add", "."]);
    repo.git(&["commit", "-qm", "below"]);
    let (agent, place) =
        (Agent::new(HooksConfig { workspace: repo.project.join("sub"), ..repo.config() }), place(&repo));
    let workspace = made(&agent, &place).unwrap();
    assert!(workspace.ends_with("project/sub") && workspace.join("b.rs").exists());
    assert_eq!(clear(&agent, &place), WorktreeLeft::Nothing);
}

/// In the commit, the directory in which the agent works may be a link to anywhere.
#[test]
fn a_directory_that_is_a_link_in_the_commit_is_no_place_to_work() {
    let Some(repo) = Repo::new() else { return };
    let elsewhere = repo.directory.path().join("elsewhere");
    fs::create_dir_all(elsewhere.join("below")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, repo.project.join("sub")).unwrap();
    repo.git(&["add", "sub"]);
    repo.git(&["commit", "-qm", "a link"]);
    fs::remove_file(repo.project.join("sub")).unwrap();
    fs::create_dir_all(repo.project.join("sub/below")).unwrap();
    for below in ["sub", "sub/below"] {
        let agent =
            Agent::new(HooksConfig { workspace: repo.project.join(below).canonicalize().unwrap(), ..repo.config() });
        let why = made(&agent, &place(&repo)).unwrap_err();
        assert!(why.contains("is no directory in the commit, but a link"), "{below}: {why}");
        assert!(is_gone(&repo, &place(&repo)), "{below}");
    }
    let agent = repo.agent();
    assert!(made(&agent, &place(&repo)).is_ok(), "the control");
}

/// Git says nothing of files in the directory of a submodule that is not checked out.
#[test]
fn what_lies_where_a_submodule_belongs_is_kept() {
    let Some(repo) = Repo::new() else { return };
    let commit = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},sm", commit.trim())]);
    repo.git(&["commit", "-qm", "a submodule"]);
    let (agent, place) = (repo.agent(), place(&repo));
    made(&agent, &place).unwrap();
    assert_eq!(clear(&agent, &place), WorktreeLeft::Nothing, "the control");
    let tree = made(&agent, &place).unwrap();
    fs::write(tree.join("sm/work.txt"), "work\n").unwrap();
    let left = clear(&agent, &place);
    assert!(matches!(left, WorktreeLeft::Changes { has_uncommitted: true, .. }), "{left:?}");
    assert!(tree.join("sm/work.txt").exists());
}

#[test]
fn one_that_somebody_moved_aside_stays() {
    let Some(repo) = Repo::new() else { return };
    let (agent, place) = (repo.agent(), place(&repo));
    let tree = made(&agent, &place).unwrap();
    fs::write(tree.join("u"), "work\n").unwrap();
    let aside = place.folder.join("aside");
    fs::rename(&tree, &aside).unwrap();
    let why = unknown(clear(&agent, &place));
    assert!(why.contains("other things are in"), "{why}");
    assert_eq!(fs::read_to_string(aside.join("u")).unwrap(), "work\n");
    // It is not locked: the user's git can move it back, or forget it.
    fs::rename(&aside, &tree).unwrap();
    repo.git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);
}

/// The note beside a worktree has a name, too.
#[test]
fn a_repository_may_be_called_as_the_note() {
    let Some(repo) = Repo::new() else { return };
    let project = repo.project.with_file_name("state");
    fs::rename(&repo.project, &project).unwrap();
    let agent = Agent::new(HooksConfig { workspace: project.clone(), ..repo.config() });
    let tree = made(&agent, &place(&repo)).unwrap();
    assert!(tree.join("a.rs").exists());
    assert_eq!(clear(&agent, &place(&repo)), WorktreeLeft::Nothing);
    fs::rename(&project, &repo.project).unwrap();
    assert!(is_gone(&repo, &place(&repo)));
}

/// What a child does in its worktree, and what the answer says of why it stays.
#[test]
fn what_git_says_nothing_of_is_kept() {
    let nested = "cd sub && git init -q && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m work";
    let detached = "git checkout -q --detach && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m work \
        && git checkout -q agent/s.1";
    for (script, why) in [
        (nested, "has a repository of its own"),
        (detached, "commits on no branch"),
        ("git update-index --assume-unchanged a.rs && echo work > a.rs", "git is told to look at no change of a.rs"),
        ("git update-index --skip-worktree a.rs && echo work > a.rs", "git is told to look at no change of a.rs"),
    ] {
        let Some(repo) = Repo::new() else { return };
        repo.write("sub/b.rs", "b\n");
        repo.git(&["add", "."]);
        repo.git(&["commit", "-qm", "below"]);
        let (agent, place) = (repo.agent(), place(&repo));
        let tree = made(&agent, &place).unwrap();
        sh(&tree, script);
        let before = files(&tree);
        for _ in 0..2 {
            let found = unknown(clear(&agent, &place));
            assert!(found.contains("it may have changes, so it stays") && found.contains(why), "{script}: {found}");
        }
        assert_eq!(files(&tree), before, "{script}");
        assert!(has_branch(&repo) && tree.join(".git").exists(), "{script}");
        // It is the user's: git removes it.
        repo.git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);
    }
}

/// The control of what is doubted: these lose nothing.
#[test]
fn what_others_keep_is_no_reason_to_stay() {
    for script in [
        // What git ignores is not kept, whatever is in it.
        "mkdir -p target/x && git init -q target/x && mkdir target/y && chmod 000 target/y",
        "git checkout -q --detach HEAD~1 && git checkout -q agent/s.1",
        "git checkout -q -b other && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m work && git checkout -q agent/s.1",
    ] {
        let Some(repo) = Repo::new() else { return };
        repo.write(".gitignore", "target\n");
        repo.git(&["add", "."]);
        repo.git(&["commit", "-qm", "second"]);
        let (agent, place) = (repo.agent(), place(&repo));
        let tree = made(&agent, &place).unwrap();
        sh(&tree, script);
        assert_eq!(clear(&agent, &place), WorktreeLeft::Nothing, "{script}");
        assert!(is_gone(&repo, &place), "{script}");
    }
}

fn sh(directory: &Path, script: &str) {
    let mut command = Command::new("sh");
    command.args(["-ec", script]).current_dir(directory).env("GIT_CONFIG_GLOBAL", "/dev/null");
    assert!(command.status().unwrap().success(), "{script}");
}

/// The tests below in a process of an ordinary user: to root every directory is open.
#[test]
fn an_ordinary_users_worktrees_are_kept_or_removed_as_a_whole() {
    if !rustix::process::geteuid().is_root() {
        return as_an_ordinary_user();
    }
    let program = std::env::temp_dir().join(format!("agent-git-tests-{}", std::process::id()));
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let directory = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(directory.path(), Some(USER), Some(USER)).unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--reuid", &USER.to_string(), "--regid", &USER.to_string(), "--clear-groups"]).arg(&program);
    command.args(["--exact", "worktrees::inside_as_an_ordinary_user", "--ignored", "--nocapture"]);
    let output = command.env("TMPDIR", directory.path()).current_dir("/").output();
    fs::remove_file(&program).unwrap();
    let Ok(output) = output else { return println!("SKIPPED: there is no `setpriv`") };
    let text = format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "run by the test above, as an ordinary user"]
fn inside_as_an_ordinary_user() {
    as_an_ordinary_user();
}

fn as_an_ordinary_user() {
    let Some(repo) = Repo::new() else { return };
    repo.write(".gitignore", "cache\n");
    repo.git(&["add", "."]);
    repo.git(&["commit", "-qm", "ignores"]);
    let (agent, place) = (repo.agent(), place(&repo));
    // Work that git does not see.
    let tree = made(&agent, &place).unwrap();
    sh(&tree, "mkdir d; echo work > d/f; chmod 000 d");
    let found = unknown(clear(&agent, &place));
    assert!(found.contains("so it stays") && found.contains("/d cannot be looked into"), "{found}");
    sh(&tree, "chmod 700 d");
    assert_eq!(fs::read_to_string(tree.join("d/f")).unwrap(), "work\n");
    repo.git(&["worktree", "remove", "--force", tree.to_str().unwrap()]);
    repo.git(&["branch", "-D", "agent/s.1"]);
    fs::remove_dir_all(&place.folder).unwrap();
    // What git ignores, where nothing may be changed.
    let tree = made(&agent, &place).unwrap();
    sh(
        &tree,
        "mkdir -p cache/a/b; echo x > cache/a/b/x; chmod 444 cache/a/b/x; chmod 555 cache/a/b cache/a cache; chmod 555 .",
    );
    assert_eq!(clear(&agent, &place), WorktreeLeft::Nothing);
    assert!(is_gone(&repo, &place));
}

/// What is ignored in it lies in a directory from which nothing can be removed: all of the worktree stays.
#[test]
fn a_worktree_that_cannot_be_removed_stays_whole() {
    if !rustix::process::geteuid().is_root() {
        return println!("SKIPPED: only root can make such a directory");
    }
    let Some(repo) = Repo::new() else { return };
    repo.write(".gitignore", "cache\n");
    repo.git(&["add", "."]);
    repo.git(&["commit", "-qm", "ignores"]);
    let (agent, place) = (repo.agent(), place(&repo));
    let tree = made(&agent, &place).unwrap();
    sh(&tree, "mkdir -p cache; echo x > cache/x");
    if !Command::new("chattr")
        .args(["+i", tree.join("cache").to_str().unwrap()])
        .status()
        .is_ok_and(|status| status.success())
    {
        return println!("SKIPPED: `chattr +i` does nothing here");
    }
    let before = files(&tree);
    let left = clear(&agent, &place);
    Command::new("chattr").args(["-i", tree.join("cache").to_str().unwrap()]).status().unwrap();
    assert_eq!(files(&tree), before);
    let found = unknown(left);
    assert!(found.contains("nothing was changed in it, but it stays: cannot remove"), "{found}");
    assert!(tree.join(".git").exists() && has_branch(&repo));
    assert_eq!(clear(&agent, &place), WorktreeLeft::Nothing, "asked again");
    assert!(is_gone(&repo, &place));
}

/// Git makes the branch before the worktree.
#[test]
fn a_branch_without_a_worktree_is_taken_away_if_nothing_was_committed() {
    let Some(repo) = Repo::new() else { return };
    let (agent, place) = (repo.agent(), place(&repo));
    let head = repo.git(&["rev-parse", "HEAD"]);
    let killed = || {
        fs::create_dir_all(&place.folder).unwrap();
        fs::write(place.folder.join("state"), format!("making {head}")).unwrap();
        repo.git(&["branch", "agent/s.1"]);
        fs::write(repo.project.join(".git/refs/heads/agent/s.1.lock"), "").unwrap();
    };
    killed();
    made(&agent, &place).unwrap();
    assert_eq!(clear(&agent, &place), WorktreeLeft::Nothing);
    killed();
    assert_eq!(clear(&agent, &place), WorktreeLeft::Nothing);
    assert!(is_gone(&repo, &place));
    // Somebody has used it since.
    killed();
    fs::remove_file(repo.project.join(".git/refs/heads/agent/s.1.lock")).unwrap();
    let commit = repo.git(&["commit-tree", "-m", "theirs", "-p", "HEAD", "HEAD^{tree}"]);
    repo.git(&["update-ref", "refs/heads/agent/s.1", commit.trim()]);
    assert_eq!(clear(&agent, &place), WorktreeLeft::Nothing);
    assert_eq!(repo.git(&["rev-parse", "agent/s.1"]), commit, "it has a commit of its own");
    let why = made(&agent, &place).unwrap_err();
    assert!(why.contains("a branch `agent/s.1` is there already") && why.contains("git branch -m"), "{why}");
    assert_eq!(repo.git(&["rev-parse", "agent/s.1"]), commit);
}

#[test]
fn a_branch_with_the_name_of_the_folder_of_branches_is_named() {
    let Some(repo) = Repo::new() else { return };
    repo.git(&["branch", "agent"]);
    let (agent, place) = (repo.agent(), place(&repo));
    let why = made(&agent, &place).unwrap_err();
    assert!(why.contains("the branch `agent` is in the way") && why.contains("git branch -m agent NAME"), "{why}");
    assert!(!place.folder.exists());
    repo.git(&["branch", "-m", "agent", "robots"]);
    made(&agent, &place).unwrap();
}

/// Nobody.
const USER: u32 = 65_534;
