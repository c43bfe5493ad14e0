//! What must hold, by name, and what is counted on the way.

use agent_core::labels;

labels! {
    /// What the model checker checks.
    pub enum Invariant {
        /// Every call of the history is answered once, in the next message, in call order; one that ran is never reported as not run.
        CallsAnswered,
        /// Every request is valid for Anthropic Messages, also the one that would follow from any prompt.
        ValidForMessages,
        /// Every request is valid for OpenAI Chat Completions.
        ValidForChat,
        /// Every request is valid for OpenAI Responses.
        ValidForResponses,
        /// A user's message is once in the history, pending or handed back, in order; one for after the turn is not sent in it.
        InputKept,
        /// A user's message is accepted in every waiting state after `Started`.
        InputAccepted,
        /// The history only grows, but where a summary or a clipped result shortens it.
        HistoryGrows,
        /// A summary leaves at most four fifths of the history.
        SummariesShrink,
        /// A turn makes at most as many summaries by itself as its limit allows, and none after three failures in a row.
        SummariesBounded,
        /// At most one action is outstanding at a time, so at most one model call is in flight.
        OneAtATime,
        /// Late, repeated and unknown answers are refused.
        StaleRefused,
        /// A timer that nothing waits for any more is not an error, and requests nothing.
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
        /// From every waiting state after `Started` a cancel leads to the prompt, nearer with each answer; the lifecycle rests too.
        CancelArrives,
        /// From every state a shutdown ends the session at once, handing back what was not sent; the agent needs at most one more event.
        ShutdownArrives,
        /// After the end every event but a late timer is refused, and the history can still be read.
        NothingAfterTheEnd,
        /// `outstanding` lists the requested actions without an answer, with the same tickets.
        OutstandingAgrees,
        /// Every waiting state has an event that ends it, and every expected answer is accepted.
        NotStuck,
        /// A call runs only if its arguments arrived complete and are an object.
        RunsCompleteCalls,
        /// How a run ended changes only between its start and its prompt.
        OutcomeKept,
        /// A raised limit continues exactly what the limit stopped, at once or after the work in progress.
        LimitsContinue,
        /// Every configured point of the user's hooks is asked before its step, and about something that happened.
        HooksAsked,
        /// Replaying its events gives the same session, bytes equal, or the same agent (a sample of the states).
        ReplayEqual,
        /// A step never panics.
        NoPanic,
        /// While an agent works, an action is in progress: its lifecycle and its session do not wait for each other.
        NoDeadlock,
        /// An agent with commitments is done only when the last check of each one passed; a stopped turn claims nothing.
        ClaimsVerified,
        /// A turn ends in the same step for the lifecycle and for the session, which has taken all its input.
        RestsTogether,
        /// The session performs a command of the lifecycle in the same step and never refuses it.
        CommandsTaken,
        /// While the session of a bound agent works and nothing is being stopped, its lifecycle works, unless it has ended for good.
        WorkIsOverseen,
        /// An agent is sent back to work at most as often as its limit allows.
        RoundsBounded,
        /// The one outcome of a run follows from the turns and the end of this life, and is a success only if both are.
        OneOutcome,
        /// From every state a dismissal ends the agent, after at most three events.
        DismissalArrives,
        /// No agent rests while one below it is alive.
        RestsAbove,
        /// The outcome of an agent is told once to the one above it, whatever dies in between.
        ToldOnce,
        /// What agents below may still spend counts as spent, and never goes beyond the limits of the one above.
        LeasesHold,
        /// What an agent spent counts for the one above it when it has an outcome, and nothing of its lease is held then.
        SpentCounts,
        /// No agent stands deeper than the session allows, and there are not more of them, at a time or in all.
        AgentsWithinLimits,
        /// An agent works under the policies of all above it, as they are now.
        PoliciesHoldBelow,
        /// From every state, a tree whose models ask for nothing more comes to rest, and no agent below is left at work.
        TreesRest,
        /// From every state a stop ends every agent below; once what the root itself had begun is stopped, no model is called there.
        StopsReachBelow,
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
