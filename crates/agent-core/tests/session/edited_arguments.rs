//! What a person allows runs as the policy stands when they answer, and other arguments only if they were looked at.

use agent_check::session::{Command, Script};
use agent_core::conversation::{CallId, Item};
use agent_core::permission::RuleSource;
use agent_core::session::{Action, Event, State, Step};

#[test]
fn changed_arguments_run_as_they_were_looked_at() {
    assert_eq!(ran(&asked("").tell(ALLOW_B).unwrap()), ["{\"path\":\"b\"}"]);
}

#[test]
fn changed_arguments_that_nobody_looked_at_do_not_run() {
    for looks_at_another in [false, true] {
        let mut script = asked("");
        let Command::Take(mut event) = script.read(ALLOW_B) else { panic!() };
        let Event::ApprovalAnswered { changed, .. } = &mut event else { panic!("{event:?}") };
        match changed {
            Some(facts) if looks_at_another => facts.call = CallId::new("another"),
            _ => *changed = None,
        }
        let step = script.session.step(0, event).unwrap();
        assert_eq!(ran(&step), [""; 0]);
        assert!(result(&script).contains("the changed arguments were not checked"), "{}", result(&script));
    }
}

#[test]
fn changed_arguments_do_not_run_past_a_deny_rule_a_hook_or_the_schema() {
    let cases = [
        ("looks=change:secret/key", "the rule `change(secret/**)` denies it"),
        ("\"looks=deny:b mine\"", "a hook denied it: mine"),
        ("\"looks=invalid not run: `path` is missing\"", "`path` is missing"),
    ];
    for (looks, expected) in cases {
        let mut script = asked("deny=change(secret/**)");
        let step = script.tell(&format!("allow 1 edit={{\"path\":\"secret/key\"}} {looks}")).unwrap();
        assert_eq!(ran(&step), [""; 0]);
        assert!(result(&script).contains(expected), "{}", result(&script));
    }
    // The rule is about some calls of the tool: others run.
    assert_eq!(ran(&asked("deny=change(secret/**)").tell(ALLOW_B).unwrap()).len(), 1);
}

#[test]
fn a_question_of_a_hook_about_the_changed_arguments_is_answered_already() {
    let step = asked("").tell("allow 1 edit={\"path\":\"b\"} looks=ask:b").unwrap();
    assert_eq!(ran(&step).len(), 1);
}

/// Reading calls may be asked about by a hook; what a person makes of one may change something.
#[test]
fn plan_mode_holds_for_what_a_person_makes_of_a_reading_call() {
    let mut script = Script::after(&["config mode=plan", "input do it", CALL, "prepared 1=ask"]);
    assert_eq!(script.session.state(), State::AwaitingApproval);
    assert_eq!(ran(&script.tell(ALLOW_B).unwrap()), [""; 0]);
    assert!(result(&script).contains("plan mode"), "{}", result(&script));
}

#[test]
fn an_answer_cannot_allow_what_has_been_forbidden_since_the_question() {
    for tighten in ["reconfigure mode=default deny=change(a)", "reconfigure mode=plan"] {
        let mut script = asked("");
        script.play(&[tighten]);
        let step = script.tell("allow 1").unwrap();
        assert_eq!((ran(&step).len(), script.session.state()), (0, State::SendingToolResults));
        assert!(result(&script).contains("denied"), "{}", result(&script));
    }
}

#[test]
fn a_call_that_waits_for_its_turn_does_not_run_once_it_is_forbidden() {
    let calls = "answer calls change#a{\"path\":\"a\"} change#b{\"path\":\"a\"}";
    let mut script = Script::after(&["input do it", calls]);
    assert_eq!(ran(&script.tell("prepared 1=change:a 2=change:b").unwrap()).len(), 1, "one at a time");
    script.play(&["reconfigure deny=change(b)"]);
    let step = script.tell("tool 1 ok done changed=a").unwrap();
    assert_eq!((ran(&step).len(), script.session.state()), (0, State::CheckingGitCommits));
    let last = script.session.conversation().last().unwrap();
    let Item::Round(round) = last.as_ref() else { panic!("{last:?}") };
    assert_eq!(round.results()[1].content(), "not run: denied: the rule `change(b)` denies it");
}

#[test]
fn a_call_that_is_forbidden_before_its_turn_is_among_the_denials_of_the_run() {
    let lines = ["input go", "answer calls change{} change{}", "prepared", "reconfigure deny=change(a.rs)"];
    let script = Script::after(&[&lines[..], &["tool 1 ok x", "git", "answer done"]].concat());
    let denials = script.session.outcome().unwrap().denials;
    let told: Vec<_> = denials.iter().map(|denial| (denial.call.id.as_str(), denial.reason.as_str())).collect();
    assert_eq!(told, [("c1-2", "the rule `change(a.rs)` denies it")]);
}

#[test]
fn every_decision_is_told_with_its_reason_and_noted() {
    let mut script = asked("");
    let step = script.tell("allow 1 always=change(a)").unwrap();
    let said: Vec<String> = step.notes.rulings.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["run change call_1: the user allowed it: `change(a)` in this session"]);
    let notes: Vec<&str> = script.session.trace().notes().map(|note| note.text.as_str()).collect();
    assert_eq!(notes, ["ask change call_1: `change` may change something", &said[0]]);
    assert_eq!(script.session.config().permissions.allow[0].source(), RuleSource::Session);
}

const CALL: &str = "answer calls change#call_1{\"path\":\"a\"}";
/// What is allowed was looked at: it edits `b`.
const ALLOW_B: &str = "allow 1 edit={\"path\":\"b\"} looks=change:b";

/// A session that asks about one call, which edits `a`.
fn asked(deny: &str) -> Script {
    Script::after(&[&format!("config mode=default {deny}"), "input do it", CALL, "prepared 1=change:a"])
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
fn result(script: &Script) -> String {
    let last = script.session.conversation().last().unwrap();
    let Item::Round(round) = last.as_ref() else { panic!("{last:?}") };
    round.results()[0].content().to_owned()
}
