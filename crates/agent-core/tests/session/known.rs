//! What a host can ask a session at any time.

use agent_check::session::Script;
use agent_core::budget::LimitKind;
use agent_core::snapshot;

#[test]
fn the_limit_that_stands_in_the_way() {
    let lines = ["config model-calls=1", "input hello", "answer \"hi\""];
    assert_eq!(
        Script::after(&lines[..2]).session.limit_reached().map(|reached| reached.kind),
        Some(LimitKind::ModelCalls)
    );
    let reached = Script::after(&lines).session.limit_reached().unwrap();
    assert_eq!((reached.kind, reached.spent, reached.limit), (LimitKind::ModelCalls, 1, 1));
    assert_eq!(Script::after(&["config model-calls=2", "input hello", "answer \"hi\""]).session.limit_reached(), None);
}

#[test]
fn a_session_that_is_kept_reads_back() {
    let session = Script::after(&["input hello", "answer calls read{}", "prepared"]).session;
    assert_eq!(snapshot::read(&snapshot::write(&session).unwrap()), Ok(session));
}

/// A provider that does not say what it used: the request and the answer are estimated at four bytes a token.
#[test]
fn use_that_nobody_reports_is_estimated() {
    let session = Script::after(&["input long-enough-to-count", "answer \"twelve bytes\""]).session;
    let ledger = session.ledger();
    assert_eq!((ledger.usage.input_tokens, ledger.usage.output_tokens, ledger.estimated_calls), (5, 3, 1));
}
