//! One turn with a model that asks for the time of day and a tool that knows it; the program fails when anything is not as expected.

use agent_core::conversation::{Arguments, Item, ToolCall};
use agent_core::llm::{Delta, LlmChunk, LlmError, LlmRequest, LlmResponse, RawCall, ResponseBlock};
use agent_core::ports::{LlmProvider, LlmStream, Tool, ToolContext};
use agent_core::session::{ModelConfig, OutcomeKind, SessionConfig, State};
use agent_core::tool::{Effect, Inspection, Subject, ToolOutcome, ToolSpec};
use agent_runner::journal::{FileJournal, read};
use agent_runner::{Agent, Builder, End, Notice};
use async_trait::async_trait;
use std::sync::Arc;

struct Curious;

#[async_trait]
impl LlmProvider for Curious {
    fn dialect(&self) -> &str {
        "curious"
    }

    async fn stream(&self, request: LlmRequest) -> Result<LlmStream, LlmError> {
        assert_eq!(request.tools.len(), 1, "the tool is offered");
        let chunks = match request.conversation.last().map(AsRef::as_ref) {
            Some(Item::Round(round)) => {
                let text = format!("It is {}.", round.results()[0].content());
                vec![Ok(LlmChunk::Delta(Delta::Text(text.clone()))), Ok(LlmChunk::Completed(LlmResponse::text(&text)))]
            }
            _ => {
                let call = RawCall { id: "a".into(), name: "time".into(), arguments: "{}".into(), complete: true };
                let answer = LlmResponse { blocks: vec![ResponseBlock::Call(call)], ..LlmResponse::text("") };
                vec![Ok(LlmChunk::Completed(answer))]
            }
        };
        Ok(Box::pin(futures_util::stream::iter(chunks)))
    }
}

struct Time(ToolSpec);

#[async_trait]
impl Tool for Time {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn inspect(&self, _: &Arguments) -> Result<Inspection, String> {
        Ok(Inspection { effect: Effect::Reads, subject: Subject::None })
    }

    async fn run(&self, _: &ToolCall, _: &ToolContext) -> ToolOutcome {
        ToolOutcome::ok("noon")
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let spec = ToolSpec { name: "time".into(), description: "Tells the time.".into(), input_schema: Arc::default() };
    let folder = std::env::temp_dir().join(format!("embedding-{}", std::process::id()));
    let path = folder.join("session.jsonl");
    let builder = Builder::new(SessionConfig::new(ModelConfig::new("curious")))
        .provider(Arc::new(Curious))
        .tool(Arc::new(Time(spec)))
        .journal(Box::new(FileJournal::create(&path)?));
    let mut agent = Agent::start(builder)?;
    let mut shown = String::new();
    let see = |notice: &Notice| {
        if let Notice::Delta(Delta::Text(text)) = notice {
            shown.push_str(text);
        }
    };
    let outcome = agent.ask("What time is it?", see).await?;
    assert_eq!((outcome.kind, outcome.text.as_str()), (OutcomeKind::Success, "It is noon."));
    assert_eq!(shown, outcome.text);

    let (end, left) = agent.finish().await?;
    assert_eq!((end, left.session().state()), (End::Detached, State::WaitingForUserInput));
    let records = read(&path)?.records;
    let (header, rebuilt) = agent_core::journal::replay(records)?;
    assert_eq!((header.config.models.len(), rebuilt == *left.session()), (1, true), "the journal tells the same session");
    std::fs::remove_dir_all(&folder)?;
    println!("{}", outcome.text);
    Ok(())
}
