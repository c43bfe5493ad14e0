//! A driver that keeps what was asked, and the invariants that hold after every event.

use agent_core::lifecycle::table::TABLE;
use agent_core::lifecycle::{
    Action, CheckEnd, CheckReport, Commitment, CommitmentId, Event, Lifecycle, LifecycleConfig, LifecycleTable,
    Outcome, Rejected, Signal, State, Step, TaskMode, Ticket, TurnEnd,
};
use std::cell::Cell;

thread_local! {
    /// Nothing is the real table.
    static ON: Cell<Option<&'static LifecycleTable>> = const { Cell::new(None) };
}

/// Makes machines on another table for a while. What is run must not panic.
pub(crate) fn on<R>(table: &'static LifecycleTable, run: impl FnOnce() -> R) -> R {
    let before = ON.replace(Some(table));
    let result = run();
    ON.set(before);
    result
}

pub(crate) fn commitment(command: &str) -> Commitment {
    Commitment::of_command(command, 1_000)
}

/// Two commitments and a limit on everything.
pub(crate) fn config() -> LifecycleConfig {
    LifecycleConfig {
        max_idle_ms: Some(1_000),
        max_work_ms: Some(2_000),
        max_wait_ms: Some(3_000),
        ..LifecycleConfig::headless(vec![commitment("first"), commitment("second")])
    }
}

pub(crate) fn exited(code: i32) -> CheckReport {
    CheckReport { end: CheckEnd::Exited { code }, output: format!("exit {code}\n") }
}

/// A machine, what it asked for, and what has to be true.
#[derive(Clone)]
pub(crate) struct Harness {
    pub(crate) machine: Lifecycle,
    made_of: LifecycleConfig,
    events: Vec<(u64, Event)>,
    /// Tickets of checks and timers, open or not, newest last.
    pub(crate) checks: Vec<Ticket>,
    pub(crate) timers: Vec<Ticket>,
    pub(crate) cleanup: Option<Ticket>,
    pub(crate) sent: u64,
    timer_is_open: bool,
    reports_since_message: u32,
    now_ms: u64,
}

impl Harness {
    pub(crate) fn new(config: LifecycleConfig) -> Self {
        Self {
            machine: Lifecycle::with_table(config.clone(), ON.get().unwrap_or(&TABLE)),
            made_of: config,
            events: Vec::new(),
            checks: Vec::new(),
            timers: Vec::new(),
            cleanup: None,
            sent: 0,
            timer_is_open: false,
            reports_since_message: 0,
            now_ms: 1_000,
        }
    }

    /// Takes an event and checks everything that has to hold then.
    pub(crate) fn take(&mut self, event: Event) -> Result<Step, Rejected> {
        self.now_ms += 10;
        let before = self.machine.clone();
        let is_message = matches!(event, Event::InputReceived { .. });
        self.events.push((self.now_ms, event.clone()));
        match self.machine.step(self.now_ms, event) {
            Ok(step) => {
                if is_message {
                    self.reports_since_message = 0;
                }
                self.note(&step);
                self.check(&step);
                Ok(step)
            }
            Err(rejected) => {
                assert_eq!(self.machine, before, "a refusal changed something");
                assert_eq!(rejected.state, before.state());
                Err(rejected)
            }
        }
    }

    pub(crate) fn state(&self) -> State {
        self.machine.state()
    }

    pub(crate) fn message(&mut self) {
        self.take(Event::InputReceived { text: String::from("do it") }).map(drop).unwrap();
    }

    pub(crate) fn turn(&mut self, end: TurnEnd) {
        self.take(Event::TurnEnded { end, inputs_taken: self.sent }).map(drop).unwrap();
    }

    pub(crate) fn signal(&mut self, signal: Signal) {
        let _ = self.take(Event::Signalled { signal, summary: String::from("so it is") }).unwrap();
    }

    pub(crate) fn answer(&mut self, commitment: usize, report: CheckReport) -> Vec<Action> {
        let ticket = *self.checks.last().unwrap();
        self.take(Event::CheckCompleted { ticket, commitment: CommitmentId(commitment), report }).unwrap().actions
    }

    /// The same events once more, and through text, make the same machine.
    pub(crate) fn check_replay(&self) {
        if ON.get().is_some() {
            return; // What is read back stands on the real table.
        }
        let mut again = Lifecycle::new(self.made_of.clone());
        for (at_ms, event) in &self.events {
            let text = serde_json::to_string(event).unwrap();
            let _ = again.step(*at_ms, serde_json::from_str(&text).unwrap());
        }
        assert_eq!(again, self.machine);
        let kept = serde_json::to_string(&self.machine).unwrap();
        assert_eq!(serde_json::from_str::<Lifecycle>(&kept).unwrap(), self.machine);
    }

    fn note(&mut self, step: &Step) {
        for action in &step.actions {
            match action {
                Action::SendInput { .. } => self.sent += 1,
                Action::SendGapReport { round, .. } => {
                    self.sent += 1;
                    self.reports_since_message += 1;
                    assert_eq!(*round, self.reports_since_message);
                }
                Action::RunChecks { ticket, checks } => {
                    let asked: Vec<_> = checks.iter().map(|check| check.assertion.clone()).collect();
                    let all: Vec<_> = self.machine.commitments().iter().map(|all| all.assertion.clone()).collect();
                    assert_eq!(asked, all, "a verification that leaves something out");
                    assert!(!asked.is_empty(), "a verification of nothing");
                    assert!(!self.checks.contains(ticket));
                    self.checks.push(*ticket);
                }
                Action::CancelChecks { ticket } => assert_eq!(self.checks.last(), Some(ticket)),
                Action::StartTimer { ticket, .. } => {
                    assert!(!self.timer_is_open, "two timers at once");
                    self.timer_is_open = true;
                    self.timers.push(*ticket);
                }
                Action::StopTimer { ticket } => {
                    assert!(self.timer_is_open);
                    assert_eq!(self.timers.last(), Some(ticket));
                    self.timer_is_open = false;
                }
                Action::CleanUp { ticket } => self.cleanup = Some(*ticket),
                Action::CancelTurn | Action::ReportOutcome { .. } | Action::ReleaseSession => {}
            }
        }
        if step.transition.on == agent_core::lifecycle::Trigger::TimedOut {
            self.timer_is_open = false;
        }
    }

    fn check(&self, step: &Step) {
        let machine = &self.machine;
        assert!(self.reports_since_message <= self.made_of.max_rounds, "too many rounds");
        if machine.state() == State::Done && !machine.commitments().is_empty() {
            let verification = machine.verification().unwrap();
            for id in 0..machine.commitments().len() {
                let report = verification.report(CommitmentId(id)).unwrap();
                assert_eq!(report.end, CheckEnd::Exited { code: 0 }, "done with a commitment that is not kept");
            }
            assert_eq!(machine.outcome(), Some(&Outcome::Done { kept: machine.commitments().len() }));
        }
        let is_resting = matches!(machine.state(), State::Idle | State::Waiting | State::Done | State::Reaped);
        if is_resting && step.transition.from != step.transition.to {
            let told = |action: &Action| matches!(action, Action::ReportOutcome { .. });
            assert_eq!(step.actions.iter().filter(|action| told(action)).count(), 1, "nobody is told: {step:?}");
        }
        if machine.state() == State::Ended {
            assert!(step.actions.iter().all(|action| *action == Action::ReleaseSession));
        }
        assert_eq!(machine.mode().is_some(), machine.state() == State::Working);
        let is_timed = matches!(machine.state(), State::Idle | State::Working | State::Waiting);
        assert!(is_timed || !self.timer_is_open, "a timer outlives its state");
    }
}

/// A random event: which, and two numbers that choose within it.
pub(crate) type Choice = (u8, u8, u8);

/// An event of the alphabet, fitting more often than not.
pub(crate) fn choose(harness: &Harness, (kind, a, b): Choice) -> Event {
    let pick = |tickets: &[Ticket]| {
        let newest = tickets.last().copied().unwrap_or(Ticket(99));
        if b < 200 { newest } else { tickets.first().copied().unwrap_or(Ticket(98)) }
    };
    let ends = [TurnEnd::Failed, TurnEnd::Cancelled, TurnEnd::OutOfBudget];
    match kind % 28 {
        0..3 => Event::InputReceived { text: String::from(if a < 10 { " " } else { "go on" }) },
        3 => Event::CommitmentAdded { commitment: commitment(if a < 20 { "" } else { "another" }) },
        4 => {
            let modes = [TaskMode::Delegate, TaskMode::Plan, TaskMode::BreakUp, TaskMode::Unify];
            Event::ModeChanged { mode: modes[usize::from(a) % modes.len()] }
        }
        5 => {
            let signal = if a < 160 { Signal::Done } else { Signal::Waiting };
            Event::Signalled { signal, summary: String::from("as I said") }
        }
        6..12 => {
            let end = if a < 220 { TurnEnd::Completed } else { ends[usize::from(b) % ends.len()] };
            Event::TurnEnded { end, inputs_taken: harness.sent.saturating_sub(u64::from(b > 240)) }
        }
        12..22 => {
            let ends = [
                CheckEnd::Exited { code: 1 },
                CheckEnd::Killed { signal: 9 },
                CheckEnd::TimedOut,
                CheckEnd::Broke { found: String::from("thrown") },
                CheckEnd::NotStarted { found: String::from("no such program") },
            ];
            let end = if a < 150 { CheckEnd::Exited { code: 0 } } else { ends[usize::from(a) % ends.len()].clone() };
            let report = CheckReport { end, output: String::new() };
            let commitment = CommitmentId(usize::from(b) % (harness.machine.commitments().len() + 1));
            Event::CheckCompleted { ticket: pick(&harness.checks), commitment, report }
        }
        22 => Event::CancelRequested,
        23 => Event::TimedOut { ticket: pick(&harness.timers) },
        24 if a < 60 => Event::BudgetExceeded,
        25 if a < 40 => Event::SessionEnded,
        26 if a < 60 => Event::Dismissed,
        27 => Event::CleanupCompleted { ticket: harness.cleanup.unwrap_or(Ticket(97)) },
        _ => Event::InputReceived { text: String::from("more") },
    }
}
