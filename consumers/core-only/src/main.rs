//! A calculator's session: the model is a few lines, the tool adds two numbers, the user asks once.

use agent_core::conversation::{Arguments, Item, ToolCall};
use agent_core::hook::HookPoint;
use agent_core::llm::{LlmRequest, LlmResponse, RawCall, ResponseBlock};
use agent_core::permission::PermissionMode;
use agent_core::session::{Action, ModelConfig, OutcomeKind, Rejected, Session, SessionConfig, State};
use agent_core::tool::{Effect, Inspection, Subject, ToolOutcome};
use core_only::{Outside, drive};
use std::collections::BTreeMap;

struct Desk {
    messages: Vec<String>,
    shown: Vec<String>,
    now_ms: u64,
    effect: Effect,
    /// The model's first answer is empty, and asked for again.
    is_silent: bool,
}

impl Outside for Desk {
    fn now_ms(&mut self) -> u64 {
        self.now_ms += 1;
        self.now_ms
    }

    fn wait(&mut self, delay_ms: u64) {
        self.now_ms += delay_ms;
    }

    fn call_model(&mut self, request: &LlmRequest) -> LlmResponse {
        if let Some(Item::Round(round)) = request.conversation.last().map(AsRef::as_ref) {
            return LlmResponse::text(&format!("It is {}.", round.results()[0].content()));
        }
        if core::mem::take(&mut self.is_silent) {
            return LlmResponse::text("");
        }
        let arguments = String::from(r#"{"a":40,"b":2}"#);
        let call = RawCall { id: String::from("1"), name: String::from("add"), arguments, complete: true };
        LlmResponse { blocks: vec![ResponseBlock::Call(call)], ..LlmResponse::text("") }
    }

    fn inspect(&mut self, call: &ToolCall) -> Result<Inspection, String> {
        sum(&call.arguments).map(|_| Inspection { effect: self.effect, subject: Subject::None })
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

fn main() -> Result<(), Rejected> {
    let config = SessionConfig::new(ModelConfig::new("desk"));
    let (session, desk) = asked_once(config.clone(), Effect::Reads)?;
    let outcome = session.outcome().expect("a run has ended");
    assert_eq!((outcome.kind, outcome.text.as_str()), (OutcomeKind::Success, "It is 42."));
    assert!(desk.shown.iter().any(|shown| shown.contains("It is 42.")));
    assert!(desk.now_ms > 1_000, "the empty answer was asked for again after a while");
    println!("{}", outcome.text);

    // A tool that changes something needs somebody who allows it, and there is nobody; with the user's hooks at every point.
    let hooked = SessionConfig { hooks: HookPoint::ALL.into(), ..config };
    let (session, _) = asked_once(hooked.clone(), Effect::Changes)?;
    assert_eq!(session.ledger().tool_calls, 0);
    let mut bold = hooked;
    bold.permissions.mode = PermissionMode::Bypass;
    let (session, _) = asked_once(bold, Effect::Changes)?;
    assert_eq!(
        (session.ledger().tool_calls, session.outcome().expect("a run has ended").text.as_str()),
        (1, "It is 42.")
    );
    Ok(())
}

/// A session to its end.
fn asked_once(config: SessionConfig, effect: Effect) -> Result<(Session, Desk), Rejected> {
    let mut session = Session::new(config);
    let messages = vec![String::from("What is 40 + 2?")];
    let mut desk = Desk { messages, shown: Vec::new(), now_ms: 0, effect, is_silent: true };
    drive(&mut session, &mut desk)?;
    assert_eq!(session.state(), State::ShuttingDown);
    Ok((session, desk))
}
