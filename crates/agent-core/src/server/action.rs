//! What the driver is asked to do about a server.

use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Look up what stands in the way of a start. Answer: `Considered`.
    ConsiderServer,
    /// Ask for a review. Answer, whenever there is one: `RestartRequested`.
    AskReview {
        /// What is not as it was when the server was trusted.
        found: String,
    },
    /// Start the program, agree on the protocol, ask for the tools. Answers: `Came`, `StartFailed` or `Ended`.
    StartServer {
        /// The run.
        run: u32,
    },
    /// Measure a time in place of the one before. Answer: `TimerFired`.
    ArmTimer {
        /// The number to report.
        timer: u32,
        /// After that many milliseconds.
        delay_ms: u64,
    },
    /// Compare the tools with those that are trusted, and offer what may be.
    OfferTools {
        /// The run that has them.
        run: u32,
    },
    /// Send the calls that waited, each with the milliseconds that are left to it. Answers: as to `SendCall` and `ArmCall`.
    SendHeld {
        /// The calls, oldest first.
        calls: Vec<(u64, u64)>,
    },
    /// Send a call. Answer: `CallAnswered`.
    SendCall {
        /// The call.
        ticket: u64,
    },
    /// Measure the time of a call in place of the one before. Answer: `CallTimedOut`.
    ArmCall {
        /// The call.
        ticket: u64,
        /// After that many milliseconds.
        delay_ms: u64,
    },
    /// Hand over the answer that came.
    DeliverAnswer {
        /// The call.
        ticket: u64,
    },
    /// Tell the server that a call is no longer wanted.
    WithdrawCall {
        /// The call.
        ticket: u64,
    },
    /// Answer a call in the server's place.
    AnswerCall {
        /// The call.
        ticket: u64,
        /// With this.
        end: CallEnd,
    },
    /// Answer all open calls in the server's place.
    AnswerOpen {
        /// The calls, oldest first.
        calls: Vec<(u64, CallEnd)>,
    },
    /// Answer the calls that were with the server when it ended.
    AnswerLost {
        /// The calls, oldest first.
        calls: Vec<(u64, CallEnd)>,
    },
    /// Put to a person what the server asks for. Answer, whenever there is one: `InputAnswered`.
    AskPerson {
        /// What is asked for.
        input: u64,
        /// The call for which it is.
        ticket: u64,
    },
    /// Send what was answered. Answer: as to `SendCall`.
    SendInput {
        /// What was asked for.
        input: u64,
        /// The call for which it is.
        ticket: u64,
    },
    /// Refuse what the server asks for, without a question to a person.
    RefuseInput {
        /// What is asked for.
        input: u64,
    },
    /// Take back what has no answer yet and needs none any more: from the person, and from the server if it waits.
    WithdrawInputs {
        /// What was asked for, oldest first.
        inputs: Vec<u64>,
    },
    /// Ask for the tools anew. Answers: `Listed` or `ListFailed`.
    ListTools {
        /// The run.
        run: u32,
    },
    /// End the server's processes. Answer: `Ended`.
    EndServer {
        /// The run.
        run: u32,
    },
}

/// How a call ends that the server did not answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallEnd {
    /// It was never sent.
    NotRun {
        /// Why.
        why: String,
    },
    /// It was sent, and what it did is unknown.
    Unknown {
        /// Why.
        why: String,
    },
    /// It was sent, and no answer came in time: what it did is unknown.
    TimedOut {
        /// After that many milliseconds.
        after_ms: u64,
    },
    /// It was withdrawn.
    Cancelled {
        /// Whether it was sent before, so that what it did is unknown.
        was_sent: bool,
    },
}
