//! What all file tools share: arguments in, blocking work off the async threads, stopping.

use crate::arguments::read_arguments;
use crate::spec::tool_spec;
use crate::workspace::Workspace;
use agent_types::conversation::{Arguments, ToolCall};
use agent_types::permission::{Exclusions, Rule};
use agent_types::ports::{ProgressSink, Tool, ToolContext};
use agent_types::tool::{Effect, Inspection, Subject, ToolOutcome, ToolSpec};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// One file tool.
pub(crate) trait Operation: Send + Sync + 'static {
    const NAME: &'static str;
    const DESCRIPTION: &'static str;
    const KIND: FileKind;
    type Arguments: DeserializeOwned + JsonSchema + Send + 'static;

    /// The paths that a call is about.
    fn paths(arguments: &Self::Arguments) -> Vec<&str>;

    /// Further checks that need nothing but the arguments.
    fn check(_arguments: &Self::Arguments) -> Result<(), String> {
        Ok(())
    }

    /// Why the work would fail as the files are, as [`Operation::perform`] would say it.
    fn foresee(_workspace: &Workspace, _arguments: &Self::Arguments) -> Option<String> {
        None
    }

    /// The work. Long work looks at `watch`, reports progress, and returns an interrupted outcome when it is to stop.
    fn perform(workspace: &Workspace, arguments: &Self::Arguments, watch: &Watch) -> ToolOutcome;
}

/// What a file tool does with files, as permission rules name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// Shows a file that is named.
    Reads,
    /// Shows the names of files that it comes across.
    Lists,
    /// Shows of the files that it comes across what is searched for.
    Searches,
    /// Changes files that are named.
    Edits,
}

impl FileKind {
    const fn effect(self) -> Effect {
        match self {
            Self::Reads | Self::Lists | Self::Searches => Effect::Reads,
            Self::Edits => Effect::Changes,
        }
    }

    /// The families of tools whose rules are rules for this one.
    const fn families(self) -> &'static [&'static str] {
        match self {
            Self::Reads | Self::Lists => &["read"],
            Self::Searches => &["read", "search"],
            Self::Edits => &["edit"],
        }
    }

    /// Whose deny rules about files hold here, too: of everything that shows files where files are come across. An edit tells what a file
    /// held, and can move it to where it may be read.
    const fn akin(self) -> &'static [&'static str] {
        match self {
            Self::Reads => &[],
            Self::Lists | Self::Searches => &["search", "read_file", "list_files", "glob", "grep"],
            Self::Edits => &["write_file", "edit_file", "apply_patch", "read", "read_file"],
        }
    }

    pub(crate) fn subject(self, paths: Vec<String>) -> Subject {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Subject::Files { paths, families: owned(self.families()), akin: owned(self.akin()) }
    }
}

/// The tools that show files, and their families.
pub(crate) const SHOWING: &[&str] = &["read", "search", "read_file", "list_files", "glob", "grep"];
/// All of them.
pub(crate) const FAMILIES: &[&str] = &["read", "search", "edit"];

/// What long work on a thread of its own has to do with the outside.
#[derive(Clone)]
pub(crate) struct Watch {
    is_stopped: Arc<AtomicBool>,
    progress: Arc<dyn ProgressSink>,
    last_told: Arc<Mutex<Instant>>,
    exclusions: Exclusions,
}

impl Watch {
    fn new(context: &ToolContext) -> Self {
        Self {
            is_stopped: Arc::default(),
            progress: Arc::clone(&context.progress),
            last_told: Arc::new(Mutex::new(Instant::now())),
            exclusions: context.exclusions.clone(),
        }
    }

    /// Whether there is such a rule at all.
    pub(crate) const fn excludes(&self) -> bool {
        !self.exclusions.is_empty()
    }

    /// The rule by which something must not be shown, by its path without links.
    pub(crate) fn excluded(&self, path: &str) -> Option<&Rule> {
        self.exclusions.covering(path)
    }

    /// Whether the work is to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Reports how far long work is, at a bounded rate.
    pub(crate) fn tell(&self, how_far: impl FnOnce() -> String) {
        let Ok(mut last_told) = self.last_told.try_lock() else {
            return;
        };
        if last_told.elapsed() >= PAUSE {
            *last_told = Instant::now();
            self.progress.report(&how_far());
        }
    }

    fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }
}

/// How long work runs before its first progress report, and between reports.
const PAUSE: Duration = Duration::from_secs(1);

/// An operation as a tool.
pub(crate) fn boxed<O: Operation>(workspace: &Arc<Workspace>) -> Arc<dyn Tool> {
    Arc::new(FileTool::<O> {
        spec: tool_spec::<O::Arguments>(O::NAME, O::DESCRIPTION),
        workspace: Arc::clone(workspace),
        operation: PhantomData,
    })
}

struct FileTool<O> {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
    operation: PhantomData<O>,
}

#[async_trait]
impl<O: Operation> Tool for FileTool<O> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn inspect(&self, arguments: &Arguments) -> Result<Inspection, String> {
        let arguments = read::<O>(&self.spec, arguments)?;
        let mut subjects = Vec::new();
        for path in O::paths(&arguments) {
            if O::KIND.effect() == Effect::Changes {
                let path = self.workspace.relative(path).map_err(|error| error.to_string())?;
                // No question for a call that would be refused anyway.
                self.workspace.must_be_writable(&path).map_err(|error| error.to_string())?;
            }
            subjects.extend(self.workspace.subjects(path).map_err(|error| error.to_string())?);
        }
        Ok(Inspection { effect: O::KIND.effect(), subject: O::KIND.subject(subjects) })
    }

    fn foresee(&self, arguments: &Arguments) -> Option<String> {
        O::foresee(&self.workspace, &read::<O>(&self.spec, arguments).ok()?)
    }

    async fn run(&self, call: &ToolCall, context: &ToolContext) -> ToolOutcome {
        let arguments = match read::<O>(&self.spec, &call.arguments) {
            Ok(arguments) => arguments,
            Err(message) => return ToolOutcome::failed(message),
        };
        if context.cancel.is_cancelled() {
            return ToolOutcome::interrupted("cancelled before it started");
        }
        let watch = Watch::new(context);
        // A dropped future stops the work, too.
        let guard = StopOnDrop(watch.clone());
        let workspace = Arc::clone(&self.workspace);
        let mut work = tokio::task::spawn_blocking(move || match excluded::<O>(&workspace, &arguments, &watch) {
            Some(refusal) => ToolOutcome::failed(refusal),
            None => O::perform(&workspace, &arguments, &watch),
        });
        let outcome = tokio::select! {
            biased;
            outcome = &mut work => outcome,
            () = context.cancel.cancelled() => {
                guard.0.stop();
                work.await
            }
        };
        outcome.unwrap_or_else(|error| ToolOutcome::failed(format!("the tool failed internally: {error}")))
    }
}

/// Why a named path must not be touched after all: what a link leads to may be another file than when the call was judged.
fn excluded<O: Operation>(workspace: &Workspace, arguments: &O::Arguments, watch: &Watch) -> Option<String> {
    O::paths(arguments).into_iter().find_map(|path| {
        let paths = workspace.subjects(path).ok()?;
        paths.iter().find_map(|real| watch.excluded(real).map(|rule| denied(path, rule)))
    })
}

/// The model's answer about a file that a rule denies.
pub(crate) fn denied(path: &str, rule: &Rule) -> String {
    format!("`{path}`: the rule `{rule}`{} denies it", rule.source().phrase())
}

fn read<O: Operation>(spec: &ToolSpec, arguments: &Arguments) -> Result<O::Arguments, String> {
    let arguments = read_arguments::<O::Arguments>(spec, arguments)?;
    O::check(&arguments)?;
    Ok(arguments)
}

struct StopOnDrop(Watch);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}
