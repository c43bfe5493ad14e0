//! What must hold, by name, and what is counted on the way.

use agent_core::labels;

labels! {
    /// What the checker holds a model to.
    pub enum Invariant {
        /// Every call of the history is answered once, in the next message, in call order; one that ran is never reported as not run.
        CallsAnswered,
        /// Every request is valid for Anthropic Messages, also the one that would follow from any prompt.
        ValidForMessages,
        /// Every request is valid for OpenAI Chat Completions.
        ValidForChat,
        /// Every request is valid for OpenAI Responses.
        ValidForResponses,
        /// A user's message is in the history once, or pending once, or was handed back once, in the order in which it came; one that waits for the end of the turn is in no request of it.
        InputKept,
        /// A user's message is accepted in every waiting state after `Started`.
        InputAccepted,
        /// The history only grows, but where a summary or a clipped result shortens it.
        HistoryGrows,
        /// At most one thing is asked at a time, so at most one model call is in flight.
        OneAtATime,
        /// Late, repeated and unknown answers are refused.
        StaleRefused,
        /// A timer that nothing waits for any more is no error, and asks for nothing.
        LateTimersPass,
        /// A refusal leaves the machine equal; pieces of text and late timers do, too.
        RefusalChangesNothing,
        /// No model call and no tool call begins beyond a limit.
        WithinLimits,
        /// Money and tokens go beyond their limits by at most the call that was in flight.
        OvershootOfOneCall,
        /// Repetitions are bounded, hopeless failures are not repeated, and `Retry-After` is kept up to its cap.
        RetriesBounded,
        /// From a cancel to its end nothing is sent, scheduled or run, and what was typed meanwhile goes nowhere by itself.
        CancelStopsAll,
        /// From every waiting state after `Started` a cancel arrives at the prompt, each answer bringing it nearer; its lifecycle rests, too.
        CancelArrives,
        /// From every state a shutdown ends the session at once, and hands back what was not sent; the whole agent after one event more at most.
        ShutdownArrives,
        /// After the end every event but a late timer is refused, and the history can still be read.
        NothingAfterTheEnd,
        /// `outstanding` is what was asked and not answered, with the same tickets.
        OutstandingAgrees,
        /// Every waiting state has something that ends it, and every answer that is waited for is accepted.
        NotStuck,
        /// A call runs only if its arguments arrived complete and are an object.
        RunsCompleteCalls,
        /// How a run ended changes only between its start and its prompt.
        OutcomeKept,
        /// A raised limit continues exactly what the limit stopped, at once or behind what is under way.
        LimitsContinue,
        /// Every configured point of the user's hooks is asked before its step, and about something that happened.
        HooksAsked,
        /// Replaying its events gives the same session, bytes equal, or the same agent (a sample of the states).
        ReplayEqual,
        /// A step never panics.
        NoPanic,
        /// As long as an agent works, something is on its way: its lifecycle and its session do not wait for each other.
        NoDeadlock,
        /// An agent with commitments is done only when the last check of every one of them said that it is kept; a stopped turn claims nothing.
        ClaimsVerified,
        /// A turn ends for the lifecycle in the step in which it ends for the session, which has taken all it was told.
        RestsTogether,
        /// What the lifecycle commands the session does, in the same step; it is never refused.
        CommandsTaken,
        /// While the session of a bound agent works and nothing is being stopped, its lifecycle works, unless it has ended for good.
        WorkIsOverseen,
        /// An agent is sent back to work at most as often as it may be.
        RoundsBounded,
        /// The one outcome of a run follows from the turns and the end of this life, and is a success only if both are.
        OneOutcome,
        /// From everywhere a dismissal ends the agent, after three events at most.
        DismissalArrives,
    }
}

/// Something that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is broken.
    pub invariant: Invariant,
    /// What was found.
    pub found: String,
}

impl Fault {
    pub(crate) fn new(invariant: Invariant, found: impl Into<String>) -> Self {
        Self { invariant, found: found.into() }
    }
}

/// A fault of this kind where the condition does not hold.
pub(crate) fn hold(invariant: Invariant, holds: bool, found: impl FnOnce() -> String) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(Fault::new(invariant, found())) }
}

/// What is counted while states are explored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Choices that were accepted.
    pub edges: u64,
    /// Events that were refused and left the machine equal.
    pub refusals: u64,
    /// Requests that were judged.
    pub requests: u64,
    /// States that were rebuilt from their events.
    pub replays: u64,
    /// Most answers from a cancel to the prompt.
    pub cancel_answers: u64,
    /// Shutdowns that were asked for.
    pub shutdowns: u64,
    /// Most answers that were still waited for after a shutdown.
    pub shutdown_answers: u64,
    /// Most rows from a shutdown to the end.
    pub shutdown_rows: u64,
    /// Most model calls in a row without progress or a word of the user.
    pub calls_in_vain: u64,
    /// Most money beyond the limit, and what the call that led there cost, in billionths of a dollar.
    pub cost_over: (u64, u64),
    /// Most tokens beyond the limit, and what the call that led there took.
    pub tokens_over: (u64, u64),
    /// Most events from a shutdown to the end of the whole agent.
    pub shutdown_events: u64,
    /// Most events from a dismissal to the end of lifecycle and session.
    pub dismissal_steps: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Self) {
        self.edges += other.edges;
        self.refusals += other.refusals;
        self.requests += other.requests;
        self.replays += other.replays;
        self.cancel_answers = self.cancel_answers.max(other.cancel_answers);
        self.shutdowns += other.shutdowns;
        self.shutdown_answers = self.shutdown_answers.max(other.shutdown_answers);
        self.shutdown_rows = self.shutdown_rows.max(other.shutdown_rows);
        self.calls_in_vain = self.calls_in_vain.max(other.calls_in_vain);
        self.cost_over = self.cost_over.max(other.cost_over);
        self.tokens_over = self.tokens_over.max(other.tokens_over);
        self.shutdown_events = self.shutdown_events.max(other.shutdown_events);
        self.dismissal_steps = self.dismissal_steps.max(other.dismissal_steps);
    }
}
