//! The pairs as a layer that may notice a change of the table: what each pair came to, beside what it comes to on another table. What they
//! came to is what the snapshot says, and was read there by people; the table is not asked.

use super::places::{PLACES, Place};
use super::{There, name_of};
use agent_check::quiet;
use agent_check::session::Command;
use agent_core::session::{State, Ticket, Trigger};
use std::collections::BTreeMap;

/// The rows of a pair that fires: from and trigger, in their order; where it ends, and what is asked.
type Fired = (Vec<(State, Trigger)>, State, Vec<String>);

struct Pair {
    place: &'static Place,
    line: &'static str,
    ticket: Ticket,
    kind: &'static str,
    fired: Fired,
}

/// All pairs that fire, by the cells of their rows.
pub(crate) struct Pairs(BTreeMap<String, Vec<Pair>>);

impl Pairs {
    /// Tries every pair once.
    pub(crate) fn tried() -> Self {
        let mut all: BTreeMap<String, Vec<Pair>> = BTreeMap::new();
        for place in PLACES {
            let mut there = There::at(place);
            for (line, ticket, kind) in there.events() {
                let Some(fired) = there.fire(line, ticket, kind) else { continue };
                for (from, on) in &fired.0 {
                    let pair = Pair { place, line, ticket, kind, fired: fired.clone() };
                    all.entry(format!("{from:?} + {on:?}")).or_default().push(pair);
                }
            }
        }
        Self(all)
    }

    /// Whether one of the pairs that fire a row comes to something else, or breaks.
    pub(crate) fn notice(&self, cell: &str) -> bool {
        let differs = |pair: &Pair| quiet::caught(|| There::at(pair.place).fire(pair.line, pair.ticket, pair.kind));
        self.0[cell].iter().any(|pair| differs(pair).map_or(true, |fired| fired.as_ref() != Some(&pair.fired)))
    }
}

impl There {
    /// What an event comes to, where it is not refused.
    fn fire(&mut self, line: &str, ticket: Ticket, kind: &str) -> Option<Fired> {
        let Command::Take(event) = self.script.read(&self.spelt(line, ticket, kind)) else { return None };
        // Pieces of text leave no transition.
        let piece = if line.starts_with("delta") { Trigger::LlmDelta } else { Trigger::ToolProgress };
        let piece = event.is_transient().then_some((self.state, piece));
        let mut session = self.script.session.clone();
        let step = session.step(self.script.now_ms, event).ok()?;
        let rows = step.transitions.iter().map(|done| (done.from, done.on)).chain(piece).collect();
        Some((rows, session.state(), step.actions.iter().map(name_of).collect()))
    }
}
