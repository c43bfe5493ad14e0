//! A whole agent in one synchronous loop: no runtime, no threads, no network. The model is a function, the user a list of messages.
//!
//! `cargo run -p agent-core --example by_hand`
//!
//! The loop decides nothing. It takes the next event, lets the session step, and performs the actions that come back; what a performed
//! action came to is the next event.
#![expect(clippy::print_stdout, reason = "the terminal is this host's user interface")]

use agent_core::conversation::{Block, Item, ToolCall};
use agent_core::llm::{LlmRequest, LlmResponse, RawCall, ResponseBlock};
use agent_core::session::{Action, Event, ModelConfig, Rejected, Session, SessionConfig, State};
use agent_core::tool::{CallFacts, Effect, Finding, Inspection, Subject, ToolOutcome};
use std::collections::VecDeque;

fn main() -> Result<(), Rejected> {
    let mut session = Session::new(SessionConfig::new(ModelConfig::new("function")));
    let mut user = VecDeque::from(["How long is `hello`?", "And `goodbye`?"]);
    let mut events = VecDeque::from([Event::Started]);
    // The clock is the host's; here it counts the events.
    for now_ms in 0.. {
        let Some(event) = events.pop_front() else { break };
        for action in session.step(now_ms, event)?.actions {
            perform(action, &mut user, &mut events);
        }
    }
    assert_eq!(session.state(), State::ShuttingDown);
    println!("{} model calls, {} tool calls", session.ledger().model_calls, session.ledger().tool_calls);
    Ok(())
}

fn perform(action: Action, user: &mut VecDeque<&str>, events: &mut VecDeque<Event>) {
    match action {
        Action::PromptForInput => events.push_back(match user.pop_front() {
            Some(text) => Event::UserInput { text: text.into() },
            None => Event::ShutdownRequested,
        }),
        Action::SendLlmRequest { ticket, request } => {
            events.push_back(Event::LlmCompleted { ticket, response: model(&request) });
        }
        // What the calls would do: the policy over it is the session's, and `Reads` runs without asking.
        Action::PrepareTools { ticket, calls } => {
            let finding = || Finding::Runnable(Inspection { effect: Effect::Reads, subject: Subject::None });
            let fact = |call: ToolCall| CallFacts::new(call.id, finding());
            events.push_back(Event::ToolsPrepared { ticket, facts: calls.into_iter().map(fact).collect() });
        }
        Action::ExecuteTools { ticket, calls } => {
            for call in calls {
                let outcome = length(&call);
                events.push_back(Event::ToolCompleted { ticket, call: call.id, outcome });
            }
        }
        Action::DisplayMessage { blocks, .. } => {
            for block in blocks {
                if let Block::Text(text) = block {
                    println!("{text}");
                }
            }
        }
        Action::Shutdown => println!("bye"),
        other => unreachable!("nothing is changed, cancelled, repeated or limited here, so there is no {other:?}"),
    }
}

/// Asks for the length of what stands in backticks, and says what came back.
fn model(request: &LlmRequest) -> LlmResponse {
    match request.conversation.last().map(AsRef::as_ref) {
        Some(Item::Round(round)) => LlmResponse::text(&format!("It has {} letters.", round.results()[0].content())),
        Some(Item::Input(input)) => {
            let word = input.texts()[0].split('`').nth(1).unwrap_or_default();
            let call = RawCall {
                id: String::new(), // The session numbers calls that come without an id.
                name: "length".into(),
                arguments: format!(r#"{{"word":"{word}"}}"#),
                complete: true,
            };
            LlmResponse { blocks: vec![ResponseBlock::Call(call)], ..LlmResponse::text("") }
        }
        Some(Item::Answer(_) | Item::Summary(_)) | None => LlmResponse::text("I have nothing to answer."),
    }
}

fn length(call: &ToolCall) -> ToolOutcome {
    match call.arguments.read::<std::collections::BTreeMap<String, String>>() {
        Ok(arguments) => ToolOutcome::ok(arguments.values().map(String::len).sum::<usize>().to_string()),
        Err(error) => ToolOutcome::failed(error.to_string()),
    }
}
