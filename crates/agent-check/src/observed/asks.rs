//! What is asked and answered: one thing at a time, stopped by a cancel, and nothing started under one.

use super::{Edge, Observed, Seen};
use crate::action_name;
use crate::invariants::{Fault, Invariant, Tally, hold};
use crate::session::alphabet::Question;
use crate::session::ticket;
use agent_core::conversation::{CallId, ToolCall};
use agent_core::session::{Action, Event, Session, State, Ticket};
use agent_core::tool::ToolStatus;

/// Names of calls that must never run: their arguments are no object, or did not arrive.
const UNUSABLE: &[&str] = &["bad", "cut"];

/// Something that was asked and is not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) question: Question,
    pub(crate) ticket: Ticket,
    /// Calls whose answer is expected, where each call has its own.
    pub(crate) calls: Vec<CallId>,
    pub(crate) is_cancelled: bool,
    /// Whether it is asked again when another program resumes the session after it had begun.
    pub(crate) is_repeated: bool,
}

impl Asked {
    /// What an action asks; `None` if it asks nothing. Deadlines are another matter.
    pub(crate) fn by(action: &Action) -> Option<Self> {
        let question = Question::of(action).filter(|question| *question != Question::Deadline)?;
        let calls = match action {
            Action::PrepareTools { calls, .. } | Action::ExecuteTools { calls, .. } => {
                calls.iter().map(|call| call.id.clone()).collect()
            }
            Action::RequestApproval { questions, .. } => {
                questions.iter().map(|question| question.call.id.clone()).collect()
            }
            _ => Vec::new(),
        };
        let is_repeated = match action {
            Action::SendLlmRequest { .. } => false,
            Action::RunHooks { occasion, .. } => occasion.point().may_be_repeated(),
            _ => true,
        };
        Some(Self { question, ticket: ticket(action)?, calls, is_cancelled: false, is_repeated })
    }

    /// Whether an event is an answer to this, by its kind and ticket.
    pub(crate) fn is_answered_by(&self, event: &Event) -> bool {
        let (ticket, fits) = match event {
            Event::LlmCompleted { ticket, .. }
            | Event::LlmFailed { ticket, .. }
            | Event::LlmAborted { ticket, .. }
            | Event::LlmInterrupted { ticket } => (ticket, self.question == Question::Model),
            Event::RetryTimeout { ticket } => (ticket, self.question == Question::Retry),
            Event::ToolsPrepared { ticket, facts } => {
                (ticket, self.question == Question::Facts && facts.len() == self.calls.len())
            }
            Event::ApprovalAnswered { ticket, call, .. } => {
                (ticket, self.question == Question::Approval && self.calls.contains(call))
            }
            Event::ToolCompleted { ticket, call, .. } => {
                (ticket, self.question == Question::Tools && self.calls.contains(call))
            }
            Event::GitChecked { ticket, .. } => (ticket, self.question == Question::Git),
            Event::FormattersFinished { ticket, .. } => (ticket, self.question == Question::Format),
            Event::ChangesCommitted { ticket, .. } => (ticket, self.question == Question::Commit),
            Event::HooksFinished { ticket, .. } => (ticket, self.question == Question::Hooks),
            Event::HookFailed { ticket, .. } => (ticket, self.question.has_troubles()),
            // The hooks before the calls may end the turn, too.
            Event::HooksStoppedTurn { ticket, .. } => (ticket, self.question.has_troubles()),
            Event::SessionResumed { begun, calls } => {
                let is_lost = |call: &CallId| calls.iter().any(|left| left.call == *call && !left.only_reads);
                let are_lost = self.question == Question::Tools && self.calls.iter().any(is_lost);
                return self.is_cancelled || *begun && !self.is_repeated || are_lost;
            }
            _ => return false,
        };
        *ticket == self.ticket && fits
    }

    /// Answers that are still to come.
    pub(crate) fn answers_left(&self) -> u64 {
        if self.question == Question::Tools { self.calls.len() as u64 } else { 1 }
    }
}

impl Observed {
    /// Under a cancel nothing starts. What starts is whole, and not empty.
    pub(super) fn judge_starts(&mut self, edge: &Edge<'_>) -> Result<(), Fault> {
        let is_stop = matches!(edge.event, Event::CancelRequested | Event::DeadlineReached { .. });
        self.is_cancelled |= is_stop && self.open.is_some();
        for action in &edge.step.actions {
            let starts = Asked::by(action).is_some() || matches!(action, Action::StartDeadline { .. });
            hold(Invariant::CancelStopsAll, !(starts && self.is_cancelled), || {
                format!("{} under a cancel", action_name(action))
            })?;
            match action {
                Action::PrepareTools { calls, .. } => {
                    let seen = |call: &ToolCall| Seen { id: call.id.clone(), is_run: false, is_unbegun: false };
                    self.batch = calls.iter().map(seen).collect();
                    hold(Invariant::NotStuck, !calls.is_empty(), || "an empty list of calls is prepared".to_owned())?;
                }
                Action::ExecuteTools { calls, .. } => {
                    hold(Invariant::NotStuck, !calls.is_empty(), || "an empty list of calls is run".to_owned())?;
                    self.note_runs(calls)?;
                }
                Action::RequestApproval { questions, .. } => {
                    hold(Invariant::NotStuck, !questions.is_empty(), || "nothing is asked".to_owned())?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn note_runs(&mut self, calls: &[ToolCall]) -> Result<(), Fault> {
        for call in calls {
            let is_usable = !UNUSABLE.contains(&call.name.as_ref())
                && serde_json::from_str::<serde_json::Map<_, serde_json::Value>>(call.arguments.as_str()).is_ok();
            hold(Invariant::RunsCompleteCalls, is_usable, || {
                format!("{} {} runs", call.name, call.arguments.as_str())
            })?;
            match self.batch.iter_mut().find(|seen| seen.id == call.id) {
                Some(seen) if !seen.is_run => seen.is_run = true,
                Some(_) => return Err(Fault::new(Invariant::OneAtATime, format!("{} runs twice", call.id))),
                None => return Err(Fault::new(Invariant::RunsCompleteCalls, format!("{} was not prepared", call.id))),
            }
        }
        Ok(())
    }

    /// Whether the ticket was given, and is open no more.
    pub(crate) fn is_closed(&self, ticket: Ticket) -> bool {
        let is_open = self.open.as_ref().is_some_and(|open| open.ticket == ticket) || self.deadline == Some(ticket);
        (1..=self.last_ticket).contains(&ticket.0) && !is_open
    }

    /// What is open after a step.
    pub(super) fn follow_asks(&mut self, edge: &Edge<'_>) -> Result<(), Fault> {
        self.take_answer(edge.event);
        for action in &edge.step.actions {
            if let Some(asked) = Asked::by(action) {
                let open = self.open.as_ref();
                hold(Invariant::OneAtATime, open.is_none(), || {
                    format!("{} while {open:?} is open", action_name(action))
                })?;
                self.note_ticket(asked.ticket)?;
                self.open = Some(asked);
                continue;
            }
            match action {
                Action::CancelLlmRequest { ticket }
                | Action::CancelTools { ticket }
                | Action::CancelHooks { ticket } => {
                    self.stopped(*ticket, action)?.is_cancelled = true;
                }
                Action::CancelRetry { ticket } | Action::WithdrawApproval { ticket } => {
                    self.stopped(*ticket, action)?;
                    self.open = None;
                }
                Action::StartDeadline { ticket, .. } => {
                    self.note_ticket(*ticket)?;
                    self.deadline = Some(*ticket);
                }
                Action::HoldDeadline { ticket } => {
                    let held = self.deadline.take();
                    hold(Invariant::OutstandingAgrees, held == Some(*ticket), || {
                        format!("{held:?} is held as {ticket}")
                    })?;
                }
                Action::PromptForInput | Action::Shutdown => {
                    self.deadline = None;
                    self.is_cancelled = false;
                }
                _ => {}
            }
        }
        if edge.after.state() == State::ShuttingDown {
            (self.open, self.deadline, self.is_cancelled) = (None, None, false);
        }
        Ok(())
    }

    fn take_answer(&mut self, event: &Event) {
        if let Event::DeadlineReached { .. } = event {
            self.deadline = None;
        }
        let Some(open) = self.open.as_mut().filter(|open| open.is_answered_by(event)) else { return };
        if let Event::SessionResumed { calls, .. } = event
            && open.question == Question::Tools
            && !open.is_cancelled
        {
            for left in calls.iter().filter(|left| !left.only_reads) {
                open.calls.retain(|waiting| *waiting != left.call);
                let seen = self.batch.iter_mut().find(|seen| seen.id == left.call);
                seen.into_iter().for_each(|seen| seen.is_unbegun = !left.begun);
            }
            if !open.calls.is_empty() {
                return;
            }
        }
        if let Event::ToolCompleted { call, outcome, .. } = event {
            let seen = self.batch.iter_mut().find(|seen| seen.id == *call);
            seen.into_iter().for_each(|seen| seen.is_unbegun = outcome.status == ToolStatus::NotRun);
        }
        if let Event::ToolCompleted { call, .. } | Event::ApprovalAnswered { call, .. } = event {
            open.calls.retain(|waiting| waiting != call);
            if !open.calls.is_empty() {
                return;
            }
        }
        self.open = None;
    }

    fn note_ticket(&mut self, ticket: Ticket) -> Result<(), Fault> {
        let last = std::mem::replace(&mut self.last_ticket, ticket.0);
        hold(Invariant::OneAtATime, ticket.0 > last, || format!("{ticket} after #{last}"))
    }

    /// What an action stops, which must be what is open.
    fn stopped(&mut self, ticket: Ticket, action: &Action) -> Result<&mut Asked, Fault> {
        let open = self.open.as_mut().filter(|open| open.ticket == ticket && !open.is_cancelled);
        let not_open = || format!("{} of {ticket}, which is not open", action_name(action));
        open.ok_or_else(|| Fault::new(Invariant::OutstandingAgrees, not_open()))
    }

    /// Each answer under a cancel brings the prompt nearer, and nothing else moves it away.
    pub(super) fn judge_way_out(&self, before: &Self, edge: &Edge<'_>, tally: &mut Tally) -> Result<(), Fault> {
        let left = |observed: &Self| observed.open.as_ref().map_or(0, Asked::answers_left);
        let is_answer = before.open.as_ref().is_some_and(|open| open.is_answered_by(edge.event));
        let state = edge.after.state();
        if before.is_cancelled {
            let is_nearer = left(self) < left(before) || !is_answer && left(self) == left(before);
            hold(Invariant::CancelArrives, is_nearer, || format!("no nearer to the prompt in {state:?}"))?;
        }
        if self.is_cancelled {
            tally.cancel_answers = tally.cancel_answers.max(left(self));
            hold(Invariant::CancelArrives, self.open.is_some(), || format!("{state:?} waits for nothing"))?;
        } else if before.is_cancelled || *edge.event == Event::CancelRequested {
            let has_arrived = matches!(state, State::WaitingForUserInput | State::ShuttingDown);
            hold(Invariant::CancelArrives, has_arrived, || format!("the cancel ends in {state:?}"))?;
        }
        if *edge.event == Event::ShutdownRequested {
            tally.shutdowns += 1;
            tally.shutdown_answers = tally.shutdown_answers.max(left(self));
            tally.shutdown_rows = tally.shutdown_rows.max(edge.step.transitions.len() as u64);
            hold(Invariant::ShutdownArrives, state == State::ShuttingDown, || {
                format!("a shutdown leads to {state:?}")
            })?;
            let says_so = edge.step.actions.last() == Some(&Action::Shutdown);
            hold(Invariant::ShutdownArrives, says_so, || "the last action is not `Shutdown`".to_owned())?;
        }
        Ok(())
    }

    /// What the session says it waits for is what it was seen to ask.
    ///
    /// # Errors
    /// Names what differs.
    pub fn agrees_with(&self, session: &Session) -> Result<(), Fault> {
        let outstanding = session.outstanding();
        let mut said: Vec<Asked> = Vec::new();
        let mut deadline = None;
        for entry in &outstanding {
            if let Action::StartDeadline { ticket, .. } = entry.action {
                deadline = Some(ticket);
            }
            said.extend(Asked::by(&entry.action).map(|asked| Asked { is_cancelled: entry.is_cancelled, ..asked }));
        }
        let seen = self.open.iter().cloned().collect::<Vec<_>>();
        hold(Invariant::OutstandingAgrees, said == seen, || format!("{said:?} is said to be open, {seen:?} is"))?;
        let armed = self.deadline.filter(|_| !self.is_cancelled);
        hold(Invariant::OutstandingAgrees, deadline == armed, || {
            format!("deadline {deadline:?} said, {armed:?} armed")
        })?;
        let is_open = self.open.as_ref().is_none_or(|open| session.is_open(open.ticket));
        hold(Invariant::OutstandingAgrees, is_open, || "what is outstanding is not open".to_owned())?;
        let is_cancelled = session.is_cancel_pending();
        hold(
            Invariant::CancelStopsAll,
            is_cancelled == self.is_cancelled || session.state() == State::ShuttingDown,
            || format!("cancel pending: {is_cancelled}, asked for: {}", self.is_cancelled),
        )?;
        let idle = matches!(session.state(), State::Ready | State::WaitingForUserInput | State::ShuttingDown);
        hold(Invariant::NotStuck, idle == seen.is_empty(), || format!("{:?} waits for {seen:?}", session.state()))
    }
}
