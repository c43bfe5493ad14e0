//! The words of the table of an agent's children: its states, triggers and actions.

use crate::labels;
use serde::{Deserialize, Serialize};

labels! {
    /// What an agent with children does.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum State {
        /// No turn is in progress, and no child is alive.
        Resting,
        /// A turn is in progress.
        Working,
        /// The turn has ended, and children are alive: their outcomes are awaited.
        Gathering,
        /// The turn was ended from outside: the end of all children is awaited.
        Stopping,
    }
}

labels! {
    /// What happened, with the guards decided.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum Trigger {
        /// The session works on a message.
        TurnBegan,
        /// The model ended its turn; no child is left and nothing is to be reported.
        TurnEnded,
        /// The model ended its turn, and has not read what children have to say.
        TurnEndedReportsDue,
        /// The model ended its turn, and children are alive.
        TurnEndedChildrenLeft,
        /// The same, and all of them wait for an answer that nobody gives.
        TurnEndedUnanswered,
        /// A limit ended the turn, and what children have leased gives it room again.
        TurnLeasedOut,
        /// The turn was cancelled, failed or reached a limit; no child is left.
        TurnFailed,
        /// The same, and children are alive.
        TurnFailedChildrenLeft,
        /// The calls in progress are being stopped.
        CallsStopped,
        /// A child moved, and nothing follows for the agent.
        ChildMoved,
        /// A child ended or asks, and the model is to read it.
        ReportsDue,
        /// All children that are alive wait for an answer that nobody gives.
        Unanswered,
        /// No child is alive any more.
        NoneLeft,
        /// The user or the host asked to stop.
        CancelRequested,
    }
}

labels! {
    /// What follows.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum ActionKind {
        /// Give the model what children have to say.
        SendReports,
        /// Add it to what the model reads next, whenever that is.
        KeepReports,
        /// Stop all children.
        StopChildren,
        /// Stop the children whose questions nobody answers.
        StopUnanswered,
    }
}
