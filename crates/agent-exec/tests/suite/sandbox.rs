//! Commands in a sandbox: what they can do, what they cannot, and what is left of them. Each attempt is made without the sandbox, too, so
//! that it is known to be one.

use crate::support::{Switch, helper, odd_sleep, shell, sleepers, text, wait_for_sleepers};
use agent_exec::{Access, Environment, Finished, Held, Mechanism, Policy, Processes, Sandbox, Streams, check};
use agent_types::ports::{Command, Exit};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A workspace with a repository in it, and a directory outside of it. Not below `/tmp`, which a sandbox has for itself.
pub(crate) struct Place {
    root: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir_in("/var/tmp").unwrap();
        for directory in ["work/.git", "work/sub", "outside"] {
            fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        fs::write(root.path().join("work/.git/config"), "[core]\n").unwrap();
        fs::write(root.path().join("outside/file"), "outside\n").unwrap();
        Self { root }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn policy(&self, access: Access) -> Policy {
        let workspace = self.path("work");
        let git = workspace.join(".git");
        let kept =
            vec![git.clone(), workspace.join("sub/.git"), workspace.join("other/.git"), workspace.join(".agent")];
        let (placeholders, protected) =
            (vec![workspace.join(".agent")], vec![git, workspace.join("sub/.git"), workspace.join(".agent")]);
        Policy {
            access,
            protected,
            kept,
            placeholders,
            workspace,
            writable: Vec::new(),
            hidden: Vec::new(),
            readable: Vec::new(),
        }
    }

    pub(crate) fn command(&self, command: &str) -> Command {
        Command { directory: self.path("work").display().to_string(), ..shell(command) }
    }

    /// `Err` says why there is none on this machine.
    fn sandbox(&self, mechanism: Mechanism, access: Access) -> Result<Sandbox, String> {
        Sandbox::with(mechanism, self.policy(access), helper(), &Environment::inherited())
    }
}

/// Every mechanism that works here, with a fresh place each; says which do not.
#[expect(clippy::print_stdout, reason = "what was skipped is said")]
pub(crate) fn everywhere(access: Access) -> Vec<(Mechanism, Place, Processes)> {
    let mut found = Vec::new();
    for mechanism in [Mechanism::Bubblewrap, Mechanism::Landlock] {
        let place = Place::new();
        match place.sandbox(mechanism, access) {
            Ok(sandbox) => found.push((mechanism, place, Processes::new().in_sandbox(sandbox))),
            Err(why) => println!("skipped: {why}"),
        }
    }
    found
}

pub(crate) async fn run(processes: &Processes, command: &Command) -> Finished {
    processes.run_streaming(command, Streams::Merged, &Switch::new(), &|_| {}).await.unwrap()
}

#[tokio::test]
async fn the_workspace_is_written_and_nothing_else() {
    for (mechanism, place, sandboxed) in everywhere(Access::WorkspaceWrite) {
        let outside = place.path("outside");
        let attempts = [
            format!("echo changed > {}/file", outside.display()),
            format!("echo new > {}/new", outside.display()),
            format!("rm {}/file", outside.display()),
            format!("mv {}/file moved", outside.display()),
            format!("ln {}/file linked && echo changed > linked", outside.display()),
            format!("ln -s {} link; echo changed > link/file", outside.display()),
        ];
        for attempt in attempts {
            let command = place.command(&attempt);
            let finished = run(&sandboxed, &command).await;
            assert_ne!(finished.exit, Exit::Code(0), "{mechanism:?}: {attempt}");
            assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "outside\n", "{mechanism:?}: {attempt}");
            assert!(!outside.join("new").exists(), "{mechanism:?}: {attempt}");
            let control = Place::new();
            let attempt =
                attempt.replace(&outside.display().to_string(), &control.path("outside").display().to_string());
            let finished = run(&Processes::new(), &control.command(&attempt)).await;
            assert_eq!(finished.exit, Exit::Code(0), "without a sandbox: {attempt}");
        }
        let finished =
            run(&sandboxed, &place.command("echo inside > file && cat file $TMPDIR/../../outside/file; pwd")).await;
        assert!(text(&finished).starts_with("inside\n"), "{mechanism:?}: {finished:?}");
        let temporary = "f=$(mktemp) && echo temporary > $f && cat $f && echo $TMPDIR";
        let finished = run(&sandboxed, &place.command(temporary)).await;
        let scratch = sandboxed.sandbox().unwrap().scratch().display().to_string();
        assert_eq!(text(&finished), format!("temporary\n{scratch}\n"), "{mechanism:?}");
    }
}

#[tokio::test]
async fn reading_only_writes_nothing_that_stays() {
    for (mechanism, place, sandboxed) in everywhere(Access::ReadOnly) {
        let command = place.command("cat .git/config; echo x > file; echo x > $TMPDIR/file && echo temporary");
        let finished = run(&sandboxed, &command).await;
        let text = text(&finished);
        assert!(text.starts_with("[core]\n") && text.ends_with("temporary\n"), "{mechanism:?}: {text}");
        assert!(!place.path("work/file").exists(), "{mechanism:?}");
    }
}

/// What the environment of the agent holds is neither in a command's environment nor anywhere that it can read.
#[tokio::test]
async fn no_secret_is_within_reach() {
    let agent = std::process::Command::new("sleep").arg("600").env("CANARY_KEY", "canary-secret").spawn().unwrap();
    let look = format!(
        "env; for p in /proc/self /proc/1 /proc/$PPID /proc/{}; do tr '\\0' '\\n' < $p/environ; done 2>/dev/null; true",
        agent.id()
    );
    for (mechanism, place, sandboxed) in everywhere(Access::WorkspaceWrite) {
        let found = text(&run(&sandboxed, &place.command(&look)).await);
        assert!(found.contains("AGENT_EXEC_RUN="), "{mechanism:?}: {found}");
        assert!(!found.contains("canary-secret") && !found.contains("CARGO_PKG"), "{mechanism:?}: {found}");
    }
    let control = std::process::Command::new("sh").args(["-c", &look]).output().unwrap();
    let control = String::from_utf8_lossy(&control.stdout).into_owned();
    stop(agent);
    assert!(control.contains("canary-secret") && control.contains("CARGO_PKG"), "without a sandbox it is found");
}

/// In a pid namespace nothing gets away, not even what hides from every search.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_leaves_a_namespace() {
    for (mechanism, place, sandboxed) in everywhere(Access::WorkspaceWrite) {
        if mechanism != Mechanism::Bubblewrap {
            continue;
        }
        let sleep = odd_sleep();
        let hide = format!("(env -i setsid sh -c '(/bin/sleep {sleep} &); exec sleep {sleep}' > /dev/null 2>&1 &) ; ");
        let mut command = place.command(&format!("{hide} exec sleep 1000"));
        command.timeout_ms = 700;
        let switch = Switch::new();
        let running = sandboxed.run_streaming(&command, Streams::Merged, &switch, &|_| {});
        let (finished, ()) = tokio::join!(running, wait_for_sleepers(&sleep, 1));
        assert_eq!(finished.unwrap().exit, Exit::TimedOut);
        assert_eq!(sleepers(&sleep), 0);
        let finished = run(&sandboxed, &place.command(&format!("{hide} sleep 0.2; exit 3"))).await;
        assert_eq!((finished.exit, finished.left_behind), (Exit::Code(3), 0));
        assert_eq!(sleepers(&sleep), 0);
    }
}

#[test]
fn the_check_finds_what_is_enforced() {
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    for mechanism in [Mechanism::Bubblewrap, Mechanism::Landlock] {
        let report = match check(directory.path(), Some(mechanism), &helper()) {
            Ok(report) => report,
            Err(why) => {
                println!("skipped: {why}");
                continue;
            }
        };
        for finding in &report.findings {
            println!("{mechanism:?} {:?} {}: {}", finding.held, finding.id, finding.detail);
        }
        let with =
            |held: Held| report.findings.iter().filter(move |finding| finding.held == held).map(|finding| finding.id);
        let open: Vec<_> = with(Held::No).collect();
        match mechanism {
            Mechanism::Bubblewrap => assert_eq!(open, [""; 0]),
            // What it is said to be weaker in, and nothing else.
            _ => {
                let weaker = [
                    "mode-outside",
                    "times-outside",
                    "git-config",
                    "git-hook",
                    "git-replaced",
                    "agent-config",
                    "see-processes",
                    "outlive",
                ];
                assert_eq!(open.iter().filter(|id| !weaker.contains(id)).count(), 0, "{open:?}");
                assert!(open.contains(&"git-config"), "{open:?}");
            }
        }
        assert!(with(Held::Yes).count() >= 20, "{report:?}");
        assert_eq!(with(Held::Known).collect::<Vec<_>>(), ["link-made-before"], "{report:?}");
        let must_hold = ["named-pipe", "set-id-file", "read-hidden", "lock-hidden", "limits", "priority"];
        let held: Vec<_> = with(Held::Yes).collect();
        assert!(must_hold.iter().all(|id| held.contains(id)), "{report:?}");
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left of it");
}

fn stop(mut process: std::process::Child) {
    process.kill().unwrap();
    process.wait().unwrap();
}

/// What mounts cannot hold, because it is not there or because what it lies in can be moved.
#[tokio::test]
async fn no_repository_and_no_configuration_comes_into_being() {
    // With what is there afterwards without a sandbox.
    let attempts = [
        ("mkdir -p .agent && echo x > .agent/config.toml", ".agent/config.toml"),
        ("rm -rf .agent; mkdir x; echo x > x/config.toml; ln -sT x .agent", ".agent/config.toml"),
        ("mkdir sub/.git && echo x > sub/.git/config", "sub/.git/config"),
        ("echo gitdir: evil > sub/.git; chmod 500 sub", "sub/.git"),
        ("mkdir x; echo x > x/config; mv x sub/.git; sleep 0.1", "sub/.git/config"),
    ];
    let there = |place: &Place, name: &str| fs::symlink_metadata(place.path("work").join(name)).is_ok();
    for (attempt, trace) in attempts {
        let control = Place::new();
        run(&Processes::new(), &control.command(attempt)).await;
        assert!(there(&control, trace), "without a sandbox: {attempt}");
        for (mechanism, place, sandboxed) in everywhere(Access::WorkspaceWrite) {
            let finished = run(&sandboxed, &place.command(attempt)).await;
            assert!(!there(&place, trace), "{mechanism:?}: {attempt}: {finished:?}");
            let is_covered = mechanism == Mechanism::Bubblewrap && attempt.contains(".agent");
            assert!(is_covered || finished.remarks.iter().any(|remark| remark.contains(".set-aside-")), "{finished:?}");
            // Also when nobody waits for the end.
            let command = place.command(&format!("{attempt}; sleep 1000"));
            let switch = Switch::new();
            let running = sandboxed.run_streaming(&command, Streams::Merged, &switch, &|_| {});
            let _ = tokio::time::timeout(std::time::Duration::from_millis(500), running).await;
            assert!(!there(&place, trace), "{mechanism:?}: {attempt}, abandoned");
            drop(sandboxed);
            assert!(!there(&place, ".agent"), "{mechanism:?}: a directory is left behind");
        }
    }
}

#[tokio::test]
async fn what_is_replaced_is_put_right() {
    for (mechanism, place, sandboxed) in everywhere(Access::WorkspaceWrite) {
        let work = place.path("work");
        fs::create_dir_all(work.join("other/.git")).unwrap();
        fs::write(work.join("other/.git/config"), "old").unwrap();
        let attempt = "mv other old && mkdir -p other/.git && echo new > other/.git/config";
        let finished = run(&sandboxed, &place.command(attempt)).await;
        assert_eq!(finished.exit, Exit::Code(0), "{mechanism:?}: it is an attempt: {finished:?}");
        let aside = set_aside(&work.join("other"));
        assert!(!work.join("other/.git").exists() && aside[0].join("config").exists(), "{finished:?}");
        assert_eq!(fs::read_to_string(work.join("old/.git/config")).unwrap(), "old", "nothing is lost");
        // The repository is elsewhere, and a link leads to it.
        fs::rename(work.join(".git"), place.path("repository")).unwrap();
        std::os::unix::fs::symlink("../repository", work.join(".git")).unwrap();
        let finished = run(&sandboxed, &place.command("rm .git && mkdir .git && echo new > .git/config")).await;
        assert_eq!(finished.exit, Exit::Code(0), "{mechanism:?}: it is an attempt: {finished:?}");
        assert_eq!(fs::read_to_string(work.join(".git/config")).unwrap(), "[core]\n", "{mechanism:?}: {finished:?}");
        assert!(finished.remarks.iter().any(|remark| remark.contains("has been restored")), "{finished:?}");
    }
}

/// What was given another name in a directory.
fn set_aside(directory: &std::path::Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.to_string_lossy().contains(".set-aside-")).collect()
}

/// What is only told: names that a host looks for.
#[derive(Default)]
struct Watcher {
    workspace: PathBuf,
    told: std::sync::Mutex<Vec<String>>,
}

impl agent_exec::Watch for Watcher {
    fn find(&self) -> Vec<PathBuf> {
        let names = [".envrc", "sub/.envrc", "sub/.agent"];
        names.map(|name| self.workspace.join(name)).into_iter().filter(|path| path.exists()).collect()
    }

    fn protects(&self, path: &std::path::Path) -> Vec<PathBuf> {
        vec![path.to_path_buf()]
    }

    fn sets_aside(&self, path: &std::path::Path, _: bool) -> bool {
        path.ends_with(".agent")
    }

    fn tell(&self, remark: &str) {
        self.told.lock().unwrap().push(remark.to_owned());
    }
}

#[tokio::test]
async fn what_is_new_is_told_once() {
    for (mechanism, place, sandboxed) in everywhere(Access::WorkspaceWrite) {
        fs::write(place.path("work/.envrc"), "old").unwrap();
        let watcher = std::sync::Arc::new(Watcher { workspace: place.path("work"), ..Watcher::default() });
        let sandboxed = sandboxed.clone().in_sandbox(sandboxed.sandbox().unwrap().clone().watched_by(watcher.clone()));
        let quiet = run(&sandboxed, &place.command("echo x > file")).await;
        assert_eq!(quiet.remarks, Vec::<String>::new(), "{mechanism:?}");
        // What the user makes meanwhile stays, if it is not in the very moment.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        fs::create_dir(place.path("work/sub/.agent")).unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        let quiet = run(&sandboxed, &place.command("true")).await;
        assert_eq!(quiet.remarks, Vec::<String>::new(), "{mechanism:?}");
        assert!(place.path("work/sub/.agent").exists(), "{mechanism:?}");
        fs::remove_dir(place.path("work/sub/.agent")).unwrap();
        watcher.told.lock().unwrap().clear();
        let finished = run(&sandboxed, &place.command("mkdir sub/.agent; echo x > sub/.envrc")).await;
        assert!(
            finished.remarks.iter().any(|remark| remark.contains("new or changed") && remark.contains("`sub/.envrc`"))
        );
        assert!(!place.path("work/sub/.agent").exists() && !set_aside(&place.path("work/sub")).is_empty());
        assert_eq!(*watcher.told.lock().unwrap(), finished.remarks, "{mechanism:?}");
        assert_eq!(run(&sandboxed, &place.command("true")).await.remarks, Vec::<String>::new(), "{mechanism:?}");
        // What was found is protected from the next command on, where mounts do that; else each change is told, also one in place.
        for change in ["echo y > y; mv y .envrc", "echo z >> .envrc", "echo z >> sub/.envrc"] {
            let before = fs::read_to_string(place.path("work/.envrc")).unwrap();
            let changed = run(&sandboxed, &place.command(change)).await;
            let is_told = changed.remarks.iter().any(|remark| remark.contains(".envrc`"));
            assert_eq!(is_told, mechanism == Mechanism::Landlock, "{mechanism:?} {change}: {changed:?}");
            let is_same = fs::read_to_string(place.path("work/.envrc")).unwrap() == before;
            assert!(is_same || mechanism == Mechanism::Landlock, "{change}");
        }
    }
}
