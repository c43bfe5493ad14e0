//! The lifecycle machine: an agent from its first message to its end, bound to commitments that are checked.
//!
//! A driver reports [`Event`]s and performs the [`Action`]s that [`Lifecycle::step`] returns. What moves where stands in [`table`]. The
//! agent's conversation is another machine, the [`session`](crate::session); both meet in [`link`](crate::link) only.
//!
//! ```text
//! message -> Working -> the session's turn ends -> is that a claim to be done?
//!   no                      -> Idle or Waiting
//!   yes, no commitments     -> Done
//!   yes                     -> Verifying: every commitment is checked -> all kept -> Done
//!                                          not -> told what is missing, back to Working, a bounded number of times -> Reaped
//! ```
//!
//! ```
//! use agent_core::lifecycle::{Action, Commitment, Event, Lifecycle, LifecycleConfig, State, TurnEnd};
//!
//! let mut agent = Lifecycle::new(LifecycleConfig::headless(vec![Commitment::of_command("cargo test", 60_000)]));
//! let step = agent.step(0, Event::InputReceived { text: "mend it".into() })?;
//! assert!(matches!(step.actions[..], [Action::SendInput { .. }]));
//! let step = agent.step(1, Event::TurnEnded { end: TurnEnd::Completed, inputs_taken: 1 })?;
//! assert_eq!(agent.state(), State::Verifying);
//! assert!(matches!(step.actions[..], [Action::RunChecks { .. }]));
//! # Ok::<(), agent_core::lifecycle::Rejected>(())
//! ```
//!
//! 1. An agent with commitments is `Done` only if the last verification checked every one of them and found every one kept.
//! 2. Every claim checks every commitment again, whatever was found before; a check without an answer of its own has failed.
//! 3. An agent is sent back to work at most [`LifecycleConfig::max_rounds`] times for each message that somebody sent.
//! 4. Late, repeated and unknown answers are refused, late timers change nothing, and a refusal leaves the machine as it was.
//! 5. After a stop was asked for, the end of the turn is no claim.
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
pub use commitment::{Assertion, Check, CheckEnd, CheckReport, Commitment, CommitmentId, Origin};
pub use config::LifecycleConfig;
pub use event::{Event, Signal, TurnEnd};
pub use statetable::Ticket;
pub use step::{Objection, Reason, Rejected, Step, Trace, Transition};
pub use table::{ActionKind, LifecycleTable, ProvedTable, State, Trigger};
pub use verification::Verification;

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
    /// How often the agent was told what is missing since the last message.
    rounds: u32,
    /// Messages given to the session.
    inputs_sent: u64,
    /// The message that is about to be given to the session.
    input: String,
    is_cancelled: bool,
    outcome: Option<Outcome>,
    timer: Option<Ticket>,
    cleanup: Option<Ticket>,
    next_ticket: u64,
    trace: Trace,
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
            rounds: 0,
            inputs_sent: 0,
            input: String::new(),
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
    /// A timer may fire just before it is withdrawn. Its event is no error then: the step [is empty](Step::is_empty), and the machine is as it
    /// was before. Late answers to anything else are refused, because what they carry is lost.
    ///
    /// # Errors
    /// [`Rejected`] when the event does not fit; the machine is then as it was before.
    pub fn step(&mut self, at_ms: u64, event: Event) -> Result<Step, Rejected> {
        Machine::step(self, at_ms, event)
    }

    /// Where the agent stands.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    /// Whether nothing can happen any more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.table.table().is_terminal(self.state)
    }

    /// How the agent works while it works; nothing when it does not.
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

    /// How often the agent was told what is missing since the last message.
    #[must_use]
    pub const fn rounds(&self) -> u32 {
        self.rounds
    }

    /// What the agent came to when it last came to rest; nothing while it works.
    #[must_use]
    pub const fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// Messages given to the session since the agent was made.
    #[must_use]
    pub const fn inputs_sent(&self) -> u64 {
        self.inputs_sent
    }

    /// Whether something goes on of which the agent is going to hear: its turn, or its checks.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        matches!(self.state, State::Working | State::Verifying)
    }

    /// What the agent was told when it was made. Commitments that were added since are in [`commitments`](Self::commitments).
    #[must_use]
    pub const fn config(&self) -> &LifecycleConfig {
        &self.config
    }

    /// What was asked and is not answered, with the same tickets, so that a driver can go on after a restart: the checks that have not
    /// ended, the timer from its start, the cleanup.
    #[must_use]
    pub fn outstanding(&self) -> Vec<Action> {
        self.render_outstanding()
    }

    /// The last transitions and the time spent in each state.
    #[must_use]
    pub const fn trace(&self) -> &Trace {
        &self.trace
    }

    fn ticket(&mut self) -> Ticket {
        self.next_ticket = self.next_ticket.wrapping_add(1);
        Ticket(self.next_ticket)
    }
}

/// How an agent works: an attribute of `Working` that changes nothing about what follows what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskMode {
    /// It does the work itself.
    #[default]
    Execute,
    /// It has others do the work.
    Delegate,
    /// It plans the work.
    Plan,
    /// It cuts the work into parts.
    BreakUp,
    /// It puts the parts together.
    Unify,
}
