//! What can happen to a child, as its parent sees it.

use super::lease::{Lease, NoLease};
use super::outcome::{Left, Rest};
use alloc::string::String;
use core::fmt;
use serde::{Deserialize, Serialize};

/// A fact about a child. Those that come from the child name the run that they are of, because a late one may be of an earlier run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The parent's call was allowed. The first event.
    Assigned {
        /// What stands in the way.
        gate: Gate,
    },
    /// The child's journal has the run.
    Begun {
        /// The run.
        run: u32,
    },
    /// The child could not be begun: no workspace, no journal, a begin that was withdrawn.
    BeginFailed {
        /// The run.
        run: u32,
        /// Why.
        found: String,
    },
    /// The parent or a person sends a message.
    MessageSent {
        /// The message.
        text: String,
    },
    /// The child's journal has a message.
    MessageTaken {
        /// The run.
        run: u32,
        /// How many messages it has taken with this one.
        number: u32,
    },
    /// The child waits for an answer.
    Asked {
        /// The run.
        run: u32,
        /// How many questions it has asked with this one.
        number: u32,
        /// What it asks.
        question: String,
    },
    /// The child continues, though its parent did not answer: a person did.
    WentOn {
        /// The run.
        run: u32,
    },
    /// The child is to stop.
    StopRequested {
        /// Who asks for it.
        by: StopCause,
    },
    /// The run has an outcome, and the child's journal has it.
    Rested {
        /// The run.
        run: u32,
        /// The outcome, with what was spent.
        rest: Rest,
        /// What would stand in the way of another run.
        gate: Gate,
    },
    /// The child's journal cannot be read.
    Lost {
        /// The run.
        run: u32,
        /// What was found.
        found: String,
    },
    /// What is left of the child's own workspace.
    Cleared {
        /// The run.
        run: u32,
        /// What is left.
        left: Left,
    },
    /// A person took the child over.
    TakenOver,
    /// The outcome stands in the parent's conversation.
    OutcomeTold,
}

impl Event {
    /// The event's name, for refusals and traces.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Assigned { .. } => "Assigned",
            Self::Begun { .. } => "Begun",
            Self::BeginFailed { .. } => "BeginFailed",
            Self::MessageSent { .. } => "MessageSent",
            Self::MessageTaken { .. } => "MessageTaken",
            Self::Asked { .. } => "Asked",
            Self::WentOn { .. } => "WentOn",
            Self::StopRequested { .. } => "StopRequested",
            Self::Rested { .. } => "Rested",
            Self::Lost { .. } => "Lost",
            Self::Cleared { .. } => "Cleared",
            Self::TakenOver => "TakenOver",
            Self::OutcomeTold => "OutcomeTold",
        }
    }

    /// The run that the event is of, for those that come from the child.
    #[must_use]
    pub const fn run(&self) -> Option<u32> {
        match self {
            Self::Begun { run }
            | Self::BeginFailed { run, .. }
            | Self::MessageTaken { run, .. }
            | Self::Asked { run, .. }
            | Self::WentOn { run }
            | Self::Rested { run, .. }
            | Self::Lost { run, .. }
            | Self::Cleared { run, .. } => Some(*run),
            Self::Assigned { .. }
            | Self::MessageSent { .. }
            | Self::StopRequested { .. }
            | Self::TakenOver
            | Self::OutcomeTold => None,
        }
    }
}

/// What stands in the way of a begin at this moment. The table says in which order it counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    /// The parent is being stopped.
    pub stop: Option<StopCause>,
    /// A limit on agents is reached: which, in words.
    pub limit: Option<String>,
    /// The lease, or why there is none.
    pub lease: Result<Lease, NoLease>,
}

impl Gate {
    /// Nothing stands in the way.
    #[must_use]
    pub const fn open(lease: Lease) -> Self {
        Self { stop: None, limit: None, lease: Ok(lease) }
    }
}

/// Who stops a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopCause {
    /// The parent's model, by a call.
    Parent,
    /// A person.
    Person,
    /// The parent ends: it was cancelled, failed, or reached a limit.
    ParentEnds,
    /// All living children wait for an agent that has nothing to say.
    NobodyAnswers,
}

impl fmt::Display for StopCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Parent => "its parent stopped it",
            Self::Person => "a person stopped it",
            Self::ParentEnds => "its parent ends",
            Self::NobodyAnswers => "asked, not answered",
        })
    }
}
