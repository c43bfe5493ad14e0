//! What the agent tells the machine of its children, and which trigger that is: guards are decided here, and nowhere else.

use super::table::{State, Trigger};
use serde::{Deserialize, Serialize};

/// A fact about the agent's turn, or about its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The session works on a message.
    TurnBegan,
    /// The session's turn has ended.
    TurnEnded {
        /// How.
        end: TurnEnd,
        /// How the children stand.
        standing: Standing,
    },
    /// The session stops the calls that are in progress.
    CallsStopped,
    /// A child moved.
    Moved {
        /// How the children stand.
        standing: Standing,
    },
    /// The user or the host asked to stop.
    CancelRequested,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TurnEnd {
    /// The model ended it.
    Completed,
    /// A limit ended it, and what children have leased gives it room again.
    LeasedOut,
    /// It was cancelled, failed or reached a limit.
    Failed,
}

/// How the children of an agent stand, all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// One of them is alive.
    pub are_alive: bool,
    /// One of them ended or asks, and the model has not read it.
    pub has_reports: bool,
    /// All that are alive wait for an answer, and no one is there to give it.
    pub is_unanswered: bool,
}

impl Event {
    /// The event's name, for refusals and traces.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::TurnBegan => "TurnBegan",
            Self::TurnEnded { .. } => "TurnEnded",
            Self::CallsStopped => "CallsStopped",
            Self::Moved { .. } => "Moved",
            Self::CancelRequested => "CancelRequested",
        }
    }

    pub(super) const fn trigger(&self, state: State) -> Trigger {
        match *self {
            Self::TurnBegan => Trigger::TurnBegan,
            Self::CallsStopped => Trigger::CallsStopped,
            Self::CancelRequested => Trigger::CancelRequested,
            Self::TurnEnded { end, standing } => ended(end, standing),
            Self::Moved { standing } => moved(state, standing),
        }
    }
}

const fn ended(end: TurnEnd, standing: Standing) -> Trigger {
    match end {
        TurnEnd::Failed if standing.are_alive => Trigger::TurnFailedChildrenLeft,
        TurnEnd::Failed => Trigger::TurnFailed,
        TurnEnd::Completed | TurnEnd::LeasedOut if standing.has_reports => Trigger::TurnEndedReportsDue,
        TurnEnd::Completed | TurnEnd::LeasedOut if standing.is_unanswered => Trigger::TurnEndedUnanswered,
        TurnEnd::LeasedOut if standing.are_alive => Trigger::TurnLeasedOut,
        TurnEnd::LeasedOut => Trigger::TurnFailed,
        TurnEnd::Completed if standing.are_alive => Trigger::TurnEndedChildrenLeft,
        TurnEnd::Completed => Trigger::TurnEnded,
    }
}

/// Where a turn is in progress it reports at its end, and under a stop the model is not asked.
const fn moved(state: State, standing: Standing) -> Trigger {
    match state {
        State::Resting | State::Working => Trigger::ChildMoved,
        State::Gathering if standing.has_reports => Trigger::ReportsDue,
        State::Gathering if standing.is_unanswered => Trigger::Unanswered,
        State::Gathering | State::Stopping if standing.are_alive => Trigger::ChildMoved,
        State::Gathering | State::Stopping => Trigger::NoneLeft,
    }
}
