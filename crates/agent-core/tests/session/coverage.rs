//! Every row of the session's table is reached by the sequences of the generator: none is there for show, and none is left out by it.

use crate::harness::{CONFIGS, Harness, config};
use agent_core::session::Event;
use agent_core::session::table::TABLE;
use std::collections::BTreeSet;

#[test]
fn every_row_fires_in_some_run() {
    let mut fired = BTreeSet::new();
    let mut chance = Chance(8);
    for round in 0..20_000_u32 {
        let mut harness = Harness::new(config((round % u32::from(CONFIGS)) as u8));
        if round % 50 != 0 {
            let _ = harness.take_unchecked(Event::Started);
        }
        for _ in 0..60 {
            let event = harness.choose((chance.byte(), chance.byte(), chance.byte()));
            let before = harness.session.state();
            let Ok(step) = harness.take_unchecked(event) else { continue };
            fired.extend(step.transitions.iter().map(|t| (t.from, t.on)));
            if step.transitions.is_empty() {
                let rows = TABLE.rows_from(before).filter(|row| row.to == before && is_delta(row.on));
                fired.extend(rows.map(|row| (row.from, row.on)));
            }
        }
        if fired.len() == TABLE.rows.len() {
            break;
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
