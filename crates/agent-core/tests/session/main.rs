//! The session machine against a driver without an outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod coverage;
mod edited_arguments;
mod harness;
mod mutation;
mod properties;
mod scenario;
mod seeds;
#[path = "../support/mod.rs"]
mod support;
mod trace;
