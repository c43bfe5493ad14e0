//! Hooks that report what a test says.

use crate::log::{Log, lock};
use agent_core::conversation::ToolCall;
use agent_core::hook::{Changes, CommitReport, FormatReport, GitReport, HookError, HookOccasion, HookReport};
use agent_core::ports::{CancelSignal, Hook};
use agent_core::tool::{HookVerdict, Inspection};
use async_trait::async_trait;
use std::collections::VecDeque;
use std::fmt;
use std::future::pending;
use std::sync::{Arc, Mutex};

/// A hook that records its input and reports what a test says.
///
/// Each kind of report has its own queue; when it is empty, the report is the default one, which finds nothing. Clones share queues
/// and records.
#[derive(Clone, Default)]
pub struct RecordingHook {
    verdict: Option<Verdict>,
    answer: Option<Answer>,
    git: Queue<GitReport>,
    format: Queue<FormatReport>,
    commit: Queue<CommitReport>,
    calls: Log<HookCall>,
}

type Verdict = Arc<dyn Fn(&ToolCall, &Inspection) -> HookVerdict + Send + Sync>;
type Answer = Arc<dyn Fn(&HookOccasion) -> HookReport + Send + Sync>;
type Queue<T> = Arc<Mutex<VecDeque<Result<T, HookError>>>>;

/// What a hook was asked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum HookCall {
    /// To run the user's hooks.
    Run(HookOccasion),
    /// For a verdict on this call.
    BeforeTool(ToolCall),
    /// To take note that this call runs now.
    ToolBegins(ToolCall),
    /// To look at the repository.
    CheckGit(Changes),
    /// To format.
    Format(Changes),
    /// To commit.
    Commit(Changes),
}

impl RecordingHook {
    /// A hook that finds nothing and says nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives every call the verdict that the function makes of it.
    #[must_use]
    pub fn on_before_tool(
        mut self,
        of: impl Fn(&ToolCall, &Inspection) -> HookVerdict + Send + Sync + 'static,
    ) -> Self {
        self.verdict = Some(Arc::new(of));
        self
    }

    /// Answers for the user's hooks what the function makes of the occasion.
    #[must_use]
    pub fn on_run(mut self, of: impl Fn(&HookOccasion) -> HookReport + Send + Sync + 'static) -> Self {
        self.answer = Some(Arc::new(of));
        self
    }

    /// Scripts the result of the next look at the repository.
    #[must_use]
    pub fn on_check_git(self, result: Result<GitReport, HookError>) -> Self {
        lock(&self.git).push_back(result);
        self
    }

    /// Scripts the result of the next formatting.
    #[must_use]
    pub fn on_format(self, result: Result<FormatReport, HookError>) -> Self {
        lock(&self.format).push_back(result);
        self
    }

    /// Scripts the result of the next commit.
    #[must_use]
    pub fn on_commit(self, result: Result<CommitReport, HookError>) -> Self {
        lock(&self.commit).push_back(result);
        self
    }

    /// What it was asked so far.
    #[must_use]
    pub fn calls(&self) -> Log<HookCall> {
        self.calls.clone()
    }
}

fn next<T: Default>(queue: &Queue<T>) -> Result<T, HookError> {
    lock(queue).pop_front().unwrap_or_else(|| Ok(T::default()))
}

#[async_trait]
impl Hook for RecordingHook {
    async fn run(&self, occasion: &HookOccasion, _cancel: &dyn CancelSignal) -> HookReport {
        self.calls.push(HookCall::Run(occasion.clone()));
        self.answer.as_ref().map(|answer| answer(occasion)).unwrap_or_default()
    }

    async fn before_tool(&self, call: &ToolCall, inspection: &Inspection) -> HookVerdict {
        self.calls.push(HookCall::BeforeTool(call.clone()));
        match &self.verdict {
            Some(verdict) => verdict(call, inspection),
            None => HookVerdict::None,
        }
    }

    async fn tool_begins(&self, call: &ToolCall, _judged: &Inspection) {
        self.calls.push(HookCall::ToolBegins(call.clone()));
    }

    async fn check_git(&self, changes: &Changes, _cancel: &dyn CancelSignal) -> Result<GitReport, HookError> {
        self.calls.push(HookCall::CheckGit(changes.clone()));
        next(&self.git)
    }

    async fn format(&self, changes: &Changes, _cancel: &dyn CancelSignal) -> Result<FormatReport, HookError> {
        self.calls.push(HookCall::Format(changes.clone()));
        next(&self.format)
    }

    async fn commit(&self, changes: &Changes, _cancel: &dyn CancelSignal) -> Result<CommitReport, HookError> {
        self.calls.push(HookCall::Commit(changes.clone()));
        next(&self.commit)
    }
}

impl fmt::Debug for RecordingHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordingHook").field("calls", &self.calls).finish_non_exhaustive()
    }
}

/// A hook that goes wrong, in the same way wherever work is asked of it. It has no verdict on calls before they run.
#[derive(Clone, Debug)]
pub struct FailingHook {
    how: Failure,
}

#[derive(Clone, Debug)]
enum Failure {
    Error(HookError),
    HangUntilCancelled,
    Hang,
    Panic(String),
}

impl FailingHook {
    /// It fails with this message; the turn continues.
    #[must_use]
    pub fn failing(message: &str) -> Self {
        let message = message.to_owned();
        Self { how: Failure::Error(HookError::Failed { message }) }
    }

    /// It demands that the turn ends, for this reason.
    #[must_use]
    pub fn stopping(reason: &str) -> Self {
        let reason = reason.to_owned();
        Self { how: Failure::Error(HookError::StopTurn { reason }) }
    }

    /// It hangs until it is stopped, and fails then.
    #[must_use]
    pub const fn hanging() -> Self {
        Self { how: Failure::HangUntilCancelled }
    }

    /// It hangs and ignores the signal: only dropping its future ends it.
    #[must_use]
    pub const fn hanging_for_good() -> Self {
        Self { how: Failure::Hang }
    }

    /// It panics with this message.
    #[must_use]
    pub fn panicking(message: &str) -> Self {
        Self { how: Failure::Panic(message.to_owned()) }
    }

    async fn fail<T>(&self, cancel: &dyn CancelSignal) -> Result<T, HookError> {
        match &self.how {
            Failure::Error(error) => Err(error.clone()),
            Failure::HangUntilCancelled => {
                cancel.cancelled().await;
                Err(HookError::Failed { message: String::from("stopped by the signal") })
            }
            Failure::Hang => pending().await,
            Failure::Panic(message) => std::panic::panic_any(message.clone()),
        }
    }
}

#[async_trait]
impl Hook for FailingHook {
    async fn check_git(&self, _changes: &Changes, cancel: &dyn CancelSignal) -> Result<GitReport, HookError> {
        self.fail(cancel).await
    }

    async fn format(&self, _changes: &Changes, cancel: &dyn CancelSignal) -> Result<FormatReport, HookError> {
        self.fail(cancel).await
    }

    async fn commit(&self, _changes: &Changes, cancel: &dyn CancelSignal) -> Result<CommitReport, HookError> {
        self.fail(cancel).await
    }
}
