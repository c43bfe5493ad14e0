//! What makes two agents the same: each machine's own part, what the driver keeps, what an observer knows, and what may still happen.
//!
//! As with a session alone, everything that decides in `choices` which choices there are has a word here; of the rest the choices only make
//! ids and texts.

use super::super::fingerprint::{Fingerprint, Part};
use super::super::session::key as session_key;
use super::super::world::World;
use super::Together;
use agent_core::lifecycle::{self, Lifecycle};

pub(super) fn of(world: &World, node: &Together) -> u128 {
    let mut print = Fingerprint::new();
    let agent = &node.agent;
    print.word(u64::from(agent.is_over()) << 1 | u64::from(agent.lifecycle().is_some()));
    // Of what is over, only a lifecycle can change.
    if !agent.is_over() {
        session_key::session(world, agent.session(), &mut print);
    }
    if let Some(lifecycle) = agent.lifecycle() {
        print.value(lifecycle, rules);
        print.word(u64::from(lifecycle.config().is_renewed));
    }
    let seen = &node.seen;
    print.word(u64::from(seen.reports));
    print.word(u64::from(seen.is_errand) << 1 | u64::from(seen.is_stopped));
    turns(node, &mut print);
    let driver = &node.driver;
    if let Some(checks) = &driver.checks {
        checks.answers.iter().for_each(|answer| print.word(answer.map_or(0, |kept| 1 + u64::from(kept))));
    }
    let open = [driver.timer.is_some(), driver.cleanup.is_some()];
    print.word(open.iter().fold(0, |all, flag| all * 2 + u64::from(*flag)));
    node.left.all().iter().for_each(|left| print.word(u64::from(*left)));
    print.finish()
}

/// What the turns say alone, now and with any turn that follows: the last one's end, and calls that no one could be asked about.
fn turns(node: &Together, print: &mut Fingerprint) {
    let is_alone = node.agent.lifecycle().map(Lifecycle::outcome).is_some();
    let Some(turns) = node.seen.turns.outcome(Some(&lifecycle::Outcome::TurnEnded)).filter(|_| is_alone) else {
        return;
    };
    print.word(u64::from(turns.kind.exit_code()));
    print.word(u64::from(turns.denials.iter().any(|denial| denial.nobody_to_ask)));
}

fn rules(of: &str, field: &str) -> Part {
    match (of, field) {
        // All agents of a set-up are bound by one configuration, but for whether a user attends them.
        ("Lifecycle", "config" | "now_ms" | "input" | "next_ticket" | "trace") => Part::Out,
        ("Lifecycle", "commitments" | "timer" | "cleanup") => Part::Count,
        ("Verification", "ticket") => Part::Out,
        _ => Part::Whole,
    }
}
