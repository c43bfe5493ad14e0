//! What the driver is asked to do about a child.

use super::lease::Lease;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// One thing to do. Each is a level that holds until the child's journal shows it, so doing it twice does no harm: the child takes a run, a
/// message or a stop once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Begin the run, unless the child's journal has it. Answers: `Begun` or `BeginFailed`.
    BeginChild {
        /// The run.
        run: u32,
        /// What it may spend.
        lease: Lease,
    },
    /// Do not begin the run if it has not begun. Answers: `BeginFailed`, or `Begun` if it was too late.
    WithdrawBegin {
        /// The run.
        run: u32,
    },
    /// Give the child a message. Answer: `MessageTaken`.
    SendMessage {
        /// The run.
        run: u32,
        /// Its number, counted from 1 over the run.
        number: u32,
        /// The message.
        text: String,
    },
    /// Stop the child and all below it. Answer: `Rested`.
    StopChild {
        /// The run.
        run: u32,
    },
    /// Stop all that is below a child whose journal cannot be read. Answer: `Rested`, with an outcome that says so.
    InheritChildren {
        /// The run.
        run: u32,
    },
    /// Look through the child's own workspace when nothing of the child runs any more, and remove it if nothing was changed there. Answer:
    /// `Cleared`.
    ClearWorkspace {
        /// The run.
        run: u32,
    },
    /// Let the child continue as an agent of its own.
    HandOver {
        /// The run.
        run: u32,
    },
}
