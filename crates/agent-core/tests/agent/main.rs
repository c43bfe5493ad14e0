//! An agent, session and lifecycle in one step, against a driver without an outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod driver;
mod family;
mod family_walk;
mod form;
mod outcome;
mod properties;
mod scenario;
