//! By `smlang`: a procedural macro that writes the `match`.

use super::{Event, Tally, events};
use machine::{Events, StateMachine, States};
// The macro makes an event that never comes.
#[allow(dead_code, reason = "`Finish` is in the table and never comes")]
mod machine {
    use super::Counter;
    use smlang::statemachine;

    statemachine! {
        transitions: {
            *Idle + Start / count = Calling,
            Idle + Finish = Done,
            Calling + Tool = Running,
            Calling + Answer = Idle,
            Calling + Cancel = Idle,
            Running + Result / count = Calling,
            Running + Cancel = Waiting,
            Waiting + Result = Idle,
        }
    }

    impl StateMachineContext for Counter {
        fn count(&mut self) -> Result<(), ()> {
            self.calls += 1;
            Ok(())
        }
    }
}

#[derive(Default)]
pub struct Counter {
    calls: u64,
}

pub(super) fn run(count: usize) -> Tally {
    let mut machine = StateMachine::new(Counter::default());
    let mut tally = Tally::default();
    for event in events(count) {
        let event = match event {
            Event::Start => Events::Start,
            Event::Answer => Events::Answer,
            Event::Tool => Events::Tool,
            Event::Result => Events::Result,
            Event::Cancel => Events::Cancel,
        };
        tally.accepted += u64::from(machine.process_event(event).is_ok());
    }
    tally.calls = machine.context().calls;
    tally.state = match machine.state() {
        States::Idle => 0,
        States::Calling => 1,
        States::Running => 2,
        States::Waiting => 3,
        States::Done => 4,
    };
    tally
}
