//! The model and the tools.

use agent_core::conversation::{Arguments, Item, ToolCall};
use agent_core::llm::{LlmChunk, LlmError, LlmRequest, LlmResponse, RawCall, ResponseBlock, StopReason, Usage};
use agent_core::ports::{LlmProvider, LlmStream, Tool, ToolContext};
use agent_core::tool::{Effect, Inspection, Subject, ToolOutcome, ToolSpec};
use async_trait::async_trait;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::sync::watch;

/// A model that has those above begin agents, looks at something in every round and ends.
pub(super) struct Model {
    /// How many model calls an agent makes.
    pub(super) turns: usize,
    /// What the agent at each level below the root asks for in its first answer. None at the lowest.
    pub(super) asks: Vec<Vec<String>>,
    pub(super) calls: AtomicUsize,
    /// Where those of the lowest level wait for each other: the number of the call, and who is there.
    pub(super) meetings: Vec<Meeting>,
}

/// A place where all agents of the lowest level wait until each is there.
pub(super) struct Meeting {
    at_call: usize,
    expected: usize,
    here: AtomicUsize,
    open: watch::Sender<bool>,
    /// What is done when all are there.
    look: Box<dyn Fn(&LlmRequest) + Send + Sync>,
}

impl Meeting {
    pub(super) fn new(at_call: usize, expected: usize, look: impl Fn(&LlmRequest) + Send + Sync + 'static) -> Self {
        Self { at_call, expected, here: AtomicUsize::new(0), open: watch::Sender::new(false), look: Box::new(look) }
    }

    async fn attend(&self, request: &LlmRequest) {
        let mut opens = self.open.subscribe();
        if self.here.fetch_add(1, Ordering::SeqCst) + 1 == self.expected {
            (self.look)(request);
            self.open.send_replace(true);
        }
        // The sender is the meeting's own, so it cannot be gone.
        let _ = opens.wait_for(|is_open| *is_open).await;
    }
}

/// How many levels are above the agent: the last word of its task.
fn level(request: &LlmRequest) -> usize {
    let Some(Item::Input(input)) = request.conversation.iter().next().map(AsRef::as_ref) else { return 0 };
    let text = input.texts().concat();
    text.rsplit(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

pub(super) fn calling(number: usize, calls: impl IntoIterator<Item = (&'static str, String)>) -> LlmResponse {
    let call = |(at, (name, arguments)): (usize, (&str, String))| {
        ResponseBlock::Call(RawCall { id: format!("c{number}-{at}"), name: name.into(), arguments, complete: true })
    };
    LlmResponse {
        blocks: calls.into_iter().enumerate().map(call).collect(),
        stop: StopReason::ToolUse,
        usage: Some(Usage { input_tokens: 10, output_tokens: 1, ..Usage::default() }),
        model: String::new(),
    }
}

pub(super) fn answered(response: LlmResponse) -> LlmStream {
    Box::pin(futures_util::stream::iter([Ok(LlmChunk::Completed(response))]))
}

#[async_trait]
impl LlmProvider for Model {
    fn dialect(&self) -> &str {
        "crowd"
    }

    async fn stream(&self, request: LlmRequest) -> Result<LlmStream, LlmError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let (number, level) = (request.conversation.len(), level(&request));
        if level == self.asks.len() {
            for meeting in self.meetings.iter().filter(|meeting| meeting.at_call == number) {
                meeting.attend(&request).await;
            }
        }
        let asks = self.asks.get(level).filter(|_| number == 1);
        Ok(answered(match asks {
            _ if number >= self.turns => LlmResponse::text("It is done."),
            Some(asks) => calling(number, asks.iter().map(|arguments| ("spawn_agent", arguments.clone()))),
            None => calling(number, [("look", format!(r#"{{"at":{number}}}"#))]),
        }))
    }
}

/// A model that has the root begin one agent in every round, and notes how long each beginning takes.
pub(super) struct Beginner {
    pub(super) agents: usize,
    pub(super) asked: Mutex<Option<Instant>>,
    pub(super) took: Mutex<Vec<f64>>,
}

#[async_trait]
impl LlmProvider for Beginner {
    fn dialect(&self) -> &str {
        "crowd"
    }

    async fn stream(&self, request: LlmRequest) -> Result<LlmStream, LlmError> {
        let now = Instant::now();
        let number = request.conversation.len();
        if level(&request) > 0 {
            if let Some(asked) = self.asked.lock().ok().and_then(|mut asked| asked.take())
                && let Ok(mut took) = self.took.lock()
            {
                took.push((now - asked).as_secs_f64() * 1e6);
            }
            return Ok(answered(LlmResponse::text("It is done.")));
        }
        if number > self.agents {
            return Ok(answered(LlmResponse::text("It is done.")));
        }
        let spawn = format!(r#"{{"name":"a{number}","task":"Look around. level 1","budget":{{"model_calls":2}}}}"#);
        if let Ok(mut asked) = self.asked.lock() {
            *asked = Some(Instant::now());
        }
        Ok(answered(calling(number, [("spawn_agent", spawn)])))
    }
}

/// A tool that answers at once. The calls of agents are answered before they reach it.
struct Instantly(ToolSpec);

#[async_trait]
impl Tool for Instantly {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn inspect(&self, _: &Arguments) -> Result<Inspection, String> {
        Ok(Inspection { effect: Effect::Reads, subject: Subject::None })
    }

    async fn run(&self, call: &ToolCall, _: &ToolContext) -> ToolOutcome {
        ToolOutcome::ok(format!("seen {}", call.arguments.as_str()))
    }
}

pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    let tool = |name: &str| -> Arc<dyn Tool> {
        let schema = Arc::new(serde_json::json!({"type": "object"}));
        Arc::new(Instantly(ToolSpec { name: name.into(), description: "It answers.".into(), input_schema: schema }))
    };
    ["look", "spawn_agent", "wait_agent", "send_agent", "stop_agent", "list_agents"].map(tool).into()
}
