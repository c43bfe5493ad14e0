//! The agent as pure, table-driven state machines.
//!
//! This crate decides what an agent does and does nothing itself. A driver reports [`session::Event`]s to a [`session::Session`] and
//! performs the [`session::Action`]s that come back; `agent-runner` is such a driver, and the [`ports`] are the traits through which it
//! reaches models, tools and storage.
//!
//! # A session by hand
//!
//! No runtime is needed, and no thread: a loop of the host's own takes events in, steps, and performs what comes back. Here the model and
//! its one tool are two lines each.
//!
//! ```
//! use agent_core::conversation::Item;
//! use agent_core::llm::{LlmResponse, RawCall, ResponseBlock};
//! use agent_core::session::{Action, Event, ModelConfig, OutcomeKind, Rejected, Session, SessionConfig, State};
//! use agent_core::tool::{CallFacts, Effect, Finding, Inspection, Subject, ToolOutcome};
//! use std::collections::VecDeque;
//!
//! let mut session = Session::new(SessionConfig::new(ModelConfig::new("some-model")));
//! let mut events = VecDeque::from([Event::Started, Event::UserInput { text: "What is 40 + 2?".into() }]);
//! let mut now_ms = 0; // The clock is the host's.
//! while let Some(event) = events.pop_front() {
//!     now_ms += 1;
//!     for action in session.step(now_ms, event)?.actions {
//!         match action {
//!             Action::SendLlmRequest { ticket, request } => {
//!                 let response = match request.conversation.last().map(AsRef::as_ref) {
//!                     Some(Item::Round(round)) => LlmResponse::text(&format!("It is {}.", round.results()[0].content())),
//!                     _ => {
//!                         let (name, arguments) = ("add".into(), r#"{"a":40,"b":2}"#.into());
//!                         let call = RawCall { id: "call-1".into(), name, arguments, complete: true };
//!                         LlmResponse { blocks: vec![ResponseBlock::Call(call)], ..LlmResponse::text("") }
//!                     }
//!                 };
//!                 events.push_back(Event::LlmCompleted { ticket, response });
//!             }
//!             Action::PrepareTools { ticket, calls } => {
//!                 let finding = Finding::Runnable(Inspection { effect: Effect::Reads, subject: Subject::None });
//!                 let facts = CallFacts::new(calls[0].id.clone(), finding);
//!                 events.push_back(Event::ToolsPrepared { ticket, facts: vec![facts] });
//!             }
//!             Action::ExecuteTools { ticket, calls } => {
//!                 let (call, outcome) = (calls[0].id.clone(), ToolOutcome::ok("42"));
//!                 events.push_back(Event::ToolCompleted { ticket, call, outcome });
//!             }
//!             Action::DisplayMessage { blocks, .. } => println!("{blocks:?}"),
//!             Action::PromptForInput => println!("> "),
//!             other => unreachable!("nothing here is changed, asked, stopped or repeated: {other:?}"),
//!         }
//!     }
//! }
//! let outcome = session.outcome().unwrap();
//! assert_eq!((outcome.kind, outcome.text.as_str()), (OutcomeKind::Success, "It is 42."));
//! assert_eq!(session.state(), State::WaitingForUserInput);
//! # Ok::<(), Rejected>(())
//! ```
//!
//! A driver for a real host matches every action; the compiler reports a new one. The examples of this crate show one
//! whole (`by_hand`), two sessions in one thread (`two_sessions`), and a journal (`record_replay`).
//!
//! # Where to look
//!
//! | For | there is |
//! |---|---|
//! | a session and its commitments in one step, as a host drives them | [`agent`] |
//! | the conversation of a user, a model and its tools | [`session`] |
//! | an agent bound to commitments, which are checked whenever it says that it is done | [`lifecycle`] |
//! | a child agent as its parent knows it, and the leases of its budget | [`child`] |
//! | what an agent does about all of its children when a turn ends | [`children`] |
//! | a server of tools as the agent that uses it knows it | [`server`] |
//! | a piece of work with retries and an audit record | [`job`] |
//! | recording what happened, and resuming from it | [`journal`] |
//! | saving a machine in its present state | [`snapshot`] |
//! | a machine of one's own on the same kernel, proved when it is compiled | [`table`] |
//! | a machine as a diagram, a table or JSON | [`diagram`] |
//!
//! # What may change
//!
//! An enum or struct is `#[non_exhaustive]` when a host only reads it: states, steps, refusals and their reasons,
//! outcomes, kinds of errors, records; those that a test of a host wants to make have a constructor. What a driver has to
//! perform or to report ([`session::Action`], [`session::Event`], their like in the other machines and the facts in them) is exhaustive:
//! a driver that does not know an action must not compile. So are [`permission::Decision`], [`diagram::Kind`] and [`journal::Replayed`]:
//! what decides, draws or tells a journal must know them all. Serialised forms carry versions ([`journal::FORMAT_VERSION`],
//! [`snapshot::FORMAT_VERSION`], [`job::AuditRecord::FORMAT_VERSION`]).
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

pub mod agent;
pub mod budget;
pub mod child;
pub mod children;
mod fingerprint;
pub mod job;
pub mod journal;
pub mod lifecycle;
pub mod permission;
pub mod ports;
pub mod retry;
pub mod server;
pub mod session;
pub mod snapshot;

pub use agent_types::{agents, conversation, hook, instructions, llm, picture, protected, redact, tool, unseen};
pub use statetable::{diagram, labels, prove, rows, table, trace};
