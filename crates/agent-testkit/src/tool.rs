//! A tool that does what a test says, and counts.

use crate::log::{Log, lock};
use agent_core::conversation::{Arguments, ToolCall};
use agent_core::ports::{Tool, ToolContext};
use agent_core::tool::{Effect, Inspection, Subject, ToolOutcome, ToolSpec};
use async_trait::async_trait;
use serde_json::json;
use std::fmt;
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A tool that does what a test says, takes any arguments, and keeps count in its [`ToolLog`].
///
/// By default it ends at once with the outcome `ok`, and stops when it is cancelled.
#[derive(Clone)]
pub struct FakeTool {
    spec: ToolSpec,
    inspection: Result<Inspection, String>,
    behaviour: Behaviour,
    delay: Duration,
    progress: Vec<String>,
    obeys: bool,
    log: ToolLog,
}

#[derive(Clone)]
enum Behaviour {
    Respond(Arc<dyn Fn(&ToolCall) -> ToolOutcome + Send + Sync>),
    Hang,
    Panic(String),
}

impl FakeTool {
    /// A tool that only reads.
    #[must_use]
    pub fn reads(name: &str) -> Self {
        Self::new(name, Effect::Reads)
    }

    /// A tool that may change something.
    #[must_use]
    pub fn changes(name: &str) -> Self {
        Self::new(name, Effect::Changes)
    }

    fn new(name: &str, effect: Effect) -> Self {
        Self {
            spec: ToolSpec {
                name: Arc::from(name),
                description: Arc::from("A stand-in for tests."),
                input_schema: Arc::new(json!({"type": "object"})),
            },
            inspection: Ok(Inspection { effect, subject: Subject::None }),
            behaviour: Behaviour::Respond(Arc::new(|_| ToolOutcome::ok("ok"))),
            delay: Duration::ZERO,
            progress: Vec::new(),
            obeys: true,
            log: ToolLog::default(),
        }
    }

    /// Says that every call is about this.
    #[must_use]
    pub fn about(mut self, subject: Subject) -> Self {
        if let Ok(inspection) = &mut self.inspection {
            inspection.subject = subject;
        }
        self
    }

    /// Refuses all arguments with this message.
    #[must_use]
    pub fn refuses_arguments(mut self, message: &str) -> Self {
        self.inspection = Err(message.to_owned());
        self
    }

    /// Ends every call like this.
    #[must_use]
    pub fn outcome(self, outcome: ToolOutcome) -> Self {
        self.respond(move |_| outcome.clone())
    }

    /// Ends every call with what the function makes of it.
    #[must_use]
    pub fn respond(mut self, with: impl Fn(&ToolCall) -> ToolOutcome + Send + Sync + 'static) -> Self {
        self.behaviour = Behaviour::Respond(Arc::new(with));
        self
    }

    /// Takes this long for a call, by tokio's time.
    #[must_use]
    pub const fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Never ends by itself.
    #[must_use]
    pub fn hangs(mut self) -> Self {
        self.behaviour = Behaviour::Hang;
        self
    }

    /// Panics with this message when its delay is over.
    #[must_use]
    pub fn panics(mut self, message: &str) -> Self {
        self.behaviour = Behaviour::Panic(message.to_owned());
        self
    }

    /// Reports these pieces of output when a call begins.
    #[must_use]
    pub fn reports(mut self, pieces: &[&str]) -> Self {
        self.progress = pieces.iter().map(|&piece| piece.to_owned()).collect();
        self
    }

    /// Ignores a cancel: only dropping its future ends it.
    #[must_use]
    pub const fn ignores_cancellation(mut self) -> Self {
        self.obeys = false;
        self
    }

    /// Counts in this log, together with other tools.
    #[must_use]
    pub fn counting_in(mut self, log: &ToolLog) -> Self {
        self.log = log.clone();
        self
    }

    /// What it counts.
    #[must_use]
    pub fn log(&self) -> ToolLog {
        self.log.clone()
    }

    async fn work(&self, call: &ToolCall) -> ToolOutcome {
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
        match &self.behaviour {
            Behaviour::Respond(with) => with(call),
            Behaviour::Hang => pending().await,
            // Unlike `panic!`, this carries the message as it is and is no slip of this crate: a test asked for it.
            Behaviour::Panic(message) => std::panic::panic_any(message.clone()),
        }
    }
}

#[async_trait]
impl Tool for FakeTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn inspect(&self, _arguments: &Arguments) -> Result<Inspection, String> {
        self.inspection.clone()
    }

    async fn run(&self, call: &ToolCall, context: &ToolContext) -> ToolOutcome {
        let mut run = Run::begin(&self.log, call);
        for piece in &self.progress {
            context.progress.report(piece);
        }
        let outcome = if self.obeys {
            tokio::select! {
                biased;
                () = context.cancel.cancelled() => {
                    run.end = End::Interrupted;
                    return ToolOutcome::interrupted("interrupted");
                }
                outcome = self.work(call) => outcome,
            }
        } else {
            self.work(call).await
        };
        run.end = End::Finished;
        outcome
    }
}

impl fmt::Debug for FakeTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeTool")
            .field("name", &self.spec.name)
            .field("inspection", &self.inspection)
            .field("delay", &self.delay)
            .field("log", &self.log)
            .finish_non_exhaustive()
    }
}

/// What fake tools did. Clones share one count.
#[derive(Clone, Debug, Default)]
pub struct ToolLog {
    calls: Log<ToolCall>,
    counts: Arc<Mutex<Counts>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    in_flight: usize,
    max_in_flight: usize,
    finished: usize,
    interrupted: usize,
    dropped: usize,
}

impl ToolLog {
    /// The calls that were begun, in that order.
    #[must_use]
    pub fn calls(&self) -> Vec<ToolCall> {
        self.calls.all()
    }

    /// How many calls were begun.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.calls.len()
    }

    /// Resolves when at least so many calls were begun.
    pub async fn wait_for_runs(&self, count: usize) {
        self.calls.wait_for(count).await;
    }

    /// How many run now.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        lock(&self.counts).in_flight
    }

    /// The most that ever ran at a time.
    #[must_use]
    pub fn max_in_flight(&self) -> usize {
        lock(&self.counts).max_in_flight
    }

    /// How many ended by themselves.
    #[must_use]
    pub fn finished(&self) -> usize {
        lock(&self.counts).finished
    }

    /// How many stopped because they were told to.
    #[must_use]
    pub fn interrupted(&self) -> usize {
        lock(&self.counts).interrupted
    }

    /// How many were dropped in mid-run, or panicked.
    #[must_use]
    pub fn dropped(&self) -> usize {
        lock(&self.counts).dropped
    }
}

/// One call while it runs; counts its end however it comes.
struct Run {
    counts: Arc<Mutex<Counts>>,
    end: End,
}

#[derive(Clone, Copy)]
enum End {
    Finished,
    Interrupted,
    Dropped,
}

impl Run {
    fn begin(log: &ToolLog, call: &ToolCall) -> Self {
        log.calls.push(call.clone());
        let mut counts = lock(&log.counts);
        counts.in_flight += 1;
        counts.max_in_flight = counts.max_in_flight.max(counts.in_flight);
        drop(counts);
        Self { counts: Arc::clone(&log.counts), end: End::Dropped }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let mut counts = lock(&self.counts);
        counts.in_flight -= 1;
        match self.end {
            End::Finished => counts.finished += 1,
            End::Interrupted => counts.interrupted += 1,
            End::Dropped => counts.dropped += 1,
        }
    }
}
