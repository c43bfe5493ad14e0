#![doc = include_str!("../README.md")]
//!
//! # Where to look
//!
//! | For | there is |
//! |---|---|
//! | labels, rows, tables and their proof | [`table`], [`labels!`], [`rows!`], [`prove!`], [`Proved`] |
//! | a machine that runs on one | [`Machine`] |
//! | what it did, and what it refused | [`trace`] |
//! | a table as a diagram, a grid, Markdown or JSON | [`diagram`] |
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

pub mod diagram;
pub mod machine;
pub mod table;
mod ticket;
pub mod trace;

pub use machine::{Machine, Reason, Rendering, Seat, Step, Stepping};
pub use table::{Label, Proved, Row, Table};
pub use ticket::Ticket;
pub use trace::{Rejected, Trace, Transition};
