//! The words of the server machine's table: its states, triggers and actions.

use crate::labels;
use serde::{Deserialize, Serialize};

labels! {
    /// Where a server of tools stands.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum State {
        /// It is configured; whether it may start is being looked up.
        Configured,
        /// Whether it may start is being decided.
        Wanted,
        /// It is not as it was when it was trusted: a review is awaited.
        Trusting,
        /// Its program starts, and its tools are asked for.
        Starting,
        /// It starts, and takes longer than it should. Nothing waits for it any more.
        Late,
        /// It takes calls.
        Ready,
        /// It ended by itself, and is started again after a pause.
        Restarting,
        /// It was asked to stop: the end of its processes is awaited.
        Stopping,
        /// It could not start, or ended too often. A person may have it tried again.
        Failed,
        /// It is disabled, or was stopped.
        Stopped,
    }
}

labels! {
    /// What happened, with the guards decided.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum Trigger {
        /// What stands in the way of a start was looked up.
        Considered,
        /// Its configuration disables it.
        AutoDisabled,
        /// It is not as it was when it was trusted.
        AutoUntrusted,
        /// Nothing stands in the way.
        AutoClear,
        /// It answered, and its tools are known.
        Came,
        /// It could not be started, or does not speak the protocol.
        StartFailed,
        /// It ended by itself, and is not started again.
        Ended,
        /// It ended by itself, and may be started again.
        EndedRestarting,
        /// The time that was armed last is over.
        TimerFired,
        /// A tool is called.
        CallAsked,
        /// The answer to a call came.
        CallAnswered,
        /// The server says that a call makes progress.
        CallProgressed,
        /// The time of a call is over.
        CallTimedOut,
        /// A call is no longer wanted.
        CallCancelled,
        /// The server asks for something in the middle of a call.
        InputAsked,
        /// The same, with no call that it could be for, or too often.
        InputUnwelcome,
        /// What it asked for was answered.
        InputAnswered,
        /// The server does not ask for it any more.
        InputWithdrawn,
        /// The server says that its tools changed.
        ListChanged,
        /// The same, while they are being asked for, or too often.
        ListChangedAgain,
        /// Its tools are known anew.
        Listed,
        /// Its tools are known anew, and changed again meanwhile.
        ListedStale,
        /// Its tools could not be had anew; those that were known stay.
        ListFailed,
        /// A person wants it tried again: after it failed, or after a review.
        RestartRequested,
        /// It is to stop.
        StopRequested,
    }
}

labels! {
    /// What the driver is asked to do, without its data.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum ActionKind {
        /// Look up what stands in the way of a start.
        ConsiderServer,
        /// Ask for a review of what changed.
        AskReview,
        /// Start the program, agree on the protocol, ask for the tools.
        StartServer,
        /// Measure the time of the state.
        ArmTimer,
        /// Compare the tools with those that are trusted, and offer what may be.
        OfferTools,
        /// Send the calls that waited for the server.
        SendHeld,
        /// Send a call.
        SendCall,
        /// Measure the time of a call.
        ArmCall,
        /// Hand over the answer to a call.
        DeliverAnswer,
        /// Tell the server that a call is no longer wanted.
        WithdrawCall,
        /// Answer a call in the server's place.
        AnswerCall,
        /// Answer all open calls in the server's place.
        AnswerOpen,
        /// Answer the calls that were with the server when it ended, but for those that may be repeated.
        AnswerLost,
        /// Put to a person what the server asks for.
        AskPerson,
        /// Send what was answered.
        SendInput,
        /// Refuse what the server asks for, without a question to a person.
        RefuseInput,
        /// Take back from the person, and from the server, what has no answer yet and needs none any more.
        WithdrawInputs,
        /// Ask for the tools anew.
        ListTools,
        /// End the server's processes.
        EndServer,
    }
}
