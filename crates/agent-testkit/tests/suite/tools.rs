//! Fake tools.

use agent_core::conversation::{Arguments, CallId, ToolCall};
use agent_core::ports::{CancelSignal, Tool};
use agent_core::tool::{Effect, Subject, ToolOutcome, ToolStatus};
use agent_testkit::{FakeTool, ToolLog, tool_context};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

fn call(id: &str) -> ToolCall {
    ToolCall { id: CallId::new(id), name: Arc::from("t"), arguments: Arguments::empty() }
}

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn does_as_told() {
    let (context, _, progress) = tool_context();
    let plain = FakeTool::reads("look").reports(&["a", "b"]);
    assert_eq!(&*plain.spec().name, "look");
    assert_eq!(plain.inspect(&Arguments::empty()).unwrap().effect, Effect::Reads);
    assert_eq!(plain.run(&call("1"), &context).await, ToolOutcome::ok("ok"));
    assert_eq!(progress.reports(), ["a", "b"]);

    let subject = Subject::Paths(vec!["a.rs".into()]);
    let fixed = FakeTool::changes("edit").about(subject.clone()).outcome(ToolOutcome::failed("no"));
    let inspection = fixed.inspect(&Arguments::empty()).unwrap();
    assert_eq!((inspection.effect, inspection.subject), (Effect::Changes, subject));
    assert_eq!(fixed.run(&call("1"), &context).await, ToolOutcome::failed("no"));

    let echo = FakeTool::reads("t").respond(|call| ToolOutcome::ok(call.id.as_str()));
    assert_eq!(echo.run(&call("7"), &context).await.content, "7");
    assert_eq!(echo.log().calls(), [call("7")]);

    let picky = FakeTool::reads("t").refuses_arguments("no path");
    assert_eq!(picky.inspect(&Arguments::empty()), Err("no path".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn counts_what_runs_at_a_time() {
    let (context, _, _) = tool_context();
    let log = ToolLog::default();
    let one = FakeTool::reads("a").delay(SECOND).counting_in(&log);
    let two = FakeTool::reads("b").delay(SECOND * 2).counting_in(&log);
    let (first, second) = (call("1"), call("2"));
    tokio::join!(one.run(&first, &context), two.run(&second, &context));
    one.run(&first, &context).await;
    assert_eq!((log.runs(), log.finished()), (3, 3));
    assert_eq!((log.max_in_flight(), log.in_flight()), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn stops_when_told() {
    let (context, cancel, _) = tool_context();
    let tool = FakeTool::changes("t").hangs();
    let call = call("1");
    let (outcome, ()) = tokio::join!(tool.run(&call, &context), async {
        tool.log().wait_for_runs(1).await;
        assert_eq!(tool.log().in_flight(), 1);
        assert!(!cancel.is_cancelled());
        cancel.cancel();
        cancel.cancel();
    });
    assert_eq!(outcome.status, ToolStatus::Interrupted);
    assert_eq!((tool.log().interrupted(), tool.log().dropped()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn ignores_the_signal_until_dropped() {
    let (context, cancel, _) = tool_context();
    cancel.cancel();
    let stubborn = FakeTool::changes("t").hangs().ignores_cancellation();
    assert!(timeout(SECOND, stubborn.run(&call("1"), &context)).await.is_err());
    assert_eq!((stubborn.log().dropped(), stubborn.log().in_flight()), (1, 0));
    let slow = FakeTool::reads("t").delay(SECOND).ignores_cancellation();
    assert_eq!(slow.run(&call("1"), &context).await.status, ToolStatus::Ok);
}

#[tokio::test]
async fn panics_with_its_message_and_still_counts() {
    let tool = FakeTool::reads("t").panics("boom");
    let log = tool.log();
    let (context, _, _) = tool_context();
    let ended = tokio::spawn(async move { tool.run(&call("1"), &context).await }).await;
    let message = ended.unwrap_err().into_panic().downcast::<String>().unwrap();
    assert_eq!(*message, "boom");
    assert_eq!((log.dropped(), log.in_flight()), (1, 0));
}
