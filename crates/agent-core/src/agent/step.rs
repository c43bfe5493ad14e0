//! What one event did to an agent, and why one is refused.

use super::family::FamilyStep;
use crate::session::Durability;
use crate::{child, lifecycle, session};
use alloc::boxed::Box;

/// All that one event did, in the order in which it happened: down, session, up.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "the actions of a step have to be performed"]
#[non_exhaustive]
pub struct Step {
    /// What the lifecycle did with the event. Its commands have reached the session already.
    pub down: lifecycle::Step,
    /// What the session did with the event, or with the lifecycle's command.
    pub session: session::Step,
    /// What the lifecycle did with what followed.
    pub up: lifecycle::Step,
    /// What followed for the agents below.
    pub family: Option<Box<FamilyStep>>,
    /// Whether the agent reports that it rests: it waits for a message, and its last run, if any, has an outcome.
    pub rests: bool,
    /// Whether a run ended with this step: the outcome is a new one. One that is only resumed has the outcome it had.
    pub ends_run: bool,
}

impl Step {
    /// A step in which nothing happened. It allocates nothing.
    pub fn empty() -> Self {
        let (down, up) = (lifecycle::Step::empty(), lifecycle::Step::empty());
        Self { down, session: session::Step::empty(), up, family: None, rests: false, ends_run: false }
    }

    /// What followed for the agents below, to add to it.
    pub(super) fn family_mut(&mut self) -> &mut FamilyStep {
        self.family.get_or_insert_default()
    }

    /// Whether the session prompts, or the lifecycle reports an outcome.
    pub(super) fn has_an_end(&self) -> bool {
        let reports = |action: &lifecycle::Action| matches!(action, lifecycle::Action::ReportOutcome { .. });
        self.session.actions.contains(&session::Action::PromptForInput)
            || self.down.actions.iter().chain(&self.up.actions).any(reports)
            || self.family.as_deref().is_some_and(FamilyStep::comes_to_rest)
    }

    /// Whether nothing happened.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.down.is_empty() && self.session.is_empty() && self.up.is_empty() && self.family.is_none()
    }

    /// When the record of the event must be durable. Steps of the lifecycle always require it, because others act on them.
    #[must_use]
    pub const fn durability(&self) -> Durability {
        if self.down.is_empty() && self.up.is_empty() && self.family.is_none() {
            self.session.notes.durability
        } else {
            Durability::Now
        }
    }
}

impl Rejected {
    /// The event's name.
    #[must_use]
    pub fn event(&self) -> &str {
        match self {
            Self::Session(rejected) => &rejected.event,
            Self::Lifecycle(rejected) => &rejected.event,
            Self::Child(rejected) => &rejected.event,
            Self::OutOfOrder { .. } => "Ordered",
            Self::Unbound { event }
            | Self::Derived { event }
            | Self::NoChild { event, .. }
            | Self::NoParent { event } => event,
        }
    }
}

/// Why an event is refused. Neither machine has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejected {
    /// The session has no use for it.
    #[error(transparent)]
    Session(#[from] session::Rejected),
    /// The lifecycle has no use for it.
    #[error(transparent)]
    Lifecycle(#[from] lifecycle::Rejected),
    /// The machine of the child has no use for it.
    #[error(transparent)]
    Child(#[from] child::Rejected),
    /// It concerns a child that the agent does not have.
    #[error("{event}: the agent has no child {number}")]
    NoChild {
        /// The event's name.
        event: &'static str,
        /// The child's number.
        number: u32,
    },
    /// It comes from a parent, and no agent began this one.
    #[error("{event}: no agent began this one")]
    NoParent {
        /// The event's name.
        event: &'static str,
    },
    /// It is not the next message of the parent.
    #[error("Ordered: message {number} is not the next one")]
    OutOfOrder {
        /// The message's number.
        number: u32,
    },
    /// It concerns commitments, and the agent is bound to none.
    #[error("{event}: the agent is bound to no commitments")]
    Unbound {
        /// The event's name.
        event: &'static str,
    },
    /// It follows from the other machine, and is not an event from outside.
    #[error("{event}: only the machine derives this event; it cannot be reported")]
    Derived {
        /// The event's name.
        event: &'static str,
    },
}
