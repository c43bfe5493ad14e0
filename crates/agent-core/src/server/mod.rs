//! A server of tools, such as one of the Model Context Protocol, as the agent that uses it knows it.
//!
//! ```text
//! look up what stands in the way -> start -> ready -> calls, each a ticket with its time
//!              ^                      |        |
//!              +------- pause --------+--------+  it ended by itself: a bounded number of times
//! ```
//!
//! ```
//! use agent_core::server::{Action, Asked, CallEnd, Event, Gate, Limits, Server, State};
//!
//! let mut server = Server::new(Limits::default());
//! // A call that is asked before the server is there waits for it.
//! let call = Asked { ticket: 1, idle_ms: 60_000, max_ms: 600_000, is_repeatable: false };
//! server.step(0, Event::CallAsked { call })?;
//! let step = server.step(0, Event::Considered { gate: Gate::default() })?;
//! assert!(matches!(step.actions[..], [Action::StartServer { run: 1 }, Action::ArmTimer { .. }]));
//! let step = server.step(900, Event::Came { run: 1 })?;
//! assert_eq!(step.actions[1], Action::SendHeld { calls: vec![(1, 60_000)] });
//! // It ends in the middle of the call: nobody knows what the call did, and the server is started again.
//! let step = server.step(1_000, Event::Ended { run: 1, found: "it exited with 1".into() })?;
//! let Action::AnswerLost { calls } = &step.actions[0] else { panic!() };
//! assert!(matches!(calls[..], [(1, CallEnd::Unknown { .. })]));
//! assert_eq!(server.state(), State::Restarting);
//! # Ok::<(), agent_core::server::Rejected>(())
//! ```
//!
//! 1. A server starts only behind a look at its configuration and at what was trusted, in this order, every time. The compiler checks it.
//! 2. Every call has one answer: the server's, or one in its place that says whether the call was sent.
//! 3. A call is sent once. One that only reads and may be repeated is sent once more when the server ended in the middle of it.
//! 4. Restarts are bounded, and so is how often a server is asked for its tools because it says that they changed.
//! 5. What a server asks of a person is of a call that is with it, and ends with that call; in the middle of one call it asks a bounded
//!    number of times. While a person is asked, only the whole time of the call counts.
//! 6. What comes from another run than the present one, or for a call or a question that has its answer, is refused.
//!
//! Absent on purpose: the protocol, processes, what the tools are, who may call them.

mod absorb;
mod action;
mod classify;
mod event;
mod labels;
mod render;
mod step;
mod stepping;
pub mod table;

pub use action::{Action, CallEnd};
pub use event::{Asked, Event, Gate};
pub use step::{MAX_OPEN, Objection, Reason, Rejected, Step, Trace, Transition};
pub use table::{ActionKind, ProvedTable, ServerTable, State, Trigger};

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};
use statetable::{Machine, Proved};

/// The times and numbers that bound a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// How long a start may take before it is late, in milliseconds.
    pub start_ms: u64,
    /// How much longer it may take before it is given up, in milliseconds.
    pub give_up_ms: u64,
    /// How often it is started again after it ended by itself.
    pub max_restarts: u32,
    /// The pause before the first restart, in milliseconds; each further one is twice as long.
    pub pause_ms: u64,
    /// After how many milliseconds of taking calls earlier ends do not count any more.
    pub steady_ms: u64,
    /// How often its tools are asked for within [`lists_ms`](Self::lists_ms) because it says that they changed.
    pub max_lists: u32,
    /// The stretch of time for that, in milliseconds.
    pub lists_ms: u64,
    /// How often a server may ask for something in the middle of one call.
    pub max_inputs: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start_ms: 10_000,
            give_up_ms: 50_000,
            max_restarts: 3,
            pause_ms: 500,
            steady_ms: 600_000,
            max_lists: 5,
            lists_ms: 60_000,
            max_inputs: 10,
        }
    }
}

/// A server as the agent knows it. See the [module](self) for how to drive it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Server {
    #[serde(skip)]
    table: ProvedTable,
    limits: Limits,
    state: State,
    now_ms: u64,
    run: u32,
    /// The timer that was armed last.
    timer: u32,
    restarts: u32,
    /// Whether it ever took calls.
    has_come: bool,
    ready_ms: u64,
    gate: Gate,
    /// What was found last: why it does not run, or why its tools could not be had.
    found: Option<String>,
    /// The calls without an answer.
    calls: BTreeMap<u64, Call>,
    last_ticket: u64,
    /// What servers ask for that has no answer yet, each with its call.
    inputs: BTreeMap<u64, u64>,
    last_input: u64,
    /// What the event asks for, or answers.
    present_input: u64,
    /// What was asked for and needs no answer any more.
    taken_back: Vec<u64>,
    /// The call that the event is of.
    present: u64,
    /// Whether that call was sent, when it is given up.
    withdrawn: bool,
    /// What answers that call in the server's place.
    answer: Option<CallEnd>,
    /// Whether its tools are being asked for, and whether they changed since.
    is_listing: bool,
    has_changed: bool,
    lists: u32,
    lists_since_ms: u64,
    trace: Trace,
}

/// A call without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct Call {
    asked: Asked,
    asked_ms: u64,
    is_sent: bool,
    was_repeated: bool,
    /// How often something was asked for in the middle of it.
    inputs: u32,
}

impl Server {
    /// A server of which nothing is decided: the first event is [`Event::Considered`].
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self::on(limits, table::PROVED)
    }

    /// A server on another table, for tests that change rows and look for the difference.
    #[doc(hidden)]
    #[must_use]
    pub fn with_table(limits: Limits, table: &'static ServerTable) -> Self {
        Self::on(limits, Proved::unproved_for_tests(table))
    }

    fn on(limits: Limits, table: ProvedTable) -> Self {
        Self {
            table,
            limits,
            state: table.table().initial,
            now_ms: 0,
            run: 0,
            timer: 0,
            restarts: 0,
            has_come: false,
            ready_ms: 0,
            gate: Gate::default(),
            found: None,
            calls: BTreeMap::new(),
            last_ticket: 0,
            inputs: BTreeMap::new(),
            last_input: 0,
            present_input: 0,
            taken_back: Vec::new(),
            present: 0,
            withdrawn: false,
            answer: None,
            is_listing: false,
            has_changed: false,
            lists: 0,
            lists_since_ms: 0,
            trace: Trace::new(None),
        }
    }

    /// Takes one event in. `at_ms` is the time of the event in milliseconds on any clock; time that runs backwards is held.
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

    /// The run that is in progress, or was the last; 0 before the first.
    #[must_use]
    pub const fn run(&self) -> u32 {
        self.run
    }

    /// The highest number of a call so far.
    #[must_use]
    pub const fn last_ticket(&self) -> u64 {
        self.last_ticket
    }

    /// The timer that was armed last.
    #[must_use]
    pub const fn timer(&self) -> u32 {
        self.timer
    }

    /// How often it was started again since it was last asked for or was steady.
    #[must_use]
    pub const fn restarts(&self) -> u32 {
        self.restarts
    }

    /// What was found last: why it does not run, or why its tools could not be had.
    #[must_use]
    pub fn found(&self) -> Option<&str> {
        self.found.as_deref()
    }

    /// The calls without an answer: their tickets, and whether each was sent.
    pub fn open(&self) -> impl Iterator<Item = (u64, bool)> + '_ {
        self.calls.iter().map(|(ticket, call)| (*ticket, call.is_sent))
    }

    /// What the server asks for that has no answer yet, each with its call.
    pub fn inputs(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.inputs.iter().map(|(input, ticket)| (*input, *ticket))
    }

    /// The highest number of something that was asked for so far.
    #[must_use]
    pub const fn last_input(&self) -> u64 {
        self.last_input
    }

    /// Whether nothing has to be waited for at the beginning of a turn: it takes calls, or will not for now.
    #[must_use]
    pub const fn is_decided(&self) -> bool {
        matches!(self.state, State::Ready | State::Late | State::Trusting | State::Failed | State::Stopped)
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
