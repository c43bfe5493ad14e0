//! What the hooks take of a turn in a repository of 5,000 files, beside `git status` in the same run.
//!
//! ```text
//! cargo run --release -p agent-git --example share
//! ```

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement ends where something is wrong, and prints what it found"
)]

use agent_git::{HooksConfig, RepositoryHooks};
use agent_types::conversation::{Arguments, CallId, ToolCall};
use agent_types::hook::Changes;
use agent_types::ports::{
    CancelSignal, Command, CommandError, CommandOutput, CommandRunner, Exit, Hook as _, NeverCancelled,
};
use agent_types::tool::{Effect, Inspection, Subject};
use async_trait::async_trait;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{self, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const FILES: usize = 5_000;
const ROUNDS: usize = 40;

fn main() {
    let directory = tempfile::tempdir().unwrap();
    let project = directory.path().canonicalize().unwrap();
    make_repository(&project);
    let runner = Arc::new(Counting::default());
    let config = HooksConfig { auto_commit: true, home: None, ..HooksConfig::new(project.clone()) };
    let hooks = RepositoryHooks::new(config, runner.clone());

    let status = best(|_| drop(git(&project, &["status", "--porcelain"])));
    println!("git status                                {status:>9.2?}");
    let version = best(|_| drop(git(&project, &["--version"])));
    println!("git --version (a start and nothing else)  {version:>9.2?}");

    let looked = best(|_| drop(wait(hooks.check_git(&Changes::default(), &NeverCancelled)).unwrap()));
    println!("a batch that changed nothing              {looked:>9.2?}   {} starts of git", runner.take() / ROUNDS);

    // The first commit of a session reads the configuration.
    batch(&hooks, &project, &[String::from("src/part0/file0.txt")], usize::MAX);
    println!("the first commit of a session                          {} starts of git", runner.take());
    for (name, count) in [("1 file", 1), ("10 files", 10)] {
        let mut taken = Duration::MAX;
        for round in 0..ROUNDS {
            let paths: Vec<String> =
                (0..count).map(|number| format!("src/part{}/file{}.txt", number % 50, number)).collect();
            taken = taken.min(batch(&hooks, &project, &paths, round));
        }
        println!(
            "a batch that changed {name:<8}, committed   {taken:>9.2?}   {} starts of git",
            runner.take() / ROUNDS
        );
    }
    assert_eq!(git(&project, &["status", "--porcelain"]), "", "everything is committed");
}

/// The hooks' part of a batch: what they do before the calls, and after them.
fn batch(hooks: &RepositoryHooks, project: &Path, paths: &[String], round: usize) -> Duration {
    let call = ToolCall { id: CallId::new("1"), name: "write_file".into(), arguments: Arguments::empty() };
    let inspection = Inspection { effect: Effect::Changes, subject: Subject::Paths(paths.to_vec()) };
    let begun = Instant::now();
    wait(hooks.before_tool(&call, &inspection));
    wait(hooks.tool_begins(&call, &inspection));
    let mut taken = begun.elapsed();
    paths.iter().for_each(|path| fs::write(project.join(path), format!("{path} in round {round}\n")).unwrap());
    let changes = Changes { paths: paths.to_vec(), intent: "Change files".to_owned(), ..Changes::default() };
    let begun = Instant::now();
    let report = wait(hooks.check_git(&changes, &NeverCancelled)).unwrap();
    assert!(report.commit_due);
    let report = wait(hooks.commit(&changes, &NeverCancelled)).unwrap();
    taken += begun.elapsed();
    assert!(report.commit.is_some(), "{report:?}");
    taken
}

fn make_repository(project: &Path) {
    git(project, &["init", "--quiet", "--initial-branch=main"]);
    for number in 0..FILES {
        let path = project.join(format!("src/part{}/file{number}.txt", number % 50));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("file {number}\n").repeat(20)).unwrap();
    }
    fs::write(project.join(".gitignore"), "target/\n").unwrap();
    git(project, &["add", "--all"]);
    git(project, &["commit", "--quiet", "--message", "Begin"]);
    git(project, &["repack", "-adq"]);
}

fn best(mut work: impl FnMut(usize)) -> Duration {
    let one = |round| {
        let begun = Instant::now();
        work(round);
        begun.elapsed()
    };
    (0..ROUNDS).map(one).min().unwrap_or_default()
}

fn git(project: &Path, arguments: &[&str]) -> String {
    let identity = ["-c", "user.name=A", "-c", "user.email=a@localhost"];
    let output = process::Command::new("git").args(identity).args(arguments).current_dir(project).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs processes, and counts them.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Counting {
    fn take(&self) -> usize {
        self.0.swap(0, Ordering::Relaxed)
    }
}

#[async_trait]
impl CommandRunner for Counting {
    async fn run(&self, command: &Command, _cancel: &dyn CancelSignal) -> Result<CommandOutput, CommandError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let mut child = process::Command::new(&command.program)
            .args(&command.arguments)
            .current_dir(&command.directory)
            .envs(command.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| CommandError { program: command.program.clone(), found: error.to_string() })?;
        child.stdin.take().unwrap().write_all(&command.stdin).unwrap();
        let output = child.wait_with_output().unwrap();
        let exit = Exit::Code(output.status.code().unwrap_or(1));
        Ok(CommandOutput { exit, stdout: output.stdout, stderr: output.stderr, dropped_bytes: 0 })
    }
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}
