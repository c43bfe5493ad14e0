//! The job machine: one piece of work from its description to its audit record, over as many runs of an agent as that takes.
//!
//! A driver reports [`Event`]s and performs the [`Action`]s that [`Job::step`] returns; nothing else decides what becomes of a job. What
//! moves where is in [`table`].
//!
//! ```text
//! Pending -> Init (validate) -> DefineAgent (skill, model) -> Process (a whole run) -> End (audit record) -> Completed
//!              |                  |                            ^   |  |
//!              |                  |                            |   v  +-- no retry left, cancelled
//!              |                  |                         RetryWait |
//!              +------------------+-----------------------------------+-> Recording (audit record) -> Failed
//! ```
//!
//! 1. Every job that finishes asks for exactly one audit record, whether it is done, failed or cancelled.
//! 2. At most `max_retries + 1` attempts run; the wait before the n-th retry is `base × 2^(n − 1)`.
//! 3. Only attempts are repeated: what is wrong with a description or its routing is wrong the next time too.
//! 4. The cost is the sum over all attempts, failed and stopped ones too, and over a router's call.
//! 5. After a cancel nothing is started but the record; what is in flight is stopped, and its cost is counted.
//! 6. At most one thing is in flight; late, repeated and unknown answers are refused, and a late timer changes nothing.
//! 7. A refusal leaves the job as it was, and `step` never panics.
//!
//! ```
//! use agent_core::job::{Action, Event, Job, JobConfig, TierModels};
//!
//! let mut job = Job::new(JobConfig::new("job-1", "fix the failing test"), 0);
//! let step = job.step(0, Event::Started)?;
//! let [Action::ValidateJob { ticket }] = step.actions[..] else { panic!() };
//! let step = job.step(1, Event::ValidationPassed { ticket, tiers: TierModels::all("some-model") })?;
//! let [Action::DefineAgent { suggestion, .. }] = &step.actions[..] else { panic!() };
//! assert_eq!(suggestion.skill.as_deref(), Some("debugging"));
//! # Ok::<(), agent_core::job::Rejected>(())
//! ```
//!
//! Absent on purpose: clock, randomness, I/O, how an agent runs. A session is known only by what its outcome means here, which
//! [`verdict`] says, and by what it spent ([`Spent::of_ledger`]).

mod action;
mod audit;
mod classify;
mod config;
mod event;
mod kept;
mod of_session;
mod retry;
pub mod routing;
mod spent;
mod step;
mod stepping;
pub mod table;
pub mod time;
mod verdict;

pub use action::{Action, Attempt};
pub use audit::{AuditRecord, JobStatus};
pub use config::{Invalid, JobConfig};
pub use event::Event;
pub use of_session::verdict;
pub use retry::RetryConfig;
pub use routing::{AgentConfig, ModelTier, Skill, TierModels};
pub use spent::Spent;
pub use step::{Objection, Reason, Rejected, Step, Trace, Transition};
pub use table::{ActionKind, JobTable, ProvedTable, State, Trigger};
pub use verdict::{FailureKind, Verdict};

use crate::snapshot::FormatVersion;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};
use statetable::{Machine, Proved, Ticket};

/// A job. See the [module](self) for how to drive it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Job {
    format_version: FormatVersion,
    #[serde(skip, default = "table::proved")]
    table: ProvedTable,
    config: JobConfig,
    state: State,
    created_at_ms: u64,
    started_at_ms: Option<u64>,
    now_ms: u64,

    /// The one thing that the current state waits for.
    asked: Option<Asked>,
    /// Whether a stop was asked for.
    is_cancelled: bool,
    /// Whether that is what ended the job.
    is_stopped: bool,
    tiers: TierModels,
    agent: Option<AgentConfig>,
    retry_count: u32,
    response: Option<String>,
    failure: Option<FailureKind>,
    spent: Spent,
    session_ids: Vec<String>,
    state_history: Vec<State>,
    next_ticket: u64,
    trace: Trace,
}

impl Job {
    /// A job that was made at this time, in milliseconds since the Unix epoch. The first event is [`Event::Started`].
    #[must_use]
    pub fn new(config: JobConfig, created_at_ms: u64) -> Self {
        Self::on(config, created_at_ms, table::PROVED)
    }

    /// A job on another table, for tests that change rows and look for the difference.
    #[doc(hidden)]
    #[must_use]
    pub fn with_table(config: JobConfig, created_at_ms: u64, table: &'static JobTable) -> Self {
        Self::on(config, created_at_ms, Proved::unproved_for_tests(table))
    }

    fn on(config: JobConfig, created_at_ms: u64, table: ProvedTable) -> Self {
        Self {
            format_version: FormatVersion,
            table,
            config,
            state: table.table().initial,
            created_at_ms,
            started_at_ms: None,
            now_ms: created_at_ms,
            asked: None,
            is_cancelled: false,
            is_stopped: false,
            tiers: TierModels::default(),
            agent: None,
            retry_count: 0,
            response: None,
            failure: None,
            spent: Spent::default(),
            session_ids: Vec::new(),
            state_history: Vec::new(),
            next_ticket: 0,
            trace: Trace::new(Some(created_at_ms)),
        }
    }

    /// Takes one event in. `at_ms` is the time of the event in milliseconds since the Unix epoch; time that runs backwards is held.
    ///
    /// A timer may fire just before it is withdrawn. Its event is not an error then: the step [is empty](Step::is_empty), and the job is as
    /// it was before. Late answers to anything else are refused, because what they carry is lost.
    ///
    /// # Errors
    /// [`Rejected`] when the event does not fit; the job is then as it was before.
    pub fn step(&mut self, at_ms: u64, event: Event) -> Result<Step, Rejected> {
        Machine::step(self, at_ms, event)
    }

    /// The job's state.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    /// What has become of the job so far.
    #[must_use]
    pub const fn status(&self) -> JobStatus {
        match self.state {
            State::Pending => JobStatus::Pending,
            State::Init | State::DefineAgent | State::Process | State::RetryWait => JobStatus::InProgress,
            State::End | State::Completed => JobStatus::Completed,
            State::Recording | State::Failed if self.is_stopped => JobStatus::Cancelled,
            State::Recording | State::Failed => JobStatus::Failed,
        }
    }

    /// Whether the job has ended and its record is kept, or cannot be.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.table.table().is_terminal(self.state)
    }

    /// Whether something with this ticket was asked and is not answered.
    #[must_use]
    pub fn is_open(&self, ticket: Ticket) -> bool {
        self.asked.is_some_and(|asked| asked.ticket == ticket)
    }

    /// The requested action that has no answer yet, unchanged and with its ticket, so that a driver can continue after a restart: the
    /// wait for a retry from its start. An action that is being stopped is followed by its [`Action::StopWork`]: it must not begin again,
    /// only be answered. Nothing before the job is started and after its end.
    #[must_use]
    pub fn outstanding(&self) -> Vec<Action> {
        self.render_outstanding()
    }

    /// The job's configuration.
    #[must_use]
    pub const fn config(&self) -> &JobConfig {
        &self.config
    }

    /// The states that the job went through.
    #[must_use]
    pub fn state_history(&self) -> &[State] {
        &self.state_history
    }

    /// Attempts after the first that were started.
    #[must_use]
    pub const fn retry_count(&self) -> u32 {
        self.retry_count
    }

    /// What has been used so far.
    #[must_use]
    pub const fn spent(&self) -> &Spent {
        &self.spent
    }

    /// The failure of the last attempt, or the one that ended the job.
    #[must_use]
    pub const fn failure(&self) -> Option<&FailureKind> {
        self.failure.as_ref()
    }

    /// The last transitions and the time spent in each state.
    #[must_use]
    pub const fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Moves the event's data in.
    fn take_in(&mut self, event: Event) {
        if event.answers().is_some() {
            self.asked = None;
        }
        match event {
            Event::Started => self.started_at_ms = Some(self.now_ms),
            Event::CancelRequested => self.is_cancelled = true,
            Event::ValidationPassed { tiers, .. } => {
                self.tiers = tiers;
                self.failure = self.config.check().err().map(|wrong| wrong.failure());
            }
            Event::ValidationFailed { failure, .. } => self.failure = Some(failure),
            Event::AgentDefined { agent, spent, .. } => {
                self.spent = self.spent.plus(&spent);
                self.failure = classify::agent_fault(&agent);
                self.agent = Some(agent);
            }
            Event::RoutingFailed { failure, spent, .. } => {
                self.spent = self.spent.plus(&spent);
                self.failure = Some(failure);
            }
            Event::AttemptEnded { verdict, spent, session_id, .. } => {
                self.spent = self.spent.plus(&spent);
                self.session_ids.extend(Some(session_id).filter(|id| !id.is_empty()));
                self.failure = None;
                match verdict {
                    Verdict::Success { response } => self.response = Some(response),
                    Verdict::Failure(failure) | Verdict::FailureForGood(failure) => self.failure = Some(failure),
                    Verdict::Stopped => self.is_cancelled = true,
                }
            }
            Event::RetryTimeout { .. } => self.retry_count = self.retry_count.saturating_add(1),
            Event::RecordWritten { .. } => {}
            Event::RecordFailed { message, .. } => self.failure = Some(FailureKind::System(message)),
        }
    }
}

/// What a state waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Asked {
    ticket: Ticket,
    kind: ActionKind,
    /// Whether the driver was asked to stop it.
    is_stopped: bool,
}
