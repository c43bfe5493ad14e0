//! Gives the labels of a row their data: tickets, requests, calls.

use super::compaction;
use super::stop::Said;
use super::table::{ActionKind, State, Trigger};
use super::{Action, Event, Outstanding, Session, Summarised, Ticket};
use crate::llm::{LlmRequest, Purpose};
use crate::table::Row;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// What an action was given when its row fired, beside what is in the session.
pub(super) enum Issued {
    /// A ticket; that of nothing where no answer is expected.
    Ticket(Ticket),
    Notice(Box<Said>),
    Summary(Box<Summarised>),
    Texts(Vec<String>),
}

impl State {
    /// What a waiting state asked for, and waits for.
    pub(super) const fn asks(self) -> Option<ActionKind> {
        Some(match self {
            Self::CallingLlm | Self::SendingToolResults | Self::Compacting => ActionKind::SendLlmRequest,
            Self::PreparingTools => ActionKind::PrepareTools,
            Self::AwaitingApproval => ActionKind::RequestApproval,
            Self::ExecutingTools => ActionKind::ExecuteTools,
            Self::CheckingGitCommits => ActionKind::CheckGitCommits,
            Self::RunningAutoformatters => ActionKind::RunAutoformatters,
            Self::CommittingChanges => ActionKind::CommitChanges,
            Self::RunningHooks => ActionKind::RunHooks,
            Self::Error => ActionKind::ScheduleRetry,
            Self::Ready
            | Self::WaitingForUserInput
            | Self::PreparingRequest
            | Self::ProcessingLlmResponse
            | Self::EndOfTurn
            | Self::ToolUseRequested
            | Self::CheckingForCancellation
            | Self::SettlingHooks
            | Self::CheckingBudget
            | Self::GatheringAdditionalMessages
            | Self::Cancelled
            | Self::BudgetExceeded
            | Self::ShuttingDown => return None,
        })
    }
}

impl Session {
    /// What a label of a row changes in the session: it gives a ticket, counts, and takes out what is handed over. `None` if there is
    /// nothing to do it with.
    #[inline]
    pub(super) fn issue(&mut self, kind: ActionKind) -> Option<Issued> {
        let ticket = match kind {
            ActionKind::SendLlmRequest => self.ask_model(),
            ActionKind::CancelLlmRequest
            | ActionKind::CancelTools
            | ActionKind::CancelHooks
            | ActionKind::CancelRetry
            | ActionKind::WithdrawApproval => self.asked.stop()?,
            ActionKind::PrepareTools | ActionKind::RequestApproval if self.batch.is_none() => return None,
            ActionKind::RunHooks if !self.hooks.is_running() => return None,
            ActionKind::ExecuteTools => {
                self.emit_group()?;
                self.ask()
            }
            ActionKind::PrepareTools
            | ActionKind::RequestApproval
            | ActionKind::CheckGitCommits
            | ActionKind::RunAutoformatters
            | ActionKind::CommitChanges
            | ActionKind::RunHooks
            | ActionKind::ScheduleRetry => self.ask(),
            ActionKind::StartDeadline => self.start_deadline()?,
            ActionKind::HoldDeadline => self.stop_clock()?,
            ActionKind::DisplayError => return self.notice.take().map(Issued::Notice),
            ActionKind::DisplaySummary => return self.summarised.take().map(Issued::Summary),
            ActionKind::PromptForInput => {
                self.end_turn();
                NO_TICKET
            }
            ActionKind::ReturnQueuedInput => {
                let texts = self.outbox.take_returned();
                return (!texts.is_empty()).then_some(Issued::Texts(texts));
            }
            // The first is rendered with the piece itself, by `transient`.
            ActionKind::DisplayText
            | ActionKind::DisplayMessage
            | ActionKind::DiscardPartial
            | ActionKind::Shutdown => NO_TICKET,
        };
        Some(Issued::Ticket(ticket))
    }

    /// The action that a label stands for, as it was issued.
    #[inline]
    pub(super) fn describe(&self, kind: ActionKind, issued: Issued) -> Option<Action> {
        match issued {
            Issued::Ticket(ticket) => self.action(kind, ticket),
            Issued::Notice(notice) => {
                let Said { message, returned_input } = *notice;
                Some(Action::DisplayError { message, returned_input })
            }
            Issued::Summary(summarised) => Some(Action::DisplaySummary { summarised: *summarised }),
            Issued::Texts(texts) => Some(Action::ReturnQueuedInput { texts }),
        }
    }

    /// The same with its ticket alone: it can be described again as long as it is waited for.
    fn action(&self, kind: ActionKind, ticket: Ticket) -> Option<Action> {
        Some(match kind {
            ActionKind::SendLlmRequest => Action::SendLlmRequest { ticket, request: self.request() },
            ActionKind::CancelLlmRequest => Action::CancelLlmRequest { ticket },
            ActionKind::CancelTools => Action::CancelTools { ticket },
            ActionKind::CancelHooks => Action::CancelHooks { ticket },
            ActionKind::CancelRetry => Action::CancelRetry { ticket },
            ActionKind::WithdrawApproval => Action::WithdrawApproval { ticket },
            ActionKind::PrepareTools => Action::PrepareTools { ticket, calls: self.batch.as_ref()?.calls() },
            ActionKind::RequestApproval => {
                Action::RequestApproval { ticket, questions: self.batch.as_ref()?.questions() }
            }
            ActionKind::ExecuteTools => Action::ExecuteTools { ticket, calls: self.batch.as_ref()?.running() },
            ActionKind::CheckGitCommits => Action::CheckGitCommits { ticket, changes: self.changes.told() },
            ActionKind::RunAutoformatters => Action::RunAutoformatters { ticket, changes: self.changes.told() },
            ActionKind::CommitChanges => Action::CommitChanges { ticket, changes: self.changes.told() },
            ActionKind::RunHooks => Action::RunHooks { ticket, occasion: self.hooks.occasion()? },
            ActionKind::ScheduleRetry => return self.schedule_retry(ticket),
            ActionKind::StartDeadline => Action::StartDeadline { ticket, delay_ms: self.time_left_ms(self.now_ms)? },
            ActionKind::HoldDeadline => Action::HoldDeadline { ticket },
            ActionKind::DisplayText
            | ActionKind::DisplayError
            | ActionKind::DisplaySummary
            | ActionKind::ReturnQueuedInput => return None,
            ActionKind::DisplayMessage => {
                let blocks = self.reply.as_ref()?.shown().to_vec();
                let usage = self.reply_usage.as_deref().copied();
                return (!blocks.is_empty()).then_some(Action::DisplayMessage { blocks, usage });
            }
            ActionKind::DiscardPartial => Action::DiscardPartial,
            ActionKind::PromptForInput => Action::PromptForInput,
            ActionKind::Shutdown => Action::Shutdown,
        })
    }

    /// Counts a model call, and gives it a ticket.
    fn ask_model(&mut self) -> Ticket {
        self.ledger.model_calls = self.ledger.model_calls.saturating_add(1);
        self.calls.begin();
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

    /// Gives the next group of calls, which count from now on; `None` if there is no batch.
    fn emit_group(&mut self) -> Option<()> {
        let (most, alike) = self.most_in_group();
        let emitted = self.batch.as_mut()?.emit_group(most, alike);
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
        if let (Some(ticket), Some(kind)) = (self.asked.ticket(), self.state.asks())
            && let Some(action) = self.action(kind, ticket)
        {
            out.push(Outstanding { action, is_cancelled: self.asked.is_stopped() });
        }
        // Under a cancel the clock has nothing to stop any more.
        if !self.cancel.is_pending()
            && let Some(ticket) = self.deadline.ticket()
            && let Some(action) = self.action(ActionKind::StartDeadline, ticket)
        {
            out.push(Outstanding { action, is_cancelled: false });
        }
        out
    }

    /// A new ticket, which the state that is being entered waits for.
    fn ask(&mut self) -> Ticket {
        let ticket = self.next_ticket.give();
        self.asked.ask(ticket);
        ticket
    }

    /// The next model call. The conversation in it is a cheap copy.
    fn request(&self) -> LlmRequest {
        let (purpose, conversation) = if self.is_compacting() {
            let window_tokens = self.called_model().and_then(|model| model.context_window_tokens);
            (
                Purpose::Compaction,
                compaction::request(&self.conversation, self.is_continuing(), window_tokens, self.compaction.focus()),
            )
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
            effort: self.called_model().and_then(|model| model.effort),
        }
    }

    fn schedule_retry(&self, ticket: Ticket) -> Option<Action> {
        let retry = self.calls.retry()?;
        Some(Action::ScheduleRetry {
            ticket,
            delay_ms: retry.delay_ms,
            failed_attempts: self.calls.failed_attempts(),
            reason: retry.reason.clone(),
        })
    }
}

/// Calls of a group at most. Hosts run a few at the same time; and each that ends is looked for among those of its group.
const MOST_IN_GROUP: u64 = 256;
/// Of an action that expects no answer.
const NO_TICKET: Ticket = Ticket(0);
