//! Makes kept sessions of any number and size, for measuring what looks at them (`cargo xtask big-journals`).
//!
//! ```text
//! sessions ROOT DIRECTORY many N        N sessions of a few records
//! sessions ROOT DIRECTORY messages N    one session whose history has N messages, in a context window without end
//! sessions ROOT DIRECTORY records N     one of N records, with summaries as a context window asks for them
//! sessions ROOT DIRECTORY bytes N       the same, of N bytes, with results of 64 KiB
//! sessions ROOT DIRECTORY resume N      opens the session `messages` N times to go on with it, and prints the median in milliseconds
//! ```
#![expect(clippy::print_stdout, reason = "the ids are what it is for")]

use agent_core::budget::Limits;
use agent_core::journal::{ActionStarted, Entry, Header, Record};
use agent_core::llm::{LlmResponse, Purpose, RawCall, ResponseBlock, StopReason, Usage};
use agent_core::ports::Journal;
use agent_core::session::{Action, Event, ModelConfig, Session, SessionConfig};
use agent_core::tool::{CallFacts, Effect, Finding, Inspection, Subject, ToolOutcome, ToolSpec};
use agent_runner::journal::{FileJournal, Reopened, SessionStore};
use serde_json::json;
use std::collections::VecDeque;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [root, directory, kind, number] = words[..] else {
        return Err("say ROOT DIRECTORY many|messages|records|bytes|resume N".into());
    };
    let (store, number) = (SessionStore::new(Path::new(root), Path::new(directory)), number.parse()?);
    match kind {
        "many" => {
            for session in 0..number {
                let said = format!("Session {session}: mend the parser, please, and say what was wrong with it.");
                make(&store, &format!("many-{session:06}"), Shape { said, ..Shape::new(1) }, |life| life.messages >= 2)
                    .await?;
            }
        }
        "messages" => make(&store, "messages", Shape::new(2_000), |life| life.messages >= number).await?,
        "records" => make(&store, "records", Shape::new(200).within(200_000), |life| life.seq >= number).await?,
        "bytes" => make(&store, "bytes", Shape::new(64 * 1024).within(200_000), |life| life.bytes >= number).await?,
        "resume" => resume(&store, number)?,
        _ => return Err("say many, messages, records, bytes or resume".into()),
    }
    Ok(())
}

/// What `--continue` does before it asks the model.
fn resume(store: &SessionStore, times: u64) -> Result<(), Box<dyn Error>> {
    let mut took = Vec::new();
    for _ in 0..times.max(1) {
        let start = Instant::now();
        let Reopened { journal, rebuilt, .. } = store.rebuild("messages")?;
        took.push(start.elapsed());
        let Some(rebuilt) = rebuilt else { return Err("it has no record".into()) };
        if rebuilt.agent.session().conversation().is_empty() {
            return Err("nothing was said in it".into());
        }
        drop((journal, rebuilt));
    }
    took.sort();
    println!("{:.1}", took.get(took.len() / 2).copied().unwrap_or_default().as_secs_f64() * 1e3);
    Ok(())
}

/// What a session is like.
struct Shape {
    said: String,
    result_bytes: usize,
    window_tokens: Option<u64>,
}

impl Shape {
    fn new(result_bytes: usize) -> Self {
        Self { said: String::from("Go on with it, please."), result_bytes, window_tokens: None }
    }

    fn within(self, tokens: u64) -> Self {
        Self { window_tokens: Some(tokens), ..self }
    }
}

async fn make(
    store: &SessionStore,
    id: &str,
    shape: Shape,
    is_enough: impl Fn(&Life) -> bool,
) -> Result<(), Box<dyn Error>> {
    let config = config(&shape);
    let header = Header::new(id, "sessions", "/", config.clone());
    let mut life =
        Life { journal: store.create(id)?, session: Session::new(config), shape, seq: 0, bytes: 0, messages: 0 };
    life.record(Entry::Header(Box::new(header))).await?;
    life.happen(Event::Started).await?;
    while !is_enough(&life) {
        let text = life.shape.said.clone();
        life.messages += 2;
        life.happen(Event::UserInput { text: text.into() }).await?;
    }
    life.journal.sync().await?;
    println!("{id}");
    Ok(())
}

/// As many tools, with descriptions as long, as the program has.
fn config(shape: &Shape) -> SessionConfig {
    let tool = |at: usize| ToolSpec {
        name: Arc::from(format!("tool_{at}")),
        description: Arc::from("Does what its name says, and tells what came of it. ".repeat(20)),
        input_schema: Arc::new(json!({"type": "object", "properties": {"path": {"type": "string"}}})),
    };
    SessionConfig {
        models: vec![ModelConfig { context_window_tokens: shape.window_tokens, ..ModelConfig::new("a-model") }],
        system: Arc::from("You are a careful engineer. ".repeat(100)),
        tools: (0..12).map(tool).collect(),
        limits: Limits { max_model_calls: None, max_tool_calls: None, max_repetitions: None, ..Limits::default() },
        ..SessionConfig::default()
    }
}

/// A session that lives at once: whatever it asks for is there.
struct Life {
    journal: FileJournal,
    session: Session,
    shape: Shape,
    seq: u64,
    bytes: u64,
    messages: u64,
}

impl Life {
    /// Something happens, and all that follows from it.
    async fn happen(&mut self, event: Event) -> Result<(), Box<dyn Error>> {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            self.record(Entry::Event(event.clone().into())).await?;
            let actions = self.session.step(START_MS + self.seq, event)?.actions;
            for started in actions.iter().filter_map(ActionStarted::of) {
                self.record(Entry::ActionStarted(started)).await?;
            }
            events.extend(actions.into_iter().flat_map(|action| self.answers(action)));
        }
        Ok(())
    }

    async fn record(&mut self, entry: Entry) -> Result<(), Box<dyn Error>> {
        let record = Record { seq: self.seq, at_ms: START_MS + self.seq, entry };
        self.bytes += serde_json::to_string(&record)?.len() as u64;
        self.journal.append(&record).await?;
        self.seq += 1;
        Ok(())
    }

    /// Every turn is a call of a tool and a word about it.
    fn answers(&mut self, action: Action) -> Vec<Event> {
        match action {
            Action::SendLlmRequest { ticket, request } => {
                let is_word = request.purpose == Purpose::Compaction || request.conversation.has_results_due();
                let response = if is_word { LlmResponse::text(WORD) } else { self.call() };
                let tokens = request.conversation.bytes() / 4;
                let usage = Some(Usage { input_tokens: tokens, output_tokens: 50, ..Usage::default() });
                vec![Event::LlmCompleted { ticket, response: LlmResponse { usage, ..response } }]
            }
            Action::PrepareTools { ticket, calls } => {
                let finding = || Finding::Runnable(Inspection { effect: Effect::Reads, subject: Subject::None });
                let facts = calls.into_iter().map(|call| CallFacts::new(call.id, finding()));
                vec![Event::ToolsPrepared { ticket, facts: facts.collect() }]
            }
            Action::ExecuteTools { ticket, calls } => {
                self.messages += 2 * calls.len() as u64;
                let text = format!("{} {}", self.seq, "All tests pass but one. ".repeat(self.shape.result_bytes / 24));
                let answer = |call: agent_core::conversation::ToolCall| Event::ToolCompleted {
                    ticket,
                    call: call.id,
                    outcome: ToolOutcome::ok(text.clone()),
                };
                calls.into_iter().map(answer).collect()
            }
            _ => Vec::new(),
        }
    }

    fn call(&self) -> LlmResponse {
        let arguments = json!({"path": format!("src/part_{}.rs", self.seq)}).to_string();
        let call =
            RawCall { id: format!("call_{}", self.seq), name: String::from("tool_1"), arguments, complete: true };
        LlmResponse {
            blocks: vec![ResponseBlock::Call(call)],
            stop: StopReason::ToolUse,
            usage: None,
            model: String::new(),
        }
    }
}

const WORD: &str = "The parser reads one token ahead; that is why the last line is lost.";
const START_MS: u64 = 1_767_268_800_000;
