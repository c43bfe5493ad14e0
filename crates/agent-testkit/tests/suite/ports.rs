//! Hooks, approver and commands.

use agent_core::conversation::{Arguments, CallId, ToolCall};
use agent_core::hook::{Changes, CommitReport, GitReport, HookError};
use agent_core::permission::{ApprovalAnswer, ApprovalQuestion, ApprovalScope};
use agent_core::ports::{Approver, Command, CommandOutput, CommandRunner, Exit, Hook};
use agent_core::tool::{Effect, HookVerdict, Inspection, Subject};
use agent_testkit::{FailingHook, HookCall, ManualCancel, RecordingHook, ScriptedApprover, ScriptedCommands};
use futures_util::FutureExt;
use std::sync::Arc;

fn call() -> ToolCall {
    ToolCall { id: CallId::new("1"), name: Arc::from("t"), arguments: Arguments::empty() }
}

fn failed(message: &str) -> HookError {
    HookError::Failed { message: message.to_owned() }
}

#[tokio::test]
async fn a_recording_hook_reports_in_order_and_then_nothing() {
    let due = GitReport { commit_due: true, ..GitReport::default() };
    let hook = RecordingHook::new()
        .on_before_tool(|_, inspection| match inspection.effect {
            Effect::Reads => HookVerdict::None,
            Effect::Changes => HookVerdict::Deny { reason: "no".to_owned() },
        })
        .on_check_git(Ok(due.clone()))
        .on_check_git(Err(failed("git")));
    let cancel = ManualCancel::new();
    let changes = Changes::default();
    assert_eq!(hook.check_git(&changes, &cancel).await, Ok(due));
    assert_eq!(hook.check_git(&changes, &cancel).await, Err(failed("git")));
    assert_eq!(hook.check_git(&changes, &cancel).await, Ok(GitReport::default()));
    assert!(hook.format(&changes, &cancel).await.is_ok());
    assert_eq!(hook.commit(&changes, &cancel).await, Ok(CommitReport::default()));
    let inspection = Inspection { effect: Effect::Changes, subject: Subject::None };
    assert!(matches!(hook.before_tool(&call(), &inspection).await, HookVerdict::Deny { .. }));
    let calls = hook.calls();
    assert_eq!(calls.len(), 6);
    assert_eq!(calls.last(), Some(HookCall::BeforeTool(call())));
    assert_eq!(calls.all()[4], HookCall::Commit(changes));
}

#[tokio::test]
async fn a_failing_hook_fails_as_told() {
    let cancel = ManualCancel::new();
    let changes = Changes::default();
    let plain = FailingHook::failing("no");
    assert_eq!(plain.check_git(&changes, &cancel).await, Err(failed("no")));
    let stopping = FailingHook::stopping("enough").commit(&changes, &cancel).await;
    assert!(matches!(stopping, Err(HookError::StopTurn { reason }) if reason == "enough"));

    let hanging = FailingHook::hanging();
    let mut waiting = hanging.format(&changes, &cancel);
    assert!(waiting.as_mut().now_or_never().is_none());
    cancel.cancel();
    assert!(waiting.await.is_err());
    let for_good = FailingHook::hanging_for_good();
    assert!(for_good.check_git(&changes, &cancel).now_or_never().is_none());

    let panicking = FailingHook::panicking("boom");
    let ended = tokio::spawn(async move { panicking.check_git(&changes, &cancel).await }).await;
    assert!(ended.unwrap_err().is_panic());
}

#[tokio::test]
async fn an_approver_answers_from_its_script_first() {
    let question = ApprovalQuestion { call: call(), subject: Subject::None, reason: "why".to_owned() };
    let once = ApprovalAnswer::Allow { scope: ApprovalScope::Once, arguments: None };
    let approver = ScriptedApprover::denying("no").first([once.clone()]);
    assert_eq!(approver.ask(&question).await, once);
    assert!(matches!(approver.ask(&question).await, ApprovalAnswer::Deny { reason } if reason == "no"));
    assert_eq!(approver.questions().all(), [question.clone(), question.clone()]);
    assert_eq!(ScriptedApprover::allowing().ask(&question).await, once);
    assert_eq!(ScriptedApprover::absent().ask(&question).await, ApprovalAnswer::Nobody);
    assert!(ScriptedApprover::silent().ask(&question).now_or_never().is_none());
}

#[tokio::test]
async fn commands_come_to_what_the_script_says() {
    let command = Command {
        program: "true".to_owned(),
        arguments: Vec::new(),
        directory: "/".to_owned(),
        environment: Vec::new(),
        stdin: Vec::new(),
        timeout_ms: 1,
        output_limit_bytes: 1,
    };
    let cancel = ManualCancel::new();
    let commands =
        ScriptedCommands::new().exit(3, "out").timed_out().not_started("no such file").until_cancelled().respond(
            |command| {
                Ok(CommandOutput {
                    exit: Exit::Code(0),
                    stdout: command.program.clone().into_bytes(),
                    stderr: Vec::new(),
                    dropped_bytes: 0,
                })
            },
        );
    let first = commands.run(&command, &cancel).await.unwrap();
    assert_eq!((first.exit, first.stdout.as_slice()), (Exit::Code(3), b"out".as_slice()));
    assert_eq!(commands.run(&command, &cancel).await.unwrap().exit, Exit::TimedOut);
    let error = commands.run(&command, &cancel).await.unwrap_err();
    assert_eq!(error.to_string(), "start `true`: no such file");
    let mut running = commands.run(&command, &cancel);
    assert!(running.as_mut().now_or_never().is_none());
    cancel.cancel();
    assert_eq!(running.await.unwrap().exit, Exit::Cancelled);
    assert_eq!(commands.run(&command, &cancel).await.unwrap().stdout, b"true");
    let error = commands.run(&command, &cancel).await.unwrap_err();
    assert!(error.found.contains("script exhausted"));
    assert_eq!(commands.commands().len(), 6);
}
