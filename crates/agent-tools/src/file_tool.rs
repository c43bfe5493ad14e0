//! What all file tools share: arguments in, blocking work off the async threads, stopping.

use crate::spec::tool_spec;
use crate::workspace::Workspace;
use agent_core::conversation::{Arguments, ToolCall};
use agent_core::ports::{Tool, ToolContext};
use agent_core::tool::{Effect, Inspection, Subject, ToolOutcome, ToolSpec};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// One file tool.
pub(crate) trait Operation: Send + Sync + 'static {
    const NAME: &'static str;
    const DESCRIPTION: &'static str;
    const EFFECT: Effect;
    type Arguments: DeserializeOwned + JsonSchema + Send + 'static;

    /// The path that a call is about.
    fn path(arguments: &Self::Arguments) -> &str;

    /// Further checks that need nothing but the arguments.
    fn check(_arguments: &Self::Arguments) -> Result<(), String> {
        Ok(())
    }

    /// The work. Long work looks at `stop` and returns an interrupted outcome when it is set.
    fn perform(workspace: &Workspace, arguments: &Self::Arguments, stop: &Stop) -> ToolOutcome;
}

/// Tells blocking work to stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

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
        let arguments = read::<O>(arguments)?;
        let paths = self.workspace.subjects(O::path(&arguments)).map_err(|error| error.to_string())?;
        Ok(Inspection { effect: O::EFFECT, subject: Subject::Paths(paths) })
    }

    async fn run(&self, call: &ToolCall, context: &ToolContext) -> ToolOutcome {
        let arguments = match read::<O>(&call.arguments) {
            Ok(arguments) => arguments,
            Err(message) => return ToolOutcome::failed(message),
        };
        if context.cancel.is_cancelled() {
            return ToolOutcome::interrupted("cancelled before it began");
        }
        let stop = Stop::default();
        // A dropped future stops the work, too.
        let _guard = StopOnDrop(stop.clone());
        let workspace = Arc::clone(&self.workspace);
        let stop_for_work = stop.clone();
        let mut work = tokio::task::spawn_blocking(move || O::perform(&workspace, &arguments, &stop_for_work));
        let outcome = tokio::select! {
            biased;
            outcome = &mut work => outcome,
            () = context.cancel.cancelled() => {
                stop.set();
                work.await
            }
        };
        outcome.unwrap_or_else(|error| ToolOutcome::failed(format!("the tool broke: {error}")))
    }
}

fn read<O: Operation>(arguments: &Arguments) -> Result<O::Arguments, String> {
    let arguments = arguments.read::<O::Arguments>().map_err(|error| error.to_string())?;
    O::check(&arguments)?;
    Ok(arguments)
}

struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}
