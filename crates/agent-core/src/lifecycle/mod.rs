//! The lifecycle machine: an agent from its first message to its end, bound to commitments that are checked.
//!
//! A driver reports [`Event`]s and performs the [`Action`]s that [`Lifecycle::step`] returns. What moves where is in [`table`]. The
//! agent's conversation is another machine, the [`session`](crate::session); an [`Agent`](crate::agent::Agent) joins them.
//!
//! ```text
//! message -> Working -> the session's turn ends -> is that a claim to be done?
//!   no                      -> Idle or Waiting
//!   yes, no commitments     -> Done
//!   yes                     -> Verifying: every commitment is checked -> all kept -> Done
//!                                          not -> gap report, back to Working, a bounded number of times -> Reaped
//! ```
//!
//! ```
//! use agent_core::lifecycle::{Action, Commitment, Event, Lifecycle, LifecycleConfig, State, TurnEnd};
//!
//! let mut agent = Lifecycle::new(LifecycleConfig::headless(vec![Commitment::of_command("cargo test", 60_000)]));
//! let step = agent.step(0, Event::InputReceived { text: "mend it".into() })?;
//! assert!(matches!(step.actions[..], [Action::SendInput { .. }]));
//! let step = agent.step(1, Event::TurnEnded { end: TurnEnd::Completed, time_left_ms: None })?;
//! assert_eq!(agent.state(), State::Verifying);
//! assert!(matches!(step.actions[..], [Action::RunChecks { .. }]));
//! # Ok::<(), agent_core::lifecycle::Rejected>(())
//! ```
//!
//! 1. An agent with commitments is `Done` only if the last verification checked every one of them and found every one kept.
//! 2. Every claim checks every commitment again, whatever was found before; a check without an answer of its own has failed. One that
//!    passed says nothing when files changed since it began: then all run once more, and one that is stale again counts as not kept.
//! 3. An agent is sent back to work at most [`LifecycleConfig::max_rounds`] times for each message to it.
//! 4. Late, repeated and unknown answers are refused, late timers change nothing, and a refusal leaves the machine as it was.
//! 5. After a stop was asked for, the end of the turn is not a claim.
//! 6. After `Ended` there are no actions. `step` never panics.
//!
//! Absent on purpose: clock, processes, the words of the conversation. That the agent is done or waits is said by a signal or by the end of
//! a turn, never found in prose.

mod absorb;
mod action;
mod classify;
mod commitment;
mod config;
mod event;
mod kept;
mod labels;
mod render;
mod step;
mod stepping;
pub mod table;
mod verification;

pub use action::{Action, Gap, Outcome};
pub use agent_types::agents::TaskMode;
pub use agent_types::signal::Signal;
pub use commitment::{Assertion, Check, CheckEnd, CheckReport, Commitment, CommitmentId, FilesChecked, Origin};
pub use config::LifecycleConfig;
pub use event::{Event, TurnEnd};
pub use statetable::Ticket;
pub use step::{Objection, Reason, Rejected, Step, Trace, Transition};
pub use table::{ActionKind, LifecycleTable, ProvedTable, State, Trigger};
pub use verification::Verification;

use crate::conversation::UserMessage;
use crate::snapshot::FormatVersion;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};
use statetable::{Machine, Proved};

/// The life of one agent. See the [module](self) for how to drive it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Lifecycle {
    #[serde(skip, default = "table::proved")]
    table: ProvedTable,
    format_version: FormatVersion,
    config: LifecycleConfig,
    state: State,
    now_ms: u64,
    mode: TaskMode,
    /// Those of the configuration and those added since.
    commitments: Vec<Commitment>,
    /// The last signal of the turn, and what was said with it.
    signal: Option<(Signal, String)>,
    verification: Option<Verification>,
    /// What was left of the message's time when the checks began, in milliseconds, and when that was. Nothing without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checks_time: Option<(u64, u64)>,
    /// How often the checks of this claim ran again because files had changed since one of them began.
    #[serde(default, skip_serializing_if = "is_zero")]
    rechecks: u32,
    /// How many gap reports there were since the last message.
    rounds: u32,
    /// The message that is about to be given to the session.
    input: UserMessage,
    is_cancelled: bool,
    outcome: Option<Outcome>,
    timer: Option<Ticket>,
    cleanup: Option<Ticket>,
    next_ticket: u64,
    trace: Trace,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Lifecycle {
    /// An idle agent. With a limit for that, [`outstanding`](Self::outstanding) has the timer of its first wait.
    #[must_use]
    pub fn new(config: LifecycleConfig) -> Self {
        Self::on(config, table::PROVED)
    }

    /// An agent on another table, for tests that change rows and look for the difference.
    #[doc(hidden)]
    #[must_use]
    pub fn with_table(config: LifecycleConfig, table: &'static LifecycleTable) -> Self {
        Self::on(config, Proved::unproved_for_tests(table))
    }

    fn on(config: LifecycleConfig, table: ProvedTable) -> Self {
        Self {
            format_version: FormatVersion,
            table,
            state: table.table().initial,
            now_ms: 0,
            mode: TaskMode::default(),
            commitments: config.commitments.clone(),
            signal: None,
            verification: None,
            checks_time: None,
            rechecks: 0,
            rounds: 0,
            input: UserMessage::default(),
            is_cancelled: false,
            outcome: None,
            // No row leads here that could start it.
            timer: config.max_idle_ms.map(|_| Ticket(0)),
            cleanup: None,
            next_ticket: 0,
            trace: Trace::new(None),
            config,
        }
    }

    /// Takes one event in. `at_ms` is the time of the event in milliseconds since the Unix epoch; time that runs backwards is held.
    ///
    /// A timer may fire just before it is withdrawn. Its event is not an error then: the step [is empty](Step::is_empty), and the machine
    /// is as it was before. Late answers to anything else are refused, because what they carry is lost.
    ///
    /// # Errors
    /// [`Rejected`] when the event does not fit; the machine is then as it was before.
    pub fn step(&mut self, at_ms: u64, event: Event) -> Result<Step, Rejected> {
        Machine::step(self, at_ms, event)
    }

    /// The agent's state.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    /// Whether nothing can happen any more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.table.table().is_terminal(self.state)
    }

    /// How the agent works while it works; `None` if it does not.
    #[must_use]
    pub fn mode(&self) -> Option<TaskMode> {
        (self.state == State::Working).then_some(self.mode)
    }

    /// Everything the agent is bound to.
    #[must_use]
    pub fn commitments(&self) -> &[Commitment] {
        &self.commitments
    }

    /// The last look at the commitments, complete or not.
    #[must_use]
    pub const fn verification(&self) -> Option<&Verification> {
        self.verification.as_ref()
    }

    /// How many gap reports there were since the last message.
    #[must_use]
    pub const fn rounds(&self) -> u32 {
        self.rounds
    }

    /// The outcome of the agent when it last rested; `None` while it works.
    #[must_use]
    pub const fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// Whether a turn or a check is in progress.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        matches!(self.state, State::Working | State::Verifying)
    }

    /// Whether something was asked and is not answered: a check, a timer, the cleanup.
    #[must_use]
    pub fn awaits_driver(&self) -> bool {
        let checks = self.verification.as_ref().is_some_and(|open| open.is_open);
        checks || self.timer.is_some() || self.cleanup.is_some()
    }

    /// The agent's initial configuration. Commitments that were added later are in [`commitments`](Self::commitments).
    #[must_use]
    pub const fn config(&self) -> &LifecycleConfig {
        &self.config
    }

    /// The requested actions that have no answer yet, with their tickets, so that a driver can continue after a restart: the checks that
    /// have not ended, the timer from its start, the cleanup.
    #[must_use]
    pub fn outstanding(&self) -> Vec<Action> {
        self.render_outstanding()
    }

    /// The last transitions and the time spent in each state.
    #[must_use]
    pub const fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Whether the state takes messages.
    pub(crate) fn takes_messages(&self) -> bool {
        self.table.row(self.state, Trigger::InputReceived).is_some()
    }

    /// Whether the state takes signals.
    pub(crate) fn takes_signals(&self) -> bool {
        self.table.row(self.state, Trigger::Signalled).is_some()
    }

    /// Whether the state waits for a turn to end.
    pub(crate) fn is_working(&self) -> bool {
        self.table.row(self.state, Trigger::TurnEnded).is_some()
    }

    /// Whether the state can resume work.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.table.row(self.state, Trigger::WorkResumed).is_some()
    }

    /// Whether it was given up, cleaned up or not.
    pub(crate) fn is_given_up(&self) -> bool {
        self.cleanup.is_some() || self.is_over()
    }

    /// What is being cleaned up, if anything is.
    pub(crate) const fn cleanup(&self) -> Option<Ticket> {
        self.cleanup
    }

    /// Whether the time of its message ran out while commitments were checked.
    pub(crate) fn ran_out_of_time(&self) -> bool {
        self.outcome == Some(Outcome::BudgetExceeded) && matches!(self.checks_time, Some((0, _)))
    }

    /// From here on the session outlives this life.
    pub(crate) const fn outlive(&mut self) {
        self.config.is_renewed = true;
    }

    /// Another life with the same commitments. Its tickets are new ones, so that a late answer to this one stays late.
    pub(crate) fn renew(&self) -> Self {
        let config = LifecycleConfig { commitments: self.commitments.clone(), ..self.config.clone() };
        let (now_ms, next_ticket, table) = (self.now_ms, self.next_ticket, self.table);
        // It begins with a message, not with a wait.
        Self { now_ms, next_ticket, timer: None, ..Self::on(config, table) }
    }

    /// A life that comes after another one with other commitments. Its tickets are new ones, too; that of the first wait is one of them.
    pub(crate) fn after(newest_ticket: u64, config: LifecycleConfig) -> Self {
        let mut next = Self { next_ticket: newest_ticket, ..Self::new(config) };
        next.timer = next.timer.map(|_| next.ticket());
        next
    }

    /// The newest ticket that was given.
    pub(crate) const fn newest_ticket(&self) -> u64 {
        self.next_ticket
    }

    /// A program continues where another one ended. The time since the last event, of either machine, is not charged to the message,
    /// because no program ran.
    pub(crate) fn resume(&mut self, at_ms: u64, last_ms: u64) {
        let Some((_, since_ms)) = &mut self.checks_time else { return };
        let unwatched_ms = at_ms.saturating_sub(self.now_ms.max(last_ms));
        *since_ms = since_ms.saturating_add(unwatched_ms);
        self.now_ms = self.now_ms.max(at_ms);
    }

    /// Empties the trace, which decides nothing.
    pub(crate) fn forget_trace(&mut self) {
        self.trace = Trace::new(None);
    }

    fn ticket(&mut self) -> Ticket {
        self.next_ticket = self.next_ticket.wrapping_add(1);
        Ticket(self.next_ticket)
    }
}
