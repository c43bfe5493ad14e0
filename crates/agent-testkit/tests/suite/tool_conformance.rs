//! The conformance suite for tools finds what it is there to find: each fault breaks the check that names it, and no tool is blamed for
//! nothing.

use crate::faults::assert_finds;
use agent_core::conversation::{Arguments, ToolCall};
use agent_core::ports::{Tool, ToolContext};
use agent_core::tool::{Effect, Inspection, Subject, ToolOutcome, ToolSpec};
use agent_testkit::conformance::tools::{ToolCase, tool_checks};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// What is wrong with a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    HasABadName,
    TakesEverything,
    RunsWhatItRefuses,
    Panics,
    ActsWhenLookedAt,
    ChangesWhenItReads,
    ForgetsWhatItChanged,
    MixesUpCalls,
    HasNoBounds,
    ReportsWithoutBounds,
    GoesOnWhenStopped,
    DoesNotHear,
    LeavesProcesses,
    LeavesWork,
    FollowsPaths,
    FollowsLinks,
    WaitsForPipes,
    RefusesAllPaths,
}

/// A tool that reads a note, writes one, prints much, or waits.
struct Note {
    fault: Fault,
    workspace: PathBuf,
    spec: ToolSpec,
    running: AtomicUsize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoteArguments {
    path: String,
    text: Option<String>,
    copies: Option<u32>,
    wait: Option<bool>,
}

impl Note {
    fn read(&self, arguments: &Arguments) -> Result<NoteArguments, String> {
        if self.fault == Fault::Panics && arguments.as_str().len() > 90_000 {
            panic!("too long");
        }
        arguments.read().map_err(|error| error.to_string())
    }

    /// The file that is meant, if it is one of the workspace.
    fn file(&self, path: &str) -> Result<PathBuf, String> {
        let whole = self.workspace.join(path);
        let is_plain = path.split('/').all(|part| !part.is_empty() && part != "..");
        let has_links = whole.ancestors().take_while(|part| *part != self.workspace).any(Path::is_symlink);
        let follows_paths = self.fault == Fault::FollowsPaths;
        if (!is_plain && !follows_paths)
            || (has_links && !matches!(self.fault, Fault::FollowsLinks | Fault::FollowsPaths))
        {
            return Err(String::from("not in the workspace"));
        }
        if self.fault == Fault::RefusesAllPaths && path == "inside.txt" {
            return Err(String::from("no"));
        }
        let is_special = whole.exists() && !whole.is_file();
        let may_wait = self.fault == Fault::WaitsForPipes && path == "pipe";
        if is_special && !may_wait { Err(String::from("no file")) } else { Ok(whole) }
    }

    async fn wait(&self, context: &ToolContext) -> ToolOutcome {
        // What is left behind on purpose is gone soon.
        let seconds = if self.fault == Fault::LeavesProcesses { "10" } else { "61" };
        let mut command = std::process::Command::new("sleep");
        command.arg(seconds).current_dir(&self.workspace).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let _end = (self.fault != Fault::LeavesProcesses).then(|| {
            scopeguard(move || {
                child.kill().unwrap();
                child.wait().unwrap();
            })
        });
        if self.fault == Fault::LeavesWork {
            let file = self.workspace.join("log");
            std::thread::spawn(move || {
                (0..300).for_each(|count| {
                    let _ = fs::write(&file, count.to_string());
                    std::thread::sleep(Duration::from_millis(10));
                });
            });
        }
        if self.fault == Fault::DoesNotHear {
            tokio::time::sleep(Duration::from_secs(5)).await;
        }
        tokio::select! {
            () = context.cancel.cancelled() => {}
            () = tokio::time::sleep(Duration::from_secs(61)) => {}
        }
        ToolOutcome::interrupted("stopped")
    }
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn scopeguard<F: FnMut()>(work: F) -> OnDrop<F> {
    OnDrop(work)
}

#[async_trait]
impl Tool for Note {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn inspect(&self, arguments: &Arguments) -> Result<Inspection, String> {
        let read = self.read(arguments);
        if self.fault == Fault::ActsWhenLookedAt {
            fs::write(self.workspace.join("looked"), "x").unwrap();
        }
        if self.fault == Fault::TakesEverything && read.is_err() {
            return Ok(Inspection { effect: Effect::Reads, subject: Subject::None });
        }
        let read = read?;
        let effect = if read.text.is_some() { Effect::Changes } else { Effect::Reads };
        Ok(Inspection { effect, subject: Subject::Paths(vec![read.path]) })
    }

    async fn run(&self, call: &ToolCall, context: &ToolContext) -> ToolOutcome {
        let arguments = match self.read(&call.arguments) {
            Ok(arguments) => arguments,
            Err(_) if self.fault == Fault::RunsWhatItRefuses => return ToolOutcome::ok("all right"),
            Err(message) => return ToolOutcome::failed(message),
        };
        if context.cancel.is_cancelled() && self.fault != Fault::GoesOnWhenStopped {
            return ToolOutcome::interrupted("stopped");
        }
        if arguments.wait == Some(true) {
            return self.wait(context).await;
        }
        let file = match self.file(&arguments.path) {
            Ok(file) => file,
            Err(message) => return ToolOutcome::failed(message),
        };
        if let Some(text) = arguments.text {
            let changed = if self.fault == Fault::ForgetsWhatItChanged { vec![] } else { vec![arguments.path] };
            return match fs::write(file, text) {
                Ok(()) => ToolOutcome::ok("written").with_changed_paths(changed),
                Err(error) => ToolOutcome::failed(error.to_string()),
            };
        }
        if self.fault == Fault::ChangesWhenItReads {
            fs::write(self.workspace.join("read"), "x").unwrap();
        }
        let others = self.running.fetch_add(1, Ordering::SeqCst);
        tokio::task::yield_now().await;
        let text = fs::read_to_string(file);
        self.running.fetch_sub(1, Ordering::SeqCst);
        let Ok(text) = text else { return ToolOutcome::failed("cannot be read") };
        let much = text.repeat(arguments.copies.unwrap_or(1) as usize);
        if self.fault == Fault::ReportsWithoutBounds {
            context.progress.report(&much);
        }
        let bound = if self.fault == Fault::HasNoBounds { usize::MAX } else { 1_000 };
        let shown: String = much.chars().take(bound).collect();
        let mixed = if self.fault == Fault::MixesUpCalls && others > 0 { "!" } else { "" };
        ToolOutcome::ok(format!("{shown}{mixed}"))
    }
}

struct Case(Fault);

impl ToolCase for Case {
    fn tool(&self, workspace: &Path) -> Result<Arc<dyn Tool>, String> {
        let spec = ToolSpec {
            name: Arc::from(if self.0 == Fault::HasABadName { "a note" } else { "note" }),
            description: Arc::from("Reads and writes notes."),
            input_schema: Arc::new(json!({"type": "object", "properties": {"path": {}, "text": {}}})),
        };
        Ok(Arc::new(Note { fault: self.0, workspace: workspace.to_path_buf(), spec, running: AtomicUsize::new(0) }))
    }

    fn works(&self, workspace: &Path) -> Vec<Value> {
        fs::write(workspace.join("note"), "text").unwrap();
        vec![json!({"path": "note"}), json!({"path": "new", "text": "x"}), json!({"path": "note", "text": "y"})]
    }

    fn misfits(&self) -> Vec<Value> {
        vec![json!({}), json!({"path": 3}), json!({"path": "x", "more": 1})]
    }

    fn about_path(&self, path: &str) -> Option<Value> {
        Some(json!({"path": path}))
    }

    fn much(&self, workspace: &Path) -> Option<Value> {
        fs::write(workspace.join("note"), "text").unwrap();
        Some(json!({"path": "note", "copies": 1_000_000}))
    }

    fn long(&self, _: &Path) -> Option<Value> {
        Some(json!({"path": "x", "wait": true}))
    }
}

async fn broken(fault: Fault) -> Vec<&'static str> {
    let mut broken = Vec::new();
    for check in tool_checks() {
        if check.run(&Case(fault)).await.is_err() {
            broken.push(check.name);
        }
    }
    broken
}

#[tokio::test]
async fn each_fault_breaks_its_check() {
    let faults = [
        (Fault::None, &[][..]),
        (Fault::HasABadName, &["specification"]),
        (Fault::TakesEverything, &["misfits"]),
        (Fault::RunsWhatItRefuses, &["misfits", "anything"]),
        (Fault::Panics, &["anything"]),
        (Fault::ActsWhenLookedAt, &["inspecting"]),
        (Fault::ChangesWhenItReads, &["reading"]),
        (Fault::ForgetsWhatItChanged, &["changed paths"]),
        (Fault::MixesUpCalls, &["side by side"]),
        (Fault::HasNoBounds, &["limits"]),
        (Fault::ReportsWithoutBounds, &["limits"]),
        (Fault::GoesOnWhenStopped, &["stopped before it begins"]),
        (Fault::DoesNotHear, &["stopped in the middle"]),
        (Fault::LeavesProcesses, &["stopped in the middle", "dropped in the middle"]),
        (Fault::LeavesWork, &["stopped in the middle", "dropped in the middle"]),
        (Fault::FollowsPaths, &["paths that lead out"]),
        (Fault::FollowsLinks, &["links that lead out"]),
        (Fault::WaitsForPipes, &["files that block"]),
        (Fault::RefusesAllPaths, &["inside"]),
    ];
    assert_finds(&faults, broken).await;
}
