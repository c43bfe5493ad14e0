//! A child agent as its parent knows it: one machine for each assignment, kept in the parent's journal.
//!
//! A child is an agent of its own with a journal of its own. Parent and child send each other nothing: what each has to take of the other
//! is a function of what both journals say ([`due`]). In life it is asked after every step; after a crash the same function is asked over
//! what the journals have. So there is no way of recovery that is not the usual way, and neither acknowledgements nor retries.
//!
//! ```
//! use agent_core::child::{Action, Assignment, Child, Event, Gate, Outcome, Rest, State, Word, lease};
//!
//! let mut child = Child::new(Assignment::new(1, "tests", "Run the tests."));
//! // What the parent may still spend is shared: half of it, for one child.
//! let whole = lease::Lease { model_calls: Some(50), agents: 4, depth: 1, ..Default::default() };
//! let left = lease::Remainder::of(&whole, &lease::Spent::default());
//! let gate = Gate { lease: left.lease(&lease::Wish::default(), 1), ..Gate::open(whole) };
//! let step = child.step(0, Event::Assigned { gate: gate.clone() })?;
//! let [Action::BeginChild { run, lease }] = step.actions[..] else { panic!() };
//! assert_eq!(lease.model_calls, Some(25));
//! child.step(1, Event::Begun { run })?;
//! let rest = Rest { outcome: Outcome::new(Word::Done, "All pass."), spent: Default::default(), is_repeatable: false };
//! child.step(2, Event::Rested { run, rest, gate })?;
//! assert_eq!(child.state(), State::Ended);
//! // The outcome goes into the parent's conversation once: the table has one row for it.
//! child.step(3, Event::OutcomeTold)?;
//! assert!(child.step(4, Event::OutcomeTold).is_err());
//! # Ok::<(), agent_core::child::Rejected>(())
//! ```
//!
//! 1. A run begins only behind a look at stop, limits and lease, in this order. The compiler checks it.
//! 2. Every run has one outcome, and the parent's model gets it once.
//! 3. A stop holds as a level: a child that begins after it is stopped, and none is begun again under it.
//! 4. A lease is held until the outcome is known; of a child that is lost, or was taken over, all of it counts as spent.
//! 5. What comes from another run than the present one is refused. Questions and messages are numbered, and taken in order, once.
//!
//! Absent on purpose: the child itself, its journal, its workspace, processes.

mod absorb;
mod action;
mod classify;
mod due;
mod event;
mod kept;
mod labels;
pub mod lease;
mod outcome;
mod render;
mod step;
mod stepping;
pub mod table;

pub use action::Action;
pub use due::{ChildView, Due, Order, Present, due};
pub use event::{Event, Gate, StopCause};
pub use outcome::{Counts, Left, MAX_TEXT_BYTES, Outcome, Rest, Verified, Word};
pub use step::{MAX_WAITING, Objection, Reason, Rejected, Step, Trace, Transition};
pub use table::{ActionKind, ChildTable, ProvedTable, State, Trigger};

use crate::snapshot::FormatVersion;
use alloc::collections::VecDeque;
use alloc::string::String;
use lease::{Lease, Spent};
use serde::{Deserialize, Serialize};
use statetable::{Machine, Proved};

/// What a child is given to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Assignment {
    /// The child's number among its parent's children, counted from 1 and used once.
    pub number: u32,
    /// Its name, unique among its parent's children.
    pub name: String,
    /// The task: all that a child with a fresh conversation knows.
    pub task: String,
    /// The number of its first run: 1, or the next one of a child that is resumed.
    pub run: u32,
    /// How often a run that the system failed is tried again.
    pub max_restarts: u32,
    /// Whether it has a workspace of its own, which is looked through when it has ended.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub is_apart: bool,
}

impl Assignment {
    /// The first run of a new child, which is not restarted.
    #[must_use]
    pub fn new(number: u32, name: impl Into<String>, task: impl Into<String>) -> Self {
        Self { number, name: name.into(), task: task.into(), run: 1, max_restarts: 0, is_apart: false }
    }
}

/// A child as its parent knows it. See the [module](self) for how to drive it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Child {
    #[serde(skip, default = "table::proved")]
    table: ProvedTable,
    format_version: FormatVersion,
    number: u32,
    name: String,
    task: String,
    state: State,
    now_ms: u64,
    run: u32,
    /// The newest run that the child's journal was seen to have.
    begun: u32,
    restarts: u32,
    max_restarts: u32,
    /// Whether it has a workspace of its own.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    is_apart: bool,
    /// What stands in the way, from the event to the decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gate: Option<Gate>,
    lease: Lease,
    /// What the runs that have an outcome spent.
    spent: Spent,
    /// Messages that the child has not taken.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    waiting: VecDeque<String>,
    /// How many messages it took in this run.
    taken: u32,
    /// How many questions it asked in this run.
    questions: u32,
    question: Option<String>,
    stop: Option<StopCause>,
    /// What was found instead of its journal.
    lost: Option<String>,
    outcome: Option<Outcome>,
    trace: Trace,
}

impl Child {
    /// A child of which nothing is decided: the first event is [`Event::Assigned`].
    #[must_use]
    pub fn new(assignment: Assignment) -> Self {
        Self::on(assignment, table::PROVED)
    }

    /// A child on another table, for tests that change rows and look for the difference.
    #[doc(hidden)]
    #[must_use]
    pub fn with_table(assignment: Assignment, table: &'static ChildTable) -> Self {
        Self::on(assignment, Proved::unproved_for_tests(table))
    }

    fn on(assignment: Assignment, table: ProvedTable) -> Self {
        let Assignment { number, name, task, run, max_restarts, is_apart } = assignment;
        Self {
            table,
            format_version: FormatVersion,
            number,
            name,
            task,
            state: table.table().initial,
            now_ms: 0,
            run: run.max(1),
            begun: 0,
            restarts: 0,
            max_restarts,
            is_apart,
            gate: None,
            lease: Lease::default(),
            spent: Spent::default(),
            waiting: VecDeque::new(),
            taken: 0,
            questions: 0,
            question: None,
            stop: None,
            lost: None,
            outcome: None,
            trace: Trace::new(None),
        }
    }

    /// Takes one event in. `at_ms` is the time of the event in milliseconds since the Unix epoch; time that runs backwards is held.
    ///
    /// # Errors
    /// [`Rejected`] when the event does not fit; the machine is then as it was before.
    pub fn step(&mut self, at_ms: u64, event: Event) -> Result<Step, Rejected> {
        Machine::step(self, at_ms, event)
    }

    /// The state.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    /// Its number among its parent's children.
    #[must_use]
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it was given to do.
    #[must_use]
    pub fn task(&self) -> &str {
        &self.task
    }

    /// The run that is in progress, or was the last.
    #[must_use]
    pub const fn run(&self) -> u32 {
        self.run
    }

    /// Whether its journal was seen to have its present run.
    #[must_use]
    pub const fn has_begun(&self) -> bool {
        self.begun == self.run
    }

    /// Whether its parent has to wait for it: it may begin, works, asks, stops, or what it leaves is looked through.
    #[must_use]
    pub const fn is_living(&self) -> bool {
        matches!(self.state, State::Starting | State::Working | State::Asking | State::Stopping | State::Clearing)
    }

    /// Whether nothing is expected of the child itself any more: its last run has an outcome, or it answers to its parent no more.
    #[must_use]
    pub const fn has_rested(&self) -> bool {
        self.outcome.is_some() || !self.is_living()
    }

    /// Whether it has a workspace of its own.
    #[must_use]
    pub const fn is_apart(&self) -> bool {
        self.is_apart
    }

    /// The lease that is out: what its parent must not spend. Nothing when the child has an outcome or answers to its parent no more.
    #[must_use]
    pub fn lease(&self) -> Option<&Lease> {
        self.is_living().then_some(&self.lease)
    }

    /// What its runs spent, as far as they have an outcome. Of a child that was taken over, the whole lease.
    #[must_use]
    pub const fn spent(&self) -> &Spent {
        &self.spent
    }

    /// What it asks, while it waits for an answer.
    #[must_use]
    pub fn question(&self) -> Option<&str> {
        self.question.as_deref()
    }

    /// The outcome of its last run, once there is one.
    #[must_use]
    pub const fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// How many messages were sent to it in this run.
    #[must_use]
    pub fn sent(&self) -> u32 {
        self.taken.saturating_add(u32::try_from(self.waiting.len()).unwrap_or(u32::MAX))
    }

    /// How many messages it took in this run.
    #[must_use]
    pub const fn taken(&self) -> u32 {
        self.taken
    }

    /// How many questions it asked in this run.
    #[must_use]
    pub const fn questions(&self) -> u32 {
        self.questions
    }

    /// The last transitions.
    #[must_use]
    pub const fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Empties the trace, which decides nothing.
    #[doc(hidden)]
    pub fn forget_trace(&mut self) {
        self.trace = Trace::new(None);
    }
}
