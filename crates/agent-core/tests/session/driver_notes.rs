//! What a step tells its driver besides actions: when its record has to be durable, and whether a turn began; and what becomes of
//! what was outstanding when a program ended.

use agent_check::session::Script;
use agent_core::conversation::Item;
use agent_core::journal::Begun;
use agent_core::session::{Action, Durability, Session, Trigger};

#[test]
fn a_record_is_durable_before_anything_acts_on_it() {
    let mut script = Script::default();
    let mut told = |line| script.tell(line).unwrap().notes;
    let said = told("input go");
    assert_eq!((said.durability, said.begins_turn), (Durability::Now, true));
    let queued = told("input and more");
    assert_eq!((queued.durability, queued.begins_turn), (Durability::Now, false), "it is acknowledged");
    let calls = told(CALLS);
    assert_eq!((calls.durability, calls.begins_turn), (Durability::NowIfHooksAct, false));
    told("prepared");
    assert_eq!(told("tool 1 ok done").durability, Durability::Later, "another one runs");
    let last = told("tool 2 ok done");
    assert_eq!((last.durability, last.begins_turn), (Durability::Now, false), "a model call follows");
}

#[test]
fn an_answer_that_ends_the_turn_is_durable_before_the_prompt() {
    let mut script = Script::after(&["input go"]);
    assert_eq!(script.tell("answer hello").unwrap().notes.durability, Durability::Now);
}

#[test]
fn a_message_that_waited_begins_a_turn_of_its_own() {
    let mut script = Script::after(&["input go", "input and then this"]);
    assert!(script.tell("answer done").unwrap().notes.begins_turn);
}

/// The rows that fire when another program resumes the session, which knows this of what was in flight.
fn resumed(script: &Script, begun: &Begun, only_reads: impl Fn(&str) -> bool) -> (Vec<Trigger>, Session) {
    let mut session = script.session.clone();
    let event = begun.resumption(&session.clone().into(), |call| only_reads(call.id.as_str()));
    let step = session.step(script.now_ms, event).unwrap();
    (step.transitions.iter().map(|row| row.on).collect(), session)
}

#[test]
fn what_was_outstanding_is_repeated_or_answered_by_its_kind() {
    let mut script = Script::after(&["input go"]);
    let (fired, _) = resumed(&script, &Begun::unknown(), |_| true);
    assert_eq!(fired, [Trigger::LlmInterrupted, Trigger::AutoMessageDue]);
    let (fired, session) = resumed(&script, &Begun::nothing(), |_| true);
    assert_eq!(fired, [Trigger::SessionResumed]);
    assert_eq!(session.outstanding(), script.session.outstanding());

    script.play(&[CALLS, "prepared"]);
    let (fired, session) = resumed(&script, &Begun::unknown(), |call| call == "a");
    assert_eq!(fired, [Trigger::SessionResumed], "the other one is repeated");
    let [open] = &session.outstanding()[..] else { panic!("{:?}", session.outstanding()) };
    let Action::ExecuteTools { calls, .. } = &open.action else { panic!("{open:?}") };
    assert_eq!(calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["a"]);
    let (_, session) = resumed(&script, &Begun::unknown(), |_| false);
    assert_eq!(results(&session), ["interrupted, outcome unknown"; 2]);
    let (fired, session) = resumed(&script, &Begun::nothing(), |_| false);
    assert_eq!(fired.first(), Some(&Trigger::ToolsAllCompleted));
    assert_eq!(results(&session), ["not run: the program ended before this call began; it can be repeated"; 2]);

    script.play(&["cancel"]);
    let (fired, session) = resumed(&script, &Begun::unknown(), |_| true);
    assert_eq!(fired, [Trigger::ResumedStopped, Trigger::AutoCancelSettled], "nothing begins again under a cancel");
    assert_eq!(results(&session), ["interrupted, outcome unknown"; 2]);
}

/// The first lines of the results of the last round.
fn results(session: &Session) -> Vec<&str> {
    let Some(Item::Round(round)) = session.conversation().last().map(AsRef::as_ref) else { panic!("no round") };
    round.results().iter().map(|result| result.content().lines().next().unwrap()).collect()
}

#[test]
fn the_time_in_which_no_program_ran_counts_for_nothing() {
    let mut script = Script::after(&["config wall-ms=50000", "input go", "wait 10000", "answer calls read#a{}"]);
    script.play(&["wait 30000", "resumed"]);
    let delay = |script: &Script| {
        script.session.outstanding().into_iter().find_map(|open| match open.action {
            Action::StartDeadline { delay_ms, .. } => Some(delay_ms),
            _ => None,
        })
    };
    assert_eq!(delay(&script), Some(40_000));
    script.play(&["wait 1000", "input more"]);
    assert_eq!(delay(&script), Some(39_000));
}

const CALLS: &str = "answer calls read#a{} read#b{}";
