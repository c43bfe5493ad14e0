//! What an observer knows who sees only events and actions: kept beside every session, and compared with what the session says.
//!
//! It belongs to the key of a state, so that a state is never merged with one that an observer can tell from it.

mod asks;
mod history;
mod hooks;
mod inputs;
mod limits;
mod retries;
mod runs;
mod summaries;

use crate::invariants::{Fault, Tally};
use crate::request::{self, Format};
use agent_core::conversation::CallId;
use agent_core::session::{Action, Event, Session, Step, Ticket};
pub(crate) use asks::Asked;
pub(crate) use hooks::Hooks;
pub(crate) use inputs::Inputs;
pub(crate) use runs::Runs;
pub(crate) use summaries::Summaries;

/// What is known from outside.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// What was asked and not answered.
    pub(crate) open: Option<Asked>,
    /// The deadline that was started and is neither reached nor held.
    pub(crate) deadline: Option<Ticket>,
    /// The newest ticket.
    pub(crate) last_ticket: u64,
    /// Whether a stop was asked for and the prompt has not come.
    pub(crate) is_cancelled: bool,
    pub(crate) inputs: Inputs,
    /// The calls of the answer that is being worked on.
    pub(crate) batch: Vec<Seen>,
    /// Model calls in a row without progress and without a word of the user.
    pub(crate) in_vain: u64,
    /// Whether a call of this run was denied because no one could be asked.
    pub(crate) nobody: bool,
    pub(crate) runs: Runs,
    pub(crate) summaries: Summaries,
    pub(crate) hooks: Hooks,
    /// Whether a call of the answer that is being worked on ran.
    has_ran: bool,
}

/// A call that the driver was told of.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) id: CallId,
    /// Whether the driver was told to run it.
    pub(crate) is_run: bool,
    /// Whether the driver said that the call never began.
    pub(crate) is_unbegun: bool,
}

/// One accepted event with everything around it.
pub struct Edge<'a> {
    /// The session that took it.
    pub before: &'a Session,
    /// The event.
    pub event: &'a Event,
    /// The result.
    pub step: &'a Step,
    /// The session then.
    pub after: &'a Session,
    /// The formats that requests are judged by.
    pub formats: &'a [Format],
}

impl Observed {
    /// What is known after a step, when everything is as it must be.
    ///
    /// # Errors
    /// Names the invariant that does not hold.
    pub fn next(&self, edge: &Edge<'_>, tally: &mut Tally) -> Result<Self, Fault> {
        let mut next = self.clone();
        next.judge_starts(edge)?;
        next.follow_asks(edge)?;
        next.has_ran = next.batch.iter().any(|seen| seen.is_run && !seen.is_unbegun);
        next.follow_runs(edge, self.is_cancelled)?;
        next.follow_summaries(edge)?;
        next.follow_hooks(edge, self.is_cancelled)?;
        next.follow_history(edge)?;
        next.follow_inputs(edge)?;
        next.judge_limits(edge, tally)?;
        next.follow_retries(edge, tally)?;
        if let Event::ApprovalAnswered { answer: agent_core::permission::ApprovalAnswer::Nobody, .. } = edge.event {
            next.nobody = true;
        }
        next.nobody &= self.open.is_some() || next.open.is_some();
        for action in &edge.step.actions {
            if let Action::SendLlmRequest { request, .. } = action {
                request::judge(edge.formats, request, tally)?;
            }
        }
        next.judge_way_out(self, edge, tally)?;
        Ok(next)
    }
}
