//! Tool calls: together or one by one, known or not, well or not.

use crate::support::{Host, builder, elapsed_ms, ms, results, tool};
use agent_core::llm::RawCall;
use agent_core::session::OutcomeKind;
use agent_testkit::{FakeTool, Reply, Script, ScriptedProvider};
use serde_json::json;
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn reads_run_together_and_answer_in_call_order() {
    // The later a call, the sooner it ends.
    let slow =
        FakeTool::reads("slow").delay(ms(400)).respond(|call| agent_core::tool::ToolOutcome::ok(call.id.as_str()));
    let reply = (0..4).fold(Reply::new(), |reply, n| reply.call("slow", json!({"n": n})));
    let provider = ScriptedProvider::new(Script::new().answer(reply).text("done"));
    let mut host = Host::start(builder(provider.clone()).tool(tool(&slow)));
    let start = Instant::now();
    host.ask("read").await;
    assert_eq!(elapsed_ms(start), 400);
    assert_eq!(slow.log().max_in_flight(), 4);
    let (_, session, _) = host.detach().await;
    assert_eq!(results(session.conversation()), ["call_1_0", "call_1_1", "call_1_2", "call_1_3"]);
}

#[tokio::test(start_paused = true)]
async fn so_many_reads_run_together_and_no_more() {
    let slow =
        FakeTool::reads("slow").delay(ms(100)).respond(|call| agent_core::tool::ToolOutcome::ok(call.id.as_str()));
    let reply = (0..20).fold(Reply::new(), |reply, n| reply.call("slow", json!({"n": n})));
    let provider = ScriptedProvider::new(Script::new().answer(reply).text("done"));
    let mut host = Host::start(builder(provider.clone()).tool(tool(&slow)));
    let start = Instant::now();
    host.ask("read").await;
    assert_eq!((elapsed_ms(start), slow.log().max_in_flight(), slow.log().runs()), (300, 8, 20));
    let (_, session, _) = host.detach().await;
    let expected: Vec<String> = (0..20).map(|n| format!("call_1_{n}")).collect();
    assert_eq!(results(session.conversation()), expected);
}

#[tokio::test(start_paused = true)]
async fn results_stand_in_call_order_whoever_ends_first() {
    let slow = FakeTool::reads("slow").delay(ms(300)).outcome(agent_core::tool::ToolOutcome::ok("slow"));
    let fast = FakeTool::reads("fast").delay(ms(10)).outcome(agent_core::tool::ToolOutcome::ok("fast"));
    let script = Script::new().answer(Reply::new().call("slow", json!({})).call("fast", json!({}))).text("done");
    let mut host = Host::start(builder(ScriptedProvider::new(script)).tool(tool(&slow)).tool(tool(&fast)));
    host.ask("go").await;
    assert!(host.text().find("finished call_1_1").unwrap() < host.text().find("finished call_1_0").unwrap());
    let (_, session, _) = host.detach().await;
    assert_eq!(results(session.conversation()), ["slow", "fast"]);
}

#[tokio::test(start_paused = true)]
async fn changing_calls_run_one_by_one() {
    let edit = FakeTool::changes("edit").delay(ms(100));
    let reply = (0..3).fold(Reply::new(), |reply, n| reply.call("edit", json!({"n": n})));
    let provider = ScriptedProvider::new(Script::new().answer(reply).text("done"));
    let mut host = Host::start(builder(provider).tool(tool(&edit)));
    let start = Instant::now();
    host.ask("edit").await;
    assert_eq!((elapsed_ms(start), edit.log().max_in_flight(), edit.log().runs()), (300, 1, 3));
}

#[tokio::test(start_paused = true)]
async fn groups_are_cut_in_call_order() {
    let log = agent_testkit::ToolLog::default();
    let read = FakeTool::reads("read").delay(ms(100)).counting_in(&log);
    let edit = FakeTool::changes("edit").delay(ms(100)).counting_in(&log);
    let names = ["read", "read", "edit", "read"];
    let reply = names.iter().fold(Reply::new(), |reply, name| reply.call(*name, json!({})));
    let provider = ScriptedProvider::new(Script::new().answer(reply).text("done"));
    let mut host = Host::start(builder(provider).tool(tool(&read)).tool(tool(&edit)));
    let start = Instant::now();
    host.ask("mix").await;
    assert_eq!(elapsed_ms(start), 300);
    assert_eq!(log.calls().iter().map(|call| call.name.to_string()).collect::<Vec<_>>(), names);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_run_is_answered_and_the_turn_goes_on() {
    let picky = FakeTool::reads("picky").refuses_arguments("`path` is missing");
    let broken = FakeTool::reads("broken").panics("of the tool");
    let cut = RawCall { id: "cut".into(), name: "picky".into(), arguments: "{\"pa".into(), complete: true };
    let reply =
        Reply::new().call("unheard_of", json!({})).call("picky", json!({})).raw_call(cut).call("broken", json!({}));
    let provider = ScriptedProvider::new(Script::new().answer(reply).text("done"));
    let mut host = Host::start(builder(provider).tool(tool(&picky)).tool(tool(&broken)));
    assert_eq!(host.ask("go").await.kind, OutcomeKind::Success);
    let (_, session, _) = host.detach().await;
    let results = results(session.conversation());
    assert_eq!(results[0], "not run: there is no tool `unheard_of`; the tools are: picky, broken");
    assert_eq!(results[1], "not run: `path` is missing");
    assert!(results[2].starts_with("not run: the arguments are not a JSON object"), "{}", results[2]);
    assert_eq!(results[3], "the tool `broken` failed internally");
    assert_eq!(picky.log().runs(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_while_looking_at_a_call_is_not_run() {
    struct Jumpy(agent_core::tool::ToolSpec);
    #[async_trait::async_trait]
    impl agent_core::ports::Tool for Jumpy {
        fn spec(&self) -> &agent_core::tool::ToolSpec {
            &self.0
        }
        fn inspect(&self, _: &agent_core::conversation::Arguments) -> Result<agent_core::tool::Inspection, String> {
            panic!("of the inspection")
        }
        async fn run(
            &self,
            _: &agent_core::conversation::ToolCall,
            _: &agent_core::ports::ToolContext,
        ) -> agent_core::tool::ToolOutcome {
            agent_core::tool::ToolOutcome::ok("ran")
        }
    }
    let spec = agent_core::ports::Tool::spec(&FakeTool::reads("jumpy")).clone();
    let provider = ScriptedProvider::new(Script::new().call("jumpy", json!({})).text("done"));
    let mut host = Host::start(builder(provider).tool(std::sync::Arc::new(Jumpy(spec))));
    host.ask("go").await;
    let (_, session, _) = host.detach().await;
    assert_eq!(results(session.conversation()), ["not run: the tool `jumpy` failed"]);
}

#[tokio::test(start_paused = true)]
async fn two_tools_of_one_name_are_refused() {
    let provider = ScriptedProvider::new(Script::new());
    let built = builder(provider).tool(tool(&FakeTool::reads("a"))).tool(tool(&FakeTool::reads("a"))).build();
    assert_eq!(built.err().unwrap().to_string(), "build the runner: two tools are named `a`");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_prints_without_end_fills_no_memory() {
    // Ten thousand reports in one go, while the runner gets no turn.
    let flood: Vec<String> = (0..10_000).map(|n| format!("line {n}")).collect();
    let flood: Vec<&str> = flood.iter().map(String::as_str).collect();
    let yes = FakeTool::reads("yes").reports(&flood);
    let provider = ScriptedProvider::new(Script::new().call("yes", json!({})).text("done"));
    let mut host = Host::start(builder(provider).tool(tool(&yes)));
    host.ask("go").await;
    let shown = host.seen.iter().filter(|notice| matches!(notice, agent_runner::Notice::ToolProgress { .. })).count();
    assert_eq!(shown, 256);
    assert!(host.text().contains("finished call_1_0 Ok ok"));
}
