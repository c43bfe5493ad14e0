//! The driver of the job machine: a job over as many whole runs of an agent as that takes.
//!
//! A [`JobRunner`] owns a [`Job`] and performs what it asks for, one thing at a time; its answer is the next event. What is the
//! outside's, a [`JobHost`] brings: how to validate, how a session is put together, where records are kept.
//!
//! ```text
//! JobHost::validate -> JobHost::define_agent -> a session from JobHost::session -> JobHost::record
//!                                                ^ wait, as long as the job says v
//! ```
//!
//! The sessions' own retries are off, as the job's attempts say: the job's are the only ones. Nothing is decided here.

mod attempt;
mod audit;
mod broken;
mod secrets;

pub use audit::{AuditError, AuditLog, Audited};

use crate::builder::Builder;
use crate::notice::Notice;
use crate::runtime::expect_timers;
use agent_core::job::{
    Action, AgentConfig, Attempt, AuditRecord, Event, FailureKind, Job, JobConfig, Rejected, Spent, TierModels,
    Transition,
};
use agent_core::ports::Clock;
use async_trait::async_trait;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use secrets::Secrets;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What a job needs of the outside. Where one of these panics, the job fails, is not repeated, and leaves its record all the same.
#[async_trait]
pub trait JobHost: Send + Sync {
    /// Finds out whether the job can be worked on, and with which models. Dropped when the job is cancelled.
    async fn validate(&self) -> Result<TierModels, FailureKind>;

    /// Chooses skill and model. A host that asks a model says what that cost, also when it fails. By default the suggestion.
    async fn define_agent(
        &self,
        _description: &str,
        suggestion: AgentConfig,
        _cancel: &CancellationToken,
    ) -> (Result<AgentConfig, FailureKind>, Spent) {
        (Ok(suggestion), Spent::default())
    }

    /// Puts the session of an attempt together, and names it. Its limits and retries are the attempt's, whatever the builder says. Dropped
    /// when the job is cancelled; an attempt that cannot even begin is not repeated.
    async fn session(&self, attempt: &Attempt) -> Result<(Builder, String), FailureKind>;

    /// Keeps the record of the job.
    async fn record(&self, record: &AuditRecord) -> Result<(), String>;

    /// Is shown what happens, in order.
    fn notice(&self, _notice: JobNotice<'_>) {}
}

/// One thing to show.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum JobNotice<'a> {
    /// The job moved.
    Transition(&'a Transition),
    /// An attempt begins.
    AttemptStarted(&'a Attempt),
    /// Something happened in its session.
    Session(&'a Notice),
    /// The next attempt begins after a while.
    RetryScheduled {
        /// How long, in milliseconds.
        delay_ms: u64,
        /// Which retry it is the wait for, counted from 1.
        retry: u32,
        /// Why the attempt before it failed.
        reason: &'a FailureKind,
    },
    /// An event did not fit and changed nothing.
    Refused(&'a Rejected),
}

/// Drives one job. [`run`](Self::run) is its whole life.
pub struct JobRunner {
    job: Job,
    host: Arc<dyn JobHost>,
    clock: Arc<dyn Clock>,
    stops: Stops,
    secrets: Secrets,
    /// What is in flight, and the token that stops it.
    flight: Option<BoxFuture<'static, Event>>,
    stop_work: CancellationToken,
}

impl JobRunner {
    /// A job that waits to be run, and the end for stopping it.
    #[must_use]
    pub fn new(config: JobConfig, host: Arc<dyn JobHost>, clock: Arc<dyn Clock>) -> (Self, JobHandle) {
        let stops = Stops::default();
        let job = Job::new(config, clock.now_ms());
        let handle = JobHandle { stops: stops.clone() };
        let stop_work = CancellationToken::new();
        (Self { job, host, clock, stops, secrets: Secrets::default(), flight: None, stop_work }, handle)
    }

    /// A value that must not appear in the job's record, as [`Builder::secret`] says for a session. Those of its sessions do not either,
    /// but a job may fail before there is one.
    #[must_use]
    pub fn secret(self, secret: impl Into<String>) -> Self {
        self.secrets.add([secret.into()]);
        self
    }

    /// Drives the job to its end. Its record was kept, or could not be, when this returns.
    ///
    /// # Panics
    /// Outside of a tokio runtime with timers.
    pub async fn run(mut self) -> Job {
        expect_timers();
        self.take(Event::Started);
        let mut is_told = false;
        while !self.job.is_finished() {
            let event = tokio::select! {
                biased;
                () = self.stops.cancel.cancelled(), if !is_told => {
                    is_told = true;
                    Event::CancelRequested
                }
                event = landed(&mut self.flight) => event,
            };
            self.take(event);
        }
        self.job
    }

    fn take(&mut self, event: Event) {
        match self.job.step(self.clock.now_ms(), event) {
            Ok(step) => {
                step.transitions.iter().for_each(|transition| self.show(JobNotice::Transition(transition)));
                for action in step.actions {
                    self.perform(action);
                }
            }
            Err(rejected) => self.show(JobNotice::Refused(&rejected)),
        }
    }

    /// Shows the host what happens. A host that panics over it has said so, and does not lose the job's record.
    fn show(&self, notice: JobNotice<'_>) {
        let _ = catch_unwind(AssertUnwindSafe(|| self.host.notice(notice)));
    }

    fn perform(&mut self, action: Action) {
        let host = self.host.clone();
        match action {
            Action::ValidateJob { ticket } => self.start(broken::validation(ticket), |stop| async move {
                let found = tokio::select! {
                    biased;
                    () = stop.cancelled() => Err(FailureKind::System(String::from("stopped"))),
                    found = host.validate() => found,
                };
                match found {
                    Ok(tiers) => Event::ValidationPassed { ticket, tiers },
                    Err(failure) => Event::ValidationFailed { ticket, failure },
                }
            }),
            Action::DefineAgent { ticket, description, suggestion } => {
                self.start(broken::routing(ticket), |stop| async move {
                    match host.define_agent(&description, suggestion, &stop).await {
                        (Ok(agent), spent) => Event::AgentDefined { ticket, agent, spent },
                        (Err(failure), spent) => Event::RoutingFailed { ticket, failure, spent },
                    }
                });
            }
            Action::RunAgent { ticket, attempt } => {
                self.show(JobNotice::AttemptStarted(&attempt));
                let (secrets, leave) = (self.secrets.clone(), self.stops.leave.clone());
                self.start(broken::attempt(ticket, String::new()), |stop| {
                    attempt::run(host, secrets, ticket, *attempt, stop, leave)
                });
            }
            Action::StopWork { .. } => self.stop_work.cancel(),
            Action::ScheduleRetry { ticket, delay_ms, retry, reason } => {
                self.show(JobNotice::RetryScheduled { delay_ms, retry, reason: &reason });
                let clock = self.clock.clone();
                self.start(broken::wait(ticket), |_| async move {
                    clock.sleep_ms(delay_ms).await;
                    Event::RetryTimeout { ticket }
                });
            }
            Action::CancelRetry { .. } => self.flight = None,
            Action::WriteAuditRecord { ticket, mut record } => {
                self.secrets.redact(&mut record);
                self.start(broken::record(ticket), |_| async move {
                    match host.record(&record).await {
                        Ok(()) => Event::RecordWritten { ticket },
                        Err(message) => Event::RecordFailed { ticket, message },
                    }
                });
            }
        }
    }

    /// Starts what will be in flight. What the job hears should it panic is given beforehand: whatever happens, there is an answer.
    fn start<F>(&mut self, if_broken: Event, work: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = Event> + Send + 'static,
    {
        self.stop_work = CancellationToken::new();
        let work = AssertUnwindSafe(work(self.stop_work.clone())).catch_unwind();
        self.flight = Some(Box::pin(async move { work.await.unwrap_or(if_broken) }));
    }
}

/// The answer of the action in flight, if there is one.
async fn landed(flight: &mut Option<BoxFuture<'static, Event>>) -> Event {
    let Some(work) = flight else { return pending().await };
    let event = work.await;
    *flight = None;
    event
}

/// The end for stopping a job. Cheap to clone; does nothing once the job has ended.
#[derive(Clone, Debug)]
pub struct JobHandle {
    stops: Stops,
}

impl JobHandle {
    /// Stops the job in order: what is in flight ends its turn, and the record is kept.
    pub fn cancel(&self) {
        self.stops.cancel.cancel();
    }

    /// Stops the job at once: a session that is running is left as it is, and the record is kept.
    pub fn leave(&self) {
        self.stops.cancel.cancel();
        self.stops.leave.cancel();
    }
}

/// How to stop a job.
#[derive(Clone, Debug, Default)]
struct Stops {
    cancel: CancellationToken,
    leave: CancellationToken,
}
