//! Event sequences, long and hostile: the invariants hold after every event, what was written makes the same machine, and every row is
//! reached by some. `PROPTEST_CASES=10000` looks longer.

use crate::harness::{Choice, Harness, choose, commitment, config};
use agent_core::lifecycle::LifecycleConfig;
use agent_core::lifecycle::table::TABLE;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::collections::BTreeSet;

fn variant(number: u8) -> LifecycleConfig {
    let base = config();
    match number % 6 {
        0 => base,
        1 => LifecycleConfig { commitments: Vec::new(), ..base },
        2 => LifecycleConfig { continues_after_failure: false, ..base },
        3 => LifecycleConfig { max_rounds: 1, commitments: vec![commitment("only")], ..base },
        4 => LifecycleConfig {
            max_idle_ms: None,
            max_work_ms: None,
            max_wait_ms: None,
            unsignalled_turn_claims: false,
            ..base
        },
        _ => LifecycleConfig { max_rounds: 0, ..base },
    }
}

proptest! {
    #![proptest_config(sequences())]

    #[test]
    fn invariants_hold_after_every_event(
        number in any::<u8>(),
        choices in prop::collection::vec(any::<Choice>(), 1..120),
    ) {
        let mut harness = Harness::new(variant(number));
        for choice in choices {
            let event = choose(&harness, choice);
            let _ = harness.take(event);
        }
        harness.check_replay();
    }
}

#[test]
fn every_row_fires_in_some_run() {
    let mut fired = BTreeSet::new();
    let mut seed = 1_u64;
    let mut byte = || {
        // xorshift: the same run everywhere
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 32) as u8
    };
    for round in 0..3_000_u32 {
        if fired.len() == TABLE.rows.len() {
            break;
        }
        let mut harness = Harness::new(variant((round % 6) as u8));
        for _ in 0..40 {
            let event = choose(&harness, (byte(), byte(), byte()));
            if let Ok(step) = harness.take_unchecked(event) {
                fired.extend(step.transitions.iter().map(|row| (row.from, row.on)));
            }
        }
    }
    let missing: Vec<_> =
        TABLE.rows.iter().map(|row| (row.from, row.on)).filter(|cell| !fired.contains(cell)).collect();
    assert!(missing.is_empty(), "rows that no run reached: {missing:?}");
}

fn sequences() -> ProptestConfig {
    let failure_persistence = FileFailurePersistence::WithSource("proptest-regressions");
    let config = ProptestConfig { max_shrink_iters: 4_000, ..ProptestConfig::default() };
    let config = ProptestConfig { failure_persistence: Some(Box::new(failure_persistence)), ..config };
    // Unless the environment says otherwise: enough to meet what goes wrong often, and soon done.
    if std::env::var_os("PROPTEST_CASES").is_some() { config } else { ProptestConfig { cases: 128, ..config } }
}
