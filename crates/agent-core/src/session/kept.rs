//! The serialised session. Reading accepts only sessions that could have existed: one whose parts contradict each other would wait for an
//! answer that was never requested.

use super::{HookState, Session, State};
use crate::conversation::{Answer, Item};
use crate::hook::HookPoint;
use crate::table::Label;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

impl Serialize for Session {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The derived function, which is not a method of the trait.
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Session {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let session = Self::deserialize(deserializer)?;
        match session.contradiction() {
            None => Ok(session),
            Some(found) => Err(D::Error::custom(format!("no session is ever in {:?} {found}", session.state))),
        }
    }
}

impl Session {
    /// Gives a session of version 1 of the forms what it lacks: it had no hooks, and was never in the states that are theirs.
    pub(crate) fn add_hooks(fields: &mut Map<String, Value>) -> Result<(), serde_json::Error> {
        fields.insert("hooks".to_string(), serde_json::to_value(HookState::default())?);
        if let Some(Value::Array(totals)) = fields.get_mut("trace").and_then(|trace| trace.get_mut("totals"))
            && totals.len() == State::ALL.len() - HOOK_STATES.len()
        {
            for state in HOOK_STATES {
                totals.insert(state as usize, serde_json::to_value((0, 0))?);
            }
        }
        Ok(())
    }

    /// Whether something is there that is in no answered request.
    fn has_unsent(&self) -> bool {
        self.outbox.has_unsent() || self.conversation.awaits_answer()
    }

    /// Whether work that a limit stopped can be there, waiting.
    fn may_be_stopped(&self) -> bool {
        match self.state {
            State::ShuttingDown => true,
            State::WaitingForUserInput | State::Compacting | State::RunningHooks | State::Error => self.has_unsent(),
            State::Ready
            | State::CallingLlm
            | State::SendingToolResults
            | State::PreparingTools
            | State::AwaitingApproval
            | State::ExecutingTools
            | State::CheckingGitCommits
            | State::RunningAutoformatters
            | State::CommittingChanges
            | State::PreparingRequest
            | State::ProcessingLlmResponse
            | State::EndOfTurn
            | State::ToolUseRequested
            | State::CheckingForCancellation
            | State::SettlingHooks
            | State::CheckingBudget
            | State::GatheringAdditionalMessages
            | State::Cancelled
            | State::BudgetExceeded => false,
        }
    }

    /// Whether a ticket that is open was not given yet.
    fn has_ticket_of_the_future(&self) -> bool {
        let deadline = self.deadline.ticket();
        let open = self.asked.ticket().into_iter().chain(deadline);
        open.into_iter().any(|ticket| !self.next_ticket.has_given(ticket))
    }

    fn contradiction(&self) -> Option<&'static str> {
        let batch = self.batch.as_deref();
        if self.table.table().is_passing(self.state) {
            return Some("at rest");
        }
        // What was in flight at the end is not forgotten.
        let waits_for_driver = if self.is_over() { self.asked.is_open() } else { self.state.asks().is_some() };
        let has_batch = matches!(self.state, State::PreparingTools | State::AwaitingApproval | State::ExecutingTools);
        let faults = [
            (self.asked.is_open() != waits_for_driver, "with a request to the driver missing or left over"),
            (self.has_ticket_of_the_future(), "with a ticket that has not been issued"),
            (self.held.is_stopped() && !self.may_be_stopped(), "with missing work that a limit stopped"),
            (self.cancel.is_pending() && !self.asked.is_open(), "with a stop of nothing"),
            (
                self.hooks.is_running() != (self.state == State::RunningHooks),
                "with the hooks' input missing or left over",
            ),
            (self.hooks.vetted() > self.outbox.pending().len(), "with more checked messages than there are"),
            (self.reply.is_some(), "with an unread answer"),
            (batch.is_some() != has_batch, "with open calls missing or left over"),
            (batch.is_some_and(|batch| !batch.is_of_its_answer()), "with open calls of another answer"),
            (!self.has_calls_of_its_own(), "with a call that occurs twice or is not on record"),
            (!self.has_something_to_send(), "with nothing to send"),
            (!self.outbox.is_non_blank(), "with a blank message"),
            (
                self.state == State::AwaitingApproval && !batch.is_some_and(super::Batch::has_open_questions),
                "with no open question",
            ),
            (
                self.state == State::ExecutingTools && batch.is_none_or(|batch| batch.running().is_empty()),
                "with no running call",
            ),
            (self.state == State::Compacting && !self.is_compacting(), "without a summary to make"),
            (self.is_answering() && self.is_compacting(), "with a summary to make"),
            (self.state == State::Error && self.calls.retry().is_none(), "without a wait"),
        ];
        faults.into_iter().find(|(is_so, _)| *is_so).map(|(_, what)| what)
    }

    /// Whether an answer of the model will be appended to the history.
    const fn is_answering(&self) -> bool {
        matches!(self.state, State::CallingLlm | State::SendingToolResults)
    }

    /// Whether what is going to be sent, or was, has something in it.
    fn has_something_to_send(&self) -> bool {
        let is_waiting = self.outbox.has_unsent();
        match self.state {
            State::CallingLlm | State::SendingToolResults => self.has_unsent(),
            State::PreparingTools | State::AwaitingApproval | State::ExecutingTools => {
                self.conversation.awaits_answer()
            }
            State::CheckingGitCommits | State::RunningAutoformatters | State::CommittingChanges => {
                self.conversation.has_results_due()
            }
            State::RunningHooks if self.hooks.run_on(HookPoint::UserPromptSubmit) => is_waiting,
            State::RunningHooks if self.hooks.run_on(HookPoint::PostToolUse) => self.conversation.has_results_due(),
            State::RunningHooks if self.hooks.run_on(HookPoint::SessionEnd) => true,
            State::RunningHooks if self.hooks.run_on(HookPoint::Stop) => !self.conversation.is_empty(),
            State::RunningHooks | State::Error if self.is_compacting() => self.has_something_to_summarise(),
            State::RunningHooks | State::Error => self.has_unsent(),
            State::Compacting => self.has_something_to_summarise(),
            State::Ready
            | State::WaitingForUserInput
            | State::ShuttingDown
            | State::PreparingRequest
            | State::ProcessingLlmResponse
            | State::EndOfTurn
            | State::ToolUseRequested
            | State::CheckingForCancellation
            | State::SettlingHooks
            | State::CheckingBudget
            | State::GatheringAdditionalMessages
            | State::Cancelled
            | State::BudgetExceeded => true,
        }
    }

    /// Whether there is something to summarise; and something to continue with, should a summary fail that was not asked for.
    fn has_something_to_summarise(&self) -> bool {
        let goes_on = !self.compaction.is_requested() && self.config.summaries.max_per_turn.is_some();
        !self.conversation.is_empty() && (!goes_on || self.has_unsent())
    }

    /// Whether every call, answered or open, has an id that no other has and that a further one cannot get.
    fn has_calls_of_its_own(&self) -> bool {
        let answers = self.conversation.iter().filter_map(|item| match item.as_ref() {
            Item::Round(round) => Some(round.answer()),
            Item::Input(_) | Item::Summary(_) | Item::Answer(_) => None,
        });
        let open = self.batch.as_ref().map(|batch| batch.answer());
        let mut seen = BTreeSet::new();
        let ids = answers.chain(open).flat_map(Answer::calls).map(|call| &call.id);
        ids.into_iter().all(|id| self.used_ids.contains(id.as_str()) && seen.insert(id))
    }
}

/// In the order of the states, which is that of the times spent in them.
const HOOK_STATES: [State; 2] = [State::RunningHooks, State::SettlingHooks];
