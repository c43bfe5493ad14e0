//! A home, a state folder, a configuration folder and a working directory that belong to one test.

use super::{Ended, Model, Running, Wire};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

pub(crate) struct Scratch {
    root: TempDir,
}

impl Scratch {
    /// A working directory that is no repository.
    pub(crate) fn new() -> Self {
        Self::within(&std::env::temp_dir())
    }

    /// A working directory in this one, that is no repository.
    pub(crate) fn within(directory: &Path) -> Self {
        let root = TempDir::with_prefix_in("agent-cli-", directory).unwrap();
        for folder in ["home", "state", "config", "work"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        Self { root }
    }

    /// A working directory that is a repository with one commit.
    pub(crate) fn repository() -> Self {
        Self::repository_in(std::env::temp_dir())
    }

    /// The same in a directory of this one.
    pub(crate) fn repository_in(directory: impl AsRef<Path>) -> Self {
        let scratch = Self::within(directory.as_ref());
        scratch.write("a.txt", "one\n");
        scratch.git(&["init", "--quiet", "--initial-branch=main"]);
        scratch.git(&["config", "user.name", "A User"]);
        scratch.git(&["config", "user.email", "user@example.invalid"]);
        scratch.git(&["add", "--all"]);
        scratch.git(&["commit", "--quiet", "--message", "Begin"]);
        scratch
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = self.command("git").args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.path("work").join(name)
    }

    /// Writes a file of the working directory.
    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.work(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.work(name)).unwrap()
    }

    /// The user's configuration.
    pub(crate) fn configure(&self, toml: &str) {
        fs::write(self.path("config").join("config.toml"), toml).unwrap();
    }

    /// A program in the working directory, with nothing of the developer's environment but where the tools are.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        crate::signals::are_heard();
        let mut command = Command::new(program);
        command
            .env_clear()
            .current_dir(self.path("work"))
            .env("PATH", search_path())
            .env("HOME", self.path("home"))
            .env("AGENT_STATE_HOME", self.path("state"))
            .env("AGENT_CONFIG_HOME", self.path("config"));
        command
    }

    /// The program with these arguments.
    pub(crate) fn agent(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(program());
        command.args(arguments);
        command
    }

    /// `agent run` against a model, as a command to be changed further.
    pub(crate) fn run_command(&self, model: &Model, arguments: &[&str]) -> Command {
        let mut command = self.agent(&["run"]);
        command.args(model.flags(Wire::Anthropic)).args(arguments);
        command
    }

    /// `agent run` against a model, to its end.
    pub(crate) fn run(&self, model: &Model, arguments: &[&str]) -> Ended {
        Running::start(&mut self.run_command(model, arguments)).end()
    }

    /// The program with these arguments, to its end.
    pub(crate) fn ended(&self, arguments: &[&str]) -> Ended {
        Running::start(&mut self.agent(arguments)).end()
    }

    /// The journals of this home.
    pub(crate) fn journals(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.path("state")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                    found.push(path);
                }
            }
        }
        found
    }
}

/// The program under test.
pub(crate) fn program() -> PathBuf {
    std::env::var_os(PROGRAM_COPY).map_or_else(|| env!("CARGO_BIN_EXE_agent").into(), PathBuf::from)
}

/// The environment variable that names a copy of the program, for a user who may not read the one that was built.
pub(crate) const PROGRAM_COPY: &str = "AGENT_TEST_PROGRAM_COPY";

/// A folder with links to all programs of these names, to be used as the whole search path.
pub(crate) fn only_programs(scratch: &Scratch, names: &[&str]) -> PathBuf {
    let folder = scratch.path("programs");
    fs::create_dir(&folder).unwrap();
    for name in names {
        let found = std::env::split_paths(&search_path()).map(|folder| folder.join(name)).find(|path| path.is_file());
        if let Some(found) = found {
            std::os::unix::fs::symlink(found, folder.join(name)).unwrap();
        }
    }
    folder
}

/// A search path with what the demo needs but without these programs.
pub(crate) fn without_programs(scratch: &Scratch, names: &[&str]) -> PathBuf {
    let needed = [
        "git", "rustc", "rustfmt", "sh", "bash", "cc", "gcc", "ld", "as", "rm", "mktemp", "cat", "mkdir", "dirname",
        "env",
    ];
    let left: Vec<&str> = needed.into_iter().filter(|name| !names.contains(name)).collect();
    only_programs(scratch, &left)
}

/// The toolchain's own programs first: the ones that a version manager puts there look for themselves below `HOME`.
fn search_path() -> String {
    static PATH: OnceLock<String> = OnceLock::new();
    let path = PATH.get_or_init(|| {
        let path = std::env::var("PATH").unwrap();
        // Another user than the one who built this may have none.
        let Ok(sysroot) = Command::new("rustc").args(["--print", "sysroot"]).output() else { return path };
        let sysroot = String::from_utf8_lossy(&sysroot.stdout).trim().to_owned();
        format!("{}:{path}", Path::new(&sysroot).join("bin").display())
    });
    path.clone()
}
