//! The lifecycle machine against a driver without an outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod agent;
mod harness;
mod link;
mod malformed;
mod mutation;
mod pairs;
mod properties;
mod scenario;
mod stage;
mod stories;
#[path = "../support/mod.rs"]
mod support;
