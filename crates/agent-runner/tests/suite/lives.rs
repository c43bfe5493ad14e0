//! How a runner ends, and what it leaves: nothing that runs, and a session that can be gone on with.

use crate::scenes::{Scene, WAITING};
use crate::support::{Gated, Host, builder, ms, text, tool};
use agent_core::session::{OutcomeKind, State};
use agent_runner::{Agent, AgentError, End, Notice};
use agent_testkit::{FakeTool, Reply, Script, ScriptedProvider};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts what is dropped.
struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn leaving_stops_everything_in_every_state() {
    for state in WAITING {
        for shut_down in [false, true] {
            let scene = Scene::hanging_in(state);
            let dropped = Arc::new(AtomicUsize::new(0));
            let guard = Guard(dropped.clone());
            let builder = scene.builder().chance(Box::new(move || {
                let _kept = &guard;
                0
            }));
            let mut host = Host::start(builder);
            scene.enter(&mut host).await;
            let end = if shut_down {
                host.handle.shut_down();
                host.end().await
            } else {
                let (end, session, _) = host.detach().await;
                assert_eq!(session.state(), state, "the machine is told nothing");
                (end, session)
            };
            assert_eq!(end.0, if shut_down { End::ShutDown } else { End::Detached });
            let asked = scene.provider.requests().len();
            assert_eq!((scene.provider.open_streams(), scene.looked.in_flight()), (0, 0), "left in {state:?}");
            // Nothing holds the ports any more, so nothing can wake later.
            assert_eq!(dropped.load(Ordering::SeqCst), 1, "left in {state:?}");
            tokio::time::sleep(ms(3_600_000)).await;
            assert_eq!((scene.provider.requests().len(), scene.edited.in_flight()), (asked, 0));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_runner_that_is_dropped_stops_what_it_started() {
    for state in [State::CallingLlm, State::ExecutingTools] {
        let scene = Scene::hanging_in(state);
        let (runner, handle, mut notices) = scene.builder().build().unwrap();
        let task = tokio::spawn(runner.run());
        handle.input("go");
        while !matches!(notices.recv().await.unwrap(), Notice::Transition(t) if t.to == state) {}
        tokio::time::sleep(ms(1)).await;
        assert_eq!(scene.provider.open_streams() + scene.looked.in_flight(), 1);
        task.abort();
        tokio::time::sleep(ms(200)).await;
        assert_eq!(scene.provider.open_streams() + scene.looked.in_flight(), 0, "left running in {state:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_deaf_tool_is_dropped_when_the_host_leaves() {
    let deaf = FakeTool::changes("deaf").hangs().ignores_cancellation();
    let provider = ScriptedProvider::new(Script::new().call("deaf", json!({})));
    let mut host = Host::start(builder(provider).tool(tool(&deaf)));
    host.handle.input("go");
    deaf.log().wait_for_runs(1).await;
    host.handle.detach();
    host.end().await;
    assert_eq!((deaf.log().in_flight(), deaf.log().dropped()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn what_is_sent_after_leaving_changes_nothing() {
    let provider = ScriptedProvider::new(Script::new().text("never"));
    let mut host = Host::start(builder(provider.clone()));
    host.until(|notice| matches!(notice, Notice::Prompt { .. })).await;
    host.handle.detach();
    host.handle.input("too late");
    let (end, session) = host.end().await;
    assert_eq!((end, session.pending_input().count(), provider.requests().len()), (End::Detached, 0, 0));
    host.handle.input("much too late");
}

#[tokio::test(start_paused = true)]
async fn without_handles_the_work_is_finished_and_then_left() {
    let reply = Reply::new().text("hm").first_delay(ms(500)).call("look", json!({}));
    let provider = ScriptedProvider::new(Script::new().answer(reply).text("done"));
    let look = FakeTool::reads("look").delay(ms(300));
    let (runner, handle, mut notices) = builder(provider.clone()).tool(tool(&look)).build().unwrap();
    handle.input("go");
    drop(handle);
    let (end, session) = tokio::time::timeout(ms(10_000), runner.run()).await.expect("it should leave");
    assert_eq!((end, session.outcome().unwrap().kind), (End::Detached, OutcomeKind::Success));
    let mut seen = Vec::new();
    while let Some(notice) = notices.recv().await {
        seen.push(notice);
    }
    assert!(text(&seen).contains("done"));
}

#[tokio::test(start_paused = true)]
async fn a_host_that_stops_listening_still_gets_its_work_done() {
    let provider = ScriptedProvider::new(Script::new().text("done"));
    let (runner, handle, notices) = builder(provider).build().unwrap();
    drop(notices);
    handle.input("go");
    drop(handle);
    assert_eq!(runner.run().await.1.outcome().unwrap().text, "done");
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_is_dropped_leaves_its_session() {
    let provider = ScriptedProvider::new(Script::new().hang());
    let gated = Gated::new(&provider, 99);
    let mut agent = Agent::start(builder(gated)).unwrap();
    let asked = tokio::time::timeout(ms(1_000), agent.ask("go", |_| {})).await;
    assert!(asked.is_err());
    let handle = agent.handle().clone();
    drop(agent);
    tokio::time::sleep(ms(500)).await;
    handle.input("anybody?");
    assert_eq!(provider.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_agent_says_when_a_message_is_refused() {
    let provider = ScriptedProvider::new(Script::new().text("well"));
    let mut agent = Agent::start(builder(provider)).unwrap();
    let refused = agent.ask(" ", |_| {}).await;
    assert!(matches!(refused, Err(AgentError::Refused { .. })), "{refused:?}");
    assert_eq!(agent.ask("go", |_| {}).await.unwrap().text, "well");
}

#[tokio::test(start_paused = true)]
async fn an_agent_of_a_resumed_session_answers_what_it_is_asked() {
    let mut first = Agent::start(builder(ScriptedProvider::new(Script::new().text("old")))).unwrap();
    first.ask("1", |_| {}).await.unwrap();
    let (_, session) = first.finish().await.unwrap();
    let provider = ScriptedProvider::new(Script::new().text("new"));
    let mut second = Agent::start(builder(provider).resume(session, 7)).unwrap();
    assert_eq!(second.ask("2", |_| {}).await.unwrap().text, "new");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_has_ended_ends_at_once_when_resumed() {
    let mut host = Host::start(builder(ScriptedProvider::new(Script::new())));
    host.handle.shut_down();
    let (_, session) = host.end().await;
    let mut again = Host::start(builder(ScriptedProvider::new(Script::new())).resume(session, 9));
    assert_eq!(again.end().await.0, End::ShutDown);
}

#[tokio::test(start_paused = true)]
async fn a_summary_in_mid_turn_reports_no_round_twice() {
    let look = FakeTool::reads("look").outcome(agent_core::tool::ToolOutcome::ok("found ".repeat(300)));
    let overflow = agent_core::llm::LlmError::new(agent_core::llm::LlmErrorKind::ContextOverflow, "too long");
    let script =
        Script::new().text("long ".repeat(2_000)).call("look", json!({})).error(overflow).text("short").text("done");
    let mut host = Host::start(builder(ScriptedProvider::new(script)).tool(tool(&look)));
    host.ask("tell me").await;
    assert_eq!(host.ask("go").await.text, "done");
    let closed = host.seen.iter().filter(|notice| matches!(notice, Notice::RoundClosed { .. })).count();
    assert_eq!(closed, 1, "{}", host.text());
}
