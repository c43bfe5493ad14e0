//! Commands in a sandbox: what they can do, what they cannot, and what is left of them. Each attempt is made without the sandbox, too, so
//! that it is known to be one.

use crate::support::{Switch, helper, odd_sleep, shell, sleepers, text, wait_for_sleepers};
use agent_core::ports::{Command, Exit};
use agent_exec::{Access, Environment, Finished, Mechanism, Policy, Processes, Sandbox, Streams};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A workspace with a repository in it, and a directory outside of it. Not below `/tmp`, which a sandbox has for itself.
struct Place {
    root: TempDir,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir_in("/var/tmp").unwrap();
        for directory in ["work/.git", "outside"] {
            fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        fs::write(root.path().join("work/.git/config"), "[core]\n").unwrap();
        fs::write(root.path().join("outside/file"), "outside\n").unwrap();
        Self { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn policy(&self, access: Access) -> Policy {
        let workspace = self.path("work");
        Policy { access, protected: vec![workspace.join(".git")], workspace, writable: Vec::new() }
    }

    fn command(&self, command: &str) -> Command {
        Command { directory: self.path("work").display().to_string(), ..shell(command) }
    }

    /// `Err` says why there is none on this machine.
    fn sandbox(&self, mechanism: Mechanism, access: Access) -> Result<Sandbox, String> {
        Sandbox::with(mechanism, self.policy(access), helper(), &Environment::inherited())
    }
}

/// Every mechanism that works here, with a fresh place each; says which do not.
fn everywhere(access: Access) -> Vec<(Mechanism, Place, Processes)> {
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

async fn run(processes: &Processes, command: &Command) -> Finished {
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
