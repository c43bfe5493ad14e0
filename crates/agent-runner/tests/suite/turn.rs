//! A turn from the message to the prompt, and what a host sees of it in which order.

use crate::support::{Host, builder, text};
use agent_core::session::{OutcomeKind, State, Step};
use agent_runner::{Agent, AgentError, End, Notice};
use agent_testkit::{FakeTool, Reply, Script, ScriptedProvider};
use serde_json::json;
use std::sync::Arc;

#[tokio::test(start_paused = true)]
async fn a_plain_turn_ends_with_the_answer() {
    let provider = ScriptedProvider::new(Script::new().answer(Reply::new().text("Good day.").pieces_of(5)));
    let mut host = Host::start(builder(provider.clone()));
    let outcome = host.ask("hello").await;
    assert_eq!((outcome.kind, outcome.text.as_str()), (OutcomeKind::Success, "Good day."));
    let (end, session, seen) = host.detach().await;
    assert_eq!((end, session.state()), (End::Detached, State::WaitingForUserInput));
    assert_eq!(provider.requests().len(), 1);
    let expected = r#"Ready + Started => WaitingForUserInput
prompt None calls 0 tools 0 tokens 0
configured model-a Bypass
Doing { doing: Idle, taken: 0 }
WaitingForUserInput + UserInput => PreparingRequest
PreparingRequest + AutoMessageDue => CallingLlm
TurnBegan
Doing { doing: Working, taken: 1 }
Delta(Text("Good "))
Delta(Text("day."))
CallingLlm + LlmCompleted => ProcessingLlmResponse
ProcessingLlmResponse + AutoNoToolCalls => EndOfTurn
EndOfTurn + AutoQueueEmpty => WaitingForUserInput
Message { blocks: [Text("Good day.")], usage: Some(Usage { input_tokens: 100, output_tokens: 20, cache_read_tokens: 0, cache_write_tokens: 0 }) }
spent calls 1 tokens 120
prompt Some(Outcome { kind: Success, text: "Good day.", error: None, denials: [], evidence: Unverified }) calls 1 tools 0 tokens 120
Doing { doing: Idle, taken: 1 }
"#;
    assert_eq!(text(&seen), expected);
}

#[tokio::test(start_paused = true)]
async fn text_that_comes_with_calls_is_shown_before_they_start() {
    let script = Script::new().answer(Reply::new().text("I look.").call("look", json!({}))).text("Seen.");
    let mut host =
        Host::start(builder(ScriptedProvider::new(script)).tool(Arc::new(FakeTool::reads("look").reports(&["half"]))));
    host.ask("go").await;
    let at = |what: &str| host.text().find(what).unwrap_or_else(|| panic!("no {what} in\n{}", host.text()));
    let order = ["Message", "started look call_1_1", "half", "finished call_1_1 Ok ok", "RoundClosed", "Seen."];
    let places: Vec<usize> = order.iter().map(|what| at(what)).collect();
    assert!(places.is_sorted(), "{places:?} in\n{}", host.text());
}

/// Where nothing would ever wake it the session would wait for ever: it says so at once.
#[test]
fn a_runtime_without_timers_is_said_at_once() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (runner, _handle, _notices) = builder(ScriptedProvider::new(Script::new())).build().unwrap();
    let run = std::panic::AssertUnwindSafe(|| runtime.block_on(runner.run()));
    let said = std::panic::catch_unwind(run).map(drop).unwrap_err();
    let said = said.downcast_ref::<&str>().map(|said| (*said).to_owned()).or(said.downcast_ref::<String>().cloned());
    assert!(said.as_deref().is_some_and(|said| said.contains("enable_time")), "{said:?}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_observer_holds_nothing_up() {
    struct Slow(std::sync::mpsc::Receiver<()>);
    impl agent_core::ports::Observer for Slow {
        fn on_step(&mut self, _: &Step) {
            // Blocks its thread until the test ends.
            let _ = self.0.recv();
        }
    }
    let (keep_waiting, never) = std::sync::mpsc::channel();
    let provider = ScriptedProvider::new(Script::new().text("one").text("two"));
    let mut host = Host::start(builder(provider).observer(Box::new(Slow(never))));
    assert_eq!(host.ask("1").await.text, "one");
    assert_eq!(host.ask("2").await.text, "two");
    assert_eq!(host.detach().await.0, End::Detached);
    drop(keep_waiting);
}

#[tokio::test(start_paused = true)]
async fn observers_see_every_step() {
    struct Count(std::sync::mpsc::Sender<usize>);
    impl agent_core::ports::Observer for Count {
        fn on_step(&mut self, step: &Step) {
            let _ = self.0.send(step.transitions.len());
        }
    }
    let (sender, counts) = std::sync::mpsc::channel();
    let provider = ScriptedProvider::new(Script::new().text("one"));
    let mut host = Host::start(builder(provider).observer(Box::new(Count(sender))));
    host.ask("1").await;
    let transitions = host.seen.iter().filter(|notice| matches!(notice, Notice::Transition(_))).count();
    host.detach().await;
    // The observers' thread ends with the runner, and the channel with it.
    assert_eq!(counts.iter().sum::<usize>(), transitions);
}

#[tokio::test(start_paused = true)]
async fn shutting_down_ends_the_session_for_good() {
    let provider = ScriptedProvider::new(Script::new().hang());
    let mut host = Host::start(builder(provider.clone()));
    host.handle.input("long work");
    host.state(State::CallingLlm).await;
    host.handle.input("typed ahead");
    host.handle.shut_down();
    let (end, session) = host.end().await;
    assert_eq!((end, session.state()), (End::ShutDown, State::ShuttingDown));
    assert!(host.text().contains(r#"InputReturned(["long work", "typed ahead"])"#), "{}", host.text());
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_panics_or_stops_short_is_a_failed_call() {
    let script =
        Script::new().respond(|_| panic!("of the provider")).end_after(Reply::new().text("half"), 1).text("whole");
    let provider = ScriptedProvider::new(script);
    let mut host = Host::start(builder(provider.clone()));
    assert_eq!(host.ask("go").await.text, "whole");
    assert_eq!(provider.requests().len(), 3);
    assert!(host.text().contains("the provider panicked"), "{}", host.text());
    assert!(host.text().contains("the stream ended before the answer was complete"), "{}", host.text());
}

#[tokio::test(start_paused = true)]
async fn an_agent_asks_and_waits() {
    let provider = ScriptedProvider::new(Script::new().text("one").text("two"));
    let mut agent = Agent::start(builder(provider)).unwrap();
    assert_eq!(agent.ask("1", |_| {}).await.unwrap().text, "one");
    assert_eq!(agent.ask("2", |_| {}).await.unwrap().text, "two");
    agent.handle().shut_down();
    assert_eq!(agent.ask("3", |_| {}).await, Err(AgentError::Ended));
    assert_eq!(agent.finish().await.unwrap().0, End::ShutDown);
}
