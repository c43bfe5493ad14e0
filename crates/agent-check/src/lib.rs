//! The laboratory of the machines of `agent-core`: what is known of them beyond their proofs is found out here, by driving the real machines.
//!
//! * [`witness`]: a shortest sequence of events for every row of every table.
//! * [`model_check`]: every state within bounds, and what must hold there.
//!
//! No product crate depends on it. `cargo xtask` runs it, and the tests of `agent-core` use it.

pub mod model_check;
pub mod witness;
