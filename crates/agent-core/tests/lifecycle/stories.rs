//! What the machine is for, told in single runs.

use crate::harness::{Harness, commitment, config, exited};
use agent_core::lifecycle::{
    Action, CheckEnd, CheckReport, Event, FilesChecked, LifecycleConfig, Outcome, Signal, State, TaskMode, TurnEnd,
};

/// One predecessor let an always failing commitment pass at the second claim, because only open ones were checked.
#[test]
fn what_was_kept_once_is_checked_again() {
    let mut harness = Harness::new(config());
    harness.message();
    harness.turn(TurnEnd::Completed);
    harness.answer(0, exited(0));
    harness.answer(1, exited(1));
    harness.turn(TurnEnd::Completed);
    harness.answer(1, exited(0));
    let actions = harness.answer(0, exited(1));
    assert_eq!(harness.state(), State::Working, "the first was kept once and is not any more");
    assert!(matches!(&actions[0], Action::SendGapReport { text, round: 2, .. } if text.contains("NOT KEPT: first")));
}

#[test]
fn three_reports_then_it_is_over() {
    let mut harness = Harness::new(LifecycleConfig { commitments: vec![commitment("never")], ..config() });
    harness.message();
    for _ in 0..3 {
        harness.turn(TurnEnd::Completed);
        harness.answer(0, exited(7));
        assert_eq!(harness.state(), State::Working);
    }
    harness.turn(TurnEnd::Completed);
    harness.answer(0, exited(7));
    assert_eq!(harness.state(), State::Reaped);
    let outcome = harness.machine.outcome().unwrap();
    let Outcome::NotKept { gaps, commitments: 1, rounds: 3 } = outcome else { panic!("{outcome:?}") };
    assert_eq!(gaps[0].end, CheckEnd::Exited { code: 7 });
}

#[test]
fn the_gap_report_names_everything() {
    let mut harness = Harness::new(config());
    harness.message();
    harness.turn(TurnEnd::Completed);
    harness.answer(1, exited(0));
    let noise = format!("{}é the end", "x".repeat(9_000));
    let actions = harness.answer(0, CheckReport::new(CheckEnd::TimedOut, noise));
    let Action::SendGapReport { text, round: 1, .. } = &actions[0] else { panic!("{actions:?}") };
    for part in [
        "1 of 2 commitments not kept",
        "round 1 of 3",
        "1. NOT KEPT: first\n   `first` was not done in time (1000 ms)",
        "The end of what it printed",
        "é the end",
        "2. kept: second",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!((8_192..9_000).contains(&text.len()), "{}", text.len());
}

#[test]
fn without_commitments_a_claim_is_believed() {
    let mut harness = Harness::new(LifecycleConfig::headless(Vec::new()));
    harness.message();
    harness.turn(TurnEnd::Completed);
    assert_eq!((harness.state(), harness.machine.outcome()), (State::Done, Some(&Outcome::Done { kept: 0 })));
}

#[test]
fn in_company_only_a_signal_claims() {
    let mut harness = Harness::new(LifecycleConfig { unsignalled_turn_claims: false, ..config() });
    harness.message();
    harness.turn(TurnEnd::Completed);
    assert_eq!(harness.state(), State::Idle);
    harness.message();
    harness.signal(Signal::Waiting);
    harness.signal(Signal::Done);
    harness.turn(TurnEnd::Completed);
    assert_eq!(harness.state(), State::Verifying, "the last signal counts");
}

#[test]
fn a_signal_ends_with_its_turn() {
    let mut harness = Harness::new(config());
    harness.message();
    harness.signal(Signal::Waiting);
    harness.turn(TurnEnd::Completed);
    assert_eq!(harness.machine.outcome(), Some(&Outcome::Waiting { summary: String::from("so it is") }));
    harness.message();
    harness.turn(TurnEnd::Completed);
    assert_eq!(harness.state(), State::Verifying);
}

#[test]
fn a_message_begins_the_count_anew() {
    let mut harness = Harness::new(LifecycleConfig { max_rounds: 1, commitments: vec![commitment("c")], ..config() });
    harness.message();
    harness.turn(TurnEnd::Completed);
    harness.answer(0, exited(1));
    harness.message();
    harness.turn(TurnEnd::Completed);
    harness.answer(0, exited(1));
    assert_eq!((harness.state(), harness.machine.rounds()), (State::Working, 1));
}

#[test]
fn a_commitment_added_while_checks_run_is_checked_too() {
    let mut harness = Harness::new(config());
    harness.message();
    harness.turn(TurnEnd::Completed);
    harness.answer(0, exited(0));
    let step = harness.take(Event::CommitmentAdded { commitment: commitment("third") }).unwrap();
    assert!(
        matches!(&step.actions[..], [Action::CancelChecks { .. }, Action::RunChecks { checks, .. }] if checks.len() == 3)
    );
}

#[test]
fn the_mode_can_be_seen_while_it_works() {
    let mut harness = Harness::new(config());
    assert_eq!(harness.machine.mode(), None);
    harness.message();
    assert_eq!(harness.machine.mode(), Some(TaskMode::Execute));
    let _ = harness.take(Event::ModeChanged { mode: TaskMode::BreakUp }).unwrap();
    assert_eq!(harness.machine.mode(), Some(TaskMode::BreakUp));
}

#[test]
fn the_trace_is_bounded_and_times_are_added_up() {
    let mut harness = Harness::new(LifecycleConfig::default());
    for _ in 0..80 {
        harness.message();
        harness.turn(TurnEnd::Failed);
    }
    let trace = harness.machine.trace();
    assert_eq!((trace.recent().count(), trace.dropped()), (100, 60));
    assert_eq!(trace.total(State::Working), (80, 800));
}

#[test]
fn a_failed_turn_is_no_cancelled_one() {
    let mut harness = Harness::new(config());
    harness.message();
    harness.turn(TurnEnd::Failed);
    assert_eq!(harness.machine.outcome(), Some(&Outcome::TurnFailed));
    harness.message();
    harness.turn(TurnEnd::Cancelled);
    assert_eq!(harness.machine.outcome(), Some(&Outcome::Cancelled));
    harness.message();
    let _ = harness.take(Event::CancelRequested).unwrap();
    harness.turn(TurnEnd::Completed);
    assert_eq!(harness.machine.outcome(), Some(&Outcome::Cancelled));
}

#[test]
fn a_report_is_cut_at_the_edge_of_a_character() {
    let mut harness = Harness::new(LifecycleConfig { commitments: vec![commitment("c")], ..config() });
    harness.message();
    harness.turn(TurnEnd::Completed);
    // The cut falls into the first character, which is then left out.
    let noise = format!("é{}", "x".repeat(8 * 1024 - 1));
    let actions = harness.answer(0, CheckReport::new(CheckEnd::TimedOut, noise));
    let Action::SendGapReport { text, .. } = &actions[0] else { panic!("{actions:?}") };
    assert!(!text.contains('é') && text.contains("The end of what it printed:\nxxx"), "{text}");
}

#[test]
fn what_is_known_of_an_agent_is_so() {
    let mut harness = Harness::new(config());
    harness.message();
    harness.turn(TurnEnd::Completed);
    harness.answer(0, exited(0));
    let is_kept = |harness: &Harness| harness.machine.verification().unwrap().is_kept();
    assert!(!is_kept(&harness) && harness.machine.rounds() == 0, "one of two");
    harness.answer(1, exited(1));
    assert!(!is_kept(&harness) && harness.machine.rounds() == 1, "one is not");
    harness.turn(TurnEnd::Completed);
    harness.answer(0, exited(0));
    harness.answer(1, exited(0));
    assert!(is_kept(&harness) && !harness.machine.is_over());
    let _ = harness.take(Event::SessionEnded).unwrap();
    assert!(harness.machine.is_over());
}

/// All of them, to be run on changed tables.
pub(crate) const STORIES: &[fn()] = &[
    what_was_kept_once_is_checked_again,
    three_reports_then_it_is_over,
    the_gap_report_names_everything,
    without_commitments_a_claim_is_believed,
    in_company_only_a_signal_claims,
    a_signal_ends_with_its_turn,
    a_message_begins_the_count_anew,
    a_commitment_added_while_checks_run_is_checked_too,
    the_mode_can_be_seen_while_it_works,
    the_trace_is_bounded_and_times_are_added_up,
    a_failed_turn_is_no_cancelled_one,
    a_report_is_cut_at_the_edge_of_a_character,
    what_is_known_of_an_agent_is_so,
];

/// A check that passed, with the marks of the files when it began and when it had ended.
fn of_files(before: &str, after: &str, changed: &[&str]) -> CheckReport {
    let changed = changed.iter().map(|path| String::from(*path)).collect();
    CheckReport { files: Some(FilesChecked { before: before.into(), after: after.into(), changed }), ..exited(0) }
}

#[test]
fn a_later_check_that_changes_files_makes_an_earlier_one_stale() {
    let mut harness = Harness::new(config());
    harness.message();
    harness.turn(TurnEnd::Completed);
    harness.answer(0, of_files("a", "a", &[]));
    harness.answer(1, of_files("a", "b", &["src/x.rs"]));
    assert_eq!(harness.state(), State::Verifying);
    harness.answer(0, of_files("b", "b", &[]));
    harness.answer(1, of_files("b", "b", &[]));
    assert_eq!(harness.state(), State::Done);
    assert!(harness.machine.verification().unwrap().is_kept());
}

#[test]
fn a_check_counts_whose_files_are_the_same_at_the_end() {
    let mut harness = Harness::new(config());
    harness.message();
    harness.turn(TurnEnd::Completed);
    // A change that was taken back, and a program that began anew in between and found nothing else.
    harness.answer(0, of_files("a", "b", &["src/x.rs"]));
    harness.answer(1, of_files("b", "a", &["src/x.rs"]));
    assert_eq!(harness.state(), State::Verifying, "the second began with other files");
    harness.answer(0, of_files("a", "b", &["src/x.rs"]));
    let actions = harness.answer(1, of_files("a", "a", &[]));
    assert_eq!(harness.state(), State::Done, "{actions:?}");
}

#[test]
fn a_stale_check_is_a_gap_that_names_the_files() {
    let mut harness = Harness::new(config());
    harness.message();
    harness.turn(TurnEnd::Completed);
    let mut actions = Vec::new();
    for mark in ["1", "2"] {
        harness.answer(0, of_files(mark, mark, &[]));
        actions = harness.answer(1, of_files(mark, "3", &["src/x.rs", "src/y\n.rs"]));
    }
    let Action::SendGapReport { text, .. } = &actions[0] else { panic!("{actions:?}") };
    assert!(text.contains("2 of 2 commitments not kept"), "{text}");
    let named = "`second` passed, but files changed since it began: src/x.rs, src/y .rs";
    assert!(text.contains(named), "{text}");
}
