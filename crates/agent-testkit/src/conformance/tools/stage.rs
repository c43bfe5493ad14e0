//! A workspace with a neighbour, and a tool in it.

use super::ToolCase;
use crate::context::{ManualCancel, RecordingProgress, tool_context};
use agent_core::conversation::{Arguments, CallId, ToolCall};
use agent_core::ports::{Tool, ToolContext};
use agent_core::tool::{Inspection, ToolOutcome};
use futures_util::FutureExt as _;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Where a check takes place. Removed when it is dropped.
pub(super) struct Stage<'a> {
    pub(super) case: &'a dyn ToolCase,
    pub(super) tool: Arc<dyn Tool>,
    directory: Directory,
}

impl<'a> Stage<'a> {
    pub(super) fn open(case: &'a dyn ToolCase) -> Result<Self, String> {
        let said = |error: std::io::Error| format!("the workspace could not be made: {error}");
        let directory = Directory::new().map_err(said)?;
        let workspace = directory.0.join("workspace");
        fs::create_dir(&workspace).map_err(said)?;
        fs::write(directory.0.join("outside.txt"), SECRET).map_err(said)?;
        let tool = case.tool(&workspace)?;
        Ok(Self { case, tool, directory })
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.directory.0.join("workspace")
    }

    pub(super) fn outside(&self) -> PathBuf {
        self.directory.0.clone()
    }

    pub(super) fn inspect(&self, arguments: &Value) -> Result<Inspection, String> {
        let parsed = Arguments::parse(&arguments.to_string()).map_err(|error| error.to_string())?;
        let inspected = catch_unwind(AssertUnwindSafe(|| self.tool.inspect(&parsed)));
        inspected.unwrap_or_else(|_| Err(String::from(PANICKED)))
    }

    /// Runs a call without a cancel.
    pub(super) async fn call(&self, arguments: &Value) -> Result<ToolOutcome, String> {
        let (context, _cancel, _progress) = tool_context();
        self.call_with(arguments, &context).await
    }

    pub(super) async fn call_with(&self, arguments: &Value, context: &ToolContext) -> Result<ToolOutcome, String> {
        let call = self.to_call(arguments)?;
        let ran = AssertUnwindSafe(self.tool.run(&call, context)).catch_unwind().await;
        ran.map_err(|_| format!("{PANICKED} at {}", shown(arguments)))
    }

    /// Runs a call on a thread of its own: it may block that.
    pub(super) async fn call_aside(&self, arguments: &Value, patience: Duration) -> Result<(), String> {
        let call = self.to_call(arguments)?;
        let (tool, (context, cancel, _progress)) = (Arc::clone(&self.tool), tool_context());
        let (done, ended) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let outcome = runtime.map(|runtime| runtime.block_on(tool.run(&call, &context)));
            // The receiver is gone: it came too late.
            let _ = done.send(outcome.map(drop));
        });
        let ended = tokio::time::timeout(patience, ended).await;
        cancel.cancel();
        match ended {
            Ok(Ok(outcome)) => outcome.map_err(|error| error.to_string()),
            Ok(Err(_)) => Err(format!("{PANICKED} at {}", shown(arguments))),
            Err(_) => Err(format!("{} has no end", shown(arguments))),
        }
    }

    fn to_call(&self, arguments: &Value) -> Result<ToolCall, String> {
        Ok(ToolCall {
            id: CallId::new("call_1"),
            name: Arc::clone(&self.tool.spec().name),
            arguments: Arguments::parse(&arguments.to_string()).map_err(|error| error.to_string())?,
        })
    }

    /// A context whose signal a check holds.
    pub(super) fn context() -> (ToolContext, ManualCancel, RecordingProgress) {
        tool_context()
    }

    /// Every file of the workspace with what is in it, and everything else with what it is.
    pub(super) fn snapshot(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        snapshot(&self.workspace())
    }

    /// Processes that work in the workspace, or in what was the workspace.
    pub(super) fn processes(&self) -> Vec<String> {
        let workspace = self.workspace();
        let workspace = workspace.canonicalize().unwrap_or(workspace);
        let Ok(entries) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        let ids = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        ids.filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()))
            .filter(|id| fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|cwd| cwd.starts_with(&workspace)))
            .collect()
    }
}

/// A directory that goes when this does.
struct Directory(PathBuf);

impl Directory {
    fn new() -> std::io::Result<Self> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().canonicalize()?.join(format!("tool-conformance-{}-{number}", std::process::id()));
        fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // What a tool has made impossible to remove stays.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A directory as it is.
pub(super) fn snapshot(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            let content =
                if kind.is_file() { fs::read(&path).unwrap_or_default() } else { format!("{kind:?}").into_bytes() };
            if kind.is_dir() {
                open.push(path.clone());
            }
            found.insert(path, content);
        }
    }
    found
}

/// What is different between two snapshots.
pub(super) fn differences(before: &BTreeMap<PathBuf, Vec<u8>>, after: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<PathBuf> {
    let paths = before.keys().chain(after.keys().filter(|path| !before.contains_key(*path)));
    paths.filter(|path| before.get(*path) != after.get(*path)).cloned().collect()
}

/// The beginning of some arguments.
pub(super) fn shown(arguments: &Value) -> String {
    arguments.to_string().chars().take(200).collect()
}

/// What stands outside of the workspace.
pub(super) const SECRET: &str = "the secret beside the workspace";
const PANICKED: &str = "it panicked";
