//! Every row of the session's table is reached by a run of the real machine: none is there for show.

use crate::harness::{Harness, config};
use agent_core::session::Event;
use agent_core::session::table::TABLE;
use std::collections::BTreeSet;

#[test]
fn every_row_fires_in_some_run() {
    let mut fired = BTreeSet::new();
    let mut chance = Chance(1);
    for round in 0..4_000_u32 {
        let mut harness = Harness::new(config((round % 6) as u8));
        if round % 50 != 0 {
            let _ = harness.take(Event::Started);
        }
        for _ in 0..60 {
            let event = harness.choose((chance.byte(), chance.byte(), chance.byte()));
            let transient = event.is_transient();
            let before = harness.session.state();
            if let Ok(step) = harness.take(event) {
                fired.extend(step.transitions.iter().map(|t| (t.from, t.on)));
                if transient {
                    fired.extend(
                        TABLE
                            .rows_from(before)
                            .filter(|row| row.to == before && is_delta(row.on))
                            .map(|row| (row.from, row.on)),
                    );
                }
            }
        }
    }
    let missing: Vec<_> =
        TABLE.rows.iter().map(|row| (row.from, row.on)).filter(|cell| !fired.contains(cell)).collect();
    assert!(missing.is_empty(), "rows that no run reached: {missing:?}");
}

fn is_delta(trigger: agent_core::session::Trigger) -> bool {
    use agent_core::session::Trigger;
    matches!(trigger, Trigger::LlmDelta | Trigger::ToolProgress)
}

/// A small deterministic generator (xorshift), so that the run is the same everywhere.
struct Chance(u64);

impl Chance {
    fn byte(&mut self) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as u8
    }
}
