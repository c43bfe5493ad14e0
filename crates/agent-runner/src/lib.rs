//! The async driver of `agent-core`, as a library.
//!
//! A [`Runner`] owns a session and its ports. Its loop is short because it decides nothing: it takes an event in, writes it to the journal,
//! lets the session step, and performs the actions that come back, each as a task of its own whose answer is the next event.
//!
//! ```text
//! task or host -> inbox -> redact -> journal (durable) -> agent.step -> observers, notices -> perform -> tasks
//! ```
//!
//! A host gets two ends: a [`Handle`] to send what the user wants, and [`Notices`] to show what happens. [`Agent`] wraps both for programs
//! that only want to ask and wait; `examples/embed.rs` is a whole host in less than 60 lines. [`Builder::bind`] binds the agent to
//! commitments, which are checked whenever it says that it is done.
//!
//! # Runtime
//! Everything runs in a tokio runtime with timers (`enable_time`, or `enable_all`), of one thread or of several. Without one
//! [`Runner::run`] and [`JobRunner::run`](job::JobRunner::run) panic at once, because the first wait would
//! panic in a task of its own, and the session would wait for it forever. Journals wait for the disk on a thread for blocking work; where
//! the system gives none, that is an error of the journal ([`End::JournalFailed`]).
//!
//! # Architecture invariant
//! No decision of the agent is made here: no flag that remembers a phase, no second loop, no look into tool calls or stop reasons.
//! The one decision that is the driver's is to stop when the journal cannot be written, because that cannot be recorded.

mod agent;
mod approval;
mod begin;
mod builder;
mod checks;
mod clock;
mod end;
mod grounds;
mod hooks;
mod inbox;
pub mod job;
pub mod journal;
mod member;
mod model_call;
mod notice;
mod nursery;
mod oversight;
mod perform;
mod pieces;
mod progress;
mod redact;
mod resume;
mod runner;
mod runtime;
mod stop;
mod tool_calls;

pub use agent::{Agent, AgentError};
pub use agent_core::redact::REDACTED;
pub use builder::{BuildError, Builder};
pub use clock::SystemClock;
pub use end::End;
pub use inbox::{Handle, NotTaken, Order};
pub use notice::{AgentName, Notice, Notices};
pub use nursery::{Found, Nursery};
pub use runner::Runner;
