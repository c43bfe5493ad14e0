//! The types that an agent's machines and adapters share: a conversation, a model call, a tool and what a call of it would do, a hook, a
//! rule, and the [`ports`] through which a driver reaches adapters.
//!
//! An adapter (a provider, a tool, a hook) depends on this crate alone. No state, row or action is in it, so changing a table does not
//! rebuild adapters. `agent-core` re-exports everything here under paths of its own; a host that depends on `agent-core` needs nothing
//! else.
//!
//! # Architecture invariant
//! No I/O, no clock, no randomness, no `unsafe`, no async runtime, and no decision about what an agent does next. `no_std` makes a
//! compile error of what would otherwise be a promise.

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

pub mod agents;
pub mod conversation;
pub mod git_programs;
pub mod hook;
pub mod instructions;
pub mod llm;
pub mod permission;
pub mod picture;
pub mod ports;
pub mod protected;
pub mod quote;
pub mod redact;
mod shared_text;
pub mod signal;
pub mod tool;
pub mod unseen;
