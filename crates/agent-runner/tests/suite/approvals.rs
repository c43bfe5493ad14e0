//! Questions to a person.

use crate::support::{Host, config, ms, results, tool, with_config};
use agent_core::permission::{ApprovalAnswer, ApprovalQuestion, ApprovalScope, PermissionMode};
use agent_core::ports::Approver;
use agent_core::session::{OutcomeKind, SessionConfig};
use agent_testkit::{FakeTool, Reply, Script, ScriptedApprover, ScriptedProvider};
use async_trait::async_trait;
use serde_json::json;
use std::sync::Arc;

fn asking() -> SessionConfig {
    let mut config = config();
    config.permissions.mode = PermissionMode::Default;
    config
}

fn two_edits() -> ScriptedProvider {
    let reply = Reply::new().call("edit", json!({"n": 1})).call("edit", json!({"n": 2}));
    ScriptedProvider::new(Script::new().answer(reply).text("done"))
}

#[tokio::test(start_paused = true)]
async fn what_a_person_allows_runs() {
    let (edit, approver) = (FakeTool::changes("edit"), ScriptedApprover::allowing());
    let mut host =
        Host::start(with_config(asking(), two_edits()).tool(tool(&edit)).approver(Arc::new(approver.clone())));
    let outcome = host.ask("go").await;
    assert_eq!((outcome.kind, edit.log().runs(), approver.questions().len()), (OutcomeKind::Success, 2, 2));
}

#[tokio::test(start_paused = true)]
async fn what_a_person_denies_does_not_run_and_the_rest_does() {
    let edit = FakeTool::changes("edit");
    let approver = ScriptedApprover::allowing().first([ApprovalAnswer::Deny { reason: "not that one".into() }]);
    let mut host = Host::start(with_config(asking(), two_edits()).tool(tool(&edit)).approver(Arc::new(approver)));
    let outcome = host.ask("go").await;
    assert_eq!((outcome.kind, edit.log().runs(), outcome.denials.len()), (OutcomeKind::Success, 1, 1));
    let (_, session, _) = host.detach().await;
    assert_eq!(results(session.conversation()), ["not run: denied: not that one", "ok"]);
}

#[tokio::test(start_paused = true)]
async fn without_anybody_to_ask_calls_are_denied_and_the_outcome_says_so() {
    for approver in [None, Some(ScriptedApprover::absent())] {
        let edit = FakeTool::changes("edit");
        let mut builder = with_config(asking(), two_edits()).tool(tool(&edit));
        if let Some(approver) = approver {
            builder = builder.approver(Arc::new(approver));
        }
        let outcome = Host::start(builder).ask("go").await;
        assert_eq!((outcome.kind, edit.log().runs(), outcome.denials.len()), (OutcomeKind::Permission, 0, 2));
    }
}

#[tokio::test(start_paused = true)]
async fn a_rule_for_the_session_holds_from_the_next_answer_on() {
    let script = Script::new().call("edit", json!({})).call("edit", json!({})).text("done");
    let rule = "edit".parse().unwrap();
    let approver = ScriptedApprover::denying("only once")
        .first([ApprovalAnswer::Allow { scope: ApprovalScope::Session(vec![rule]), arguments: None }]);
    let edit = FakeTool::changes("edit");
    let builder = with_config(asking(), ScriptedProvider::new(script)).tool(tool(&edit));
    let mut host = Host::start(builder.approver(Arc::new(approver.clone())));
    host.ask("go").await;
    assert_eq!((edit.log().runs(), approver.questions().len()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_person_may_change_the_arguments() {
    let arguments = agent_core::conversation::Arguments::parse(r#"{"n":7}"#).unwrap();
    let answer = ApprovalAnswer::Allow { scope: ApprovalScope::Once, arguments: Some(arguments) };
    let edit = FakeTool::changes("edit");
    let provider = ScriptedProvider::new(Script::new().call("edit", json!({"n": 1})).text("done"));
    let approver = ScriptedApprover::absent().first([answer]);
    let mut host = Host::start(with_config(asking(), provider).tool(tool(&edit)).approver(Arc::new(approver)));
    host.ask("go").await;
    assert_eq!(edit.log().calls()[0].arguments.as_str(), r#"{"n":7}"#);
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_person_takes_no_time_of_the_turn() {
    let mut config = asking();
    config.limits.max_wall_time_ms = Some(1_000);
    struct Thoughtful;
    #[async_trait]
    impl Approver for Thoughtful {
        async fn ask(&self, _: &ApprovalQuestion) -> ApprovalAnswer {
            tokio::time::sleep(ms(60_000)).await;
            ApprovalAnswer::Allow { scope: ApprovalScope::Once, arguments: None }
        }
    }
    let edit = FakeTool::changes("edit");
    let builder = with_config(config, two_edits()).tool(tool(&edit)).approver(Arc::new(Thoughtful));
    let outcome = Host::start(builder).ask("go").await;
    assert_eq!((outcome.kind, edit.log().runs()), (OutcomeKind::Success, 2));
}

#[tokio::test(start_paused = true)]
async fn an_approver_that_panics_allows_nothing() {
    struct Panicking;
    #[async_trait]
    impl Approver for Panicking {
        async fn ask(&self, _: &ApprovalQuestion) -> ApprovalAnswer {
            panic!("of the approver")
        }
    }
    let edit = FakeTool::changes("edit");
    let builder = with_config(asking(), two_edits()).tool(tool(&edit)).approver(Arc::new(Panicking));
    let outcome = Host::start(builder).ask("go").await;
    assert_eq!((outcome.kind, edit.log().runs()), (OutcomeKind::Permission, 0));
}
