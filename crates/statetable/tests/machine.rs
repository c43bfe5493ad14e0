//! The step that every machine shares, by a lift: it moves, relays what only passes through, and refuses without a trace.

use statetable::{Machine, Proved, Reason, Rendering, Seat, Step, Stepping, Table, Trace, labels, prove, rows};
use std::fmt;

labels! {
    enum State {
        /// Doors open.
        Standing,
        /// Deciding where to go.
        Choosing,
        /// Between floors.
        Moving,
        /// Out of order.
        Broken,
    }
}

labels! {
    enum Trigger {
        /// A button was pressed.
        Pressed,
        /// A passenger speaks into the microphone.
        Spoke,
        /// The floor was reached.
        Arrived,
        /// The cable broke.
        Snapped,
        /// The floor is another one.
        AutoElsewhere,
        /// The lift is there.
        AutoHere,
    }
}

labels! {
    enum Kind {
        /// Start the motor.
        Drive,
        /// Ring the bell.
        Ring,
        /// Pass the words on.
        Relay,
    }
}

const TABLE: Table<State, Trigger, Kind> = Table {
    name: "lift",
    initial: State::Standing,
    terminal: &[State::Broken],
    passing: &[State::Choosing],
    rows: rows! { State, Trigger, Kind;
        Standing + Pressed       => Choosing [];
        Standing + Spoke         => Standing [Relay];
        Choosing + AutoElsewhere => Moving   [Drive];
        Choosing + AutoHere      => Standing [Ring];
        Moving   + Arrived       => Choosing [];
        Moving   + Snapped       => Broken   [Ring];
    },
};

prove! { const PROVED of TABLE: State, Trigger, Kind; trigger Spoke stays; }

#[derive(Clone, Debug)]
enum Event {
    Pressed { floor: u8 },
    Spoke(&'static str),
    Arrived { ticket: u64, floor: u8 },
    Snapped,
}

#[derive(Debug, PartialEq)]
enum Action {
    Drive { ticket: u64 },
    Ring,
    Relay(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Objection {
    NoSuchFloor,
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no such floor")
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Lift {
    state: State,
    now_ms: u64,
    trace: Trace<State, Trigger>,
    at: u8,
    wanted: u8,
    asked: Option<u64>,
    tickets: u64,
    visited: Vec<State>,
}

impl Lift {
    fn new() -> Self {
        let trace = Trace::new(None);
        Self {
            state: State::Standing,
            now_ms: 0,
            trace,
            at: 0,
            wanted: 0,
            asked: None,
            tickets: 0,
            visited: Vec::new(),
        }
    }
}

impl Machine for Lift {
    type State = State;
    type Trigger = Trigger;
    type ActionKind = Kind;
    type Event = Event;
    type Action = Action;
    type Objection = Objection;
    type Notes = Vec<&'static str>;

    fn table(&self) -> Proved<State, Trigger, Kind> {
        PROVED
    }

    fn state(&self) -> State {
        self.state
    }

    fn event_name(event: &Event) -> &'static str {
        match event {
            Event::Pressed { .. } => "Pressed",
            Event::Spoke(_) => "Spoke",
            Event::Arrived { .. } => "Arrived",
            Event::Snapped => "Snapped",
        }
    }

    fn classify(&self, _at_ms: u64, event: &Event) -> Result<Trigger, Reason<Objection>> {
        match event {
            Event::Pressed { floor } if *floor > 9 => Err(Objection::NoSuchFloor.into()),
            Event::Pressed { .. } => Ok(Trigger::Pressed),
            Event::Spoke(_) => Ok(Trigger::Spoke),
            Event::Arrived { ticket, .. } if self.asked != Some(*ticket) => Err(Reason::StaleTicket),
            Event::Arrived { .. } => Ok(Trigger::Arrived),
            Event::Snapped => Ok(Trigger::Snapped),
        }
    }

    fn absorb(&mut self, at_ms: u64, _: Trigger, event: Event, notes: &mut Vec<&'static str>, _: Stepping<Self>) {
        self.now_ms = self.now_ms.max(at_ms);
        match event {
            Event::Pressed { floor } => self.wanted = floor,
            Event::Arrived { floor, .. } => {
                (self.at, self.asked) = (floor, None);
                notes.push("arrived");
            }
            Event::Spoke(_) | Event::Snapped => {}
        }
    }

    fn seat(&mut self, _: Stepping<Self>) -> Seat<'_, State, Trigger> {
        Seat { state: &mut self.state, now_ms: self.now_ms, trace: &mut self.trace }
    }

    fn entered(&mut self, state: State, _: Stepping<Self>) {
        self.visited.push(state);
    }

    fn render(&mut self, kind: Kind, _: Rendering, _: Stepping<Self>) -> Option<Action> {
        match kind {
            Kind::Drive => {
                self.tickets += 1;
                self.asked = Some(self.tickets);
                Some(Action::Drive { ticket: self.tickets })
            }
            Kind::Ring => Some(Action::Ring),
            Kind::Relay => None,
        }
    }

    fn holds(&self, trigger: Trigger) -> bool {
        trigger == Trigger::AutoElsewhere && self.at != self.wanted
    }

    fn is_transient(event: &Event) -> bool {
        matches!(event, Event::Spoke(_))
    }

    fn relay(&self, _: &'static statetable::Row<State, Trigger, Kind>, event: Event, actions: &mut Vec<Action>) {
        if let Event::Spoke(words) = event {
            actions.push(Action::Relay(words));
        }
    }
}

#[test]
fn a_step_follows_automatic_rows_until_a_state_waits() {
    let mut lift = Lift::new();
    let step = lift.step(5, Event::Pressed { floor: 3 }).unwrap();
    let rows: Vec<_> = step.transitions.iter().map(|row| (row.from, row.on, row.to)).collect();
    let expected = [
        (State::Standing, Trigger::Pressed, State::Choosing),
        (State::Choosing, Trigger::AutoElsewhere, State::Moving),
    ];
    assert_eq!(rows, expected);
    assert_eq!(step.actions, [Action::Drive { ticket: 1 }]);
    assert!(step.notes.is_empty());
    let step = lift.step(9, Event::Arrived { ticket: 1, floor: 3 }).unwrap();
    assert_eq!((step.actions, step.notes), (vec![Action::Ring], vec!["arrived"]));
    assert_eq!(lift.visited, [State::Choosing, State::Moving, State::Choosing, State::Standing]);
    assert_eq!(lift.trace.total(State::Moving), (1, 4));
}

#[test]
fn a_refusal_says_why_and_changes_nothing() {
    let mut lift = Lift::new();
    let _ = lift.step(1, Event::Pressed { floor: 3 }).unwrap();
    let before = lift.clone();
    let refused = |event: Event| {
        let mut lift = before.clone();
        let refused = lift.step(99, event).unwrap_err();
        assert_eq!(lift, before, "{refused}");
        (refused.trigger, refused.reason, refused.accepted)
    };
    let accepted = vec![Trigger::Arrived, Trigger::Snapped];
    let no_row = (Some(Trigger::Pressed), Reason::NoRow, accepted.clone());
    assert_eq!(refused(Event::Pressed { floor: 4 }), no_row);
    assert_eq!(refused(Event::Pressed { floor: 10 }), (None, Objection::NoSuchFloor.into(), accepted.clone()));
    assert_eq!(refused(Event::Arrived { ticket: 7, floor: 3 }), (None, Reason::StaleTicket, accepted));
    assert_eq!(refused(Event::Spoke("help")).1, Reason::NoRow);
}

#[test]
fn nothing_follows_the_end() {
    let mut lift = Lift::new();
    let _ = lift.step(1, Event::Pressed { floor: 3 }).unwrap();
    assert_eq!(lift.step(2, Event::Snapped).unwrap().actions, [Action::Ring]);
    assert!(lift.step(3, Event::Pressed { floor: 1 }).unwrap_err().accepted.is_empty());
}

#[test]
fn what_passes_through_leaves_no_trace() {
    let mut lift = Lift::new();
    let before = lift.clone();
    let step = lift.step(50, Event::Spoke("hello")).unwrap();
    assert_eq!((step.actions, step.transitions.len()), (vec![Action::Relay("hello")], 0));
    assert_eq!(lift, before);
}

/// A reader of a journal has no use for actions; the machine is the same, tickets included.
#[test]
fn a_step_without_actions_leaves_the_same_machine() {
    let (mut told, mut read, mut step) = (Lift::new(), Lift::new(), Step::empty());
    for (at_ms, event) in [(1, Event::Pressed { floor: 3 }), (4, Event::Arrived { ticket: 1, floor: 3 })] {
        let _ = told.step(at_ms, event.clone()).unwrap();
        read.step_into(at_ms, event, &mut step, Rendering::Nothing).unwrap();
        assert!(step.actions.is_empty() && !step.transitions.is_empty());
        assert_eq!(told, read);
    }
}
