//! Hostile input to the file tools, row by row. Every row is run on two sets of tools: on ours, where it must hold, and on [`naive`] ones
//! with the classic mistakes, where it must not: a row that could not fail would prove nothing.

mod contents;
mod edits;
mod kinds;
mod links;
mod mounts;
mod naive;
mod paths;
mod search;

use crate::support::Bench;
use agent_types::tool::ToolStatus;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

/// One kind of hostile input.
struct Row {
    name: &'static str,
    check: fn(&World) -> Result<(), String>,
}

/// A workspace `repo` in a directory that also has `secret.txt`, and tools.
struct World {
    bench: Arc<Bench>,
    is_naive: bool,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    Ok(String),
    Failed(String),
    Hung,
    Panicked,
}

impl Answer {
    fn text(&self) -> &str {
        match self {
            Self::Ok(text) | Self::Failed(text) => text,
            Self::Hung | Self::Panicked => "",
        }
    }

    fn must_be(&self, expected: &str) -> Result<(), String> {
        must(*self == Self::Ok(expected.to_owned()), &format!("{self:?} is not {expected:?}"))
    }

    fn must_be_ok(&self) -> Result<(), String> {
        must(matches!(self, Self::Ok(_)), &format!("{self:?}"))
    }

    /// One clear error, with these words.
    fn must_fail(&self, words: &str) -> Result<(), String> {
        match self {
            Self::Failed(text) if text.contains(words) && text.len() < 500 => Ok(()),
            other => Err(format!("{other:?} is no error with {words:?}")),
        }
    }
}

fn must(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.chars().take(300).collect()) }
}

impl World {
    fn new(is_naive: bool) -> Self {
        Self { bench: Arc::new(Bench::new()), is_naive }
    }

    fn call(&self, tool: &str, arguments: Value) -> Answer {
        let (bench, tool, is_naive) = (Arc::clone(&self.bench), tool.to_owned(), self.is_naive);
        let stop = Arc::new(AtomicBool::new(false));
        let stop_there = Arc::clone(&stop);
        let (sender, receiver) = channel();
        let thread = std::thread::spawn(move || {
            let answer = if is_naive {
                match naive::call(&bench, &tool, &arguments, &stop_there) {
                    Ok(text) => Answer::Ok(text),
                    Err(text) => Answer::Failed(text),
                }
            } else {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                let outcome = runtime.block_on(bench.call(&tool, arguments));
                match outcome.status {
                    ToolStatus::Ok => Answer::Ok(outcome.content),
                    _ => Answer::Failed(outcome.content),
                }
            };
            // Nobody waits any more for what has hung.
            let _ = sender.send(answer);
        });
        let patience = Duration::from_millis(if self.is_naive { 500 } else { 20_000 });
        match receiver.recv_timeout(patience) {
            Ok(answer) => answer,
            Err(_) if thread.is_finished() => Answer::Panicked,
            Err(_) => {
                stop.store(true, Ordering::Relaxed);
                Answer::Hung
            }
        }
    }

    fn read(&self, path: &str) -> Answer {
        self.call("read_file", serde_json::json!({"path": path}))
    }

    fn write(&self, path: &str, content: &str) -> Answer {
        self.call("write_file", serde_json::json!({"path": path, "content": content}))
    }

    fn edit(&self, path: &str, old: &str, new: &str) -> Answer {
        self.call("edit_file", serde_json::json!({"path": path, "old_string": old, "new_string": new}))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.bench.path(name)
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.bench.outside.path().join(name)
    }

    /// Every file tool refuses a path, and nothing outside has changed or been told.
    fn refuses(&self, path: &str, words: &str) -> Result<(), String> {
        self.read(path).must_fail(words)?;
        self.edit(path, "secret", "stolen").must_fail("")?;
        self.write(path, "stolen\n").must_fail("")?;
        self.is_unharmed()
    }

    fn is_unharmed(&self) -> Result<(), String> {
        let secret = std::fs::read_to_string(self.outside("secret.txt")).unwrap();
        must(secret == "secret\n", "the file outside has changed")?;
        let mut names: Vec<_> = std::fs::read_dir(self.bench.outside.path()).unwrap().flatten().collect();
        names.retain(|entry| !entry.file_name().to_string_lossy().starts_with("repo"));
        must(names.len() == 1, &format!("there is something new outside: {names:?}"))?;
        self.leaves_nothing()
    }

    /// No half-written file is left in the workspace.
    fn leaves_nothing(&self) -> Result<(), String> {
        let left: Vec<_> =
            std::fs::read_dir(&self.bench.root).unwrap().flatten().map(|entry| entry.file_name()).collect();
        let left = left.iter().find(|name| name.to_string_lossy().ends_with(".tmp"));
        must(left.is_none(), &format!("{left:?} is left"))
    }

    fn has(&self, name: &str, content: &[u8]) -> Result<(), String> {
        let found = std::fs::read(self.path(name)).unwrap_or_default();
        let shown: String = String::from_utf8_lossy(&found).chars().take(80).collect();
        must(found == content, &format!("`{name}` has {shown:?}"))
    }
}

/// Holds our tools to the rows, and shows that each can fail.
fn hold(rows: &[Row]) {
    let mut wrong = Vec::new();
    for Row { name, check } in rows {
        if let Err(found) = check(&World::new(false)) {
            wrong.push(format!("{name}: {found}"));
        }
        if check(&World::new(true)).is_ok() {
            wrong.push(format!("{name}: holds for tools that do not know about it, so it proves nothing"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether this process may do what an ordinary user may not.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Everything again as an ordinary user, for whom permissions mean something.
#[test]
fn everything_holds_for_an_ordinary_user_too() {
    if !is_root() {
        return;
    }
    let directory = tempfile::Builder::new().permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755)).tempdir();
    let directory = directory.unwrap();
    let program = directory.path().join("suite");
    // Another program copies: a file that this process holds open for writing, and with it whatever another test starts meanwhile, is busy.
    let copied = std::process::Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status();
    assert!(copied.unwrap().success());
    let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let become_user = |program: &std::ffi::OsStr| {
        let mut command = std::process::Command::new("setpriv");
        command.args(user).arg(program).current_dir("/").env_remove("CARGO_TARGET_DIR").env("HOME", "/nonexistent");
        command
    };
    if !become_user("true".as_ref()).output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this system does not let root become another user here (`setpriv` failed)");
        return;
    }
    let output = become_user(program.as_os_str())
        .args(["hostile::", "patches::", "paths::", "--skip", "ordinary_user"])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
