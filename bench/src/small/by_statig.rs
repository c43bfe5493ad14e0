//! By `statig`: states are functions, written out by an attribute.

use super::{Event, Tally, events};
use statig::prelude::*;

#[derive(Default)]
struct Counter {
    accepted: u64,
    calls: u64,
}

#[state_machine(initial = "State::idle()", state(derive(Debug, PartialEq)))]
impl Counter {
    #[state]
    fn idle(&mut self, event: &Event) -> Outcome<State> {
        match event {
            Event::Start => self.call(),
            _ => Super,
        }
    }

    #[state]
    fn calling(&mut self, event: &Event) -> Outcome<State> {
        match event {
            Event::Tool => self.go(State::running()),
            Event::Answer | Event::Cancel => self.go(State::idle()),
            _ => Super,
        }
    }

    #[state]
    fn running(&mut self, event: &Event) -> Outcome<State> {
        match event {
            Event::Result => self.call(),
            Event::Cancel => self.go(State::waiting()),
            _ => Super,
        }
    }

    #[state]
    fn waiting(&mut self, event: &Event) -> Outcome<State> {
        match event {
            Event::Result => self.go(State::idle()),
            _ => Super,
        }
    }
}

impl Counter {
    fn call(&mut self) -> Outcome<State> {
        self.calls += 1;
        self.go(State::calling())
    }

    fn go(&mut self, state: State) -> Outcome<State> {
        self.accepted += 1;
        Transition(state)
    }
}

pub(super) fn run(count: usize) -> Tally {
    let mut machine = Counter::default().state_machine();
    for event in events(count) {
        machine.handle(&event);
    }
    let state = [State::idle(), State::calling(), State::running(), State::waiting()];
    let last = state.iter().position(|state| state == machine.state()).unwrap_or(4);
    Tally { accepted: machine.inner().accepted, calls: machine.inner().calls, state: last as u8 }
}
