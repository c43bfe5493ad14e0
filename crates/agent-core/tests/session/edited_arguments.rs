//! A person may change the arguments of a call, but not past a deny rule that nobody could check them against.

use crate::harness::{answer, config};
use agent_core::conversation::{Arguments, Item};
use agent_core::llm::{LlmResponse, RawCall, ResponseBlock, StopReason};
use agent_core::permission::{ApprovalAnswer, ApprovalScope};
use agent_core::session::{Action, Event, Session, Step};

#[test]
fn changed_arguments_run_where_no_deny_rule_names_the_tool() {
    let mut session = asked(&[]);
    let step = approve_with(&mut session, "{\"path\":\"b\"}");
    let ran = step.actions.iter().find_map(|action| match action {
        Action::ExecuteTools { calls, .. } => Some(calls[0].arguments.as_str().to_owned()),
        _ => None,
    });
    assert_eq!(ran.as_deref(), Some("{\"path\":\"b\"}"));
}

#[test]
fn changed_arguments_do_not_run_past_a_deny_rule() {
    let mut session = asked(&["change(secret/**)"]);
    let step = approve_with(&mut session, "{\"path\":\"secret/key\"}");
    assert!(!step.actions.iter().any(|action| matches!(action, Action::ExecuteTools { .. })));
    let last = session.conversation().last().unwrap();
    let Item::Round(round) = last.as_ref() else { panic!("{last:?}") };
    assert!(round.results()[0].content().contains("cannot be checked"), "{round:?}");
}

/// A session that asks about one call.
fn asked(deny: &[&str]) -> Session {
    let mut config = config(5);
    config.permissions.mode = agent_core::permission::PermissionMode::Default;
    config.permissions.deny = deny.iter().map(|rule| rule.parse().unwrap()).collect();
    let mut session = Session::new(config);
    let _ = session.step(0, Event::Started).unwrap();
    let _ = session.step(1, Event::UserInput { text: "do it".into() }).unwrap();
    let call = RawCall { id: "a".into(), name: "change".into(), arguments: "{\"path\":\"a\"}".into(), complete: true };
    let response = LlmResponse {
        blocks: vec![ResponseBlock::Call(call)],
        stop: StopReason::ToolUse,
        usage: None,
        model: String::new(),
    };
    let Action::SendLlmRequest { ticket, .. } = session.outstanding().remove(0).action else { panic!() };
    let _ = session.step(2, Event::LlmCompleted { ticket, response }).unwrap();
    let prepare = session.outstanding().remove(0).action;
    let _ = session.step(3, answer(&prepare, 0, 0)).unwrap();
    session
}

fn approve_with(session: &mut Session, arguments: &str) -> Step {
    let Action::RequestApproval { ticket, questions } = session.outstanding().remove(0).action else { panic!() };
    let answer =
        ApprovalAnswer::Allow { scope: ApprovalScope::Once, arguments: Some(Arguments::parse(arguments).unwrap()) };
    session.step(4, Event::ApprovalAnswered { ticket, call: questions[0].call.id.clone(), answer }).unwrap()
}
