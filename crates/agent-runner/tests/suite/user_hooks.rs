//! The user's hooks: what they are asked, and that what they say is done.

use crate::support::{Host, config, last_input, results, tool, with_config};
use agent_core::conversation::Arguments;
use agent_core::hook::{HookOccasion, HookPoint, HookReport};
use agent_core::permission::PermissionMode;
use agent_core::session::{OutcomeKind, SessionConfig};
use agent_core::tool::{HookVerdict, ToolOutcome};
use agent_runner::Notice;
use agent_testkit::{FakeTool, HookCall, RecordingHook, Script, ScriptedProvider};
use serde_json::json;
use std::sync::Arc;

fn with_hooks(points: &[HookPoint]) -> SessionConfig {
    SessionConfig { hooks: points.iter().copied().collect(), ..config() }
}

fn points(hook: &RecordingHook) -> Vec<HookPoint> {
    let calls = hook.calls().all().into_iter();
    calls.filter_map(|call| if let HookCall::Run(occasion) = call { Some(occasion.point()) } else { None }).collect()
}

fn edit_then_done() -> ScriptedProvider {
    ScriptedProvider::new(Script::new().call("edit", json!({"path": "a"})).text("done"))
}

#[tokio::test(start_paused = true)]
async fn every_point_is_asked_once_and_in_order() {
    use HookPoint::{PostToolUse, PreToolUse, SessionEnd, SessionStart, Stop, UserPromptSubmit};
    let (hook, edit) = (RecordingHook::new(), FakeTool::changes("edit"));
    let builder = with_config(with_hooks(&HookPoint::ALL), edit_then_done()).tool(tool(&edit));
    let mut host = Host::start(builder.hook(Arc::new(hook.clone())));
    assert_eq!(host.ask("go").await.text, "done");
    host.detach().await;
    assert_eq!(points(&hook), [SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, Stop, SessionEnd]);
}

#[tokio::test(start_paused = true)]
async fn without_hooks_nobody_is_asked() {
    let (hook, edit) = (RecordingHook::new(), FakeTool::changes("edit"));
    let mut host = Host::start(with_config(config(), edit_then_done()).tool(tool(&edit)).hook(Arc::new(hook.clone())));
    host.ask("go").await;
    host.detach().await;
    assert_eq!(points(&hook), []);
}

/// A hook's denial comes before anything is remembered of the call; its permission answers a question and no more.
#[tokio::test(start_paused = true)]
async fn a_hook_decides_about_calls_within_the_rules() {
    let saying = |verdict: HookVerdict| {
        RecordingHook::new().on_run(move |_| HookReport { verdict: verdict.clone(), ..HookReport::default() })
    };
    let deny = || HookVerdict::Deny { reason: "house rule".into() };
    let allow = || HookVerdict::Allow { reason: "known".into() };
    for (verdict, mode, rule, result, runs) in [
        (deny(), PermissionMode::Bypass, None, "not run: denied: a hook denied it: house rule", 0),
        (allow(), PermissionMode::Default, None, "edited", 1),
        (HookVerdict::None, PermissionMode::Default, None, "not run: denied: no one could be asked", 0),
        (allow(), PermissionMode::Bypass, Some("edit"), "not run: denied: the rule `edit` denies it", 0),
        (allow(), PermissionMode::Plan, None, "not run: denied: plan mode: only reads run", 0),
    ] {
        let (hook, edit) = (saying(verdict), FakeTool::changes("edit").outcome(ToolOutcome::ok("edited")));
        let mut config = with_hooks(&[HookPoint::PreToolUse]);
        config.permissions.mode = mode;
        config.permissions.deny.extend(rule.map(|rule| rule.parse().unwrap()));
        let mut host = Host::start(with_config(config, edit_then_done()).tool(tool(&edit)).hook(Arc::new(hook)));
        host.ask("go").await;
        let (_, session, _) = host.detach().await;
        assert_eq!((results(session.conversation()), edit.log().runs()), (vec![result.to_owned()], runs));
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_changes_what_a_call_is_told() {
    let hook = RecordingHook::new().on_run(|_| HookReport {
        arguments: Some(Arguments::parse(r#"{"path":"b"}"#).unwrap()),
        ..HookReport::default()
    });
    let (provider, edit) = (edit_then_done(), FakeTool::changes("edit"));
    let builder = with_config(with_hooks(&[HookPoint::PreToolUse]), provider.clone()).tool(tool(&edit));
    let mut host = Host::start(builder.hook(Arc::new(hook.clone())));
    host.ask("go").await;
    assert_eq!(edit.log().calls()[0].arguments.as_str(), r#"{"path":"b"}"#);
    let told = last_input(&provider.requests().last().unwrap());
    assert!(told[0].contains(r#"changed the input of"#) && told[0].contains(r#"{"path":"b"}"#), "{told:?}");
    // Who remembers how the files were is told of the call as it runs.
    let before = hook.calls().all().into_iter().find_map(|call| match call {
        HookCall::BeforeTool(call) => Some(call.arguments.as_str().to_owned()),
        _ => None,
    });
    assert_eq!(before.as_deref(), Some(r#"{"path":"b"}"#));
}

#[tokio::test(start_paused = true)]
async fn a_hook_behind_the_calls_sees_what_came_of_them_and_tells_the_model() {
    let hook = RecordingHook::new().on_run(|occasion| {
        let HookOccasion::PostToolUse { calls } = occasion else { panic!("{occasion:?}") };
        HookReport { block: Some(format!("{} said {}", calls[0].call.name, calls[0].content)), ..HookReport::default() }
    });
    let (provider, edit) = (edit_then_done(), FakeTool::changes("edit").outcome(ToolOutcome::failed("oops")));
    let builder = with_config(with_hooks(&[HookPoint::PostToolUse]), provider.clone()).tool(tool(&edit));
    let mut host = Host::start(builder.hook(Arc::new(hook)));
    assert_eq!(host.ask("go").await.kind, OutcomeKind::Success);
    let told = last_input(&provider.requests().last().unwrap());
    assert!(told[0].contains("edit said oops"), "{told:?}");
}

/// Leaving in the middle of a turn waits for nobody; leaving twice at a prompt neither.
#[tokio::test(start_paused = true)]
async fn the_hooks_of_the_end_run_at_a_prompt_only() {
    let hook = RecordingHook::new();
    let stalled = ScriptedProvider::new(Script::new().hang());
    let builder = with_config(with_hooks(&[HookPoint::SessionEnd]), stalled);
    let host = Host::start(builder.hook(Arc::new(hook.clone())));
    host.handle.input("go");
    host.detach().await;
    assert_eq!(points(&hook), []);

    let hanging = crate::support::HangingHook::at(crate::support::HookStep::Users);
    let provider = ScriptedProvider::new(Script::new().text("done"));
    let builder = with_config(with_hooks(&[HookPoint::SessionEnd]), provider).hook(Arc::new(hanging));
    let mut host = Host::start(builder);
    host.ask("go").await;
    host.handle.detach();
    host.until(|notice| matches!(notice, Notice::Transition(t) if t.to == agent_core::session::State::RunningHooks))
        .await;
    host.detach().await;
}
