//! What a host can ask a session at any time.

use agent_check::session::{Command, Script};
use agent_core::budget::LimitKind;
use agent_core::snapshot;

fn played(lines: &[&str]) -> Script {
    let mut script = Script::default();
    for line in lines {
        if let Command::Take(event) = script.read(line) {
            let step = script.session.step(script.now_ms, event).unwrap();
            script.note(&step.actions);
        }
    }
    script
}

#[test]
fn the_limit_that_stands_in_the_way() {
    let lines = ["config model-calls=1", "input hello", "answer \"hi\""];
    assert_eq!(played(&lines[..2]).session.limit_reached().map(|reached| reached.kind), Some(LimitKind::ModelCalls));
    let reached = played(&lines).session.limit_reached().unwrap();
    assert_eq!((reached.kind, reached.spent, reached.limit), (LimitKind::ModelCalls, 1, 1));
    assert_eq!(played(&["config model-calls=2", "input hello", "answer \"hi\""]).session.limit_reached(), None);
}

#[test]
fn a_session_that_is_kept_reads_back() {
    let session = played(&["input hello", "answer calls read{}", "prepared"]).session;
    assert_eq!(snapshot::read(&snapshot::write(&session).unwrap()), Ok(session));
}

/// A provider that does not say what it used: the request and the answer are estimated at four bytes a token.
#[test]
fn use_that_nobody_reports_is_estimated() {
    let session = played(&["input long-enough-to-count", "answer \"twelve bytes\""]).session;
    let ledger = session.ledger();
    assert_eq!((ledger.usage.input_tokens, ledger.usage.output_tokens, ledger.estimated_calls), (5, 3, 1));
}
