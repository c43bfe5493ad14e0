//! One step of a machine: five moves, written once.

use crate::table::{Label, Proved, Row};
use crate::trace::{Rejected, Trace, Transition};
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

/// A state machine on a [`Proved`] table.
///
/// The machine holds data; the table says what follows what. A machine decides which trigger an event is and which automatic row fires
/// first, and gives the row's actions their data. [`step`](Self::step) does the rest:
///
/// ```text
/// event -> classify (reads data, decides guards) -> Trigger | Rejected
///       -> the table's row                       -> Row     | Rejected
///       -> absorb (moves the event's data in)
///       -> render (gives the row's actions their data)
///       -> automatic rows, until a state that waits
/// ```
///
/// A step ends: the proof of the table says that automatic rows cannot cycle.
pub trait Machine {
    /// Where the machine can stand.
    type State: Label;
    /// What can happen, guards included.
    type Trigger: Label;
    /// What rows name; [`Action`](Self::Action) is the same with data.
    type ActionKind: Label;
    /// What a driver reports.
    type Event;
    /// What a driver is asked to do.
    type Action;
    /// Why the machine's data refuses an event.
    type Objection: fmt::Display;
    /// Further results of a step; `()` for none.
    type Notes: Default;

    /// The table that the machine runs on.
    fn table(&self) -> Proved<Self::State, Self::Trigger, Self::ActionKind>;

    /// Where the machine stands.
    fn state(&self) -> Self::State;

    /// The event's name, for a refusal.
    fn event_name(event: &Self::Event) -> &'static str;

    /// Whether the event comes too late through no fault of the driver, such as a timer that fired while it was being stopped: it is
    /// answered by an empty step, and nothing changes. A refusal would make an error of what no driver can avoid.
    fn is_late(&self, _event: &Self::Event) -> bool {
        false
    }

    /// The trigger that an event is here and now. Reads, changes nothing.
    ///
    /// # Errors
    /// [`Reason`] when the event does not fit the machine's data.
    fn classify(&self, at_ms: u64, event: &Self::Event) -> Result<Self::Trigger, Reason<Self::Objection>>;

    /// Moves the event's data in.
    fn absorb(
        &mut self,
        at_ms: u64,
        trigger: Self::Trigger,
        event: Self::Event,
        notes: &mut Self::Notes,
        stepping: Stepping<Self>,
    );

    /// What changes when a row fires.
    fn seat(&mut self, stepping: Stepping<Self>) -> Seat<'_, Self::State, Self::Trigger>;

    /// Notes that a row led to another state. Its actions are rendered afterwards.
    fn entered(&mut self, _state: Self::State, _stepping: Stepping<Self>) {}

    /// The action that a label of the row stands for now, or `None` if there is nothing to do it with. Where a journal is read
    /// ([`Rendering::Nothing`]) only what it changes in the machine counts, and the action need not be made.
    fn render(
        &mut self,
        kind: Self::ActionKind,
        rendering: Rendering,
        stepping: Stepping<Self>,
    ) -> Option<Self::Action>;

    /// Whether the guard of an automatic row holds. The last row of a passing state is not asked.
    fn holds(&self, trigger: Self::Trigger) -> bool;

    /// Moves data before an automatic row fires.
    fn settle(&mut self, _trigger: Self::Trigger, _stepping: Stepping<Self>) {}

    /// Whether the event only passes through: it has a row, which keeps the state, and leaves no trace.
    fn is_transient(_event: &Self::Event) -> bool {
        false
    }

    /// The action of an event that only passes through, if it has one.
    fn relay(&self, _row: &'static RowOf<Self>, _event: Self::Event, _actions: &mut Vec<Self::Action>) {}

    /// Takes one event in. `at_ms` is the time of the event in milliseconds since the Unix epoch.
    ///
    /// # Errors
    /// [`Rejected`] when the event does not fit; the machine is then as it was before.
    #[inline]
    fn step(&mut self, at_ms: u64, event: Self::Event) -> Result<StepOf<Self>, RejectedOf<Self>> {
        let mut step = Step::default();
        advance(self, at_ms, event, &mut step, Rendering::Actions)?;
        Ok(step)
    }

    /// The same with a step that was used before: a reader of many events keeps its room, and need not have the actions made.
    ///
    /// # Errors
    /// [`Rejected`] when the event does not fit; the machine is then as it was before.
    #[inline]
    fn step_into(
        &mut self,
        at_ms: u64,
        event: Self::Event,
        step: &mut StepOf<Self>,
        rendering: Rendering,
    ) -> Result<(), RejectedOf<Self>> {
        step.clear();
        advance(self, at_ms, event, step, rendering)
    }
}

/// Evidence that a step of this kind of machine is in progress. Only its step has one, so that a machine's data changes by its own steps
/// alone. One of another machine is of another type:
///
/// ```compile_fail,E0308
/// # use statetable::{Machine, Stepping};
/// fn meddle<M: Machine, Other: Machine>(machine: &mut M, stepping: Stepping<Other>) {
///     machine.seat(stepping); // Expected `Stepping<M>`, found `Stepping<Other>`.
/// }
/// ```
#[derive(Debug)]
pub struct Stepping<M: ?Sized>(PhantomData<fn() -> M>);

impl<M: ?Sized> Stepping<M> {
    const fn new() -> Self {
        Self(PhantomData)
    }
}

/// A row of a machine's table.
pub type RowOf<M> = Row<<M as Machine>::State, <M as Machine>::Trigger, <M as Machine>::ActionKind>;

/// The result of a step of a machine.
pub type StepOf<M> =
    Step<<M as Machine>::State, <M as Machine>::Trigger, <M as Machine>::Action, <M as Machine>::Notes>;

/// A refusal of a machine.
pub type RejectedOf<M> = Rejected<<M as Machine>::State, <M as Machine>::Trigger, Reason<<M as Machine>::Objection>>;

/// What a row that fires changes in a machine, lent for that moment.
#[derive(Debug)]
pub struct Seat<'a, S, T> {
    /// The state.
    pub state: &'a mut S,
    /// The machine's clock, in milliseconds since the Unix epoch.
    pub now_ms: u64,
    /// What the machine did.
    pub trace: &'a mut Trace<S, T>,
}

/// All that one event did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[must_use = "the actions of a step must be performed"]
#[non_exhaustive]
pub struct Step<S, T, A, N = ()> {
    /// The rows that fired, in order; the first is the event's own. None on an event that came late, and on one that only passes through.
    pub transitions: Vec<Transition<S, T>>,
    /// What the driver is asked to do, in order.
    pub actions: Vec<A>,
    /// Further results of the machine.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub notes: N,
}

impl<S, T, A, N: Default> Default for Step<S, T, A, N> {
    fn default() -> Self {
        Self::empty()
    }
}

impl<S, T, A, N: Default> Step<S, T, A, N> {
    /// A step in which nothing happened. It allocates nothing.
    pub fn empty() -> Self {
        Self { transitions: Vec::new(), actions: Vec::new(), notes: N::default() }
    }

    /// Whether nothing happened: an event that came late leaves the machine as it was, and asks for nothing.
    pub const fn is_empty(&self) -> bool {
        self.transitions.is_empty() && self.actions.is_empty()
    }

    fn clear(&mut self) {
        self.transitions.clear();
        self.actions.clear();
        self.notes = N::default();
    }
}

/// Whether a step returns its actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rendering {
    /// It does.
    Actions,
    /// It does not: a journal is read.
    Nothing,
}

/// Why an event is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Reason<O> {
    /// The table has no row for it.
    NoRow,
    /// It answers something that is not open: already answered, withdrawn, or never asked.
    StaleTicket,
    /// The machine's data does not let it in.
    #[cfg_attr(feature = "serde", serde(untagged))]
    Objection(O),
}

impl<O: fmt::Display> fmt::Display for Reason<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRow => f.write_str("the table has no row for it"),
            Self::StaleTicket => f.write_str("its ticket is not open"),
            Self::Objection(objection) => objection.fmt(f),
        }
    }
}

impl<O> From<O> for Reason<O> {
    fn from(objection: O) -> Self {
        Self::Objection(objection)
    }
}

/// The five moves.
#[inline]
fn advance<M: Machine + ?Sized>(
    machine: &mut M,
    at_ms: u64,
    event: M::Event,
    step: &mut StepOf<M>,
    rendering: Rendering,
) -> Result<(), RejectedOf<M>> {
    if machine.is_late(&event) {
        return Ok(());
    }
    let table = machine.table();
    let from = machine.state();
    let name = M::event_name(&event);
    let trigger = match machine.classify(at_ms, &event) {
        Ok(trigger) => trigger,
        Err(reason) => return Err(Rejected::new(table.table(), from, name, None, reason)),
    };
    let Some(row) = table.row(from, trigger) else {
        return Err(Rejected::new(table.table(), from, name, Some(trigger), Reason::NoRow));
    };
    if M::is_transient(&event) {
        machine.relay(row, event, &mut step.actions);
        return Ok(());
    }
    // Room that is made once costs less than room that grows; one that only passes through needs none.
    if step.transitions.capacity() == 0 {
        step.transitions = Vec::with_capacity(ROWS_OF_MOST_STEPS);
    }
    machine.absorb(at_ms, trigger, event, &mut step.notes, Stepping::new());
    fire(machine, row, step, rendering);
    while let Some(row) = automatic_row(machine) {
        machine.settle(row.on, Stepping::new());
        fire(machine, row, step, rendering);
    }
    Ok(())
}

/// The only place where a state changes.
fn fire<M: Machine + ?Sized>(machine: &mut M, row: &RowOf<M>, step: &mut StepOf<M>, rendering: Rendering) {
    let seat = machine.seat(Stepping::new());
    step.transitions.push(seat.trace.enter(seat.now_ms, row.from, row.on, row.to));
    *seat.state = row.to;
    if row.from != row.to {
        machine.entered(row.to, Stepping::new());
    }
    if step.actions.capacity() == 0 && !row.actions.is_empty() && rendering == Rendering::Actions {
        step.actions = Vec::with_capacity(ACTIONS_OF_MOST_STEPS);
    }
    for kind in row.actions {
        let action = machine.render(*kind, rendering, Stepping::new());
        if rendering == Rendering::Actions {
            step.actions.extend(action);
        }
    }
}

/// In a passing state, the first automatic row whose guard holds; the last one needs no guard.
fn automatic_row<M: Machine + ?Sized>(machine: &M) -> Option<&'static RowOf<M>> {
    let table = machine.table();
    if !table.table().is_passing(machine.state()) {
        return None;
    }
    let mut last = None;
    for row in table.rows_from(machine.state()) {
        if machine.holds(row.on) {
            return Some(row);
        }
        last = Some(row);
    }
    last
}

/// Rows that an event fires before the machine waits again, its automatic ones included; seldom more.
const ROWS_OF_MOST_STEPS: usize = 4;
/// What is asked of the driver in a step; seldom more.
const ACTIONS_OF_MOST_STEPS: usize = 2;
