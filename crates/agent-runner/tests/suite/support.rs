//! What the scenarios share: a host that keeps what it is shown, and shorthand for what stands around a runner.

use agent_core::agent::Agent;
use agent_core::conversation::{Conversation, Item};
use agent_core::hook::{Changes, CommitReport, FormatReport, GitReport, HookError, HookOccasion, HookReport};
use agent_core::llm::{LlmError, LlmRequest};
use agent_core::permission::PermissionMode;
use agent_core::ports::{CancelSignal, Hook, LlmProvider, LlmStream, Tool};
use agent_core::session::{ModelConfig, Outcome, Session, SessionConfig, State};
use agent_core::tool::{HookVerdict, Inspection};
use agent_runner::{Builder, End, Handle, Notice, Notices, Runner};
use agent_testkit::{FakeTool, ScriptedProvider, TokioClock};
use async_trait::async_trait;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

/// A host that reads its notices one by one and keeps them.
pub(crate) struct Host {
    pub(crate) handle: Handle,
    notices: Notices,
    task: JoinHandle<(End, Agent)>,
    pub(crate) seen: Vec<Notice>,
}

impl Host {
    pub(crate) fn start(builder: Builder) -> Self {
        Self::of(builder.build().unwrap())
    }

    pub(crate) fn of((runner, handle, notices): (Runner, Handle, Notices)) -> Self {
        Self { handle, notices, task: tokio::spawn(runner.run()), seen: Vec::new() }
    }

    /// Reads on until a notice fits. Half an hour of virtual time without one fails the test.
    pub(crate) async fn until(&mut self, fits: impl Fn(&Notice) -> bool) -> Notice {
        loop {
            match timeout(PATIENCE, self.notices.recv()).await {
                Ok(Some(notice)) => {
                    self.seen.push(notice.clone());
                    if fits(&notice) {
                        return notice;
                    }
                }
                Ok(None) => panic!("the runner ended; seen:\n{}", self.text()),
                Err(_) => panic!("waited in vain; seen:\n{}", self.text()),
            }
        }
    }

    /// Reads on until the session enters a state.
    pub(crate) async fn state(&mut self, state: State) {
        self.until(|notice| matches!(notice, Notice::Transition(t) if t.to == state && t.from != state)).await;
    }

    /// Reads on until the run has ended.
    pub(crate) async fn outcome(&mut self) -> Outcome {
        match self.until(|notice| matches!(notice, Notice::Prompt { outcome: Some(_), .. })).await {
            Notice::Prompt { outcome: Some(outcome), .. } => outcome,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn ask(&mut self, text: &str) -> Outcome {
        self.handle.input(text);
        self.outcome().await
    }

    /// Leaves, and reads the rest.
    pub(crate) async fn detach(mut self) -> (End, Session, Vec<Notice>) {
        self.handle.detach();
        let ended = self.end().await;
        (ended.0, ended.1, self.seen)
    }

    /// Waits for the runner to end by itself, and reads the rest.
    pub(crate) async fn end(&mut self) -> (End, Session) {
        let ended = timeout(PATIENCE, &mut self.task).await.unwrap().unwrap();
        while let Ok(notice) = self.notices.try_recv() {
            self.seen.push(notice);
        }
        (ended.0, ended.1.into_session())
    }

    /// What was seen, a line a notice.
    pub(crate) fn text(&self) -> String {
        text(&self.seen)
    }
}

/// A line a notice, without times.
pub(crate) fn text(notices: &[Notice]) -> String {
    notices.iter().map(|notice| line(notice) + "\n").collect()
}

pub(crate) fn line(notice: &Notice) -> String {
    match notice {
        Notice::Transition(t) => format!("{:?} + {:?} => {:?}", t.from, t.on, t.to),
        Notice::Refused(rejected) => rejected.to_string(),
        Notice::ToolStarted(call) => format!("started {} {}", call.name, call.id),
        Notice::ToolFinished { call, outcome } => format!("finished {call} {:?} {}", outcome.status, outcome.content),
        Notice::Prompt { outcome, ledger, .. } => format!(
            "prompt {outcome:?} calls {} tools {} tokens {}",
            ledger.model_calls,
            ledger.tool_calls,
            ledger.usage.total_tokens()
        ),
        Notice::Spent(ledger) => {
            format!("spent calls {} tokens {}", ledger.model_calls, ledger.usage.total_tokens())
        }
        Notice::Configured(config) => format!("configured {} {:?}", config.models[0].id, config.permissions.mode),
        other => format!("{other:?}"),
    }
}

/// A runner with this model, time that tests move, and no chance.
pub(crate) fn builder(provider: impl LlmProvider + 'static) -> Builder {
    with_config(config(), provider)
}

pub(crate) fn with_config(config: SessionConfig, provider: impl LlmProvider + 'static) -> Builder {
    Builder::new(config)
        .provider(Arc::new(provider))
        .clock(Arc::new(TokioClock::new(1_000_000)))
        .chance(Box::new(|| 0))
        .identity("test", "/project", "suite")
}

/// One model, and everything runs without asking.
pub(crate) fn config() -> SessionConfig {
    let mut config = SessionConfig::new(ModelConfig::new("model-a"));
    config.permissions.mode = PermissionMode::Bypass;
    config
}

pub(crate) fn tool(tool: &FakeTool) -> Arc<dyn Tool> {
    Arc::new(tool.clone())
}

pub(crate) fn ms(duration_ms: u64) -> Duration {
    Duration::from_millis(duration_ms)
}

/// Virtual milliseconds since a moment.
pub(crate) fn elapsed_ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap()
}

/// The results of every round in the history, in order.
pub(crate) fn results(conversation: &Conversation) -> Vec<String> {
    let rounds = conversation.iter().filter_map(|item| match item.as_ref() {
        Item::Round(round) => Some(round.results().to_vec()),
        Item::Input(_) | Item::Summary(_) | Item::Answer(_) => None,
    });
    rounds.flatten().map(|result| result.content().to_owned()).collect()
}

/// Whether a history could be sent: reading it back proves that roles alternate and every call is answered.
pub(crate) fn is_sendable(conversation: &Conversation) -> bool {
    let json = serde_json::to_string(conversation).unwrap();
    serde_json::from_str::<Conversation>(&json).is_ok()
}

/// The user's texts in the last user message of a request.
pub(crate) fn last_input(request: &LlmRequest) -> Vec<String> {
    match request.conversation.last().map(AsRef::as_ref) {
        Some(Item::Input(input)) => input.texts().into_iter().map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// A model whose calls from the given one on wait until a test opens the gate; then each answers at once.
#[derive(Clone)]
pub(crate) struct Gated {
    inner: ScriptedProvider,
    from_call: usize,
    pub(crate) gate: Arc<Notify>,
}

impl Gated {
    pub(crate) fn new(inner: &ScriptedProvider, from_call: usize) -> Self {
        Self { inner: inner.clone(), from_call, gate: Arc::default() }
    }
}

#[async_trait]
impl LlmProvider for Gated {
    fn dialect(&self) -> &str {
        self.inner.dialect()
    }

    async fn stream(&self, request: LlmRequest) -> Result<LlmStream, LlmError> {
        if self.inner.requests().len() + 1 >= self.from_call {
            self.gate.notified().await;
        }
        self.inner.stream(request).await
    }
}

/// A hook that finds work to do and hangs at one kind of it.
#[derive(Clone, Default)]
pub(crate) struct HangingHook {
    pub(crate) at: Option<HookStep>,
    /// Whether it goes on hanging when it is told to stop.
    pub(crate) is_deaf: bool,
}

/// The user's hooks take a while, and let everything pass.
pub(crate) struct SlowHook;

#[async_trait]
impl Hook for SlowHook {
    async fn run(&self, _: &HookOccasion, _: &dyn CancelSignal) -> HookReport {
        tokio::time::sleep(ms(300)).await;
        HookReport::default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HookStep {
    Verdict,
    Git,
    Format,
    Commit,
    Users,
}

impl HangingHook {
    pub(crate) fn at(step: HookStep) -> Self {
        Self { at: Some(step), is_deaf: false }
    }

    async fn pass(&self, step: HookStep, cancel: &dyn CancelSignal) -> Result<(), HookError> {
        if self.at != Some(step) {
            return Ok(());
        }
        if self.is_deaf {
            return pending().await;
        }
        cancel.cancelled().await;
        Err(HookError::Failed { message: String::from("told to stop") })
    }
}

#[async_trait]
impl Hook for HangingHook {
    async fn run(&self, _: &HookOccasion, cancel: &dyn CancelSignal) -> HookReport {
        let _ = self.pass(HookStep::Users, cancel).await;
        HookReport::default()
    }

    async fn before_tool(&self, _: &agent_core::conversation::ToolCall, _: &Inspection) -> HookVerdict {
        if self.at == Some(HookStep::Verdict) { pending().await } else { HookVerdict::None }
    }

    async fn check_git(&self, _: &Changes, cancel: &dyn CancelSignal) -> Result<GitReport, HookError> {
        self.pass(HookStep::Git, cancel).await?;
        Ok(GitReport { formatting_due: true, ..GitReport::default() })
    }

    async fn format(&self, _: &Changes, cancel: &dyn CancelSignal) -> Result<FormatReport, HookError> {
        self.pass(HookStep::Format, cancel).await?;
        Ok(FormatReport { commit_due: true, ..FormatReport::default() })
    }

    async fn commit(&self, _: &Changes, cancel: &dyn CancelSignal) -> Result<CommitReport, HookError> {
        self.pass(HookStep::Commit, cancel).await?;
        Ok(CommitReport::default())
    }
}

const PATIENCE: Duration = Duration::from_secs(1_800);
