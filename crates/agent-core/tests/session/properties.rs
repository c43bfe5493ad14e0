//! Event sequences, long and hostile: the session's invariants hold after every one.

use crate::harness::{Choice, Harness, config};
use agent_core::session::Event;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 768, max_shrink_iters: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn invariants_hold_after_every_event(
        variant in any::<u8>(),
        starts in prop::bool::weighted(0.95),
        choices in prop::collection::vec(any::<Choice>(), 1..120),
    ) {
        let mut harness = Harness::new(config(variant));
        if starts {
            let _ = harness.take(Event::Started);
        }
        for choice in choices {
            let event = harness.choose(choice);
            let _ = harness.take(event);
        }
        harness.check_replay();
        harness.check_ways_out();
        harness.check_replay();
    }
}
