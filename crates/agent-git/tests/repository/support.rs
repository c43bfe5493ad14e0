//! A repository to work on, a runner of processes, and the session's calls in their order.

use agent_git::{HooksConfig, RepositoryHooks};
use agent_types::conversation::{Arguments, CallId, ToolCall};
use agent_types::hook::{Changes, CommitReport, GitReport, HookError};
use agent_types::ports::{CancelSignal, Command, CommandError, CommandOutput, CommandRunner, Exit, Hook as _};
use agent_types::tool::{Effect, Inspection, Subject};
use async_trait::async_trait;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tempfile::TempDir;

type BeforeProcess = Box<dyn Fn(&[String]) + Send + Sync>;

/// Runs processes with a clean environment and remembers their arguments.
#[derive(Default)]
pub(crate) struct TestRunner {
    pub(crate) calls: Mutex<Vec<Vec<String>>>,
    /// Called with the arguments before each process.
    pub(crate) before: Option<BeforeProcess>,
    /// Variables of a runner whose environment is not clean.
    pub(crate) leaked: Vec<(String, String)>,
}

#[async_trait]
impl CommandRunner for TestRunner {
    async fn run(&self, command: &Command, cancel: &dyn CancelSignal) -> Result<CommandOutput, CommandError> {
        if let Some(before) = &self.before {
            before(&command.arguments);
        }
        self.calls.lock().unwrap().push(command.arguments.clone());
        if cancel.is_cancelled() {
            return Ok(ended(Exit::Cancelled));
        }
        let mut child = process::Command::new(&command.program)
            .args(&command.arguments)
            .current_dir(&command.directory)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(self.leaked.iter().cloned())
            .envs(command.environment.iter().map(|(name, value)| (name, value)))
            .stdin(process::Stdio::piped())
            .stdout(process::Stdio::piped())
            .stderr(process::Stdio::piped())
            .spawn()
            .map_err(|error| CommandError { program: command.program.clone(), found: error.to_string() })?;
        let (mut stdin, input) = (child.stdin.take().unwrap(), command.stdin.clone());
        std::thread::spawn(move || drop(stdin.write_all(&input)));
        let stdout = reader(child.stdout.take().unwrap());
        let stderr = reader(child.stderr.take().unwrap());
        let started = Instant::now();
        let exit = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status.code().map_or(Exit::Signal(9), Exit::Code);
            }
            if started.elapsed() > Duration::from_millis(command.timeout_ms) {
                child.kill().unwrap();
                child.wait().unwrap();
                return Ok(ended(Exit::TimedOut));
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        Ok(CommandOutput { stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap(), ..ended(exit) })
    }
}

fn ended(exit: Exit) -> CommandOutput {
    CommandOutput { exit, stdout: Vec::new(), stderr: Vec::new(), dropped_bytes: 0 }
}

fn reader(mut pipe: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

/// A signal that fired, or never does.
pub(crate) struct Signal(pub(crate) bool);

#[async_trait]
impl CancelSignal for Signal {
    fn is_cancelled(&self) -> bool {
        self.0
    }

    async fn cancelled(&self) {
        if !self.0 {
            std::future::pending::<()>().await;
        }
    }
}

/// A directory with a repository in `project`, and a home that configures a user.
pub(crate) struct Repo {
    pub(crate) directory: TempDir,
    pub(crate) project: PathBuf,
}

impl Repo {
    /// A directory that is no repository, or nothing, with a loud word, when there is no git.
    pub(crate) fn none() -> Option<Self> {
        if process::Command::new("git").arg("--version").output().is_err() {
            assert!(std::env::var_os("AGENT_TESTS_WITHOUT_GIT").is_some(), "these tests need git");
            println!("SKIPPED: there is no git");
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let project = root.join("project");
        fs::create_dir(&project).unwrap();
        fs::create_dir(root.join("home")).unwrap();
        fs::write(
            root.join("home/.gitconfig"),
            "[user]\nname = Ursula\nemail = u@example.org\n[init]\ndefaultBranch = main\n",
        )
        .unwrap();
        Some(Self { directory, project })
    }

    /// A repository without commits.
    pub(crate) fn unborn() -> Option<Self> {
        let repo = Self::none()?;
        repo.git(&["init", "-q"]);
        Some(repo)
    }

    /// A repository with one commit of these files: `a.rs`, `b.rs`, `run.sh` (executable).
    pub(crate) fn new() -> Option<Self> {
        let repo = Self::unborn()?;
        repo.write("a.rs", "a\n");
        repo.write("b.rs", "b\n");
        repo.write("run.sh", "#!/bin/sh\n");
        repo.make_executable("run.sh");
        repo.git(&["add", "."]);
        repo.git(&["commit", "-qm", "first"]);
        Some(repo)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    /// The user's own git.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let (ok, output) = self.try_git(arguments);
        assert!(ok, "git {arguments:?}: {output}");
        output
    }

    pub(crate) fn try_git(&self, arguments: &[&str]) -> (bool, String) {
        let output = process::Command::new("git")
            .args(arguments)
            .current_dir(&self.project)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.project.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.project.join(path)).unwrap()
    }

    pub(crate) fn make_executable(&self, path: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(self.project.join(path), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn config(&self) -> HooksConfig {
        let plain = HooksConfig::new(self.project.clone());
        let record_key = Some(self.directory.path().join("state/records.key"));
        HooksConfig { auto_commit: true, home: Some(self.home()), config_home: None, record_key, ..plain }
    }

    pub(crate) fn agent(&self) -> Agent {
        Agent::new(self.config())
    }

    /// The paths of the last commit, with their states.
    pub(crate) fn last_commit(&self) -> String {
        self.git(&["show", "--format=%s", "--name-status", "HEAD"]).replace("\n\n", "\n")
    }
}

/// The session: calls the hooks in their order.
pub(crate) struct Agent {
    pub(crate) hooks: RepositoryHooks,
    pub(crate) runner: Arc<TestRunner>,
    workspace: PathBuf,
}

impl Agent {
    pub(crate) fn new(config: HooksConfig) -> Self {
        Self::with_runner(config, TestRunner::default())
    }

    pub(crate) fn with_runner(config: HooksConfig, runner: TestRunner) -> Self {
        let runner = Arc::new(runner);
        let workspace = config.workspace.clone();
        Self { hooks: RepositoryHooks::new(config, Arc::clone(&runner) as Arc<dyn CommandRunner>), runner, workspace }
    }

    pub(crate) fn announce(&self, path: &str) {
        let call = ToolCall { id: CallId::new("1"), name: "write_file".into(), arguments: Arguments::empty() };
        let inspection = Inspection { effect: Effect::Changes, subject: Subject::Paths(vec![path.to_owned()]) };
        wait(self.hooks.before_tool(&call, &inspection));
    }

    /// The call that was announced last is permitted and runs.
    pub(crate) fn begin(&self) {
        let call = ToolCall { id: CallId::new("1"), name: "write_file".into(), arguments: Arguments::empty() };
        let judged = Inspection { effect: Effect::Changes, subject: Subject::None };
        wait(self.hooks.tool_begins(&call, &judged));
    }

    /// A call runs that another program announced.
    pub(crate) fn begin_announced_elsewhere(&self, path: &str) {
        let call = ToolCall { id: CallId::new("2"), name: "write_file".into(), arguments: Arguments::empty() };
        let judged = Inspection { effect: Effect::Changes, subject: Subject::Paths(vec![path.to_owned()]) };
        wait(self.hooks.tool_begins(&call, &judged));
    }

    /// A tool that writes a file, or deletes it.
    pub(crate) fn change(&self, path: &str, text: Option<&str>) {
        self.announce(path);
        self.begin();
        let target = self.workspace.join(path);
        match text {
            Some(text) => {
                fs::create_dir_all(target.parent().unwrap()).unwrap();
                fs::write(target, text).unwrap();
            }
            None => fs::remove_file(target).unwrap(),
        }
    }

    pub(crate) fn check(&self, paths: &[&str]) -> GitReport {
        wait(self.hooks.check_git(&changes(paths), &Signal(false))).unwrap()
    }

    pub(crate) fn try_commit(&self, paths: &[&str]) -> Result<CommitReport, HookError> {
        wait(self.hooks.commit(&changes(paths), &Signal(false)))
    }

    /// The end of a batch, as the session goes through it.
    pub(crate) fn finish(&self, paths: &[&str]) -> CommitReport {
        assert!(self.check(paths).commit_due);
        self.try_commit(paths).unwrap()
    }

    /// How many processes were run.
    pub(crate) fn processes(&self) -> usize {
        self.runner.calls.lock().unwrap().len()
    }
}

pub(crate) fn changes(paths: &[&str]) -> Changes {
    Changes {
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        intent: "Fix it".to_owned(),
        ..Changes::default()
    }
}

pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

/// Every file below a directory with its content, for comparisons.
pub(crate) fn files(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().is_some_and(|name| name == ".git") {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else {
                found.push((path.clone(), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}
