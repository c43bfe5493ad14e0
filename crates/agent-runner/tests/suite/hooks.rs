//! Hooks: what they are told, and what becomes of the turn when they fail.

use crate::support::{HangingHook, HookStep, Host, builder, elapsed_ms, results, tool};
use agent_core::conversation::ToolCall;
use agent_core::hook::{CommitInfo, CommitReport, FormatReport, GitReport};
use agent_core::session::OutcomeKind;
use agent_core::tool::{HookVerdict, Inspection, ToolOutcome};
use agent_runner::{Builder, Notice};
use agent_testkit::{FailingHook, FakeTool, HookCall, RecordingHook, Reply, Script, ScriptedProvider};
use serde_json::json;
use std::sync::Arc;
use tokio::time::Instant;

fn one_edit(provider: &ScriptedProvider) -> (Builder, FakeTool) {
    let outcome = ToolOutcome::ok("edited").with_changed_paths(vec!["a.rs".into()]);
    let edit = FakeTool::changes("edit").outcome(outcome);
    (builder(provider.clone()).tool(tool(&edit)), edit)
}

fn edit_then_done() -> ScriptedProvider {
    ScriptedProvider::new(Script::new().answer(Reply::new().text("I edit.").call("edit", json!({}))).text("done"))
}

#[tokio::test(start_paused = true)]
async fn changes_are_looked_at_formatted_and_committed() {
    let commit = CommitInfo { id: "abc".into(), subject: "Edit".into(), stat: None };
    let hook = RecordingHook::new()
        .on_check_git(Ok(GitReport { formatting_due: true, ..GitReport::default() }))
        .on_format(Ok(FormatReport { commit_due: true, changed_paths: vec!["a.rs".into()], ..FormatReport::default() }))
        .on_commit(Ok(CommitReport { commit: Some(commit), ..CommitReport::default() }));
    let provider = edit_then_done();
    let mut host = Host::start(one_edit(&provider).0.hook(Arc::new(hook.clone())));
    assert_eq!(host.ask("go").await.kind, OutcomeKind::Success);
    let calls = hook.calls().all();
    let [
        HookCall::BeforeTool(_),
        HookCall::ToolBegins(_),
        HookCall::CheckGit(seen),
        HookCall::Format(_),
        HookCall::Commit(changes),
    ] = &calls[..]
    else {
        panic!("{calls:?}")
    };
    assert_eq!((seen.paths.clone(), seen.intent.as_str()), (vec!["a.rs".to_owned()], "I edit."));
    assert_eq!(changes.tools[0].name.as_ref(), "edit");
    assert!(host.seen.iter().any(|notice| matches!(notice, Notice::Committed(report) if report.commit.is_some())));
    let told = crate::support::last_input(&provider.requests().last().unwrap());
    assert!(told[0].contains("A formatter changed a.rs"), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn reading_starts_no_hook() {
    let (hook, look) = (RecordingHook::new(), FakeTool::reads("look"));
    let provider = ScriptedProvider::new(Script::new().call("look", json!({})).text("done"));
    let mut host = Host::start(builder(provider).tool(tool(&look)).hook(Arc::new(hook.clone())));
    host.ask("go").await;
    assert!(hook.calls().all().iter().all(|call| matches!(call, HookCall::BeforeTool(_) | HookCall::ToolBegins(_))));
}

/// What a hook keeps of the state before a call must not outlive a call that nobody permitted.
#[tokio::test(start_paused = true)]
async fn a_call_begins_for_the_hook_only_when_it_is_permitted() {
    let deny = |_: &ToolCall, _: &Inspection| HookVerdict::Deny { reason: "no".to_owned() };
    for (hook, begins) in [(RecordingHook::new(), 1), (RecordingHook::new().on_before_tool(deny), 0)] {
        let provider = edit_then_done();
        let (builder, edit) = one_edit(&provider);
        Host::start(builder.hook(Arc::new(hook.clone()))).ask("go").await;
        let begun = hook.calls().all().iter().filter(|call| matches!(call, HookCall::ToolBegins(_))).count();
        assert_eq!((begun, edit.log().runs()), (begins, begins));
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_fails_or_panics_is_reported_and_the_turn_goes_on() {
    for (hook, what) in [
        (FailingHook::failing("no repository"), "check the repository: no repository"),
        (FailingHook::panicking("of the hook"), "check the repository: the hook panicked"),
    ] {
        let provider = edit_then_done();
        let mut host = Host::start(one_edit(&provider).0.hook(Arc::new(hook)));
        assert_eq!(host.ask("go").await.text, "done");
        assert!(host.text().contains(what), "{}", host.text());
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_stops_the_turn_keeps_the_results() {
    let provider = edit_then_done();
    let mut host = Host::start(one_edit(&provider).0.hook(Arc::new(FailingHook::stopping("freeze"))));
    let outcome = host.ask("go").await;
    assert_eq!((outcome.kind, outcome.error.as_deref()), (OutcomeKind::Failed, Some("freeze")));
    let (_, session, _) = host.detach().await;
    assert_eq!((results(session.conversation()), provider.requests().len()), (vec!["edited".to_owned()], 1));
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_hangs_runs_out_of_time() {
    // One that obeys is told to stop and does; one that does not is dropped a moment later.
    for (hook, ended_ms) in [(FailingHook::hanging(), 3_000), (FailingHook::hanging_for_good(), 3_180)] {
        let provider = edit_then_done();
        let mut host = Host::start(one_edit(&provider).0.hook(Arc::new(hook)).hook_timeout_ms(3_000));
        let start = Instant::now();
        assert_eq!(host.ask("go").await.text, "done");
        assert_eq!(elapsed_ms(start), ended_ms);
        assert!(host.text().contains("check the repository: it did not finish within 3000 ms"), "{}", host.text());
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_denies_a_call() {
    let hook = RecordingHook::new().on_before_tool(|_, _| HookVerdict::Deny { reason: "house rule".into() });
    let provider = edit_then_done();
    let (builder, edit) = one_edit(&provider);
    let mut host = Host::start(builder.hook(Arc::new(hook)));
    host.ask("go").await;
    let (_, session, _) = host.detach().await;
    assert_eq!(results(session.conversation()), ["not run: denied: a hook denied it: house rule"]);
    assert_eq!(edit.log().runs(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_verdict_that_panics_or_never_comes_is_a_denial() {
    let panicking = RecordingHook::new().on_before_tool(|_, _| panic!("of the verdict"));
    let provider = edit_then_done();
    let (builder, edit) = one_edit(&provider);
    Host::start(builder.hook(Arc::new(panicking))).ask("go").await;
    assert_eq!(edit.log().runs(), 0);

    let provider = edit_then_done();
    let (builder, edit) = one_edit(&provider);
    let hook = HangingHook::at(HookStep::Verdict);
    let mut host = Host::start(builder.hook(Arc::new(hook)).hook_timeout_ms(3_000));
    let start = Instant::now();
    assert_eq!(host.ask("go").await.text, "done");
    assert_eq!((elapsed_ms(start), edit.log().runs()), (3_000, 0));
}
