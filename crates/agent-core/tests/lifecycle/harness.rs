//! A driver that keeps what was asked, and the invariants that hold after every event.

use crate::stage::{is_changed, table};
use agent_check::action_name;
use agent_check::lifecycle::{self as words, Tickets, event};
use agent_core::lifecycle::{
    Action, CheckEnd, CheckReport, Commitment, CommitmentId, Event, Lifecycle, LifecycleConfig, Outcome, Reason,
    Rejected, Signal, State, Step, Ticket, Trigger, TurnEnd,
};

pub(crate) fn commitment(command: &str) -> Commitment {
    Commitment::of_command(command, 1_000)
}

/// Two commitments and a limit on everything.
pub(crate) fn config() -> LifecycleConfig {
    words::config("commitments=first,second idle-ms=1000 work-ms=2000 wait-ms=3000").unwrap()
}

pub(crate) fn exited(code: i32) -> CheckReport {
    CheckReport::new(CheckEnd::Exited { code }, format!("exit {code}\n"))
}

/// A machine, what it asked for, and what has to be true.
#[derive(Clone)]
pub(crate) struct Harness {
    pub(crate) machine: Lifecycle,
    made_of: LifecycleConfig,
    events: Vec<String>,
    /// The machine that the events make, as they were written.
    rebuilt: Lifecycle,
    /// Tickets of checks and timers, open or not, newest last.
    pub(crate) checks: Vec<Ticket>,
    pub(crate) timers: Vec<Ticket>,
    pub(crate) cleanup: Option<Ticket>,
    /// What a turn leaves of the message's time when it ends.
    pub(crate) time_left_ms: Option<u64>,
    /// What was left of the message's time when the checks began, and when that was.
    checks_time: Option<(u64, u64)>,
    timer_is_open: bool,
    reports_since_message: u32,
    /// Whether a stop of the turn was asked for since the last message.
    is_stopping: bool,
    now_ms: u64,
}

impl Harness {
    pub(crate) fn new(config: LifecycleConfig) -> Self {
        let machine = Lifecycle::with_table(config.clone(), table());
        let first = machine.outstanding();
        let timers: Vec<Ticket> = first
            .iter()
            .map(|action| match action {
                Action::StartTimer { ticket, .. } => *ticket,
                other => panic!("a new agent asks for {other:?}"),
            })
            .collect();
        assert_eq!(timers.len(), usize::from(config.max_idle_ms.is_some()));
        Self {
            machine,
            rebuilt: Lifecycle::with_table(config.clone(), table()),
            made_of: config,
            events: Vec::new(),
            checks: Vec::new(),
            timer_is_open: !timers.is_empty(),
            timers,
            cleanup: None,
            time_left_ms: None,
            checks_time: None,
            reports_since_message: 0,
            is_stopping: false,
            now_ms: 1_000,
        }
    }

    /// Takes an event and checks everything that has to hold then.
    pub(crate) fn take(&mut self, event: Event) -> Result<Step, Rejected> {
        self.now_ms += 10;
        let (before, told) = (self.machine.clone(), event.clone());
        let result = self.machine.step(self.now_ms, event);
        match &result {
            Ok(step) if step.is_empty() => self.check_late(&before, &told, step),
            Ok(step) => {
                self.note_event(&before, &told, step);
                self.note(step);
                self.check(step);
            }
            Err(rejected) => {
                assert_eq!(self.machine, before, "a refusal changed something");
                assert_eq!((rejected.state, rejected.event.as_ref()), (before.state(), action_name(&told).as_str()));
                assert_eq!(rejected.trigger.is_some(), rejected.reason == Reason::NoRow, "{rejected:?}");
                let is_message = matches!(&told, Event::InputReceived { text } if !text.trim().is_empty());
                let lives = !matches!(before.state(), State::Done | State::Reaped | State::Ended);
                assert!(!(is_message && lives), "a message was refused in {:?}", before.state());
            }
        }
        // On changed tables the question is whether this very event shows it, and there are hundreds of them.
        if !is_changed() {
            self.write(&told);
            self.check_way_out();
        }
        result
    }

    /// A timer that nothing waits for any more changes nothing. One that was never started is refused.
    fn check_late(&self, before: &Lifecycle, event: &Event, step: &Step) {
        let Event::TimedOut { ticket } = event else { panic!("{event:?} is no timer, and changes nothing") };
        assert!(self.timers.contains(ticket) || self.checks.contains(ticket) || self.cleanup == Some(*ticket));
        assert!(before.state() != State::Verifying || self.checks.last() != Some(ticket), "checks are no timer");
        assert!(
            !self.timer_is_open || self.timers.last() != Some(ticket),
            "a timer that is waited for changes nothing"
        );
        assert_eq!((&self.machine, step.actions.len()), (before, 0), "a late timer changed something");
    }

    /// Takes an event, and checks little.
    pub(crate) fn take_unchecked(&mut self, event: Event) -> Result<Step, Rejected> {
        if matches!(event, Event::InputReceived { .. } | Event::WorkResumed) {
            self.reports_since_message = 0;
        }
        let is_timer = matches!(event, Event::TimedOut { .. });
        let ended = match event {
            Event::TurnEnded { time_left_ms, .. } => Some(time_left_ms.map(|left_ms| (left_ms, self.now_ms))),
            _ => None,
        };
        let result = self.machine.step(self.now_ms, event);
        if let Ok(step) = &result {
            self.checks_time = ended.unwrap_or(self.checks_time);
            self.timer_is_open &= !is_timer || step.is_empty();
            self.note(step);
        }
        result
    }

    /// Writes the event, and tells what is written to the other machine: the same, to the byte.
    fn write(&mut self, event: &Event) {
        let line = serde_json::to_string(&(self.now_ms, event)).unwrap();
        let (at_ms, read): (u64, Event) = serde_json::from_str(&line).unwrap();
        assert_eq!(&read, event);
        let _ = self.rebuilt.step(at_ms, read);
        self.events.push(line);
        assert_eq!(self.rebuilt, self.machine);
        let (kept, rebuilt) = (serde_json::to_vec(&self.machine).unwrap(), serde_json::to_vec(&self.rebuilt).unwrap());
        assert!(kept == rebuilt, "equal, but not to the byte");
        // Reading takes longest of all.
        if self.events.len().is_multiple_of(4) {
            assert_eq!(serde_json::from_slice::<Lifecycle>(&kept).unwrap(), self.machine);
        }
    }

    /// What the event itself says, once it was taken.
    fn note_event(&mut self, before: &Lifecycle, event: &Event, step: &Step) {
        let row = step.transitions[0];
        match event {
            Event::InputReceived { .. } => {
                self.reports_since_message = 0;
                self.is_stopping = false;
            }
            Event::CancelRequested => {
                self.is_stopping |= before.state() == State::Working;
                assert!(matches!(row.to, State::Idle | State::Working | State::Waiting));
            }
            Event::WorkResumed => {
                assert!(matches!(before.state(), State::Idle | State::Waiting), "work resumed in {:?}", before.state());
                self.reports_since_message = 0;
                self.is_stopping = false;
            }
            Event::TurnEnded { time_left_ms, .. } => {
                self.checks_time = time_left_ms.map(|left_ms| (left_ms, self.now_ms));
                let is_claim = matches!(row.on, Trigger::CompletionClaimed | Trigger::CompletionClaimedUnbound);
                assert!(!(is_claim && self.is_stopping), "a turn that was to be stopped claims something");
            }
            Event::CheckCompleted { ticket, .. } => {
                assert_eq!(self.checks.last(), Some(ticket), "an old check counted");
            }
            Event::TimedOut { ticket } => {
                assert!(self.timer_is_open && self.timers.last() == Some(ticket), "an old timer counted");
                // The checks have the time of their message, which is part of its budget.
                let is_budget = row.on == Trigger::BudgetExceeded;
                assert_eq!(is_budget, before.state() == State::Verifying, "{row:?}");
                self.timer_is_open = false;
            }
            Event::CommitmentAdded { .. }
            | Event::ModeChanged { .. }
            | Event::Signalled { .. }
            | Event::BudgetExceeded
            | Event::SessionEnded
            | Event::Dismissed
            | Event::CleanupCompleted { .. } => {}
        }
        assert!(before.state() != State::Ended, "a step after the end");
    }

    /// From anywhere, who dismisses the agent and cleans up after it has nothing left of it.
    fn check_way_out(&self) {
        let mut machine = self.machine.clone();
        if machine.is_over() {
            return;
        }
        let mut actions = machine.step(self.now_ms, Event::Dismissed).map(|step| step.actions).unwrap_or_default();
        if machine.state() == State::Reaped {
            let asked = actions.iter().find_map(|action| match action {
                Action::CleanUp { ticket } => Some(*ticket),
                _ => None,
            });
            let ticket = asked.or(self.cleanup).unwrap();
            actions = machine.step(self.now_ms, Event::CleanupCompleted { ticket }).unwrap().actions;
        }
        assert_eq!((machine.state(), actions.contains(&Action::CancelTurn)), (State::Ended, false));
    }

    pub(crate) fn state(&self) -> State {
        self.machine.state()
    }

    pub(crate) fn message(&mut self) {
        self.take(Event::InputReceived { text: String::from("do it").into() }).map(drop).unwrap();
    }

    pub(crate) fn turn(&mut self, end: TurnEnd) {
        self.take(Event::TurnEnded { end, time_left_ms: self.time_left_ms }).map(drop).unwrap();
    }

    pub(crate) fn signal(&mut self, signal: Signal) {
        let _ = self.take(Event::Signalled { signal, summary: String::from("so it is") }).unwrap();
    }

    pub(crate) fn answer(&mut self, commitment: usize, report: CheckReport) -> Vec<Action> {
        let ticket = *self.checks.last().unwrap();
        self.take(Event::CheckCompleted { ticket, commitment: CommitmentId(commitment), report }).unwrap().actions
    }

    /// All that was written once more, and the machine as it is kept.
    pub(crate) fn check_replay(&self) {
        if is_changed() {
            return;
        }
        let mut again = Lifecycle::new(self.made_of.clone());
        for line in &self.events {
            let (at_ms, event): (u64, Event) = serde_json::from_str(line).unwrap();
            let _ = again.step(at_ms, event);
        }
        assert_eq!(again, self.machine);
        let kept = serde_json::to_string(&self.machine).unwrap();
        assert_eq!(serde_json::from_str::<Lifecycle>(&kept).unwrap(), self.machine);
    }

    fn note(&mut self, step: &Step) {
        for action in &step.actions {
            match action {
                Action::SendInput { .. } => {}
                Action::SendGapReport { round, time_left_ms, .. } => {
                    let left_ms = |(left_ms, since_ms): (u64, u64)| left_ms.saturating_sub(self.now_ms - since_ms);
                    assert_eq!(*time_left_ms, self.checks_time.map(left_ms), "the checks take their time");
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
    }

    fn check(&self, step: &Step) {
        let machine = &self.machine;
        assert!(self.reports_since_message <= self.made_of.max_rounds, "too many rounds");
        if machine.state() == State::Done && !machine.commitments().is_empty() {
            let verification = machine.verification().unwrap();
            for id in 0..machine.commitments().len() {
                let report = verification.report(CommitmentId(id)).unwrap();
                assert_eq!(report.end, CheckEnd::Exited { code: 0 }, "done with a commitment that is not kept");
                let later = (id..machine.commitments().len()).filter_map(|id| verification.report(CommitmentId(id)));
                let last = later.filter_map(|report| report.files.as_ref()).map(|files| &files.after).next_back();
                let begun = report.files.as_ref().map(|files| &files.before);
                assert!(begun.is_none() || begun == last, "done with a check of other files");
            }
            assert_eq!(machine.outcome(), Some(&Outcome::Done { kept: machine.commitments().len() }));
        }
        let is_resting = matches!(machine.state(), State::Idle | State::Waiting | State::Done | State::Reaped);
        if is_resting && step.transitions.iter().any(|row| row.from != row.to) {
            let told = |action: &Action| matches!(action, Action::ReportOutcome { .. });
            assert_eq!(step.actions.iter().filter(|action| told(action)).count(), 1, "nobody is told: {step:?}");
        }
        if machine.state() == State::Ended {
            assert!(step.actions.iter().all(|action| *action == Action::ReleaseSession));
        }
        assert_eq!(machine.mode().is_some(), machine.state() == State::Working);
        let limit_ms = match machine.state() {
            State::Idle => self.made_of.max_idle_ms,
            State::Working => self.made_of.max_work_ms,
            State::Waiting => self.made_of.max_wait_ms,
            State::Verifying => self.checks_time.map(|(left_ms, _)| left_ms),
            _ => None,
        };
        assert_eq!(self.timer_is_open, limit_ms.is_some(), "a timer in {:?}", machine.state());
        let started = step.actions.iter().find_map(|action| match action {
            Action::StartTimer { delay_ms, .. } => Some(*delay_ms),
            _ => None,
        });
        assert!(started.is_none() || started == limit_ms, "{started:?} instead of {limit_ms:?}");
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
    let (checks, timer) = (pick(&harness.checks), pick(&harness.timers));
    let tickets = Tickets { checks, timer, cleanup: harness.cleanup.unwrap_or(Ticket(97)) };
    let line = match kind % 29 {
        0..3 => if a < 10 { "input  " } else { "input go on" }.to_owned(),
        3 => if a < 20 { "commit " } else { "commit another" }.to_owned(),
        4 => format!("mode {}", ["delegate", "plan", "break-up", "unify"][usize::from(a) % 4]),
        5 => if a < 160 { "done as I said" } else { "waiting as I said" }.to_owned(),
        6..12 => {
            let ends = ["failed", "cancelled", "out-of-budget"];
            let end = if a < 220 { "completed" } else { ends[usize::from(b) % ends.len()] };
            let left = if b > 150 { format!(" left {}", u64::from(b) * 3) } else { String::new() };
            format!("turn {end}{left}")
        }
        12..22 => {
            let ends = ["exit 1", "signal 9", "too slow", "throws thrown", "not found", "stale"];
            let end = if a < 150 { "kept" } else { ends[usize::from(a) % ends.len()] };
            format!("check {} {end}", 1 + usize::from(b) % (harness.machine.commitments().len() + 1))
        }
        22 => "cancel".to_owned(),
        23 => "timeout".to_owned(),
        24 if a < 60 => "budget".to_owned(),
        25 if a < 40 => "session-ended".to_owned(),
        26 if a < 60 => "dismiss".to_owned(),
        28 => "work-resumed".to_owned(),
        27 => "cleaned-up".to_owned(),
        _ => "input more".to_owned(),
    };
    event(&line, &tickets).unwrap()
}
