//! The laboratory of the machines of `agent-core`: what is known of them beyond their proofs is found out here, by driving the real
//! machines.
//!
//! * [`session`], [`lifecycle`], [`child`], [`job`], [`server`]: for each machine one notation (lines that are read as events, and what is
//!   shown of a step), and a driver by hand that remembers what was asked.
//! * [`scenarios`]: stories in that notation, with the result of each line; [`golden`]: files that tests compare and rewrite.
//! * [`witness`]: a shortest sequence of events for every row of every table, and its replay.
//! * [`mutation`]: every small change of a table, and which tests notice it.
//! * [`observed`]: what an observer of a session knows, and what must hold ([`invariants`]) after every event; [`request`]: the providers'
//!   rules.
//! * [`model_check`]: every state within bounds, and what must hold there.
//!
//! No product crate depends on it. `cargo xtask` runs it, and the tests of `agent-core` use it.

pub mod child;
pub mod golden;
pub mod invariants;
pub mod job;
pub mod lifecycle;
pub mod model_check;
pub mod mutation;
pub mod notation;
pub mod observed;
pub mod quiet;
pub mod request;
pub mod scenarios;
pub mod server;
pub mod session;
pub mod tree;
pub mod witness;

use std::fmt::Debug;

/// The name of something with data: that of its variant.
pub fn action_name(action: &impl Debug) -> String {
    let text = format!("{action:?}");
    text.split([' ', '{', '(']).next().unwrap_or_default().to_owned()
}
