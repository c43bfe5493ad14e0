//! The lives of a few agents: kept, fallen short of, waiting, out of time, dismissed.

use crate::kept::{self, Kept, kind, lines, one_of_each};
use agent_core::lifecycle::{
    Action, CheckEnd, CheckReport, Commitment, CommitmentId, Event, Lifecycle, LifecycleConfig, Origin, Signal, State,
    TaskMode, Ticket, TurnEnd,
};
use serde::{Deserialize, Serialize};

/// One event, of which life, and when.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) life: usize,
    pub(crate) at_ms: u64,
    pub(crate) event: Event,
}

/// The files of the story as it goes today.
pub(crate) fn written() -> Vec<Kept> {
    let story = Story::told();
    let events = kept::written(&story.entries);
    let machines = machines_of(&events);
    vec![
        Kept::new("machines", "lifecycle.machines.jsonl", kept::written(machines)),
        Kept::new("machines", "lifecycle.events.jsonl", events),
        Kept::new("machines", "lifecycle.actions.jsonl", kept::written(one_of_each(story.actions))),
    ]
}

/// Every agent where it first stands in each state.
pub(crate) fn machines_of(events: &str) -> Vec<Lifecycle> {
    machines_made_of(&config(), events)
}

/// The same of agents that were made otherwise.
pub(crate) fn machines_made_of(config: &LifecycleConfig, events: &str) -> Vec<Lifecycle> {
    let mut lives: Vec<Lifecycle> = Vec::new();
    let mut found: Vec<Lifecycle> = Vec::new();
    for line in lines(events) {
        let Entry { life, at_ms, event } = serde_json::from_str(line).unwrap();
        if life == lives.len() {
            lives.push(Lifecycle::new(config.clone()));
        }
        let _ = lives[life].step(at_ms, event);
        if found.iter().all(|earlier| earlier.state() != lives[life].state()) {
            found.push(lives[life].clone());
        }
    }
    found.extend(lives.pop());
    found
}

/// The kept events, one a line.
pub(crate) fn events(name: &str) -> String {
    let text = kept::read("machines", name);
    kept::written(lines(&text).into_iter().map(|line| serde_json::from_str::<Entry>(line).unwrap().event))
}

struct Story {
    machine: Lifecycle,
    entries: Vec<Entry>,
    actions: Vec<Action>,
    life: usize,
    /// By the kind of action: the ticket that it was last asked with.
    tickets: Vec<(String, Ticket)>,
}

impl Story {
    fn told() -> Self {
        let mut story = Self {
            machine: Lifecycle::new(config()),
            entries: Vec::new(),
            actions: Vec::new(),
            life: 0,
            tickets: Vec::new(),
        };
        story.a_life_of_work();
        story.out_of_money();
        story.out_of_time();
        story.without_a_session();
        story
    }

    /// Falls short once, is stopped once, asks once, and is done.
    fn a_life_of_work(&mut self) {
        self.take(Event::InputReceived { text: "Make the tests pass.".into() });
        self.take(Event::ModeChanged { mode: TaskMode::Plan });
        let mut own = Commitment::of_command("cargo doc", 60_000);
        own.origin = Origin::Agent;
        self.take(Event::CommitmentAdded { commitment: own });
        self.take(Event::Signalled { signal: Signal::Done, summary: "All green.".into() });
        self.turn_ends();
        self.check(0, CheckEnd::Exited { code: 101 });
        self.check(1, CheckEnd::Killed { signal: 9 });
        self.turn_ends();
        self.take(Event::CancelRequested);
        self.take(Event::InputReceived { text: "Go on.".into() });
        self.take(Event::CancelRequested);
        self.take(Event::TurnEnded { end: TurnEnd::Cancelled, time_left_ms: None });
        self.take(Event::InputReceived { text: "Which tests?".into() });
        self.take(Event::Signalled { signal: Signal::Waiting, summary: "Unit or all?".into() });
        self.turn_ends();
        self.take(Event::InputReceived { text: "All.".into() });
        self.turn_ends();
        self.check(0, CheckEnd::Exited { code: 0 });
        self.check(1, CheckEnd::Exited { code: 0 });
        assert_eq!(self.machine.state(), State::Done);
        self.take(Event::Dismissed);
        assert_eq!(self.machine.state(), State::Ended);
    }

    fn out_of_money(&mut self) {
        self.next_life();
        self.take(Event::InputReceived { text: "Something else.".into() });
        self.take(Event::BudgetExceeded);
        self.cleaned_up();
    }

    fn out_of_time(&mut self) {
        self.next_life();
        self.take(Event::InputReceived { text: "Something long.".into() });
        let ticket = self.ticket("StartTimer");
        self.take(Event::TimedOut { ticket });
    }

    fn without_a_session(&mut self) {
        self.next_life();
        self.take(Event::InputReceived { text: "Anything.".into() });
        self.take(Event::SessionEnded);
    }

    fn next_life(&mut self) {
        self.life += 1;
        self.machine = Lifecycle::new(config());
        self.tickets.clear();
    }

    fn take(&mut self, event: Event) {
        let at_ms = 1_000 * (self.entries.len() as u64 + 1);
        self.entries.push(Entry { life: self.life, at_ms, event: event.clone() });
        let step = self.machine.step(at_ms, event).unwrap_or_else(|rejected| panic!("{rejected}"));
        for action in &step.actions {
            if let Action::RunChecks { ticket, .. } | Action::StartTimer { ticket, .. } | Action::CleanUp { ticket } =
                action
            {
                self.tickets.push((kind(action), *ticket));
            }
        }
        self.actions.extend(step.actions);
    }

    fn turn_ends(&mut self) {
        self.take(Event::TurnEnded { end: TurnEnd::Completed, time_left_ms: None });
    }

    fn check(&mut self, commitment: usize, end: CheckEnd) {
        let ticket = self.ticket("RunChecks");
        let report = CheckReport::new(end, "test parser ... ".into());
        self.take(Event::CheckCompleted { ticket, commitment: CommitmentId(commitment), report });
    }

    fn cleaned_up(&mut self) {
        let ticket = self.ticket("CleanUp");
        self.take(Event::CleanupCompleted { ticket });
        assert_eq!(self.machine.state(), State::Ended);
    }

    fn ticket(&self, of: &str) -> Ticket {
        self.tickets.iter().rfind(|(kind, _)| kind == of).unwrap().1
    }
}

fn config() -> LifecycleConfig {
    let mut config = LifecycleConfig::headless(vec![Commitment::of_command("cargo test", 120_000)]);
    (config.max_idle_ms, config.max_work_ms, config.max_wait_ms) = (Some(600_000), Some(3_600_000), Some(60_000));
    config
}
