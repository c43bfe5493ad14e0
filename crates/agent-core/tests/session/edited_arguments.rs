//! What a person allows runs as the policy stands when they answer, and other arguments only if somebody looked at them.

use crate::harness::config;
use crate::scenario::script::Script;
use agent_core::conversation::{Arguments, CallId, Item};
use agent_core::llm::{LlmResponse, RawCall, ResponseBlock, StopReason};
use agent_core::permission::{ApprovalAnswer, ApprovalScope, PermissionMode, Permissions};
use agent_core::session::{Action, Event, Session, State, Step, Ticket};
use agent_core::tool::{CallFacts, Effect, Finding, HookVerdict, Inspection, Subject};

const KEY: &str = "{\"path\":\"secret/key\"}";

#[test]
fn changed_arguments_run_as_they_were_looked_at() {
    let mut session = asked(&[]);
    assert_eq!(ran(&approve_with(&mut session, "{\"path\":\"b\"}", Some(edits("b")))), ["{\"path\":\"b\"}"]);
}

#[test]
fn changed_arguments_that_nobody_looked_at_do_not_run() {
    for changed in [None, Some(CallFacts { call: CallId::new("another"), ..edits("b") })] {
        let mut session = asked(&[]);
        assert_eq!(ran(&approve_with(&mut session, "{\"path\":\"b\"}", changed)), [""; 0]);
        assert!(result(&session).contains("the changed arguments were not checked"), "{}", result(&session));
    }
}

#[test]
fn changed_arguments_do_not_run_past_a_deny_rule_a_hook_or_the_schema() {
    let denied = CallFacts { verdict: HookVerdict::Deny { reason: "mine".into() }, ..edits("b") };
    let invalid =
        CallFacts { finding: Finding::InvalidArguments { message: "not run: `path` is missing".into() }, ..edits("b") };
    let cases = [
        (edits("secret/key"), "the rule `change(secret/**)` denies it"),
        (denied, "a hook denied it: mine"),
        (invalid, "`path` is missing"),
    ];
    for (changed, expected) in cases {
        let mut session = asked(&["change(secret/**)"]);
        assert_eq!(ran(&approve_with(&mut session, KEY, Some(changed))), [""; 0]);
        assert!(result(&session).contains(expected), "{}", result(&session));
    }
    // The rule is about some calls of the tool: others run.
    let mut session = asked(&["change(secret/**)"]);
    assert_eq!(ran(&approve_with(&mut session, "{\"path\":\"b\"}", Some(edits("b")))).len(), 1);
}

#[test]
fn a_question_of_a_hook_about_the_changed_arguments_is_answered_already() {
    let mut session = asked(&[]);
    let changed = CallFacts { verdict: HookVerdict::Ask { reason: "sure?".into() }, ..edits("b") };
    assert_eq!(ran(&approve_with(&mut session, "{\"path\":\"b\"}", Some(changed))).len(), 1);
}

/// Reading calls may be asked about by a hook; what a person makes of one may change something.
#[test]
fn plan_mode_holds_for_what_a_person_makes_of_a_reading_call() {
    let mut session =
        prepared(Permissions { mode: PermissionMode::Plan, ..Permissions::default() }, |call| CallFacts {
            verdict: HookVerdict::Ask { reason: "sure?".into() },
            ..CallFacts::new(call, Finding::Runnable(Inspection { effect: Effect::Reads, subject: Subject::None }))
        });
    assert_eq!(session.state(), State::AwaitingApproval);
    assert_eq!(ran(&approve_with(&mut session, "{\"path\":\"b\"}", Some(edits("b")))), [""; 0]);
    assert!(result(&session).contains("plan mode"), "{}", result(&session));
}

#[test]
fn an_answer_cannot_allow_what_has_been_forbidden_since_the_question() {
    let stricter: [fn(&mut Permissions); 2] =
        [|p| p.deny.push("change(a)".parse().unwrap()), |p| p.mode = PermissionMode::Plan];
    for tighten in stricter {
        let mut session = asked(&[]);
        let mut config = session.config().clone();
        tighten(&mut config.permissions);
        let _ = session.step(4, Event::Reconfigured { config: Box::new(config) }).unwrap();
        let step = approve(&mut session, ApprovalAnswer::Allow { scope: ApprovalScope::Once, arguments: None }, None);
        assert_eq!((ran(&step).len(), session.state()), (0, State::SendingToolResults));
        assert!(result(&session).contains("denied"), "{}", result(&session));
    }
}

#[test]
fn a_call_that_waits_for_its_turn_does_not_run_once_it_is_forbidden() {
    let mut config = config(5);
    config.permissions = Permissions { mode: PermissionMode::Bypass, ..Permissions::default() };
    let mut session = with_calls(config, &["a", "b"]);
    let Action::PrepareTools { ticket, calls } = session.outstanding().remove(0).action else { panic!() };
    let facts = calls.iter().map(|call| CallFacts { call: call.id.clone(), ..edits(call.id.as_str()) }).collect();
    let step = session.step(3, Event::ToolsPrepared { ticket, facts }).unwrap();
    assert_eq!(ran(&step).len(), 1, "one at a time");
    let mut config = session.config().clone();
    config.permissions.deny.push("change(b)".parse().unwrap());
    let _ = session.step(4, Event::Reconfigured { config: Box::new(config) }).unwrap();
    let Action::ExecuteTools { ticket, calls } = session.outstanding().remove(0).action else { panic!() };
    let outcome = agent_core::tool::ToolOutcome::ok("done").with_changed_paths(vec!["a".into()]);
    let step = session.step(5, Event::ToolCompleted { ticket, call: calls[0].id.clone(), outcome }).unwrap();
    assert_eq!((ran(&step).len(), session.state()), (0, State::CheckingGitCommits));
    let last = session.conversation().last().unwrap();
    let Item::Round(round) = last.as_ref() else { panic!("{last:?}") };
    assert_eq!(round.results()[1].content(), "not run: denied: the rule `change(b)` denies it");
}

#[test]
fn a_call_that_is_forbidden_before_its_turn_is_among_the_denials_of_the_run() {
    let mut script = Script::default();
    let lines = ["input go", "answer calls change{} change{}", "prepared", "reconfigure deny=change(a.rs)"];
    let _ = script.play(&[&lines[..], &["tool 1 ok x", "git", "answer done"]].concat());
    let denials = script.session.outcome().unwrap().denials;
    let told: Vec<_> = denials.iter().map(|denial| (denial.call.id.as_str(), denial.reason.as_str())).collect();
    assert_eq!(told, [("c1-2", "the rule `change(a.rs)` denies it")]);
}

#[test]
fn every_decision_is_told_with_its_reason_and_noted() {
    let mut session = asked(&[]);
    let rule = "change(a)".parse().unwrap();
    let answer = ApprovalAnswer::Allow { scope: ApprovalScope::Session(rule), arguments: None };
    let step = approve(&mut session, answer, None);
    let said: Vec<String> = step.notes.rulings.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["run change call_1: the user allowed it: `change(a)` in this session"]);
    let notes: Vec<&str> = session.trace().notes().map(|note| note.text.as_str()).collect();
    assert_eq!(notes, ["ask change call_1: `change` may change something", &said[0]]);
    assert_eq!(session.config().permissions.allow[0].source(), agent_core::permission::RuleSource::Session);
}

/// What editing `path` would do.
fn edits(path: &str) -> CallFacts {
    let inspection = Inspection { effect: Effect::Changes, subject: Subject::Paths(vec![path.into()]) };
    CallFacts::new(CallId::new("call_1"), Finding::Runnable(inspection))
}

/// A session that asks about one call, which edits `a`.
fn asked(deny: &[&str]) -> Session {
    let deny = deny.iter().map(|rule| rule.parse().unwrap()).collect();
    prepared(Permissions { deny, ..Permissions::default() }, |call| CallFacts { call, ..edits("a") })
}

fn prepared(permissions: Permissions, facts: impl Fn(CallId) -> CallFacts) -> Session {
    let mut config = config(5);
    config.permissions = permissions;
    let mut session = with_calls(config, &["call_1"]);
    let Action::PrepareTools { ticket, calls } = session.outstanding().remove(0).action else { panic!() };
    let facts = calls.into_iter().map(|call| facts(call.id)).collect();
    let _ = session.step(3, Event::ToolsPrepared { ticket, facts }).unwrap();
    session
}

/// A session whose model asked for these calls.
fn with_calls(config: agent_core::session::SessionConfig, ids: &[&str]) -> Session {
    let mut session = Session::new(config);
    let _ = session.step(0, Event::Started).unwrap();
    let _ = session.step(1, Event::UserInput { text: "do it".into() }).unwrap();
    let call = |id: &&str| {
        let (id, name, arguments) = ((*id).into(), "change".into(), "{\"path\":\"a\"}".into());
        ResponseBlock::Call(RawCall { id, name, arguments, complete: true })
    };
    let response = LlmResponse {
        blocks: ids.iter().map(call).collect(),
        stop: StopReason::ToolUse,
        usage: None,
        model: String::new(),
    };
    let Action::SendLlmRequest { ticket, .. } = session.outstanding().remove(0).action else { panic!() };
    let _ = session.step(2, Event::LlmCompleted { ticket, response }).unwrap();
    session
}

fn approve_with(session: &mut Session, arguments: &str, changed: Option<CallFacts>) -> Step {
    let arguments = Some(Arguments::parse(arguments).unwrap());
    approve(session, ApprovalAnswer::Allow { scope: ApprovalScope::Once, arguments }, changed)
}

fn approve(session: &mut Session, answer: ApprovalAnswer, changed: Option<CallFacts>) -> Step {
    let (ticket, call) = question(session);
    session.step(5, Event::ApprovalAnswered { ticket, call, answer, changed: changed.map(Box::new) }).unwrap()
}

fn question(session: &Session) -> (Ticket, CallId) {
    let Action::RequestApproval { ticket, questions } = session.outstanding().remove(0).action else { panic!() };
    (ticket, questions[0].call.id.clone())
}

/// The arguments of what is run.
fn ran(step: &Step) -> Vec<String> {
    let calls = step.actions.iter().filter_map(|action| match action {
        Action::ExecuteTools { calls, .. } => Some(calls),
        _ => None,
    });
    calls.flatten().map(|call| call.arguments.as_str().to_owned()).collect()
}

/// What the model is told of the only call.
fn result(session: &Session) -> String {
    let last = session.conversation().last().unwrap();
    let Item::Round(round) = last.as_ref() else { panic!("{last:?}") };
    round.results()[0].content().to_owned()
}
