//! The session machine against a driver without an outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod begun;
mod cost;
mod coverage;
mod driver_notes;
mod edited_arguments;
mod harness;
mod hostile;
mod known;
mod leaving;
mod malformed;
mod many_calls;
mod mutation;
mod open;
mod pairs;
mod partial;
mod properties;
mod scenario;
mod stage;
mod summaries;
mod trace;
