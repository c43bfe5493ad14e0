//! The job machine against a driver without an outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod harness;
mod malformed;
mod mutation;
mod outstanding;
mod pairs;
mod properties;
mod rules;
mod scenario;
mod serialised;
mod stage;
