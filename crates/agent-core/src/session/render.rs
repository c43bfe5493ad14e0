//! Gives the labels of a row their data: tickets, requests, calls.

use super::compaction;
use super::table::{ActionKind, State, Trigger};
use super::{Action, Asked, Event, Outstanding, Session, Ticket};
use crate::conversation::ToolCall;
use crate::llm::{LlmRequest, Purpose};
use crate::table::Row;
use alloc::vec::Vec;

impl Session {
    /// The action that a label stands for now, or nothing when there is nothing to do it with.
    pub(super) fn action(&mut self, kind: ActionKind) -> Option<Action> {
        match kind {
            ActionKind::SendLlmRequest => {
                let ticket = self.ask_model();
                Some(Action::SendLlmRequest { ticket, request: self.request() })
            }
            ActionKind::CancelLlmRequest => self.cancelled().map(|ticket| Action::CancelLlmRequest { ticket }),
            ActionKind::CancelTools => self.cancelled().map(|ticket| Action::CancelTools { ticket }),
            ActionKind::CancelHooks => self.cancelled().map(|ticket| Action::CancelHooks { ticket }),
            ActionKind::CancelRetry => self.cancelled().map(|ticket| Action::CancelRetry { ticket }),
            ActionKind::WithdrawApproval => self.cancelled().map(|ticket| Action::WithdrawApproval { ticket }),
            ActionKind::PrepareTools => {
                let calls = self.batch.as_ref()?.calls();
                Some(Action::PrepareTools { ticket: self.ask(), calls })
            }
            ActionKind::RequestApproval => {
                let questions = self.batch.as_ref()?.questions();
                Some(Action::RequestApproval { ticket: self.ask(), questions })
            }
            ActionKind::ExecuteTools => {
                let mut calls = Vec::new();
                self.emit_group(|call| calls.push(call.clone()))?;
                Some(Action::ExecuteTools { ticket: self.ask(), calls })
            }
            ActionKind::CheckGitCommits => {
                Some(Action::CheckGitCommits { ticket: self.ask(), changes: self.changes() })
            }
            ActionKind::RunAutoformatters => {
                Some(Action::RunAutoformatters { ticket: self.ask(), changes: self.changes() })
            }
            ActionKind::CommitChanges => Some(Action::CommitChanges { ticket: self.ask(), changes: self.changes() }),
            ActionKind::RunHooks => {
                let occasion = self.hooks.occasion()?;
                Some(Action::RunHooks { ticket: self.ask(), occasion })
            }
            ActionKind::ScheduleRetry => {
                let ticket = self.ask();
                self.schedule_retry(ticket)
            }
            ActionKind::StartDeadline => self.start_deadline(),
            ActionKind::HoldDeadline => self.hold_deadline(),
            // Both are rendered with the piece itself, by `transient`.
            ActionKind::DisplayText => None,
            ActionKind::DisplayMessage => {
                let blocks = self.reply.as_ref()?.shown().to_vec();
                (!blocks.is_empty())
                    .then_some(Action::DisplayMessage { blocks, usage: self.reply_usage.as_deref().copied() })
            }
            ActionKind::DisplayError => self
                .notice
                .take()
                .map(|notice| Action::DisplayError { message: notice.message, returned_input: notice.returned_input }),
            ActionKind::DiscardPartial => Some(Action::DiscardPartial),
            ActionKind::PromptForInput => {
                self.end_turn();
                Some(Action::PromptForInput)
            }
            ActionKind::ReturnQueuedInput => {
                let texts = self.outbox.take_queue();
                (!texts.is_empty()).then_some(Action::ReturnQueuedInput { texts })
            }
            ActionKind::Shutdown => Some(Action::Shutdown),
        }
    }

    /// What rendering an action changes in the session, and nothing else: the actions of a journal are not performed again, and to make them
    /// is a sixth of what a step costs.
    pub(super) fn skip_action(&mut self, kind: ActionKind) {
        match kind {
            ActionKind::SendLlmRequest => drop(self.ask_model()),
            ActionKind::PrepareTools | ActionKind::RequestApproval if self.batch.is_none() => {}
            ActionKind::PrepareTools
            | ActionKind::RequestApproval
            | ActionKind::CheckGitCommits
            | ActionKind::RunAutoformatters
            | ActionKind::CommitChanges
            | ActionKind::ScheduleRetry => drop(self.ask()),
            ActionKind::ExecuteTools => {
                if self.emit_group(|_| {}).is_some() {
                    self.ask();
                }
            }
            ActionKind::DisplayText
            | ActionKind::DisplayMessage
            | ActionKind::DiscardPartial
            | ActionKind::Shutdown => {}
            ActionKind::CancelLlmRequest
            | ActionKind::CancelTools
            | ActionKind::CancelHooks
            | ActionKind::CancelRetry
            | ActionKind::WithdrawApproval
            | ActionKind::RunHooks
            | ActionKind::StartDeadline
            | ActionKind::HoldDeadline
            | ActionKind::DisplayError
            | ActionKind::PromptForInput
            | ActionKind::ReturnQueuedInput => drop(self.action(kind)),
        }
    }

    /// Counts a model call, and gives it a ticket.
    fn ask_model(&mut self) -> Ticket {
        self.ledger.model_calls = self.ledger.model_calls.saturating_add(1);
        self.replaced = None;
        if !self.is_compacting() {
            self.hooks.summary_ended();
        }
        self.ask()
    }

    /// How many calls may run beside each other, and how many of the same in a row.
    pub(super) fn most_in_group(&self) -> (u64, u64) {
        let (failures, alike) = self.most_in_circles().left(&self.progress());
        let at_most = |left: Option<u32>| left.map_or(MOST_IN_GROUP, u64::from).min(MOST_IN_GROUP);
        (at_most(failures), at_most(alike))
    }

    /// Tells the next group of calls, which count from now on; nothing when there is no batch.
    fn emit_group(&mut self, tell: impl FnMut(&ToolCall)) -> Option<()> {
        let (most, alike) = self.most_in_group();
        let emitted = self.batch.as_mut()?.emit_group(most, alike, tell);
        self.ledger.tool_calls = self.ledger.tool_calls.saturating_add(emitted);
        Some(())
    }

    /// A piece of text on its way to the screen: moved through, kept nowhere.
    #[inline]
    pub(super) fn transient(&self, row: &Row<State, Trigger, ActionKind>, event: Event, actions: &mut Vec<Action>) {
        if !row.actions.contains(&ActionKind::DisplayText) {
            return;
        }
        if let Event::LlmDelta { delta, .. } = event {
            actions.push(Action::DisplayText { delta });
        } else if let Event::ToolProgress { call, text, .. } = event {
            actions.push(Action::DisplayProgress { call, text });
        }
    }

    pub(super) fn render_outstanding(&self) -> Vec<Outstanding> {
        let mut out = Vec::new();
        if self.table.table().is_terminal(self.state) {
            return out;
        }
        if let Some(asked) = self.asked
            && let Some(action) = self.asked_again(asked.ticket)
        {
            out.push(Outstanding { action, is_cancelled: asked.is_cancelled });
        }
        // Under a cancel the clock has nothing to stop any more.
        if self.cancel.is_none()
            && let (Some((ticket, _)), Some(delay_ms)) = (self.deadline.armed, self.time_left_ms(self.now_ms))
        {
            let action = Action::StartDeadline { ticket, delay_ms };
            out.push(Outstanding { action, is_cancelled: false });
        }
        out
    }

    /// The action that a waiting state waits for, as it was asked.
    fn asked_again(&self, ticket: Ticket) -> Option<Action> {
        match self.state {
            State::CallingLlm | State::SendingToolResults | State::Compacting => {
                Some(Action::SendLlmRequest { ticket, request: self.request() })
            }
            State::PreparingTools => Some(Action::PrepareTools { ticket, calls: self.batch.as_ref()?.calls() }),
            State::AwaitingApproval => {
                Some(Action::RequestApproval { ticket, questions: self.batch.as_ref()?.questions() })
            }
            State::ExecutingTools => Some(Action::ExecuteTools { ticket, calls: self.batch.as_ref()?.running() }),
            State::CheckingGitCommits => Some(Action::CheckGitCommits { ticket, changes: self.changes() }),
            State::RunningAutoformatters => Some(Action::RunAutoformatters { ticket, changes: self.changes() }),
            State::CommittingChanges => Some(Action::CommitChanges { ticket, changes: self.changes() }),
            State::RunningHooks => Some(Action::RunHooks { ticket, occasion: self.hooks.occasion()? }),
            State::Error => self.schedule_retry(ticket),
            State::Ready
            | State::WaitingForUserInput
            | State::PreparingRequest
            | State::ProcessingLlmResponse
            | State::EndOfTurn
            | State::ToolUseRequested
            | State::CheckingForCancellation
            | State::SettlingHooks
            | State::CheckingBudget
            | State::GatheringAdditionalMessages
            | State::Cancelled
            | State::BudgetExceeded
            | State::ShuttingDown => None,
        }
    }

    /// A new ticket, which the state that is being entered waits for.
    fn ask(&mut self) -> Ticket {
        let ticket = self.ticket();
        self.asked = Some(Asked { ticket, is_cancelled: false });
        ticket
    }

    pub(super) fn ticket(&mut self) -> Ticket {
        self.next_ticket = self.next_ticket.wrapping_add(1);
        Ticket(self.next_ticket)
    }

    /// The ticket of what is in flight, unless the driver has been told to stop it already.
    fn cancelled(&mut self) -> Option<Ticket> {
        let asked = self.asked.as_mut().filter(|asked| !asked.is_cancelled)?;
        asked.is_cancelled = true;
        Some(asked.ticket)
    }

    /// The next model call. The conversation in it is a cheap copy.
    fn request(&self) -> LlmRequest {
        let (purpose, conversation) = if self.is_compacting() {
            let window_tokens = self.called_model().and_then(|model| model.context_window_tokens);
            (Purpose::Compaction, compaction::request(&self.conversation, self.is_continuing(), window_tokens))
        } else {
            let mut conversation = self.conversation.clone();
            if let Some(input) = self.outbox.unsent() {
                conversation.push_input(input);
            }
            (Purpose::Turn, conversation)
        };
        LlmRequest {
            purpose,
            model: self.called_id(),
            system: self.called_system().clone(),
            tools: self.called_tools().clone(),
            conversation,
            max_output_tokens: self.called_output_tokens(),
        }
    }

    fn schedule_retry(&self, ticket: Ticket) -> Option<Action> {
        let retry = self.retry.as_ref()?;
        Some(Action::ScheduleRetry {
            ticket,
            delay_ms: retry.delay_ms,
            failed_attempts: self.failed_attempts,
            reason: retry.reason.clone(),
        })
    }
}

/// Calls of a group at most. Hosts run a few at the same time; and each that ends is looked for among those of its group.
const MOST_IN_GROUP: u64 = 256;
