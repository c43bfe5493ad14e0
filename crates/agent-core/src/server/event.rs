//! What can happen to a server, as its driver sees it.

use alloc::string::String;
use serde::{Deserialize, Serialize};

/// A fact about a server. Those that come from its program name the run that they are of, because a late one may be of an earlier run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// What stands in the way of a start was looked up. The first event.
    Considered {
        /// What was found.
        gate: Gate,
    },
    /// The server answered, and its tools are known.
    Came {
        /// The run.
        run: u32,
    },
    /// It could not be started, or does not speak the protocol.
    StartFailed {
        /// The run.
        run: u32,
        /// Why.
        found: String,
    },
    /// Its program or its connection ended.
    Ended {
        /// The run.
        run: u32,
        /// How.
        found: String,
    },
    /// The time that was armed last is over.
    TimerFired {
        /// The number that it was armed with.
        timer: u32,
    },
    /// A tool is called.
    CallAsked {
        /// The call.
        call: Asked,
    },
    /// The answer to a call came.
    CallAnswered {
        /// The call.
        ticket: u64,
    },
    /// The server says that a call makes progress.
    CallProgressed {
        /// The call.
        ticket: u64,
    },
    /// The time of a call is over.
    CallTimedOut {
        /// The call.
        ticket: u64,
    },
    /// A call is no longer wanted.
    CallCancelled {
        /// The call.
        ticket: u64,
    },
    /// The server asks for something in the middle of a call.
    InputAsked {
        /// The run.
        run: u32,
        /// The number of what it asks for, higher than every one before it.
        input: u64,
        /// The call, where the protocol says which one it is.
        ticket: Option<u64>,
    },
    /// What it asked for was answered, by a person or in the place of one.
    InputAnswered {
        /// What was asked for.
        input: u64,
    },
    /// The server does not ask for it any more.
    InputWithdrawn {
        /// What was asked for.
        input: u64,
    },
    /// The server says that its tools changed.
    ListChanged {
        /// The run.
        run: u32,
    },
    /// Its tools are known anew.
    Listed {
        /// The run.
        run: u32,
    },
    /// Its tools could not be had anew.
    ListFailed {
        /// The run.
        run: u32,
        /// Why.
        found: String,
    },
    /// A person wants it tried again: after it failed, or after a review.
    RestartRequested,
    /// It is to stop.
    StopRequested,
}

impl Event {
    /// The event's name, for refusals and traces.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Considered { .. } => "Considered",
            Self::Came { .. } => "Came",
            Self::StartFailed { .. } => "StartFailed",
            Self::Ended { .. } => "Ended",
            Self::TimerFired { .. } => "TimerFired",
            Self::CallAsked { .. } => "CallAsked",
            Self::CallAnswered { .. } => "CallAnswered",
            Self::CallProgressed { .. } => "CallProgressed",
            Self::CallTimedOut { .. } => "CallTimedOut",
            Self::CallCancelled { .. } => "CallCancelled",
            Self::InputAsked { .. } => "InputAsked",
            Self::InputAnswered { .. } => "InputAnswered",
            Self::InputWithdrawn { .. } => "InputWithdrawn",
            Self::ListChanged { .. } => "ListChanged",
            Self::Listed { .. } => "Listed",
            Self::ListFailed { .. } => "ListFailed",
            Self::RestartRequested => "RestartRequested",
            Self::StopRequested => "StopRequested",
        }
    }

    /// The run that the event is of, for those that come from the server's program.
    #[must_use]
    pub const fn run(&self) -> Option<u32> {
        match self {
            Self::Came { run }
            | Self::StartFailed { run, .. }
            | Self::Ended { run, .. }
            | Self::InputAsked { run, .. }
            | Self::ListChanged { run }
            | Self::Listed { run }
            | Self::ListFailed { run, .. } => Some(*run),
            Self::Considered { .. }
            | Self::TimerFired { .. }
            | Self::CallAsked { .. }
            | Self::CallAnswered { .. }
            | Self::CallProgressed { .. }
            | Self::CallTimedOut { .. }
            | Self::CallCancelled { .. }
            | Self::InputAnswered { .. }
            | Self::InputWithdrawn { .. }
            | Self::RestartRequested
            | Self::StopRequested => None,
        }
    }

    /// The call that the event is of, for those that are of one that was asked before.
    #[must_use]
    pub const fn ticket(&self) -> Option<u64> {
        match self {
            Self::CallAnswered { ticket }
            | Self::CallProgressed { ticket }
            | Self::CallTimedOut { ticket }
            | Self::CallCancelled { ticket } => Some(*ticket),
            Self::InputAsked { ticket, .. } => *ticket,
            Self::Considered { .. }
            | Self::Came { .. }
            | Self::StartFailed { .. }
            | Self::Ended { .. }
            | Self::TimerFired { .. }
            | Self::CallAsked { .. }
            | Self::InputAnswered { .. }
            | Self::InputWithdrawn { .. }
            | Self::ListChanged { .. }
            | Self::Listed { .. }
            | Self::ListFailed { .. }
            | Self::RestartRequested
            | Self::StopRequested => None,
        }
    }
}

impl Event {
    /// What was asked for that the event is of, for those that are of something that was asked for before.
    #[must_use]
    pub const fn input(&self) -> Option<u64> {
        match self {
            Self::InputAnswered { input } | Self::InputWithdrawn { input } => Some(*input),
            Self::InputAsked { .. }
            | Self::Considered { .. }
            | Self::Came { .. }
            | Self::StartFailed { .. }
            | Self::Ended { .. }
            | Self::TimerFired { .. }
            | Self::CallAsked { .. }
            | Self::CallAnswered { .. }
            | Self::CallProgressed { .. }
            | Self::CallTimedOut { .. }
            | Self::CallCancelled { .. }
            | Self::ListChanged { .. }
            | Self::Listed { .. }
            | Self::ListFailed { .. }
            | Self::RestartRequested
            | Self::StopRequested => None,
        }
    }
}

/// What stands in the way of a start at this moment. The table says in which order it counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    /// The configuration disables the server.
    pub is_disabled: bool,
    /// What is not as it was when the server was trusted, in words.
    pub untrusted: Option<String>,
}

/// A call that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Its number, higher than that of every call before it.
    pub ticket: u64,
    /// How long it may take without progress, in milliseconds.
    pub idle_ms: u64,
    /// How long it may take in all, in milliseconds.
    pub max_ms: u64,
    /// Whether it may be sent once more when the server ends in the middle of it.
    pub is_repeatable: bool,
}
