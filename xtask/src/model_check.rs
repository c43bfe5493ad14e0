//! The bounded model check: the real machines in an environment that may do anything, every state of them, breadth first.
//!
//! ```text
//! world (configuration, alphabet, bounds) -> events -> the real `step` -> observed (what an observer knows, and what must hold)
//!                                               ^                              |
//!                                               +------- explore <--- key <----+
//! ```
//!
//! Two kinds of models: sessions in several worlds, and agents in several set-ups, which are a session with the lifecycle over it.

mod agent;
mod alphabet;
mod events;
mod explore;
mod fingerprint;
mod invariants;
mod notation;
mod observed;
mod options;
mod report;
mod request;
mod session;
#[cfg(test)]
mod tests;
mod world;

use crate::figures::{Basis, Made};
use agent::{Agents, SETUPS};
use agent_core::session::SessionTable;
use agent_core::session::table::TABLE;
use explore::{Explored, Reach, explore};
use options::Options;
use report::Report;
use session::Sessions;
use std::env;
use std::io::{self, Write as _};
use std::process::Command;
use std::thread;
use std::time::Instant;
use world::{WORLDS, World};

/// `cargo xtask model-check [--smoke] [--bounds NAME=N,…] [--only NAME,…] [--keep]`.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let options = Options::read(words)?;
    if env::var_os(IS_OPTIMISED).is_none() {
        return run_optimised(words);
    }
    let (made, begun) = (Made::today(&[Basis::Sources, Basis::Worlds])?, Instant::now());
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
    say(&report.summary(begun.elapsed()))?;
    report.verdict()?;
    if options.keep { report.figures(made, words, begun.elapsed()).keep("model-check") } else { Ok(()) }
}

/// Explores a session in a world, on any table.
fn check_session(world: &World, table: &'static SessionTable, reach: Reach) -> Result<Explored, String> {
    Ok(explore(&Sessions::new(world, table)?, reach))
}

/// The chores are built without optimisation; this one would take ten times as long.
fn run_optimised(words: &[&str]) -> Result<(), String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--package", "xtask", "--profile", "model-check", "--", "model-check"])
        .args(words)
        .env(IS_OPTIMISED, "1")
        .status()
        .map_err(|error| format!("run cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err("the model check found a violation, or could not run".to_owned()) }
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

fn say(text: &str) -> Result<(), String> {
    io::stdout().write_all(text.as_bytes()).map_err(|error| format!("write the report: {error}"))
}

/// Set where this program was built for speed.
const IS_OPTIMISED: &str = "AGENT_MODEL_CHECK_IS_OPTIMISED";
