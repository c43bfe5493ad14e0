//! An agent whose messages have a limited time, which its checks share: stopped by a limit, resumed, sent back once, and renewed.

use crate::kept::{self, Kept, one_of_each};
use crate::lifecycle::{Entry, machines_made_of};
use agent_core::lifecycle::{
    Action, CheckEnd, CheckReport, Commitment, CommitmentId, Event, Lifecycle, LifecycleConfig, State, Ticket, TurnEnd,
};

/// The files of the story as it goes today.
pub(crate) fn written() -> Vec<Kept> {
    let (entries, actions) = told();
    let events = kept::written(entries);
    let machines = machines_of(&events);
    vec![
        Kept::new("machines", "timed.machines.jsonl", kept::written(machines)),
        Kept::new("machines", "timed.events.jsonl", events),
        Kept::new("machines", "timed.actions.jsonl", kept::written(one_of_each(actions))),
    ]
}

/// The agent where it first stands in each state.
pub(crate) fn machines_of(events: &str) -> Vec<Lifecycle> {
    machines_made_of(&config(), events)
}

fn config() -> LifecycleConfig {
    let bound = vec![Commitment::of_command("cargo test", 120_000)];
    LifecycleConfig { is_renewed: true, ..LifecycleConfig::headless(bound) }
}

fn told() -> (Vec<Entry>, Vec<Action>) {
    let check = |ticket, code| {
        let report = CheckReport::new(CheckEnd::Exited { code }, "test parser ... ".into());
        Event::CheckCompleted { ticket: Ticket(ticket), commitment: CommitmentId(0), report }
    };
    let turn = |end, left_ms| Event::TurnEnded { end, time_left_ms: Some(left_ms) };
    let life = [
        Event::InputReceived { text: "Make the tests pass.".into() },
        turn(TurnEnd::Failed, 50_000),
        Event::WorkResumed,
        turn(TurnEnd::Completed, 50_000),
        check(1, 101),
        turn(TurnEnd::Completed, 20_000),
        Event::TimedOut { ticket: Ticket(4) },
        Event::CleanupCompleted { ticket: Ticket(5) },
    ];
    let mut machine = Lifecycle::new(config());
    let (mut entries, mut actions) = (Vec::new(), Vec::new());
    for (at_ms, event) in (1_000..).step_by(1_000).zip(life) {
        entries.push(Entry { life: 0, at_ms, event: event.clone() });
        actions.extend(machine.step(at_ms, event).unwrap_or_else(|rejected| panic!("{rejected}")).actions);
    }
    assert_eq!(machine.state(), State::Ended);
    (entries, actions)
}
