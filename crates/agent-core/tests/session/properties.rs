//! Event sequences, long and hostile: the session's invariants hold after every event, and the session that its journal makes is the same.
//!
//! `PROPTEST_CASES=10000` looks longer. What fails is shrunk, and kept beside this file.

use crate::harness::{Choice, Harness, config};
use agent_core::session::Event;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

proptest! {
    #![proptest_config(sequences())]

    #[test]
    fn invariants_hold_after_every_event(
        variant in any::<u8>(),
        starts in prop::bool::weighted(0.95),
        choices in prop::collection::vec(any::<Choice>(), 1..120),
    ) {
        run(variant, starts, &choices);
    }
}

/// Sequences that failed once.
#[test]
fn what_failed_once_does_not_again() {
    run(21, false, &[(6, 0, 0), (6, 0, 0), (6, 6, 0), (22, 0, 0), (86, 29, 0), (6, 134, 18)]);
}

fn run(variant: u8, starts: bool, choices: &[Choice]) {
    let mut harness = Harness::new(config(variant));
    if starts {
        let _ = harness.take(Event::Started);
    }
    for choice in choices {
        let event = harness.choose(*choice);
        let _ = harness.take(event);
    }
    harness.check_replay();
}

fn sequences() -> ProptestConfig {
    let failure_persistence = FileFailurePersistence::WithSource("proptest-regressions");
    let config = ProptestConfig { max_shrink_iters: 4_000, ..ProptestConfig::default() };
    let config = ProptestConfig { failure_persistence: Some(Box::new(failure_persistence)), ..config };
    // Unless the environment says otherwise: enough to meet what goes wrong often, and soon done.
    if std::env::var_os("PROPTEST_CASES").is_some() { config } else { ProptestConfig { cases: 64, ..config } }
}
