//! What a driver reports to an agent.

use crate::lifecycle::{self, LifecycleConfig};
use crate::permission::Permissions;
use crate::{child, session};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// A fact from outside. The machine derives what follows from it; that is not an event.
///
/// An event of the session has the session's serialised form, as it always had in journals.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The agent is bound to commitments from here on: a lifecycle begins. One that was there before is over, and withdraws its checks and
    /// its timer.
    Bound(Box<LifecycleConfig>),
    /// The agent is bound to nothing from here on.
    Released,
    /// A person attends the agent from here on, as at a prompt: a message after its end begins another life with the same commitments
    /// ([`LifecycleConfig::is_renewed`]).
    Attended,
    /// A fact about the agent's commitments: a check, a timer, a commitment, a dismissal. Those that follow from the session
    /// ([`lifecycle::Event::is_derived`]) are refused.
    Lifecycle(lifecycle::Event),
    /// A fact about a child, as its journal has it; or a person stops it ([`child::Event::StopRequested`]). The others follow from the
    /// agent's own calls and are refused.
    Child {
        /// Its number.
        number: u32,
        /// The fact.
        event: Box<child::Event>,
    },
    /// The agent takes something from its parent.
    Ordered(child::Order),
    /// The policies of the agents above are these from here on, the root's first.
    HeldBelow(Vec<Permissions>),
    /// A fact about the session. A message and a stop concern the lifecycle, too, and reach it first. Being resumed concerns both, too
    /// ([`session::Event::SessionResumed`]): it is the first event of a program, unless the configuration is another one. A message of the
    /// agent's own ([`session::Event::FollowUp`]) follows from the lifecycle and is refused while there is one.
    Session(session::Event),
}

impl Event {
    /// The event's name, for refusals.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Bound(_) => "Bound",
            Self::Released => "Released",
            Self::Attended => "Attended",
            Self::Child { event, .. } => event.name(),
            Self::Ordered(_) => "Ordered",
            Self::HeldBelow(_) => "HeldBelow",
            Self::Lifecycle(event) => event.name(),
            Self::Session(event) => event.name(),
        }
    }

    /// Whether the event changes nothing but the screen, so that it need not be journalled.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Session(event) => event.is_transient(),
            Self::Bound(_)
            | Self::Released
            | Self::Attended
            | Self::Child { .. }
            | Self::Ordered(_)
            | Self::HeldBelow(_)
            | Self::Lifecycle(_) => false,
        }
    }
}

impl From<session::Event> for Event {
    fn from(event: session::Event) -> Self {
        Self::Session(event)
    }
}

impl From<lifecycle::Event> for Event {
    fn from(event: lifecycle::Event) -> Self {
        Self::Lifecycle(event)
    }
}
