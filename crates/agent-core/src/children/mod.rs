//! What an agent does about all of its children: it does not rest while one is alive.
//!
//! Each child has a machine of its own, [`child`](crate::child). This one looks at all of them at once, when the agent's turn begins or
//! ends and when a child moves. An [`Agent`](crate::agent::Agent) joins them with the session.
//!
//! ```
//! use agent_core::children::{ActionKind, Children, Event, Standing, State, TurnEnd};
//!
//! let mut children = Children::new();
//! children.step(0, Event::TurnBegan)?;
//! let standing = Standing { are_alive: true, ..Standing::default() };
//! children.step(1, Event::TurnEnded { end: TurnEnd::Completed, standing })?;
//! assert_eq!(children.state(), State::Gathering);
//! let standing = Standing { has_reports: true, ..Standing::default() };
//! let step = children.step(2, Event::Moved { standing })?;
//! assert_eq!(step.actions, [ActionKind::SendReports]);
//! # Ok::<(), agent_core::children::Rejected>(())
//! ```
//!
//! 1. `Resting` is entered only when no child is alive.
//! 2. A turn that the model ends goes on when a child has something to say; every report is sent once.
//! 3. A turn that is cancelled, fails or reaches a limit stops all children.
//! 4. A refusal leaves the machine as it was. `step` never panics.

mod event;
mod labels;
pub mod table;

pub use event::{Event, Standing, TurnEnd};
pub use table::{ActionKind, ChildrenTable, ProvedTable, State, Trigger};

use crate::snapshot::FormatVersion;
use crate::trace;
use serde::{Deserialize, Serialize};
use statetable::{Machine, Proved, Rendering, Seat, Stepping};

/// A row of the table that fired.
pub type Transition = trace::Transition<State, Trigger>;
/// What the machine did.
pub type Trace = trace::Trace<State, Trigger>;
/// A refusal of the machine.
pub type Rejected = trace::Rejected<State, Trigger, Reason>;
/// Why an event is refused.
pub type Reason = statetable::Reason<Objection>;
/// All that one event did. Its actions have no data.
pub type Step = statetable::Step<State, Trigger, ActionKind>;

/// The data of the machine objects to nothing: only the table does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Objection {}

/// All children of an agent, as far as its turns are concerned. See the [module](self) for how to drive it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Children {
    #[serde(skip, default = "table::proved")]
    table: ProvedTable,
    format_version: FormatVersion,
    state: State,
    now_ms: u64,
    trace: Trace,
}

impl Default for Children {
    fn default() -> Self {
        Self::new()
    }
}

impl Children {
    /// Of an agent that rests and has no child.
    #[must_use]
    pub fn new() -> Self {
        Self::on(table::PROVED)
    }

    /// The same on another table, for tests that change rows and look for the difference.
    #[doc(hidden)]
    #[must_use]
    pub fn with_table(table: &'static ChildrenTable) -> Self {
        Self::on(Proved::unproved_for_tests(table))
    }

    fn on(table: ProvedTable) -> Self {
        let state = table.table().initial;
        Self { table, format_version: FormatVersion, state, now_ms: 0, trace: Trace::new(None) }
    }

    /// Takes one event in. `at_ms` is the time of the event in milliseconds since the Unix epoch; time that runs backwards is held.
    ///
    /// # Errors
    /// [`Rejected`] when the event does not fit; the machine is then as it was before.
    pub fn step(&mut self, at_ms: u64, event: Event) -> Result<Step, Rejected> {
        Machine::step(self, at_ms, event)
    }

    /// What the agent does.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    /// Whether the agent waits for its children, though its turn has ended.
    #[must_use]
    pub const fn is_waiting(&self) -> bool {
        matches!(self.state, State::Gathering | State::Stopping)
    }

    /// Whether a turn is in progress.
    pub(crate) const fn is_working(&self) -> bool {
        matches!(self.state, State::Working)
    }

    /// The last transitions and the time spent in each state.
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

impl Machine for Children {
    type State = State;
    type Trigger = Trigger;
    type ActionKind = ActionKind;
    type Event = Event;
    type Action = ActionKind;
    type Objection = Objection;
    type Notes = ();

    fn table(&self) -> ProvedTable {
        self.table
    }

    fn state(&self) -> State {
        self.state
    }

    fn event_name(event: &Event) -> &'static str {
        event.name()
    }

    fn classify(&self, _at_ms: u64, event: &Event) -> Result<Trigger, Reason> {
        Ok(event.trigger(self.state))
    }

    fn absorb(&mut self, at_ms: u64, _: Trigger, _: Event, (): &mut (), _: Stepping<Self>) {
        self.now_ms = self.now_ms.max(at_ms);
    }

    fn seat(&mut self, _: Stepping<Self>) -> Seat<'_, State, Trigger> {
        Seat { state: &mut self.state, now_ms: self.now_ms, trace: &mut self.trace }
    }

    fn render(&mut self, kind: ActionKind, _: Rendering, _: Stepping<Self>) -> Option<ActionKind> {
        Some(kind)
    }

    /// No state passes.
    fn holds(&self, _: Trigger) -> bool {
        false
    }
}
