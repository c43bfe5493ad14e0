//! By hand, as fast as it gets.

use super::{Event, Tally, events};

#[derive(Clone, Copy)]
enum State {
    Idle,
    Calling,
    Running,
    Waiting,
}

pub(super) fn run(count: usize) -> Tally {
    let (mut state, mut tally) = (State::Idle, Tally::default());
    for event in events(count) {
        let (next, calls) = match (state, event) {
            (State::Idle, Event::Start) | (State::Running, Event::Result) => (State::Calling, 1),
            (State::Calling, Event::Tool) => (State::Running, 0),
            (State::Calling, Event::Answer | Event::Cancel) | (State::Waiting, Event::Result) => (State::Idle, 0),
            (State::Running, Event::Cancel) => (State::Waiting, 0),
            _ => continue,
        };
        state = next;
        tally.accepted += 1;
        tally.calls += calls;
    }
    tally.state = state as u8;
    tally
}
