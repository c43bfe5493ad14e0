//! The words of the child machine's table: its states, triggers and actions.

use crate::labels;
use serde::{Deserialize, Serialize};

labels! {
    /// What a parent knows of a child, in one run of it.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum State {
        /// The parent's call is there; nothing is decided.
        Planned,
        /// Whether the child may begin is being decided.
        Wanted,
        /// Its lease is reserved; the child begins, or is looked up after a crash.
        Starting,
        /// The child works.
        Working,
        /// The child waits for an answer.
        Asking,
        /// A stop was asked for: the end of the child, and of all below it, is awaited.
        Stopping,
        /// The run has an outcome, and what is in the child's own workspace is looked through.
        Clearing,
        /// The run has an outcome that the parent's model does not know.
        Ended,
        /// The parent's model knows the outcome.
        Told,
        /// A person took the child over; it answers to its parent no more.
        Detached,
    }
}

labels! {
    /// What happened, with the guards decided.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum Trigger {
        /// The parent's call was allowed.
        Assigned,
        /// A stop stands in the way.
        AutoStopped,
        /// A limit on agents stands in the way.
        AutoLimit,
        /// The parent's budget has no room for the lease.
        AutoNoLease,
        /// Nothing stands in the way.
        AutoClear,
        /// The child's journal has the run.
        Begun,
        /// The child could not be begun.
        BeginFailed,
        /// The child could not be begun, and something of its own workspace may be there.
        BeginFailedApart,
        /// The parent sent a message.
        MessageSent,
        /// The child took a message.
        MessageTaken,
        /// The child asks a question.
        Asked,
        /// The child continues, whoever answered.
        WentOn,
        /// The child is to stop.
        StopRequested,
        /// The run has an outcome.
        Rested,
        /// The run has an outcome, and the child a workspace of its own.
        RestedApart,
        /// The run failed, and another one may be tried.
        RestedRestarting,
        /// The child's journal cannot be read.
        Lost,
        /// What is left of the child's own workspace is known.
        Cleared,
        /// A person took the child over.
        TakenOver,
        /// The outcome stands in the parent's conversation.
        OutcomeTold,
    }
}

labels! {
    /// What the driver is asked to do, without its data.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum ActionKind {
        /// Begin the run, unless the child's journal has it already.
        BeginChild,
        /// Withdraw the begin; what has begun all the same is stopped.
        WithdrawBegin,
        /// Give the child a message.
        SendMessage,
        /// Stop the child, and all below it.
        StopChild,
        /// Stop the children of a child that is lost.
        InheritChildren,
        /// Look through the child's own workspace, and remove it if nothing was changed there.
        ClearWorkspace,
        /// Let the child continue on its own.
        HandOver,
    }
}
