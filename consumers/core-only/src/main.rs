//! A calculator's session: the model is a few lines, the tool adds two numbers, the user asks once.

use agent_core::conversation::{Arguments, Item, ToolCall};
use agent_core::llm::{LlmRequest, LlmResponse, RawCall, ResponseBlock};
use agent_core::session::{Action, ModelConfig, OutcomeKind, Session, SessionConfig, State};
use agent_core::tool::{Effect, Inspection, Subject, ToolOutcome};
use core_only::{Outside, drive};
use std::collections::BTreeMap;

struct Desk {
    messages: Vec<String>,
    shown: Vec<String>,
    now_ms: u64,
}

impl Outside for Desk {
    fn now_ms(&mut self) -> u64 {
        self.now_ms += 1;
        self.now_ms
    }

    fn call_model(&mut self, request: &LlmRequest) -> LlmResponse {
        if let Some(Item::Round(round)) = request.conversation.last().map(AsRef::as_ref) {
            return LlmResponse::text(&format!("It is {}.", round.results()[0].content()));
        }
        let arguments = String::from(r#"{"a":40,"b":2}"#);
        let call = RawCall { id: String::from("1"), name: String::from("add"), arguments, complete: true };
        LlmResponse { blocks: vec![ResponseBlock::Call(call)], ..LlmResponse::text("") }
    }

    fn inspect(&mut self, call: &ToolCall) -> Result<Inspection, String> {
        sum(&call.arguments).map(|_| Inspection { effect: Effect::Reads, subject: Subject::None })
    }

    fn run(&mut self, call: &ToolCall) -> ToolOutcome {
        sum(&call.arguments).map_or_else(ToolOutcome::failed, |sum| ToolOutcome::ok(sum.to_string()))
    }

    fn show(&mut self, action: &Action) {
        println!("{action:?}");
        self.shown.push(format!("{action:?}"));
    }

    fn prompt(&mut self) -> Option<String> {
        self.messages.pop()
    }
}

fn sum(arguments: &Arguments) -> Result<i64, String> {
    let numbers: BTreeMap<String, i64> = arguments.read().map_err(|error| error.to_string())?;
    Ok(numbers.values().sum())
}

fn main() {
    let mut session = Session::new(SessionConfig::new(ModelConfig::new("desk")));
    let mut desk = Desk { messages: vec![String::from("What is 40 + 2?")], shown: Vec::new(), now_ms: 0 };
    drive(&mut session, &mut desk);

    let outcome = session.outcome().expect("a run has ended");
    assert_eq!((outcome.kind, outcome.text.as_str()), (OutcomeKind::Success, "It is 42."));
    assert_eq!(session.state(), State::ShuttingDown);
    assert!(desk.shown.iter().any(|shown| shown.contains("It is 42.")));
    println!("{}", outcome.text);
}
