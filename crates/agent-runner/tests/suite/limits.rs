//! Limits: the turn's time, calls, tokens.

use crate::support::{Host, builder, config, elapsed_ms, last_input, ms, results, tool, with_config};
use agent_core::budget::Limits;
use agent_core::session::{OutcomeKind, State};
use agent_runner::Notice;
use agent_testkit::{FakeTool, Reply, Script, ScriptedProvider};
use serde_json::json;
use tokio::time::Instant;

/// A thousand times the same call in each answer: half of the limit runs, the model is told, and with the other half the turn ends.
#[tokio::test(start_paused = true)]
async fn the_same_call_a_thousand_times_is_cut() {
    let same = || (0..1_000).fold(Reply::new(), |reply, _| reply.call("look", json!({})));
    let look = FakeTool::reads("look");
    let mut config = config();
    config.limits.max_repetitions = Some(20);
    let provider = ScriptedProvider::new(Script::new().answer(same()).answer(same()).text("never"));
    let mut host = Host::start(with_config(config, provider.clone()).tools([tool(&look)]));
    assert_eq!(host.ask("go").await.kind, OutcomeKind::CallLimit);
    assert_eq!((look.log().calls().len(), provider.requests().len()), (20, 2));
    let told = last_input(&provider.requests().last().unwrap()).join("\n");
    assert!(told.contains("the same result 10 times in a row. After 20 times the turn ends."), "{told}");
}

#[tokio::test(start_paused = true)]
async fn the_turns_time_stops_what_hangs() {
    let mut config = config();
    config.limits.max_wall_time_ms = Some(5_000);
    let provider = ScriptedProvider::new(Script::new().hang().text("next turn"));
    let mut host = Host::start(with_config(config, provider.clone()));
    let start = Instant::now();
    let outcome = host.ask("go").await;
    assert_eq!((outcome.kind, elapsed_ms(start)), (OutcomeKind::Budget, 5_000));
    assert_eq!(outcome.error.unwrap(), "time limit of the turn reached: 5000 ms");
    // Idle time does not count, and the next turn has its own.
    tokio::time::sleep(ms(60_000)).await;
    assert_eq!(host.ask("again").await.text, "next turn");
}

#[tokio::test(start_paused = true)]
async fn it_is_told_when_the_turns_time_runs_short() {
    let mut config = config();
    config.limits.max_wall_time_ms = Some(5_000);
    let script = Script::new().answer(Reply::new().text("one").first_delay(ms(3_900))).hang();
    let mut host = Host::start(with_config(config, ScriptedProvider::new(script)));
    host.ask("go").await;
    assert_eq!(host.ask("go").await.kind, OutcomeKind::Budget);
    let (_, _, seen) = host.detach().await;
    let is_told = |notice: &&Notice| matches!(notice, Notice::TimeNear { used_ms: 4_000, limit_ms: 5_000 });
    // The first turn was done before; of the second it was told, once.
    assert_eq!(seen.iter().filter(is_told).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn clocks_of_turns_that_ended_or_were_replaced_do_not_ring() {
    let mut config = config();
    config.limits.max_wall_time_ms = Some(5_000);
    let script = Script::new().text("one").answer(Reply::new().text("two").first_delay(ms(8_000)));
    let mut host = Host::start(with_config(config, ScriptedProvider::new(script)));
    host.ask("1").await;
    tokio::time::sleep(ms(60_000)).await;
    host.handle.input("2");
    host.state(State::CallingLlm).await;
    host.handle.set_limits(Limits { max_wall_time_ms: Some(10_000), ..Limits::default() });
    assert_eq!(host.outcome().await.text, "two");
    tokio::time::sleep(ms(60_000)).await;
    let (_, _, seen) = host.detach().await;
    assert!(!crate::support::text(&seen).contains(" refused in "), "{}", crate::support::text(&seen));
}

#[tokio::test(start_paused = true)]
async fn a_limit_on_model_calls_stops_before_the_call_and_keeps_the_results() {
    let mut config = config();
    config.limits.max_model_calls = Some(1);
    let look = FakeTool::reads("look");
    let provider = ScriptedProvider::new(Script::new().call("look", json!({})).text("done"));
    let mut host = Host::start(with_config(config, provider.clone()).tool(tool(&look)));
    let outcome = host.ask("go").await;
    assert_eq!((outcome.kind, provider.requests().len()), (OutcomeKind::CallLimit, 1));
    assert_eq!(outcome.error.unwrap(), "limit on model calls reached: 1 of 1");
    host.handle.set_limits(Limits { max_model_calls: Some(2), ..Limits::default() });
    assert_eq!(host.outcome().await.text, "done");
    let (_, session, _) = host.detach().await;
    assert_eq!(results(session.conversation()), ["ok"]);
}

#[tokio::test(start_paused = true)]
async fn calls_beyond_the_limit_on_tool_calls_are_answered_not_run() {
    let mut config = config();
    config.limits.max_tool_calls = Some(1);
    let look = FakeTool::reads("look");
    let reply = Reply::new().call("look", json!({})).call("look", json!({}));
    let provider = ScriptedProvider::new(Script::new().answer(reply));
    let mut host = Host::start(with_config(config, provider).tool(tool(&look)));
    assert_eq!(host.ask("go").await.kind, OutcomeKind::CallLimit);
    assert_eq!(look.log().runs(), 1);
    let (_, session, _) = host.detach().await;
    assert_eq!(results(session.conversation()), ["ok", "not run: limit on tool calls reached"]);
}

#[tokio::test(start_paused = true)]
async fn tokens_are_counted_and_limited() {
    let mut config = config();
    config.limits.max_total_tokens = Some(300);
    let provider = ScriptedProvider::new(Script::new().text("one").text("two").text("never"));
    let mut host = Host::start(with_config(config, provider.clone()));
    host.ask("1").await;
    host.ask("2").await;
    assert_eq!(host.ask("3").await.kind, OutcomeKind::Budget);
    assert_eq!(provider.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_same_call_over_and_over_ends_the_turn() {
    let mut config = config();
    config.limits.max_repetitions = Some(3);
    let look = FakeTool::reads("look");
    let provider = ScriptedProvider::from_fn(|_| Reply::new().call("look", json!({"same": true})).into());
    let mut host = Host::start(with_config(config, provider.clone()).tool(tool(&look)));
    assert_eq!(host.ask("go").await.kind, OutcomeKind::CallLimit);
    assert_eq!(provider.requests().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn other_settings_hold_from_the_next_call_on() {
    let provider = ScriptedProvider::new(Script::new().text("one").text("two"));
    let mut host = Host::start(builder(provider.clone()));
    host.ask("1").await;
    let mut other = config();
    other.models[0].id = "model-z".into();
    host.handle.reconfigure(other);
    host.ask("2").await;
    assert_eq!(provider.requests().last().unwrap().model.as_ref(), "model-z");
}

#[tokio::test(start_paused = true)]
async fn a_requested_summary_replaces_the_history() {
    let provider = ScriptedProvider::new(Script::new().text("long ".repeat(500)).text("short").text("after"));
    let mut host = Host::start(builder(provider.clone()));
    host.ask("tell me").await;
    host.handle.compact();
    host.state(State::Compacting).await;
    host.outcome().await;
    assert_eq!(host.ask("go on").await.text, "after");
    let last = provider.requests().last().unwrap();
    let summary = serde_json::to_string(&last.conversation).unwrap();
    assert!(summary.contains("short") && !summary.contains("long long"), "{summary}");
}
