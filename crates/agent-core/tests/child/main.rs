//! The child machine against a driver without an outside, and against a child that crashes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod all;
mod family;
mod lease;
mod malformed;
mod mutation;
mod pairs;
mod scenario;
mod stage;
