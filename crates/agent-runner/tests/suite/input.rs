//! What the user says while the session is busy.

use crate::support::{Host, builder, ms, tool};
use agent_core::conversation::Item;
use agent_core::session::State;
use agent_testkit::{FakeTool, Reply, Script, ScriptedProvider};
use serde_json::json;

#[tokio::test(start_paused = true)]
async fn input_during_tools_goes_out_with_their_results_in_one_message() {
    let slow = FakeTool::reads("slow").delay(ms(500));
    let provider = ScriptedProvider::new(Script::new().call("slow", json!({})).text("done"));
    let mut host = Host::start(builder(provider.clone()).tool(tool(&slow)));
    host.handle.input("go");
    host.state(State::ExecutingTools).await;
    host.handle.input("and another thing");
    host.handle.input("and one more");
    host.outcome().await;
    assert_eq!(provider.requests().len(), 2);
    let request = provider.requests().last().unwrap();
    let items: Vec<_> = request.conversation.iter().collect();
    // A round and the input behind it are one user message for every provider.
    assert!(matches!(items[items.len() - 2].as_ref(), Item::Round(_)));
    assert_eq!(crate::support::last_input(&request), ["and another thing", "and one more"]);
}

#[tokio::test(start_paused = true)]
async fn input_during_the_last_answer_starts_the_next_turn_by_itself() {
    let script = Script::new().answer(Reply::new().text("first").first_delay(ms(300))).text("second");
    let provider = ScriptedProvider::new(script);
    let mut host = Host::start(builder(provider.clone()));
    host.handle.input("one");
    host.state(State::CallingLlm).await;
    host.handle.input("two");
    assert_eq!(host.outcome().await.text, "second");
    assert_eq!(crate::support::last_input(&provider.requests().last().unwrap()), ["two"]);
}

#[tokio::test(start_paused = true)]
async fn typed_ahead_input_is_handed_back_at_a_cancel() {
    let provider = ScriptedProvider::new(Script::new().hang().text("next"));
    let mut host = Host::start(builder(provider.clone()));
    host.handle.input("go");
    host.state(State::CallingLlm).await;
    host.handle.input("typed ahead");
    host.handle.cancel();
    host.outcome().await;
    assert!(host.text().contains(r#"InputReturned(["typed ahead"])"#), "{}", host.text());
    host.ask("new").await;
    assert_eq!(crate::support::last_input(&provider.requests().last().unwrap()), ["go", "new"]);
}

#[tokio::test(start_paused = true)]
async fn blank_input_is_refused_and_changes_nothing() {
    let provider = ScriptedProvider::new(Script::new().text("hi"));
    let mut host = Host::start(builder(provider.clone()));
    host.handle.input("  \n");
    assert_eq!(host.ask("hello").await.text, "hi");
    assert!(host.text().contains("UserInput refused in WaitingForUserInput: it is blank"), "{}", host.text());
    assert_eq!(provider.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_was_typed_before_a_limit_stopped_the_work_goes_out_when_it_goes_on() {
    let mut config = crate::support::config();
    config.limits.max_model_calls = Some(1);
    let slow = FakeTool::reads("slow").delay(ms(500));
    let provider = ScriptedProvider::new(Script::new().call("slow", json!({})).text("done"));
    let mut host = Host::start(crate::support::with_config(config, provider.clone()).tool(tool(&slow)));
    host.handle.input("go");
    host.state(State::ExecutingTools).await;
    host.handle.input("and another thing");
    host.outcome().await;
    host.handle.set_limits(agent_core::budget::Limits::default());
    assert_eq!(host.outcome().await.text, "done");
    assert_eq!(provider.requests().len(), 2, "the message took a call of its own");
    assert_eq!(crate::support::last_input(&provider.requests().last().unwrap()), ["and another thing"]);
}
