//! Commands in a sandbox: those that only read, and those that ask to have it opened. Each attack succeeds where nothing holds it.

use crate::support::Bench;
use agent_exec::{Access, Environment, Helper, Mechanism, Policy, Processes, Sandbox, SearchPath};
use agent_tools::{Workspace, standard_tools};
use agent_types::tool::{Door, Effect, Subject, ToolStatus, Walls};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A workspace whose commands run in a sandbox, with a repository in it, a directory beside it and a hidden one.
pub(crate) struct Walled {
    pub(crate) bench: Bench,
    pub(crate) mechanism: Mechanism,
}

/// Every mechanism that works here; says which do not.
#[expect(clippy::print_stdout, reason = "what was skipped is said")]
pub(crate) fn everywhere(access: Access) -> Vec<Walled> {
    let mechanisms = [Mechanism::Bubblewrap, Mechanism::Landlock];
    let made = mechanisms.map(|mechanism| walled(mechanism, access).map_err(|why| println!("skipped: {why}")));
    made.into_iter().flatten().collect()
}

fn walled(mechanism: Mechanism, access: Access) -> Result<Walled, String> {
    // Not below `/tmp`, which a sandbox has for itself.
    let outside = tempfile::tempdir_in("/var/tmp").unwrap();
    let base = outside.path().canonicalize().unwrap();
    let root = base.join("repo");
    for directory in ["repo/bin", "beside", "hidden"] {
        fs::create_dir_all(base.join(directory)).unwrap();
    }
    fs::write(base.join("hidden/key"), "hidden words\n").unwrap();
    git(&root, &["init", "-q", "-b", "main"]);
    fs::write(root.join("file"), "one\ntwo\nthree\n").unwrap();
    git(&root, &["add", "."]);
    git(&root, &["commit", "-qm", "first"]);
    // What the workspace has on the search path comes first.
    for name in ["ls", "cat", "git", "true"] {
        let planted = root.join("bin").join(name);
        fs::write(&planted, "#!/bin/sh\necho planted\n").unwrap();
        fs::set_permissions(&planted, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", root.join("bin").display(), std::env::var("PATH").unwrap());
    let variables = [("PATH", path.clone()), ("HOME", base.join("home").display().to_string())];
    let environment = Environment::filtered(variables.map(|(name, value)| (name.into(), value.into())));
    let policy = Policy {
        access,
        workspace: root.clone(),
        protected: vec![root.join(".git"), root.join("nested/.git"), root.join(".agent")],
        kept: vec![root.join(".git")],
        placeholders: Vec::new(),
        writable: Vec::new(),
        hidden: vec![base.join("hidden")],
        readable: Vec::new(),
    };
    let test = std::env::current_exe().unwrap();
    let helper = test.parent().unwrap().parent().unwrap().join("examples/sandbox_helper");
    assert!(helper.exists(), "{}: a plain `cargo test -p agent-tools` builds it", helper.display());
    let sandbox = Sandbox::with(mechanism, policy, Helper::program(helper, Vec::new()), &Environment::inherited())?;
    let programs = SearchPath::outside(Some(path.as_ref()), [&root]);
    let processes = Processes::with_environment(environment).finding_programs(programs).in_sandbox(sandbox);
    let mut bench = Bench::of(outside, root.clone(), Workspace::open(&root).unwrap());
    bench.tools = standard_tools(&bench.workspace, processes);
    Ok(Walled { bench, mechanism })
}

pub(crate) fn git(root: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(root).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments);
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

impl Walled {
    pub(crate) fn root(&self) -> PathBuf {
        self.bench.root.clone()
    }

    pub(crate) fn base(&self) -> PathBuf {
        self.root().parent().unwrap().to_path_buf()
    }

    pub(crate) fn walls(&self, arguments: &Value) -> Walls {
        match self.bench.inspect("bash", arguments).unwrap().subject {
            Subject::Command { walls, .. } => walls,
            other => panic!("{other:?}"),
        }
    }

    fn effect(&self, arguments: &Value) -> Effect {
        self.bench.inspect("bash", arguments).unwrap().effect
    }

    pub(crate) fn refused(&self, sandbox: &Value, command: &str) -> String {
        let arguments = json!({"command": command, "sandbox": sandbox});
        self.bench.inspect("bash", &arguments).map_or_else(|error| error, |found| panic!("{arguments}: {found:?}"))
    }

    pub(crate) async fn run(&self, arguments: Value) -> (ToolStatus, String) {
        let outcome = self.bench.call("bash", arguments).await;
        (outcome.status, outcome.content)
    }
}

/// Passes over what the workspace has on the search path.
const REAL: &str = "PATH=${PATH#*:}";

pub(crate) fn asking(command: &str, door: &Value) -> Value {
    let mut sandbox = door.clone();
    sandbox["reason"] = json!("it is needed");
    json!({"command": command, "sandbox": sandbox})
}

#[tokio::test]
async fn a_command_that_only_reads_is_held_to_reading() {
    for walled in everywhere(Access::WorkspaceWrite) {
        let (mechanism, bench) = (walled.mechanism, &walled.bench);
        for command in ["cat file | head -1", "git status -s", "git log --oneline", "find . -name file", "cd bin && ls"]
        {
            let arguments = json!({"command": command});
            assert!(matches!(walled.walls(&arguments), Walls::Reading { .. }), "{mechanism:?}: {command}");
            assert_eq!(walled.effect(&arguments), Effect::Reads, "{mechanism:?}: {command}");
            let (status, text) = walled.run(arguments).await;
            assert_eq!(status, ToolStatus::Ok, "{mechanism:?}: {command}: {text}");
            assert!(!text.contains("planted"), "{mechanism:?}: {command} ran the workspace's own program: {text}");
        }
        for command in ["rm file", "ls > x", "ls *", "git commit -m x", "./bin/ls", "bin/ls", "cat $HOME/x", "X=1 ls"] {
            let arguments = json!({"command": command});
            assert_eq!(
                (walled.effect(&arguments), walled.walls(&arguments)),
                (Effect::Changes, Walls::Usual),
                "{command}"
            );
        }
        // As long as somebody waits for it, and not for long.
        for more in [json!({"run_in_background": true}), json!({"timeout_ms": 120_001})] {
            let mut arguments = json!({"command": "tail -f file"});
            assert_eq!(walled.effect(&arguments), Effect::Reads, "control");
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            assert_eq!(
                (walled.effect(&arguments), walled.walls(&arguments)),
                (Effect::Changes, Walls::Usual),
                "{more}"
            );
        }
        let planted = bench.ok("bash", json!({"command": "ls; echo $PATH"})).await;
        assert!(planted.starts_with("planted\n"), "control: another command has the user's PATH: {planted}");
    }
}

#[tokio::test]
async fn reading_commands_end_in_time_and_read_nothing_hidden() {
    for walled in everywhere(Access::WorkspaceWrite) {
        let mechanism = walled.mechanism;
        let fifo = walled.root().join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        for command in ["cat /dev/zero", "tail -f file", "cat fifo", "grep -r x /dev/zero"] {
            let arguments = json!({"command": command, "timeout_ms": 400});
            assert_eq!(walled.effect(&arguments), Effect::Reads, "{command}");
            let (status, text) = walled.run(arguments).await;
            assert_eq!(status, ToolStatus::Failed, "{mechanism:?}: {command}");
            assert!(text.contains("time limit of 400 ms") && text.len() < 40_000, "{mechanism:?}: {command}");
        }
        let (_, text) = walled.run(json!({"command": "cat ../hidden/key; cat ../repo/file"})).await;
        assert!(!text.contains("hidden words") && text.contains("three"), "{mechanism:?}: {text}");
    }
}

/// What a repository's own configuration has git run cannot write, and has no network.
#[tokio::test]
async fn git_that_reads_runs_no_hook_and_what_it_runs_can_write_nothing() {
    for walled in everywhere(Access::WorkspaceWrite) {
        let (root, mechanism) = (walled.root(), walled.mechanism);
        let script = root.join("evil.sh");
        fs::write(
            &script,
            format!(
                "#!/bin/sh\necho ran >> {}\necho ran >> {}\ncat\n",
                root.join("mark").display(),
                walled.base().join("mark").display()
            ),
        )
        .unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let path = script.display().to_string();
        for (key, value) in [
            ("core.fsmonitor", path.as_str()),
            ("core.pager", &path),
            ("diff.x.textconv", &path),
            ("filter.x.clean", &path),
            ("diff.external", &path),
            ("alias.st", "!./evil.sh"),
        ] {
            git(&root, &["config", key, value]);
        }
        fs::write(root.join(".gitattributes"), "file diff=x filter=x\n").unwrap();
        fs::write(root.join("file"), "one\nTWO\nthree\n").unwrap();
        for command in ["git status", "git diff", "git log -p", "git show", "git blame file"] {
            let arguments = json!({"command": command});
            assert_eq!(walled.effect(&arguments), Effect::Reads, "{command}");
            walled.run(arguments).await;
            assert!(!root.join("mark").exists() && !walled.base().join("mark").exists(), "{mechanism:?}: {command}");
        }
        assert_eq!(walled.effect(&json!({"command": "git st"})), Effect::Changes);
        Command::new("git").arg("status").current_dir(&root).output().unwrap();
        assert!(root.join("mark").exists() && walled.base().join("mark").exists(), "control: it does outside");
    }
}

#[tokio::test]
async fn without_a_sandbox_or_known_programs_a_reading_command_is_like_any_other() {
    let bench = Bench::new();
    let inspection = bench.inspect("bash", &json!({"command": "cat file"})).unwrap();
    assert_eq!(inspection.effect, Effect::Changes);
    assert!(matches!(inspection.subject, Subject::Command { walls: Walls::Usual, .. }));
    let error = bench.inspect("bash", &asking("ls", &json!({"network": true}))).unwrap_err();
    assert!(error.contains("there is no sandbox here"), "{error}");
}

/// A session that is resumed with other walls has judged the call by those that are gone.
#[tokio::test]
async fn what_was_judged_as_reading_does_not_run_where_nothing_holds_it() {
    let bench = Bench::new();
    bench.write("file", "x");
    let outcome = bench.call_judged("bash", json!({"command": "cat file"}), Effect::Reads).await;
    assert_eq!(outcome.status, ToolStatus::NotRun, "{outcome:?}");
    let control = bench.call_judged("bash", json!({"command": "cat file"}), Effect::Changes).await;
    assert_eq!(control.status, ToolStatus::Ok, "{control:?}");
}

#[tokio::test]
async fn a_failure_by_the_sandbox_is_told_with_the_door_that_would_help() {
    for walled in everywhere(Access::WorkspaceWrite) {
        let mechanism = walled.mechanism;
        let (_, text) =
            walled.run(json!({"command": format!("echo x > {}", walled.base().join("beside/x").display())})).await;
        assert!(text.contains("the sandbox is a likely reason") && text.contains("\"write\""), "{mechanism:?}: {text}");
        let (_, text) = walled.run(json!({"command": "echo 'curl: (6) Could not resolve host: x'; exit 6"})).await;
        assert!(text.contains("\"network\": true"), "{mechanism:?}: {text}");
        if mechanism == Mechanism::Bubblewrap {
            let (_, text) = walled.run(json!({"command": format!("{REAL}; git commit --allow-empty -m x")})).await;
            assert!(text.contains("\"git\": true"), "{text}");
            let (_, text) = walled.run(json!({"command": format!("{REAL}; git config a.b c")})).await;
            assert!(text.contains("stays protected"), "{text}");
        }
        let refused = "echo 'bash: line 1: sub/AGENTS.md: Read-only file system'; exit 1";
        let (_, text) = walled.run(json!({"command": refused})).await;
        assert!(text.contains("stay protected from commands") && !text.contains("\"write\""), "{mechanism:?}: {text}");
        let (_, text) = walled.run(json!({"command": "echo 'Read-only file system'"})).await;
        assert!(!text.contains("likely reason"), "a command that ended well: {text}");
        let (_, text) = walled.run(json!({"command": "exit 3"})).await;
        assert!(!text.contains("likely reason"), "{text}");
        let opened = asking("echo 'Could not resolve host'; exit 1", &json!({"network": true}));
        let (_, text) = walled.run(opened).await;
        assert!(!text.contains("likely reason"), "the door is open: {text}");
    }
}

#[tokio::test]
async fn what_is_opened_is_a_fact_of_the_call() {
    for walled in everywhere(Access::WorkspaceWrite) {
        let beside = walled.base().join("beside").display().to_string();
        for (door, expected) in [
            (json!({"network": true}), vec![Door::Network]),
            (json!({"write": [beside.clone()]}), vec![Door::Write(beside.clone())]),
            (json!({"network": true, "write": [beside.clone()]}), vec![Door::Network, Door::Write(beside.clone())]),
            (json!({"outside": true}), vec![Door::Outside]),
        ] {
            let arguments = asking("ls", &door);
            assert_eq!(walled.effect(&arguments), Effect::Changes, "{door}");
            match walled.walls(&arguments) {
                Walls::Opened(opening) => {
                    assert_eq!((opening.doors, opening.reason.as_str()), (expected, "it is needed"), "{door}");
                }
                other => panic!("{other:?}"),
            }
        }
        let (status, text) = walled.run(asking("cat ../hidden/key", &json!({"outside": true}))).await;
        assert_eq!((status, text.as_str()), (ToolStatus::Ok, "hidden words\n"));
        let write = format!("echo x > {beside}/x");
        assert_eq!(walled.run(asking(&write, &json!({"write": [beside]}))).await.0, ToolStatus::Ok);
        assert_eq!(walled.run(json!({"command": write})).await.0, ToolStatus::Failed, "the next one is not opened");
        assert!(
            walled.run(asking("true", &json!({"network": true}))).await.1.contains("(no output)"),
            "no planted one"
        );
    }
}

#[tokio::test]
async fn doors_that_would_lead_further_are_refused() {
    for walled in everywhere(Access::WorkspaceWrite) {
        let (base, root) = (walled.base(), walled.root());
        let text = |path: PathBuf| path.display().to_string();
        symlink(base.join("beside"), base.join("link")).unwrap();
        fs::create_dir_all(base.join("other/.git/hooks")).unwrap();
        fs::write(base.join("home.bashrc"), "").unwrap();
        fs::write(base.join(".bashrc"), "").unwrap();
        for (path, why) in [
            (text(base.join("hidden")), "hidden"),
            (text(base.join("hidden/key")), "hidden"),
            (text(base.clone()), "the workspace lies in it"),
            ("/".into(), "the workspace lies in it"),
            (text(root.clone()), "the workspace lies in it"),
            (text(root.join("file")), "without asking"),
            (text(root.join(".git/hooks")), "without asking"),
            (text(base.join("link")), "it is a link"),
            (text(base.join("none")), "does not exist"),
            (text(base.join("other/.git")), "git's own data"),
            (text(base.join("other/.git/hooks")), "git's own data"),
            (text(base.join(".bashrc")), "shell"),
            ("/proc/1".into(), "the system"),
            ("/dev/shm".into(), "the system"),
            ("/usr/bin".into(), "`PATH`"),
            ("/usr".into(), "`PATH`"),
            ("/usr/lib".into(), "the system"),
            ("/usr/share".into(), "the system"),
            ("/etc".into(), "the system"),
            ("beside".into(), "absolute path"),
            (format!("{}/../hidden", root.display()), "absolute path"),
            ("~/x".into(), "absolute path"),
        ] {
            let error = walled.refused(&json!({"write": [path], "reason": "r"}), "ls");
            assert!(error.contains(why), "{path}: {error}");
        }
        let other = text(base.join("other"));
        let planted = asking(&format!("echo x > {other}/.git/hooks/pre-commit"), &json!({"write": [other]}));
        if walled.mechanism == Mechanism::Bubblewrap {
            assert_eq!(
                walled.run(planted).await.0,
                ToolStatus::Failed,
                "a repository in what is opened keeps its hooks"
            );
        }
        for (sandbox, why) in [
            (json!({"reason": "r"}), "opens nothing"),
            (json!({"network": true, "reason": " "}), "must say why"),
            (json!({"network": true, "reason": "x".repeat(501)}), "at most 500"),
            (json!({"network": true}), "reason"),
            (json!({"network": true, "outside": true, "reason": "r"}), "leave the others out"),
            (json!({"write": (0..9).map(|n| format!("/x{n}")).collect::<Vec<_>>(), "reason": "r"}), "at most 8"),
            (json!({"other": true, "reason": "r"}), "other"),
            (json!("network"), "sandbox"),
        ] {
            let error = walled.refused(&sandbox, "ls");
            assert!(error.contains(why), "{sandbox}: {error}");
        }
    }
}

#[tokio::test]
async fn git_commits_in_the_sandbox_without_hooks_and_cannot_change_what_steers_it() {
    for walled in everywhere(Access::WorkspaceWrite).into_iter().chain(everywhere(Access::ReadOnly)) {
        let root = walled.root();
        let commit = asking(
            "git add file && git -h | head -0; git commit -m 'by the agent'; git branch side",
            &json!({"git": true}),
        );
        if walled.mechanism == Mechanism::Landlock {
            let error = walled.bench.inspect("bash", &asking("git add file", &json!({"git": true}))).unwrap_err();
            assert!(error.contains("without bubblewrap"), "{error}");
            continue;
        }
        assert!(
            walled.bench.inspect("bash", &commit).unwrap_err().contains("plain git commands"),
            "an option before it"
        );
        let hook = root.join(".git/hooks/pre-commit");
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::write(&hook, format!("#!/bin/sh\necho ran > {}\n", root.join("mark").display())).unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
        git(&root, &["config", "user.name", "a"]);
        git(&root, &["config", "user.email", "a@b"]);
        fs::write(root.join("file"), "changed\n").unwrap();
        let config = fs::read(root.join(".git/config")).unwrap();
        let commit = "cd bin && git add ../file && git commit -m 'by the agent' && git branch side && git switch side";
        let closed = json!({"command": format!("{REAL}; {commit}")});
        assert_eq!(walled.run(closed).await.0, ToolStatus::Failed, "not without the door");
        let (status, text) = walled.run(asking(commit, &json!({"git": true}))).await;
        assert_eq!(status, ToolStatus::Ok, "{text}");
        assert_eq!(git(&root, &["log", "-1", "--format=%s", "side"]), "by the agent\n");
        assert!(!root.join("mark").exists(), "no hook ran");
        let (_, text) = walled.run(asking("git branch --set-upstream-to=main side", &json!({"git": true}))).await;
        assert!(text.contains("could not write config file"), "{text}");
        assert_eq!(fs::read(root.join(".git/config")).unwrap(), config);
        attack_by_a_nested_repository(&walled).await;
        git(&root, &["commit", "--allow-empty", "-qm", "control"]);
        assert!(root.join("mark").exists(), "control: the user's own git runs the hook");
    }
}

/// A repository that a command made elsewhere, such as in the directory for temporary files, names programs of its own.
#[tokio::test]
async fn an_opened_call_has_git_run_in_the_workspace_alone() {
    for walled in everywhere(Access::WorkspaceWrite) {
        let root = walled.root();
        fs::create_dir_all(root.join("below")).unwrap();
        symlink("/tmp", root.join("away")).unwrap();
        let doors: &[&str] = if walled.mechanism == Mechanism::Landlock { &["network"] } else { &["network", "git"] };
        for door in doors {
            let opened = json!({*door: true, "reason": "r"});
            for command in [
                "cd /tmp && git checkout -f HEAD -- plant",
                "cd .. && git status",
                "cd below/../.. && git status",
                "cd away && git status",
                "cd nowhere && git status",
                "cd below && cd away && git status",
                "cd - && git status",
                "cd && git status",
            ] {
                let error = walled.refused(&opened, command);
                assert!(error.contains("in the workspace alone"), "{door}: {command}: {error}");
            }
            let fine = walled
                .bench
                .inspect("bash", &asking("cd below && git fetch && cd .. && git status", &json!({*door: true})));
            assert!(!fine.is_err_and(|error| error.contains("in the workspace alone")), "{door}");
        }
        for command in [
            "git -C /tmp/evil status",
            "git --git-dir=/tmp/evil status",
            "git --git-dir /tmp/evil status",
            "git -c core.fsmonitor=/tmp/evil status",
            "env GIT_DIR=/tmp/evil git status",
            "/usr/bin/git -C /tmp/evil status",
            "command git --work-tree=/tmp status",
            "pushd /tmp && git status",
            "for at in /tmp/evil; do git -C $at status; done",
            "echo $(git -C /tmp/evil status)",
            "x=1; g\"\"it -C /tmp/evil status $x",
            "g\\it -C $PWD/../evil status > out",
        ] {
            let error = walled.refused(&json!({"network": true, "reason": "r"}), command);
            assert!(error.contains("workspace alone"), "{command}: {error}");
        }
        for command in ["for at in a b; do curl $at; done", "curl $(cat .gitignore digit.txt git-lfs)"] {
            let said = walled.bench.inspect("bash", &asking(command, &json!({"network": true})));
            let is_shown_whole = said.as_ref().is_ok_and(|inspection| inspection.subject.parts().is_none());
            assert!(is_shown_whole, "control, {command}: {said:?}");
        }
    }
}

/// Git runs itself in a submodule, where it obeys a configuration that a command may have written.
async fn attack_by_a_nested_repository(walled: &Walled) {
    let (root, nested) = (walled.root(), walled.root().join("nested"));
    fs::create_dir(&nested).unwrap();
    git(&nested, &["init", "-q"]);
    git(&nested, &["commit", "--allow-empty", "-qm", "x"]);
    let evil = root.join("nested-evil.sh");
    fs::write(&evil, format!("#!/bin/sh\necho x > {}\n", root.join(".git/commondir").display())).unwrap();
    fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
    git(&root, &["add", "nested"]);
    git(&nested, &["config", "core.fsmonitor", &evil.display().to_string()]);
    for command in
        ["git status", "git commit -m nested", "git add nested", "git rm nested", "git diff HEAD", "git stash"]
    {
        let (_, text) = walled.run(asking(command, &json!({"git": true}))).await;
        assert!(!text.contains("appeared"), "{command}: {text}");
        assert!(!root.join(".git/commondir").exists() && !root.join(".git/set-aside-0").exists(), "{command}: {text}");
    }
    for command in
        ["git status --ignore-submodules=none", "git checkout --recurse-submodules main", "git diff --submodule=diff"]
    {
        assert!(walled.refused(&json!({"git": true, "reason": "r"}), command).contains("submodules"), "{command}");
    }
    // It is one: with the nested repository in sight, git runs what its configuration names.
    Command::new("git").arg("status").current_dir(&root).output().unwrap();
    assert!(root.join(".git/commondir").exists(), "control");
    fs::remove_file(root.join(".git/commondir")).unwrap();
    fs::remove_dir_all(nested).unwrap();
}

#[tokio::test]
async fn only_git_that_records_has_the_door_to_gits_records() {
    for walled in everywhere(Access::WorkspaceWrite) {
        for command in [
            "make && git commit -m x",
            "echo x > .git/config",
            "git commit -m \"$(cat m)\"",
            "git config a.b c",
            "git -c core.hooksPath=x commit -m x",
            "GIT_DIR=x git commit -m x",
            "git worktree add .git/rebase-merge",
            "git init x",
            "git clone . .git/modules/x",
            "git submodule update",
            "git rebase -x ./evil HEAD~1",
            "git rebase --exec=./evil HEAD~1",
            "git fast-import --export-marks=.git/commondir",
            "git remote add x y",
            "git update-ref x y",
            "git hook run x",
            "/bin/git commit -m x",
            "./git commit -m x",
            "sh -c 'git commit'",
            "python3 x.py",
        ] {
            let error = walled.refused(&json!({"git": true, "reason": "r"}), command);
            assert!(error.contains("`sandbox.git`"), "{command}: {error}");
        }
        if walled.mechanism == Mechanism::Bubblewrap {
            let control = asking("git add file && git commit -m x | tail -3", &json!({"git": true}));
            let mut later = control.clone();
            later["run_in_background"] = json!(true);
            assert!(walled.bench.inspect("bash", &later).unwrap_err().contains("not for the background"));
            assert!(walled.bench.inspect("bash", &control).is_ok(), "control");
            // A repository that leads elsewhere.
            fs::rename(walled.root().join(".git"), walled.base().join("beside/git")).unwrap();
            fs::write(walled.root().join(".git"), "gitdir: ../beside/git\n").unwrap();
            let error = walled.refused(&json!({"git": true, "reason": "r"}), "git add file");
            assert!(error.contains("leads to one elsewhere"), "{error}");
        }
    }
}

#[tokio::test]
async fn a_background_command_may_have_open_doors_and_tells_why_it_failed() {
    for walled in everywhere(Access::WorkspaceWrite) {
        let beside = walled.base().join("beside").display().to_string();
        let arguments = |command: &str, door: &Value| {
            let mut arguments = asking(command, door);
            arguments["run_in_background"] = json!(true);
            arguments
        };
        let write = format!("echo x > {beside}/background");
        walled.bench.ok("bash", arguments(&write, &json!({"write": [beside]}))).await;
        walled.bench.ok("bash_output", json!({"id": "bash_1", "wait_ms": 20_000})).await;
        assert!(Path::new(&beside).join("background").exists());
        walled.bench.ok("bash", json!({"command": write, "run_in_background": true})).await;
        let outcome = walled.bench.call("bash_output", json!({"id": "bash_2", "wait_ms": 20_000})).await;
        assert!(outcome.content.contains("the sandbox is a likely reason"), "{outcome:?}");
    }
}
