//! The bounded model check: the real machines in an environment that may do anything, every state of them, breadth first.
//!
//! ```text
//! world (configuration, alphabet, bounds) -> events -> the real `step` -> observed (what an observer knows, and what must hold)
//!                                               ^                              |
//!                                               +------- explore <--- key <----+
//! ```

mod alphabet;
mod events;
mod explore;
mod fingerprint;
mod invariants;
mod notation;
mod observed;
mod request;
mod session;
mod world;

use agent_core::session::table::TABLE;
use explore::{Reach, explore};
use session::Sessions;
use world::WORLDS;
use std::time::Instant;

pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let smoke = words.contains(&"--smoke");
    for world in WORLDS {
        let mut world = *world;
        if smoke { world.bounds = world.smoke; }
        let begun = Instant::now();
        let model = Sessions { world: &world, config: world.session_config()?, table: &TABLE, replay_one_in: 256 };
        let found = explore(&model, Reach { threads: 2, max_states: 8_000_000 });
        eprintln!("{}: {} states, {} edges, depth {}, cut {}, {:?} in {:?}", world.name, found.states, found.edges, found.depth, found.is_cut, found.tally, begun.elapsed());
        if let Some(violation) = found.violation {
            eprintln!("== {:?}: {}\n> config {}\n{}", violation.fault.invariant, violation.fault.found, world.config, violation.path.join("\n"));
        }
    }
    Ok(())
}
