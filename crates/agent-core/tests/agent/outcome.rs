//! What is read as a signal and as a check, and the one outcome of session and commitments.

use agent_core::agent::{Turns, check_report, signals};
use agent_core::conversation::{Answer, Arguments, Block, CallId, Round, ToolCall, ToolResult};
use agent_core::lifecycle::{self, CheckEnd, CommitmentId, Gap, Signal};
use agent_core::ports::{CommandError, CommandOutput, Exit};
use agent_core::session::{self, Denial, OutcomeKind};
use std::sync::Arc;

fn outcome(kind: OutcomeKind) -> session::Outcome {
    let mut outcome = session::Outcome::new(kind);
    outcome.text = String::from("text");
    outcome
}

fn with_denial(kind: OutcomeKind) -> session::Outcome {
    let mut denial = Denial::new(call("a", "bash", "{}"), String::from("nobody"));
    denial.nobody_to_ask = true;
    let mut outcome = outcome(kind);
    outcome.denials.push(denial);
    outcome
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: CallId::new(id), name: Arc::from(name), arguments: Arguments::parse(arguments).unwrap() }
}

/// The word stands in prose, in the call of another tool, and in a call that the tool did not take: none of these is a signal.
#[test]
fn a_signal_is_a_call_that_was_taken() {
    let calls = [
        call("a", "signal", r#"{"status":"waiting","summary":"which one?"}"#),
        call("b", "note", r#"{"status":"done","summary":"x"}"#),
        call("c", "signal", r#"{"status":"done","summary":"x"}"#),
        call("d", "signal", r#"{"status":"finished","summary":"x"}"#),
    ];
    let mut blocks = vec![Block::Text(String::from("I signal done. The task is abandoned."))];
    blocks.extend(calls.iter().cloned().map(Block::Call));
    let results = calls.iter().map(|call| ToolResult::new(call.id.clone(), "", call.id.as_str() == "c"));
    let round = Round::new(Answer::new(blocks).unwrap(), results.collect()).unwrap();
    let expected = lifecycle::Event::Signalled { signal: Signal::Waiting, summary: String::from("which one?") };
    assert_eq!(signals(&round), [expected]);
}

#[test]
fn what_a_command_came_to_is_a_report() {
    let output = |exit| CommandOutput { exit, stdout: b"out".to_vec(), stderr: vec![b'e', 0xFF], dropped_bytes: 0 };
    let ends = [
        (Exit::Code(0), CheckEnd::Exited { code: 0 }, true),
        (Exit::Code(3), CheckEnd::Exited { code: 3 }, false),
        (Exit::Signal(9), CheckEnd::Killed { signal: 9 }, false),
        (Exit::TimedOut, CheckEnd::TimedOut, false),
    ];
    for (exit, end, kept) in ends {
        let report = check_report(Ok(output(exit)));
        assert_eq!((report.output.as_str(), report.is_kept()), ("out\ne\u{FFFD}", kept));
        assert_eq!(report.end, end);
    }
    let error = CommandError { program: String::from("sh"), found: String::from("none") };
    assert!(matches!(check_report(Err(error)).end, CheckEnd::NotStarted { .. }));
    assert!(!check_report(Ok(output(Exit::Cancelled))).is_kept());
}

#[test]
fn the_gravest_counts() {
    let gap = Gap::new(CommitmentId(0), String::from("p"), CheckEnd::TimedOut);
    let not_kept = lifecycle::Outcome::NotKept { gaps: vec![gap.clone()], commitments: 2, rounds: 3 };
    let waiting = lifecycle::Outcome::Waiting { summary: String::from("which?") };
    let done = lifecycle::Outcome::Done { kept: 0 };
    let runs = [
        (OutcomeKind::Success, done, 0),
        (OutcomeKind::Success, not_kept.clone(), 63),
        (OutcomeKind::Success, lifecycle::Outcome::Uncheckable { gaps: vec![gap] }, 63),
        (OutcomeKind::Success, waiting.clone(), 64),
        (OutcomeKind::Permission, not_kept, 61),
        (OutcomeKind::Permission, waiting, 64),
        (OutcomeKind::Success, lifecycle::Outcome::Cancelled, 130),
        (OutcomeKind::Provider, lifecycle::Outcome::TurnFailed, 62),
        (OutcomeKind::CallLimit, lifecycle::Outcome::TurnOutOfBudget, 53),
        (OutcomeKind::Success, lifecycle::Outcome::BudgetExceeded, 60),
        (OutcomeKind::Success, lifecycle::Outcome::SessionEnded, 1),
    ];
    for (kind, agent, code) in runs {
        let mut turns = Turns::default();
        turns.add(&outcome(kind));
        assert_eq!(turns.outcome(Some(&agent)).unwrap().kind.exit_code(), code, "{kind:?}, {agent:?}");
        assert_eq!(turns.outcome(None), None, "while it works there is no outcome");
    }
}

#[test]
fn a_denial_of_an_earlier_turn_is_not_forgotten() {
    let denied = with_denial(OutcomeKind::Permission);
    let mut turns = Turns::default();
    turns.add(&denied);
    turns.add(&outcome(OutcomeKind::Success));
    let whole = turns.outcome(Some(&lifecycle::Outcome::Done { kept: 1 })).unwrap();
    assert_eq!((whole.kind, whole.denials, whole.error), (OutcomeKind::Permission, denied.denials.clone(), None));
    // What was not kept is told, although the denial decides the exit code.
    let gap = Gap::new(CommitmentId(0), String::from("it builds"), CheckEnd::TimedOut);
    let not_kept = lifecycle::Outcome::NotKept { gaps: vec![gap], commitments: 1, rounds: 3 };
    let whole = turns.outcome(Some(&not_kept)).unwrap();
    assert_eq!(whole.kind, OutcomeKind::Permission);
    assert!(whole.error.unwrap().starts_with("1 of 1 commitments not kept after 3 gap reports: `it builds` "));
}

#[test]
fn of_several_tasks_the_gravest_turn_counts() {
    let mut turns = Turns::default();
    assert_eq!(turns.gravest(), None, "nothing has ended");
    turns.add(&outcome(OutcomeKind::Success));
    assert_eq!(turns.gravest(), Some(OutcomeKind::Success));
    turns.add(&with_denial(OutcomeKind::Success));
    assert_eq!(turns.gravest(), Some(OutcomeKind::Permission), "no one could be asked");
    turns.add(&outcome(OutcomeKind::Provider));
    turns.add(&outcome(OutcomeKind::Success));
    assert_eq!(turns.gravest(), Some(OutcomeKind::Provider), "one that failed is not made good by the next");
}

#[test]
fn what_is_missing_is_named() {
    let gap = |promise: &str, end| Gap::new(CommitmentId(0), String::from(promise), end);
    let gaps = vec![gap("it builds", CheckEnd::Exited { code: 2 }), gap("it runs", CheckEnd::TimedOut)];
    let said = |agent| {
        let mut turns = Turns::default();
        turns.add(&outcome(OutcomeKind::Success));
        turns.outcome(Some(&agent)).unwrap().error.unwrap()
    };
    let list = "`it builds` ended with exit code 2; `it runs` was not done in time";
    let not_kept = lifecycle::Outcome::NotKept { gaps: gaps.clone(), commitments: 3, rounds: 1 };
    assert_eq!(said(not_kept), format!("2 of 3 commitments not kept after 1 gap reports: {list}"));
    assert_eq!(said(lifecycle::Outcome::Uncheckable { gaps }), format!("no commitment could be checked: {list}"));
}

#[test]
fn both_streams_are_printed_each_on_its_lines() {
    let printed = |stdout: &str, stderr: &str| {
        let (stdout, stderr) = (stdout.as_bytes().to_vec(), stderr.as_bytes().to_vec());
        check_report(Ok(CommandOutput { exit: Exit::Code(0), stdout, stderr, dropped_bytes: 0 })).output
    };
    assert_eq!(printed("a", "b"), "a\nb");
    assert_eq!(printed("a\n", "b"), "a\nb");
    assert_eq!(printed("", "b"), "b");
    assert_eq!(printed("a\n", ""), "a\n");
}
