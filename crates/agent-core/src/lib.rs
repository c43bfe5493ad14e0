//! The agent as pure, table-driven state machines.
//!
//! This crate decides what an agent does and does nothing itself. A driver reports [`session::Event`]s to a [`session::Session`] and performs
//! the [`session::Action`]s that come back; `agent-runner` is such a driver, and the [`ports`] are the traits through which it reaches
//! models, tools and storage.
//!
//! ```
//! use agent_core::session::{Action, Event, ModelConfig, Session, SessionConfig, State};
//!
//! let mut session = Session::new(SessionConfig::new(ModelConfig::new("some-model")));
//! session.step(0, Event::Started)?;
//! let step = session.step(1, Event::UserInput { text: "hello".into() })?;
//! assert_eq!(session.state(), State::CallingLlm);
//! assert!(matches!(step.actions[..], [Action::SendLlmRequest { .. }]));
//! # Ok::<(), agent_core::session::Rejected>(())
//! ```
//!
//! Above the session stands the [`lifecycle`]: an agent bound to commitments, which are checked whenever it says that it is done. The two
//! machines meet in [`link`] only.
//!
//! # Architecture invariant
//! No I/O, no clock, no randomness, no `unsafe`, no async runtime. Times and chance come in with events. `no_std` makes a compile error
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

pub mod budget;
pub mod conversation;
pub mod diagram;
pub mod hook;
pub mod job;
pub mod journal;
pub mod lifecycle;
pub mod link;
pub mod llm;
pub mod permission;
pub mod ports;
pub mod retry;
pub mod session;
pub mod table;
pub mod tool;
pub mod trace;
