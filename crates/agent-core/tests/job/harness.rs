//! A job with a driver that remembers what it was asked, and answers as it is told.

use crate::stage::table;
pub(crate) use agent_check::job::spent;
use agent_check::job::{Asked, event};
use agent_core::job::{
    Action, AgentConfig, AuditRecord, Event, FailureKind, Job, JobConfig, Rejected, RetryConfig, Spent, State, Step,
    Verdict,
};
use agent_core::session::Ticket;

#[derive(Clone)]
pub(crate) struct Harness {
    pub(crate) job: Job,
    pub(crate) now_ms: u64,
    /// What was asked and is not answered.
    pub(crate) asked: Vec<Action>,
    /// The ticket of what was asked last.
    pub(crate) ticket: Ticket,
    pub(crate) records: Vec<AuditRecord>,
    pub(crate) attempts: u32,
    pub(crate) delays_ms: Vec<u64>,
    /// The sum of everything that accepted answers said was spent.
    pub(crate) spent: Spent,
}

impl Harness {
    pub(crate) fn new(config: JobConfig) -> Self {
        Self {
            job: Job::with_table(config, 1_000, table()),
            now_ms: 1_000,
            asked: Vec::new(),
            ticket: Ticket(u64::MAX),
            records: Vec::new(),
            attempts: 0,
            delays_ms: Vec::new(),
            spent: Spent::default(),
        }
    }

    /// With so many retries after 1 s, 2 s, …
    pub(crate) fn with_retries(max_retries: u32) -> Self {
        let retry = RetryConfig { max_retries, ..RetryConfig::default() };
        Self::new(JobConfig { retry, ..JobConfig::new("job-1", "fix the crash") })
    }

    /// A refusal has to leave the job as it was.
    pub(crate) fn take(&mut self, event: Event) -> Result<Step, Rejected> {
        let before = self.job.clone();
        let (spent, told) = (spent_of(&event), event.clone());
        let result = self.job.step(self.now_ms, event);
        match &result {
            // A timer that nothing waits for any more changes nothing. One that was never started is refused.
            Ok(step) if step.is_empty() => {
                let Event::RetryTimeout { ticket } = told else { panic!("{told:?} is no timer, and changes nothing") };
                let was_given = self.ticket.0 != u64::MAX && ticket <= self.ticket;
                assert!(was_given && !before.is_open(ticket) && step.actions.is_empty(), "{told:?} is not late");
                assert_eq!(self.job, before, "a late timer changed something");
            }
            Ok(step) => {
                self.spent = self.spent.plus(&spent);
                step.actions.iter().for_each(|action| self.see(action));
                if self.job.is_finished() {
                    self.asked.clear();
                }
            }
            Err(rejected) => {
                assert_eq!(self.job, before, "{rejected}");
                assert_eq!(rejected.state, before.state());
            }
        }
        result
    }

    /// An event that has to fit.
    pub(crate) fn go(&mut self, event: Event) {
        let _ = self.take(event).unwrap();
    }

    fn see(&mut self, action: &Action) {
        match action {
            Action::StopWork { .. } => self.asked.push(action.clone()),
            Action::CancelRetry { .. } => self.asked.clear(),
            _ => self.asked = vec![action.clone()],
        }
        match action {
            Action::ValidateJob { ticket } | Action::DefineAgent { ticket, .. } => self.ticket = *ticket,
            Action::RunAgent { ticket, attempt } => {
                self.attempts += 1;
                assert_eq!((attempt.number, attempt.retry.max_retries), (self.attempts, 0));
                self.ticket = *ticket;
            }
            Action::ScheduleRetry { ticket, delay_ms, retry, .. } => {
                assert_eq!(*retry, self.attempts);
                self.delays_ms.push(*delay_ms);
                self.ticket = *ticket;
            }
            Action::WriteAuditRecord { ticket, record } => {
                self.records.push((**record).clone());
                self.ticket = *ticket;
            }
            Action::StopWork { ticket } | Action::CancelRetry { ticket } => assert_eq!(*ticket, self.ticket),
        }
    }

    /// A line that has to fit; where it leads.
    pub(crate) fn tell(&mut self, line: &str) -> State {
        let asked = Asked { attempts: self.attempts, ..Asked::of(self.ticket) };
        self.go(event(line, &asked).unwrap());
        self.job.state()
    }

    pub(crate) fn start(&mut self) -> State {
        self.tell("start")
    }

    pub(crate) fn validate(&mut self) -> State {
        self.tell("valid m")
    }

    pub(crate) fn define(&mut self) -> State {
        self.tell("as-suggested")
    }

    pub(crate) fn end_attempt(&mut self, verdict: Verdict) -> State {
        let (ticket, session_id) = (self.ticket, format!("s{}", self.attempts));
        self.go(Event::AttemptEnded { ticket, verdict, spent: spent(100), session_id });
        self.job.state()
    }

    pub(crate) fn wait(&mut self) -> State {
        self.now_ms += self.delays_ms.last().unwrap();
        self.tell("timer")
    }

    pub(crate) fn write(&mut self) -> State {
        self.tell("written")
    }

    /// Up to the first attempt.
    pub(crate) fn processing(max_retries: u32) -> Self {
        let mut harness = Self::with_retries(max_retries);
        harness.start();
        harness.validate();
        harness.define();
        harness
    }
}

pub(crate) fn agent() -> AgentConfig {
    agent_check::job::agent("m")
}

pub(crate) fn spent_of(event: &Event) -> Spent {
    match event {
        Event::AgentDefined { spent, .. } | Event::RoutingFailed { spent, .. } | Event::AttemptEnded { spent, .. } => {
            *spent
        }
        _ => Spent::default(),
    }
}

pub(crate) fn success() -> Verdict {
    Verdict::Success { response: "done".to_owned() }
}

pub(crate) fn business() -> Verdict {
    Verdict::Failure(FailureKind::Business("wrong output".to_owned()))
}

pub(crate) fn system() -> Verdict {
    Verdict::Failure(FailureKind::System("rate limit".to_owned()))
}

pub(crate) fn for_good() -> Verdict {
    Verdict::FailureForGood(FailureKind::System("refused key".to_owned()))
}

/// One of every event, and of every guard that tells two of a kind apart.
pub(crate) fn events(ticket: Ticket) -> Vec<Event> {
    let asked = Asked { spent: Some(spent(7)), ..Asked::of(ticket) };
    EVENTS.iter().map(|line| event(line, &asked).unwrap()).collect()
}

const EVENTS: &[&str] = &[
    "start",
    "cancel",
    "valid m",
    "invalid no",
    "chosen m",
    "chosen  ",
    "not-routed no",
    "done done",
    "wrong wrong output",
    "failed rate limit",
    "failed-for-good refused key",
    "stopped",
    "timer",
    "written",
    "not-written disk full",
];
