//! Real processes, started, starved, stopped and left behind.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod apart;
mod containers;
mod depth;
mod doors;
mod hostile;
mod naive;
mod places;
mod running;
mod sandbox;
#[path = "../support/mod.rs"]
mod support;
mod trees;
mod users;
mod ways;
