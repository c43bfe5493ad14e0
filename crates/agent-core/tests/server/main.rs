//! The server machine against a driver without an outside, and against every order of what can happen.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod every_order;
mod mutation;
mod pairs;
mod scenario;
mod stage;
mod times;
