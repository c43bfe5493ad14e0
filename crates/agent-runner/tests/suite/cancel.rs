//! Cancelling in each state that waits: the session is idle again at once, starts nothing more, and can go on.

use crate::support::{
    Gated, HangingHook, HookStep, Host, builder, config, elapsed_ms, is_sendable, results, tool, with_config,
};
use agent_core::llm::{LlmError, LlmErrorKind};
use agent_core::permission::PermissionMode;
use agent_core::session::{OutcomeKind, State};
use agent_runner::Builder;
use agent_testkit::{FakeTool, Reply, Script, ScriptedApprover, ScriptedProvider};
use serde_json::json;
use std::sync::Arc;
use tokio::time::Instant;

/// Runs into a state, cancels there, and checks what must hold whatever the state. Returns the results in the history.
async fn cancelled_in(state: State, provider: &ScriptedProvider, builder: Builder) -> Vec<String> {
    let mut host = Host::start(builder);
    host.handle.input("go");
    host.state(state).await;
    let asked = provider.requests().len();
    let start = Instant::now();
    host.handle.cancel();
    host.handle.cancel();
    let outcome = host.outcome().await;
    assert_eq!(outcome.kind, OutcomeKind::Cancelled, "in {state:?}");
    assert!(elapsed_ms(start) <= 200, "{state:?} took {} ms", elapsed_ms(start));
    assert!(!host.text().contains("refused"), "{}", host.text());
    tokio::time::sleep(std::time::Duration::from_secs(600)).await;
    assert!(provider.requests().len() <= asked.max(1), "another model call after the cancel in {state:?}");
    assert_eq!(host.ask("go on").await.text, "next", "after a cancel in {state:?}");
    assert!(is_sendable(&provider.requests().last().unwrap().conversation));
    assert_eq!(provider.open_streams(), 0);
    let (_, session, _) = host.detach().await;
    results(session.conversation())
}

#[tokio::test(start_paused = true)]
async fn while_the_model_is_being_called() {
    let hang = ScriptedProvider::new(Script::new().hang().text("next"));
    cancelled_in(State::CallingLlm, &hang, builder(hang.clone())).await;
    let stall = ScriptedProvider::new(Script::new().stall_after(Reply::new().text("half"), 1).text("next"));
    cancelled_in(State::CallingLlm, &stall, builder(stall.clone())).await;
    assert_eq!(stall.abandoned_streams(), 1);
}

#[tokio::test(start_paused = true)]
async fn text_that_had_come_stays_in_the_history() {
    let provider = ScriptedProvider::new(Script::new().stall_after(Reply::new().text("half"), 1).text("next"));
    let mut host = Host::start(builder(provider.clone()));
    host.handle.input("go");
    host.until(|notice| matches!(notice, agent_runner::Notice::Delta(_))).await;
    host.handle.cancel();
    assert_eq!(host.outcome().await.text, "half");
    // The answer is as the model wrote it; that it was stopped stands with what the user says next.
    host.handle.input("on");
    assert_eq!(host.outcome().await.text, "next");
    let history = serde_json::to_string(&provider.requests().all()[1].conversation).unwrap();
    assert!(history.contains(r#"{"Text":"half"}"#), "{history}");
    assert!(history.contains(r#"["[Your last answer was interrupted.]","on"]"#), "{history}");
}

#[tokio::test(start_paused = true)]
async fn while_results_are_being_sent() {
    let provider = ScriptedProvider::new(Script::new().call("look", json!({})).hang().text("next"));
    let look = FakeTool::reads("look");
    let builder = builder(provider.clone()).tool(tool(&look));
    assert_eq!(cancelled_in(State::SendingToolResults, &provider, builder).await, ["ok"]);
}

#[tokio::test(start_paused = true)]
async fn while_a_tool_hangs() {
    let provider = ScriptedProvider::new(Script::new().call("hang", json!({})).text("next"));
    let obedient = FakeTool::reads("hang").hangs();
    let told = cancelled_in(State::ExecutingTools, &provider, builder(provider.clone()).tool(tool(&obedient))).await;
    assert_eq!((told[0].as_str(), obedient.log().interrupted()), ("interrupted, outcome unknown\ninterrupted", 1));

    let provider = ScriptedProvider::new(Script::new().call("hang", json!({})).text("next"));
    let deaf = FakeTool::changes("hang").hangs().ignores_cancellation();
    let told = cancelled_in(State::ExecutingTools, &provider, builder(provider.clone()).tool(tool(&deaf))).await;
    assert_eq!((told[0].as_str(), deaf.log().dropped()), ("interrupted, outcome unknown\nstopped by the user", 1));
}

#[tokio::test(start_paused = true)]
async fn calls_that_had_not_begun_do_not_begin() {
    let reply = Reply::new().call("edit", json!({})).call("edit", json!({}));
    let provider = ScriptedProvider::new(Script::new().answer(reply).text("next"));
    let edit = FakeTool::changes("edit").hangs();
    let builder = builder(provider.clone()).tool(tool(&edit));
    let told = cancelled_in(State::ExecutingTools, &provider, builder).await;
    assert_eq!((told[1].as_str(), edit.log().runs()), ("not run: cancelled", 1));
}

#[tokio::test(start_paused = true)]
async fn while_a_hook_hangs() {
    for (step, state) in [
        (HookStep::Verdict, State::PreparingTools),
        (HookStep::Git, State::CheckingGitCommits),
        (HookStep::Format, State::RunningAutoformatters),
        (HookStep::Commit, State::CommittingChanges),
    ] {
        for is_deaf in [false, true] {
            let provider = ScriptedProvider::new(Script::new().call("edit", json!({})).text("next"));
            let edit = FakeTool::changes("edit");
            let hook = Arc::new(HangingHook { at: Some(step), is_deaf });
            let told = cancelled_in(state, &provider, builder(provider.clone()).tool(tool(&edit)).hook(hook)).await;
            let expected = if step == HookStep::Verdict { "not run: cancelled" } else { "ok" };
            assert_eq!(told, [expected]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn while_a_person_is_asked() {
    let mut config = config();
    config.permissions.mode = PermissionMode::Default;
    let provider = ScriptedProvider::new(Script::new().call("edit", json!({})).text("next"));
    let edit = FakeTool::changes("edit");
    let builder =
        with_config(config, provider.clone()).tool(tool(&edit)).approver(Arc::new(ScriptedApprover::silent()));
    assert_eq!(cancelled_in(State::AwaitingApproval, &provider, builder).await, ["not run: cancelled"]);
    assert_eq!(edit.log().runs(), 0);
}

#[tokio::test(start_paused = true)]
async fn while_waiting_for_the_next_try() {
    let error = LlmError::new(LlmErrorKind::Server, "broken");
    let provider = ScriptedProvider::new(Script::new().error(error).text("next"));
    cancelled_in(State::Error, &provider, builder(provider.clone())).await;
}

#[tokio::test(start_paused = true)]
async fn while_idle_it_does_nothing() {
    let provider = ScriptedProvider::new(Script::new().text("well"));
    let mut host = Host::start(builder(provider));
    host.handle.cancel();
    assert_eq!(host.ask("go").await.kind, OutcomeKind::Success);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_with_the_cancel_is_kept_and_its_calls_do_not_run() {
    let provider = ScriptedProvider::new(Script::new().call("edit", json!({})).text("next"));
    let gated = Gated::new(&provider, 1);
    let edit = FakeTool::changes("edit");
    let mut host = Host::start(builder(gated.clone()).tool(tool(&edit)));
    host.handle.input("go");
    host.state(State::CallingLlm).await;
    // The model's task must stand at the gate before it is opened.
    tokio::task::yield_now().await;
    gated.gate.notify_one();
    host.handle.cancel();
    assert_eq!(host.outcome().await.kind, OutcomeKind::Cancelled);
    assert!(host.text().contains("ProcessingLlmResponse + AutoCancelled"), "{}", host.text());
    let (_, session, _) = host.detach().await;
    assert_eq!((results(session.conversation()), edit.log().runs()), (vec!["not run: cancelled".to_owned()], 0));
}
