//! What the machines of an agent and the adapters around them speak of: a conversation, a call of a model, a tool and what it would do, a hook,
//! a rule, and the [`ports`] through which a driver reaches all of them.
//!
//! An adapter (a provider, a tool, a hook) depends on this crate alone: no state, row or action is in it, so a changed table leaves adapters as
//! they are. `agent-core` re-exports everything here under its own name; a host depends on that.
//!
//! # Architecture invariant
//! No I/O, no clock, no randomness, no `unsafe`, no async runtime, and no decision about what an agent does next. `no_std` makes a compile error
//! of what would otherwise be a promise.

#![no_std]
#![forbid(unsafe_code)]
#![warn(
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::alloc_instead_of_core,
    clippy::wildcard_enum_match_arm,
    clippy::indexing_slicing
)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod conversation;
pub mod hook;
pub mod llm;
pub mod permission;
pub mod ports;
pub mod protected;
pub mod redact;
mod shared_text;
pub mod signal;
pub mod tool;
