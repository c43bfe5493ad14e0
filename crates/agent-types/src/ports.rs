//! Ports: the traits through which a host plugs in the outside.
//!
//! The machines call none of them. A driver (such as `agent-runner`) performs the machines' actions through them; they are declared here so
//! that a provider or a tool needs to know this crate only. The journal and the observer see the machines' own types and are ports of
//! `agent-core`.

use crate::conversation::{Arguments, ToolCall};
use crate::hook::{Changes, CommitReport, FilesSeen, FormatReport, GitReport, HookError, HookOccasion, HookReport};
use crate::instructions::KnownInstructions;
use crate::llm::{LlmChunk, LlmError, LlmRequest};
use crate::permission::{ApprovalAnswer, ApprovalQuestion, Exclusions};
use crate::picture::{Digest, Picture};
use crate::tool::{Effect, HookVerdict, Inspection, Opening, ToolOutcome, ToolSpec};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use async_trait::async_trait;
use core::pin::Pin;
use futures_core::Stream;

/// Talks to a model.
#[async_trait]
pub trait LlmProvider: Send + Sync {
    /// The wire format it speaks, a stable word such as `anthropic`. Opaque blocks carry it.
    fn dialect(&self) -> &str;

    /// Sends a request and streams the answer.
    ///
    /// The stream yields any number of [`LlmChunk::Delta`]s and then [`LlmChunk::Completed`] exactly once; a stream that ends otherwise is
    /// an error. Dropping the stream must close the connection. The provider does not retry.
    ///
    /// # Errors
    /// An [`LlmError`], classified, when the provider does not accept the request. Errors after that come through the stream.
    async fn stream(&self, request: LlmRequest) -> Result<LlmStream, LlmError>;
}

/// The stream of one model call.
pub type LlmStream = Pin<Box<dyn Stream<Item = Result<LlmChunk, LlmError>> + Send>>;

/// Something the model can do.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the model reads about the tool. Must not change while the tool is in use.
    fn spec(&self) -> &ToolSpec;

    /// Checks the arguments and says what the call would do, without doing anything.
    ///
    /// # Errors
    /// A message that tells the model how to correct the call.
    fn inspect(&self, arguments: &Arguments) -> Result<Inspection, String>;

    /// Why the call would fail as things are now, with what the model would read then; looked up without changing anything. No question
    /// is put about such a call. `None` where it may succeed, where it is not known, and for most tools.
    fn foresee(&self, _arguments: &Arguments) -> Option<String> {
        None
    }

    /// Runs the call. A failure is an outcome, not an error. When [`CancelSignal::cancelled`] resolves, the tool stops what it
    /// started, process trees included, and returns what it has as [`ToolStatus::Interrupted`](crate::tool::ToolStatus::Interrupted);
    /// if it takes too long its future is dropped, which must stop everything too.
    async fn run(&self, call: &ToolCall, context: &ToolContext) -> ToolOutcome;
}

/// What a running tool gets from the driver.
#[derive(Clone)]
pub struct ToolContext {
    /// Where to report what a long call is doing.
    pub progress: Arc<dyn ProgressSink>,
    /// Signals when to stop.
    pub cancel: Arc<dyn CancelSignal>,
    /// What the tool must not show of the files that it comes across without their being named in the call.
    pub exclusions: Exclusions,
    /// What the call was judged to do. One that was judged to read must not do more, whatever has changed since.
    pub effect: Effect,
    /// The instructions that the session knows: a tool reports no others than those that are not among them.
    pub known: KnownInstructions,
    /// What of the sandbox the call was judged to open. Nothing else is opened for it.
    pub opening: Option<Opening>,
}

impl core::fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ToolContext").field("cancelled", &self.cancel.is_cancelled()).finish_non_exhaustive()
    }
}

/// Takes what a long call prints while it runs. Never blocks; what cannot be delivered is dropped.
pub trait ProgressSink: Send + Sync {
    /// Reports a piece of output.
    fn report(&self, text: &str);
}

/// Cancels a running action.
#[async_trait]
pub trait CancelSignal: Send + Sync {
    /// Whether stopping was asked for.
    fn is_cancelled(&self) -> bool;

    /// Resolves when stopping is asked for.
    async fn cancelled(&self);
}

/// A cancel signal that never fires.
#[derive(Clone, Copy, Debug, Default)]
pub struct NeverCancelled;

#[async_trait]
impl CancelSignal for NeverCancelled {
    fn is_cancelled(&self) -> bool {
        false
    }

    async fn cancelled(&self) {
        core::future::pending::<()>().await;
    }
}

/// Acts around the tools: the user's own hooks, a verdict before a call, and the work after a batch that may have changed files.
///
/// Every method has a default that does nothing. When the signal fires, a hook stops and returns an error.
#[async_trait]
pub trait Hook: Send + Sync {
    /// Whether [`before_tool`](Self::before_tool), or [`run`](Self::run) before a call, may change anything outside the program, as a
    /// command may. If not, the answer that holds the calls need not be on the disk before it is asked.
    fn acts_before_tools(&self) -> bool {
        true
    }

    /// Runs the user's hooks on something; before a call that is [`HookOccasion::PreToolUse`]. It is asked only at points that the
    /// session's configuration names, bounds the time of every program itself, and reports a program that fails as one. When the signal
    /// fires it stops what it started and reports what it has.
    async fn run(&self, _occasion: &HookOccasion, _cancel: &dyn CancelSignal) -> HookReport {
        HookReport::default()
    }

    /// A verdict on one call before it runs, with the arguments that the user's hooks have made of it.
    async fn before_tool(&self, _call: &ToolCall, _inspection: &Inspection) -> HookVerdict {
        HookVerdict::None
    }

    /// A call was permitted and runs now. What a hook keeps of the state before a call leaves the program's memory here at the earliest: a
    /// call that was denied leaves nothing. The arguments are those of the last [`before_tool`](Self::before_tool) for this call, if this
    /// program asked for a verdict: where the session was resumed in between, another one did. `judged` is what the call was found to do.
    async fn tool_begins(&self, _call: &ToolCall, _judged: &Inspection) {}

    /// Looks at the repository: new commits, and whether formatting or committing is due.
    async fn check_git(&self, _changes: &Changes, _cancel: &dyn CancelSignal) -> Result<GitReport, HookError> {
        Ok(GitReport::default())
    }

    /// Runs the formatters on what the agent changed.
    async fn format(&self, _changes: &Changes, _cancel: &dyn CancelSignal) -> Result<FormatReport, HookError> {
        Ok(FormatReport::default())
    }

    /// How the files that the agent works on are now; `None` where that is not known. May take a moment, in which it reads no file and runs
    /// nothing: what checks find out is bound to it.
    fn files(&self) -> Option<FilesSeen> {
        None
    }

    /// Commits what the agent changed.
    async fn commit(&self, _changes: &Changes, _cancel: &dyn CancelSignal) -> Result<CommitReport, HookError> {
        Ok(CommitReport::default())
    }
}

/// Asks a person whether a call may run.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Asks about one call and waits as long as it takes. The driver drops the future when the question is withdrawn.
    async fn ask(&self, question: &ApprovalQuestion) -> ApprovalAnswer;
}

/// Keeps the bytes of pictures, each once, for as long as the session is kept.
pub trait PictureKeeper: Send + Sync + core::fmt::Debug {
    /// Keeps these bytes and names them. When it returns, they outlast a crash as the session's own records do.
    ///
    /// # Errors
    /// [`PictureError`] when they cannot be kept.
    fn keep(&self, bytes: &[u8]) -> Result<Digest, PictureError>;

    /// The bytes of a picture, which are exactly those that were kept.
    ///
    /// # Errors
    /// [`PictureError`] when they are gone, or are not those any more.
    fn bytes_of(&self, picture: &Picture) -> Result<Vec<u8>, PictureError>;
}

/// Why a picture cannot be kept, or had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{attempted}: {found}")]
pub struct PictureError {
    /// What was attempted, such as `keep a picture in /a/b`.
    pub attempted: String,
    /// What was found.
    pub found: String,
}

/// Runs commands for adapters and drivers that are not tools (commitments, formatters).
#[async_trait]
pub trait CommandRunner: Send + Sync {
    /// Runs a command until it ends, times out or is cancelled, and leaves no process behind.
    ///
    /// # Errors
    /// [`CommandError`] when it could not be started.
    async fn run(&self, command: &Command, cancel: &dyn CancelSignal) -> Result<CommandOutput, CommandError>;
}

/// A command to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program, by absolute path or by name.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Directory to run in; absolute.
    pub directory: String,
    /// Variables on top of the runner's clean environment.
    pub environment: Vec<(String, String)>,
    /// What is written to its standard input, which is then closed.
    pub stdin: Vec<u8>,
    /// Ends it, with everything it started, after that many milliseconds.
    pub timeout_ms: u64,
    /// Bytes of each output stream that are kept; of more, the beginning and the end.
    pub output_limit_bytes: usize,
}

/// How a command ended, with its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOutput {
    /// How it ended.
    pub exit: Exit,
    /// Its standard output, as far as kept.
    pub stdout: Vec<u8>,
    /// Its standard error, as far as kept.
    pub stderr: Vec<u8>,
    /// Bytes of both streams that were not kept.
    pub dropped_bytes: u64,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It was ended because its time was up.
    TimedOut,
    /// It was ended because the signal fired.
    Cancelled,
}

/// Why a command could not be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("start `{program}`: {found}")]
pub struct CommandError {
    /// The program.
    pub program: String,
    /// What the system said.
    pub found: String,
}

/// Time for drivers. The core never asks it; the driver stamps events with it.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Milliseconds since the Unix epoch.
    fn now_ms(&self) -> u64;

    /// Resolves after that many milliseconds.
    async fn sleep_ms(&self, duration_ms: u64);
}

#[cfg(test)]
mod tests {
    use super::{CancelSignal, Effect, Exclusions, Hook, NeverCancelled, ProgressSink, ToolContext};
    use alloc::boxed::Box;
    use alloc::format;
    use alloc::sync::Arc;
    use async_trait::async_trait;

    /// A signal that was given, or was not.
    struct Given(bool);

    #[async_trait]
    impl CancelSignal for Given {
        fn is_cancelled(&self) -> bool {
            self.0
        }

        async fn cancelled(&self) {}
    }

    impl ProgressSink for Given {
        fn report(&self, _text: &str) {}
    }

    #[test]
    fn nobody_stops_what_is_never_cancelled() {
        use core::task::{Context, Poll, Waker};
        assert!(!NeverCancelled.is_cancelled());
        let mut waiting = NeverCancelled.cancelled();
        assert_eq!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending);
    }

    /// Says nothing about itself.
    struct Silent;

    impl Hook for Silent {}

    #[test]
    fn a_hook_that_does_not_say_otherwise_may_change_something_before_a_call() {
        assert!(Silent.acts_before_tools());
    }

    #[test]
    fn a_context_shows_whether_it_is_cancelled() {
        for given in [false, true] {
            let exclusions = Exclusions::default();
            let (progress, cancel) = (Arc::new(Given(given)), Arc::new(Given(given)));
            let (effect, known) = (Effect::Reads, Default::default());
            let context = ToolContext { progress, cancel, exclusions, effect, known, opening: None };
            assert_eq!(format!("{context:?}"), format!("ToolContext {{ cancelled: {given}, .. }}"));
        }
    }
}
