//! The bounded model check: the real machines in an environment that may do anything, every state of them, breadth first.
//!
//! ```text
//! world (configuration, alphabet, bounds) -> events -> the real `step` -> observed (what an observer knows, and what must hold)
//!                                               ^                              |
//!                                               +------- explore <--- key <----+
//! ```
//!
//! Three kinds of models: sessions in several worlds; agents in several set-ups, which are a session with the lifecycle over it; trees of
//! agents, a root with those below it.

mod agent;
mod events;
mod explore;
mod fingerprint;
mod options;
mod report;
mod session;
#[cfg(test)]
mod tests;
mod trees;
mod world;

use agent::{Agents, SETUPS};
use agent_core::session::SessionTable;
use agent_core::session::table::TABLE;
use explore::{Explored, Reach, explore};
use session::Sessions;
use std::thread;
use std::time::Instant;
use trees::{GROVES, Trees};
use world::{WORLDS, World};

pub use options::Options;
pub use report::Report;

/// Explores every model that the options want, and reports the findings of each as soon as it is done.
///
/// # Errors
/// When a model cannot be set up, or what is found cannot be said. A violation is not an error here: see [`Report::verdict`].
pub fn check(options: &Options, say: &mut dyn FnMut(&str) -> Result<(), String>) -> Result<Report, String> {
    let begun = Instant::now();
    let mut report = Report::default();
    for world in WORLDS.iter().filter(|world| options.is_wanted(world.name)) {
        let world = options.world(world);
        let begun = Instant::now();
        let found = check_session(&world, &TABLE, options.reach(threads()))?;
        say(&report.add(world.name, &format!("config {}", world.config), found, begun.elapsed()))?;
    }
    for setup in SETUPS.iter().filter(|setup| options.is_wanted(setup.name)) {
        let setup = options.setup(setup);
        let begun = Instant::now();
        let found = explore(&Agents::new(&setup)?, options.reach(threads()));
        say(&report.add(setup.name, &format!("config {}", setup.config), found, begun.elapsed()))?;
    }
    for grove in GROVES.iter().filter(|grove| options.is_wanted(grove.name)) {
        let grove = options.grove(grove);
        let begun = Instant::now();
        let found = explore(&Trees::new(&grove), options.reach(threads()));
        say(&report.add(grove.name, "", found, begun.elapsed()))?;
    }
    report.took = begun.elapsed();
    say(&report.summary())?;
    Ok(report)
}

/// Explores a session in a world, on any table.
fn check_session(world: &World, table: &'static SessionTable, reach: Reach) -> Result<Explored, String> {
    Ok(explore(&Sessions::new(world, table)?, reach))
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
