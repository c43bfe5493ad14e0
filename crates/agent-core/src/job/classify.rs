//! From facts to triggers, and from labels to actions with their data.

use super::action::{Action, Attempt};
use super::audit::{AuditRecord, JobStatus};
use super::event::Event;
use super::routing::{AgentConfig, route};
use super::step::{Objection, Reason};
use super::table::{ActionKind, State, Trigger};
use super::verdict::{FailureKind, Verdict};
use super::{Asked, Job};
use crate::retry::RetryPolicy;
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use statetable::Ticket;

impl Job {
    /// Whether the event is a timer that the job does not wait for any more: it was withdrawn, or taken already. The driver cannot know
    /// that, and nothing is lost with it. A ticket that is open for something else, or that was never given, is the driver's mistake.
    pub(super) fn is_late(&self, event: &Event) -> bool {
        let Event::RetryTimeout { ticket } = event else { return false };
        ticket.0 < self.next_ticket && !self.is_open(*ticket)
    }

    /// The trigger that an event is here and now.
    pub(super) fn trigger(&self, event: &Event) -> Result<Trigger, Reason> {
        if let Some((ticket, kind)) = event.answers() {
            match self.asked {
                Some(asked) if asked.ticket == ticket && asked.kind == kind => {}
                Some(asked) if asked.ticket == ticket => return Err(Objection::WrongAnswer.into()),
                Some(_) | None => return Err(Reason::StaleTicket),
            }
        }
        Ok(match event {
            Event::Started => Trigger::Started,
            Event::CancelRequested => Trigger::CancelRequested,
            Event::RetryTimeout { .. } => Trigger::RetryDue,
            Event::RecordWritten { .. } => Trigger::RecordWritten,
            Event::RecordFailed { .. } => Trigger::RecordNotWritten,
            Event::AttemptEnded { verdict, .. } => self.attempt_ended(verdict),
            Event::ValidationPassed { .. }
            | Event::ValidationFailed { .. }
            | Event::AgentDefined { .. }
            | Event::RoutingFailed { .. }
                if self.is_cancelled =>
            {
                Trigger::WorkStopped
            }
            Event::ValidationPassed { .. } if self.config.check().is_ok() => Trigger::ValidationPassed,
            Event::ValidationPassed { .. } | Event::ValidationFailed { .. } => Trigger::ValidationFailed,
            Event::AgentDefined { agent, .. } if agent_fault(agent).is_none() => Trigger::AgentDefined,
            Event::AgentDefined { .. } | Event::RoutingFailed { .. } => Trigger::RoutingFailed,
        })
    }

    fn attempt_ended(&self, verdict: &Verdict) -> Trigger {
        match verdict {
            // Work that is done stays done, also when it ended just before it was stopped.
            Verdict::Success { .. } => Trigger::AttemptSucceeded,
            Verdict::Stopped => Trigger::WorkStopped,
            Verdict::Failure(_) | Verdict::FailureForGood(_) if self.is_cancelled => Trigger::WorkStopped,
            Verdict::Failure(_) if self.retry_count < self.config.retry.max_retries => Trigger::AttemptFailedRetryable,
            Verdict::Failure(_) | Verdict::FailureForGood(_) => Trigger::AttemptFailedForGood,
        }
    }

    /// The action for a label of the row that fired; `None` for the stop of an action that is being stopped already.
    pub(super) fn action(&mut self, kind: ActionKind) -> Option<Action> {
        match kind {
            ActionKind::StopWork => {
                let asked = self.asked.as_mut().filter(|asked| !asked.is_stopped)?;
                asked.is_stopped = true;
                Some(Action::StopWork { ticket: asked.ticket })
            }
            ActionKind::CancelRetry => self.asked.map(|asked| Action::CancelRetry { ticket: asked.ticket }),
            ActionKind::WriteAuditRecord => {
                self.is_stopped = self.is_cancelled && self.state == State::Recording;
                self.ask(kind)
            }
            ActionKind::ValidateJob | ActionKind::DefineAgent | ActionKind::RunAgent | ActionKind::ScheduleRetry => {
                self.ask(kind)
            }
        }
    }

    /// The requested action without an answer, and its stop, if one was requested.
    pub(super) fn render_outstanding(&self) -> Vec<Action> {
        let Some(asked) = self.asked else { return Vec::new() };
        let stop = asked.is_stopped.then_some(Action::StopWork { ticket: asked.ticket });
        self.asking(asked.kind, asked.ticket).into_iter().chain(stop).collect()
    }

    fn ask(&mut self, kind: ActionKind) -> Option<Action> {
        let ticket = Ticket(self.next_ticket);
        let action = self.asking(kind, ticket)?;
        self.next_ticket = self.next_ticket.saturating_add(1);
        self.asked = Some(Asked { ticket, kind, is_stopped: false });
        Some(action)
    }

    /// What the state waits for; nothing for what expects no answer. It is made of what does not change before the answer, so that it is
    /// the same whenever it is asked.
    fn asking(&self, kind: ActionKind, ticket: Ticket) -> Option<Action> {
        match kind {
            ActionKind::ValidateJob => Some(Action::ValidateJob { ticket }),
            ActionKind::DefineAgent => Some(Action::DefineAgent {
                ticket,
                description: self.config.description.clone(),
                suggestion: route(&self.config.description, &self.config.skills, &self.tiers),
            }),
            ActionKind::RunAgent => Some(Action::RunAgent { ticket, attempt: Box::new(self.attempt()?) }),
            ActionKind::ScheduleRetry => {
                let retry = self.retry_count.saturating_add(1);
                let delay_ms = self.config.retry.delay_ms(retry);
                Some(Action::ScheduleRetry { ticket, delay_ms, retry, reason: self.failure.clone()? })
            }
            ActionKind::WriteAuditRecord => Some(Action::WriteAuditRecord { ticket, record: Box::new(self.record()) }),
            ActionKind::StopWork | ActionKind::CancelRetry => None,
        }
    }

    /// The next attempt. There is an agent: `Process` is reached only through `DefineAgent`.
    fn attempt(&self) -> Option<Attempt> {
        Some(Attempt {
            number: self.retry_count.saturating_add(1),
            task: self.config.description.clone(),
            agent: self.agent.clone()?,
            limits: self.spent.left_of(&self.config.limits),
            retry: RetryPolicy { max_retries: 0, ..RetryPolicy::default() },
        })
    }

    fn record(&self) -> AuditRecord {
        let status = self.status();
        let started_at_ms = self.started_at_ms.unwrap_or(self.created_at_ms);
        // Not the time of the last event: a cancel that comes while the record is written does not change the record.
        let completed_at_ms = self.trace.entered_at_ms().unwrap_or(self.now_ms);
        AuditRecord {
            format_version: AuditRecord::FORMAT_VERSION,
            job_id: self.config.id.clone(),
            description: self.config.description.clone(),
            status,
            state_transitions: self.state_history.clone(),
            agent: self.agent.clone(),
            retry_count: self.retry_count,
            max_retries: self.config.retry.max_retries,
            cost_nano_usd: self.spent.known_cost_nano_usd(),
            llm_response: self.response.clone(),
            started_at_ms,
            completed_at_ms,
            duration_ms: completed_at_ms.saturating_sub(started_at_ms),
            failure: self.failure.clone().filter(|_| status == JobStatus::Failed),
            usage: self.spent.usage,
            model_calls: self.spent.model_calls,
            session_ids: self.session_ids.clone(),
        }
    }
}

/// What is wrong with a chosen agent.
pub(super) fn agent_fault(agent: &AgentConfig) -> Option<FailureKind> {
    let is_blank = agent.model.trim().is_empty();
    is_blank
        .then(|| FailureKind::Business(format!("define the agent: there is no model for the tier {:?}", agent.tier)))
}

/// The states of a job's history: those of its work, not those before and after it.
pub(super) const fn is_in_history(state: State) -> bool {
    match state {
        State::Init | State::DefineAgent | State::Process | State::RetryWait | State::End => true,
        State::Pending | State::Recording | State::Completed | State::Failed => false,
    }
}
