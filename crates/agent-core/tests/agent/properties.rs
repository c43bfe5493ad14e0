//! Event sequences, long and hostile, told to a whole agent: what has to be true of both machines together holds after every event, and the
//! journal makes the same agent. `PROPTEST_CASES=10000` looks longer.

use crate::driver::{CONFIGS, Choice, Driver, bound, config};
use agent_core::lifecycle::table::TABLE;
use agent_core::lifecycle::{State, Trigger};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::collections::BTreeSet;

proptest! {
    #![proptest_config(sequences())]

    #[test]
    fn an_agents_invariants_hold_after_every_event(
        number in any::<u8>(),
        choices in prop::collection::vec(any::<Choice>(), 1..90),
    ) {
        let mut driver = Driver::new(config(number), bound(number));
        for choice in choices {
            let event = driver.choose(choice);
            let _ = driver.take(&event);
        }
    }
}

/// A row on which no agent comes: where it waits the model ended its turn, so no limit stopped it, and none that is raised resumes it.
const UNREACHED: &[(State, Trigger)] = &[(State::Waiting, Trigger::WorkResumed)];

#[test]
fn every_row_of_the_lifecycle_fires_in_some_run_of_an_agent() {
    let mut fired = BTreeSet::new();
    let mut seed = 1_u64;
    let mut byte = || {
        // xorshift: the same run everywhere
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 32) as u8
    };
    for round in 0..4_000_u32 {
        if fired.len() + UNREACHED.len() == TABLE.rows.len() {
            break;
        }
        let number = (round % u32::from(CONFIGS)) as u8;
        let mut driver = Driver::new(config(number), bound(number));
        for _ in 0..60 {
            let event = driver.choose((byte(), byte(), byte()));
            if let Ok(step) = driver.take_unchecked(event) {
                let rows = step.down.transitions.iter().chain(&step.up.transitions);
                fired.extend(rows.map(|row| (row.from, row.on)));
            }
        }
    }
    let rows = TABLE.rows.iter().map(|row| (row.from, row.on));
    let missing: Vec<_> = rows.filter(|cell| !fired.contains(cell)).collect();
    assert_eq!(missing, UNREACHED, "rows that no run reached");
}

fn sequences() -> ProptestConfig {
    let failure_persistence = FileFailurePersistence::WithSource("proptest-regressions");
    let config = ProptestConfig { max_shrink_iters: 4_000, ..ProptestConfig::default() };
    let config = ProptestConfig { failure_persistence: Some(Box::new(failure_persistence)), ..config };
    // Unless the environment says otherwise: enough to meet what goes wrong often, and soon done.
    if std::env::var_os("PROPTEST_CASES").is_some() { config } else { ProptestConfig { cases: 128, ..config } }
}
